#include "bind/learner_bind.hpp"

#include "bind/module.hpp"
#include "bind/packed_weights.hpp"

namespace tagalong::bind {

// The contents of a model file, with the weights in their packed form.
static State packed_state_of(const AnyLearner& self) {
    nb::dict arrays, numbers;
    State out;
    std::shared_lock lock(self.mutex());
    self.write(arrays, numbers);
    out["arrays"] = arrays;
    out["numbers"] = numbers;
    return out;
}

// The same with all weights as arrays.
static State state_of(const AnyLearner& self) {
    State out = packed_state_of(self);
    nb::dict arrays;
    for (const auto& [name, value] : nb::cast<nb::dict>(out["arrays"])) {
        if (!nb::isinstance<PackedWeights>(value)) {
            arrays[name] = value;
            continue;
        }
        const nb::list planes(value.attr("unpacked")());
        arrays[name] = planes[0];
        auto whole = nb::cast<std::string>(name);
        if (planes.size() > 1)
            arrays[whole.replace(whole.rfind(kFirstPlane), std::string::npos, kSecondPlane)
                       .c_str()] = planes[1];
    }
    out["arrays"] = arrays;
    return out;
}

static void restore(AnyLearner& self, const State& state) {
    const SavedState saved(nb::cast<nb::dict>(state["arrays"]),
                           nb::cast<nb::dict>(state["numbers"]));
    std::unique_lock lock(self.mutex());
    self.read(saved);
}

void add_learner(nb::module_& module) {
    nb::class_<AnyLearner>(module, "Learner")
        .def("weights",
             [](const AnyLearner& self) {
                 std::shared_lock lock(self.mutex());
                 return self.weights();
             })
        .def("state", &state_of)
        .def("packed_state", &packed_state_of)
        .def("restore", &restore, nb::arg("state"))
        .def_prop_ro("bytes",
                     [](const AnyLearner& self) {
                         std::shared_lock lock(self.mutex());
                         return self.bytes();
                     })
        .def_prop_ro("unsolved", [](const AnyLearner& self) {
            std::shared_lock lock(self.mutex());
            return self.unsolved_rounds();
        });
}

}  // namespace tagalong::bind
