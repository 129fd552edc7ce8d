// The suggestions of many items as Python objects, made from the arrays of their places.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>

#include "bind/module.hpp"
#include "bind/places.hpp"

namespace tagalong::bind {

// Makes objects of a Python class with the slots of `Suggestion`. Calling the class would take
// several times as long: a frozen dataclass sets each attribute through a Python method.
class SuggestionMaker {
  public:
    explicit SuggestionMaker(nb::type_object type) : type_(std::move(type)) {
        for (std::size_t i = 0; i < kSlots.size(); ++i) {
            slots_[i] = type_.attr(kSlots[i]);
            if (Py_TYPE(slots_[i].ptr())->tp_descr_set == nullptr)
                throw InputError(std::string(kSlots[i]) + " is not a slot of the class");
        }
    }

    // The suggestions of each row, and whether some of them are sure. `names` has the labels by number; a label is sure if it is
    // assured at its own precision in `own`, or else at `required`.
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

    nb::list make_row(const PlaceArrays& places, std::size_t row, const nb::list& names,
                      double required, const nb::dict& own, bool& any_sure) const {
        nb::list out;
        for (std::size_t i = 0; i < places.k(); ++i) {
            const Place& place = places.place(row, i);
            if (place.label < 0) break;  // the row has fewer labels
            if (static_cast<std::size_t>(place.label) >= names.size())
                throw InputError("there is no label number " + std::to_string(place.label));
            const nb::object label = names[static_cast<std::size_t>(place.label)];
            const bool sure = place.assured >= required_of(label, required, own);
            any_sure |= sure;
            out.append(make_one(place, label, sure));
        }
        return out;
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

    nb::type_object type_;
    std::array<nb::object, kSlots.size()> slots_;
};

void add_suggestions(nb::module_& module) {
    nb::class_<SuggestionMaker>(module, "SuggestionMaker")
        .def(nb::init<nb::type_object>(), nb::arg("type"))
        .def("make", &SuggestionMaker::make, nb::arg("places"), nb::arg("names"),
             nb::arg("required"), nb::arg("own"),
             nb::sig("def make(self, places: PlaceArrays, names: list[typing.Any], required: float,"
                     " own: dict[typing.Any, float]) -> tuple[list[list[typing.Any]], list[bool]]"));
}

}  // namespace tagalong::bind
