// The methods that every native learner has in Python: certificate, weights, state, restore, bytes. The
// learner's own functions read them; this file takes the lock around the read.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <cstddef>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <type_traits>

#include "bind/arrays.hpp"

namespace tagalong::bind {

// The weights that predict. Features (-1 is the constant one), their weights, and the weights of a
// feature that has none of its own.
struct FeatureWeights {
    NumPy<std::int32_t> features;
    NumPy<> weights;
    std::optional<NumPy<>> unseen;
};

// "arrays" and "numbers", as files have them.
using State = nb::typed<nb::dict, nb::str, nb::typed<nb::dict, nb::str, nb::any>>;

template <class Learner, class Certificate>
struct LearnerParts {
    Certificate (*certificate)(const Learner&);
    FeatureWeights (*weights)(const Learner&);
    void (*write)(const Learner&, nb::dict& arrays, nb::dict& numbers);
    void (*read)(Learner&, const nb::dict& arrays, const nb::dict& numbers);
    std::size_t (*bytes)(const Learner&);
};

// A class with an attribute for each of the fields that a struct names.
template <class Facts>
nb::class_<Facts> add_facts(nb::module_& module, const char* name) {
    nb::class_<Facts> type(module, name);
    const Facts probe{};
    const auto* begin = reinterpret_cast<const char*>(&probe);
    Facts::fields(probe, [&](const char* field, const auto& value) {
        using Value = std::remove_cvref_t<decltype(value)>;
        const auto offset = reinterpret_cast<const char*>(&value) - begin;
        type.def_prop_ro(field, [offset](const Facts& facts) {
            return *reinterpret_cast<const Value*>(reinterpret_cast<const char*>(&facts) + offset);
        });
    });
    return type;
}

template <class Learner, class Certificate>
void add_learner_methods(nb::class_<Learner>& type, LearnerParts<Learner, Certificate> parts) {
    type.def("certificate",
             [take = parts.certificate](const Learner& self) {
                 std::shared_lock lock(self.mutex());
                 return take(self);
             })
        .def("weights",
             [take = parts.weights](const Learner& self) {
                 std::shared_lock lock(self.mutex());
                 return take(self);
             })
        .def("state",
             [write = parts.write](const Learner& self) {
                 nb::dict arrays, numbers;
                 State out;
                 std::shared_lock lock(self.mutex());
                 write(self, arrays, numbers);
                 out["arrays"] = arrays;
                 out["numbers"] = numbers;
                 return out;
             })
        .def(
            "restore",
            [read = parts.read](Learner& self, const State& state) {
                const auto arrays = nb::cast<nb::dict>(state["arrays"]);
                const auto numbers = nb::cast<nb::dict>(state["numbers"]);
                std::unique_lock lock(self.mutex());
                read(self, arrays, numbers);
            },
            nb::arg("state"))
        .def_prop_ro("bytes", [take = parts.bytes](const Learner& self) {
            std::shared_lock lock(self.mutex());
            return take(self);
        });
}

}  // namespace tagalong::bind
