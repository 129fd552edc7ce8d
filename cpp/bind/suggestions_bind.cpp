// The suggestions of many items as Python objects, made from the arrays of their places.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>

#include "bind/module.hpp"
#include "bind/places.hpp"

namespace tagalong::bind {

// Makes objects of two Python classes: one with the slots of `Suggestion`, and a list like
// `Suggestions`. Calling the classes would take several times as long: a frozen dataclass sets each
// attribute through a Python method.
class SuggestionMaker {
  public:
    SuggestionMaker(nb::type_object type, nb::type_object list)
        : type_(std::move(type)), list_(std::move(list)) {
        if (!PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(list_.ptr()), &PyList_Type))
            throw InputError("suggestions must be a list");
        for (std::size_t i = 0; i < kSlots.size(); ++i) {
            slots_[i] = type_.attr(kSlots[i]);
            if (Py_TYPE(slots_[i].ptr())->tp_descr_set == nullptr)
                throw InputError(std::string(kSlots[i]) + " is not a slot of the class");
        }
        for (std::size_t i = 0; i < kFacts.size(); ++i)
            facts_[i] = nb::steal(PyUnicode_InternFromString(kFacts[i]));
    }

    // The suggestions of each row, not audited, and whether some of them are sure. `names` has the
    // labels by number; a label is sure if it is assured at its own precision in `own`, or else at
    // `required`.
    nb::tuple make(const PlaceArrays& places, const nb::list& names, double required,
                   const nb::dict& own) const {
        nb::list out, sure;
        for (std::size_t row = 0; row < places.rows(); ++row) {
            bool any_sure = false;
            out.append(make_row(places, row, names, required, own, any_sure));
            sure.append(nb::bool_(any_sure));
        }
        return nb::make_tuple(out, sure);
    }

  private:
    static constexpr std::array<const char*, 6> kSlots = {"label",  "score", "probability",
                                                          "chosen", "sure",  "explores"};
    static constexpr std::array<const char*, 4> kFacts = {"whole", "known", "in_runs", "audited"};

    nb::object make_row(const PlaceArrays& places, std::size_t row, const nb::list& names,
                        double required, const nb::dict& own, bool& any_sure) const {
        auto* const type = reinterpret_cast<PyTypeObject*>(list_.ptr());
        const nb::tuple no_arguments;
        nb::object out = nb::steal(PyList_Type.tp_new(type, no_arguments.ptr(), nullptr));
        if (!out.is_valid()) throw nb::python_error();
        for (std::size_t i = 0; i < places.k(); ++i) {
            const Place& place = places.place(row, i);
            if (place.label < 0) break;  // the row has fewer labels
            if (static_cast<std::size_t>(place.label) >= names.size())
                throw InputError("there is no label number " + std::to_string(place.label));
            const nb::object label = names[static_cast<std::size_t>(place.label)];
            const bool sure = place.assured >= required_of(label, required, own);
            any_sure |= sure;
            const nb::object one = make_one(place, label, sure);
            if (PyList_Append(out.ptr(), one.ptr()) != 0) throw nb::python_error();
        }
        const PlaceArrays::Facts& facts = places.facts(row);
        set_fact(out, 0, nb::float_(facts.whole));
        set_fact(out, 1, nb::int_(facts.known));
        set_fact(out, 2, nb::bool_(facts.in_runs));
        set_fact(out, 3, nb::bool_(false));
        return out;
    }

    void set_fact(const nb::object& to, std::size_t fact, const nb::object& value) const {
        if (PyObject_SetAttr(to.ptr(), facts_[fact].ptr(), value.ptr()) != 0)
            throw nb::python_error();
    }

    static double required_of(const nb::object& label, double required, const nb::dict& own) {
        if (PyDict_GET_SIZE(own.ptr()) == 0) return required;
        PyObject* found = PyDict_GetItemWithError(own.ptr(), label.ptr());
        if (found == nullptr && PyErr_Occurred()) throw nb::python_error();
        return found == nullptr ? required : nb::cast<double>(nb::handle(found));
    }

    nb::object make_one(const Place& place, const nb::object& label, bool sure) const {
        auto* const type = reinterpret_cast<PyTypeObject*>(type_.ptr());
        nb::object out = nb::steal(type->tp_alloc(type, 0));
        if (!out.is_valid()) throw nb::python_error();
        set(out, 0, label);
        set(out, 1, nb::float_(place.score));
        set(out, 2, nb::float_(place.probability));
        set(out, 3, nb::bool_(place.chosen));
        set(out, 4, nb::bool_(sure));
        set(out, 5, nb::bool_(false));
        // Numbers and strings refer to no other object, so the suggestion cannot be part of a
        // cycle. The garbage collector would visit those of many items again and again.
        if (PyUnicode_CheckExact(label.ptr()) || PyLong_CheckExact(label.ptr()))
            PyObject_GC_UnTrack(out.ptr());
        return out;
    }

    void set(const nb::object& to, std::size_t slot, const nb::object& value) const {
        PyObject* const descriptor = slots_[slot].ptr();
        if (Py_TYPE(descriptor)->tp_descr_set(descriptor, to.ptr(), value.ptr()) != 0)
            throw nb::python_error();
    }

    nb::type_object type_, list_;
    std::array<nb::object, kSlots.size()> slots_;
    std::array<nb::object, kFacts.size()> facts_;
};

void add_suggestions(nb::module_& module) {
    nb::class_<SuggestionMaker>(module, "SuggestionMaker")
        .def(nb::init<nb::type_object, nb::type_object>(), nb::arg("type"), nb::arg("list"))
        .def("make", &SuggestionMaker::make, nb::arg("places"), nb::arg("names"),
             nb::arg("required"), nb::arg("own"),
             nb::sig("def make(self, places: PlaceArrays, names: list[typing.Any], required: float,"
                     " own: dict[typing.Any, float]) -> tuple[list[typing.Any], list[bool]]"));
}

}  // namespace tagalong::bind
