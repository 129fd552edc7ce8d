#include "bind/learner_bind.hpp"

#include "bind/module.hpp"

namespace tagalong::bind {

static State state_of(const AnyLearner& self) {
    nb::dict arrays, numbers;
    State out;
    std::shared_lock lock(self.mutex());
    self.write(arrays, numbers);
    out["arrays"] = arrays;
    out["numbers"] = numbers;
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
