// Helpers for model states: named numbers, and parts that are stored as one array of numbers.
#pragma once

#include <nanobind/nanobind.h>

#include <span>

#include "bind/arrays.hpp"
#include "bind/saved_state.hpp"

namespace tagalong::bind {

// The fields of a struct of counts, each stored under its name.
template <class Counts>
void write_fields(const Counts& counts, nb::dict& out) {
    Counts::fields(counts, [&](const char* name, const auto& value) { out[name] = value; });
}

template <class V, class From>
NumPy<V> vector_array(std::size_t count, From&& value) {
    Owned<V> out({count});
    for (std::size_t i = 0; i < count; ++i) out.data[i] = value(i);
    return out.array;
}

// A part whose state is an array of numbers: the cut-off, the calibration. It checks them itself.
template <class Part>
void write_part(const Part& part, const char* name, nb::dict& arrays) {
    const auto state = part.state();
    arrays[name] = vector_array<double>(state.size(), [&](std::size_t i) { return state[i]; });
}
template <class Part, class... Sizes>
void read_part(Part& part, const char* name, const SavedState& saved, Sizes... sizes) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto state = saved.vector<double>(name, Range{-infinity, infinity});
    if (!part.restore({state.data(), state.shape(0)}, sizes...))
        SavedState::refuse(name, "has invalid numbers, or the wrong number of them");
}

// The confidence depends on the number of labels. It starts anew if its array is empty.
template <class Learner>
void read_confidence(Learner& self, const SavedState& saved) {
    if (saved.vector<double>("confidence").shape(0) > 0)
        read_part(self.confidence(), "confidence", saved, self.labels());
}

}  // namespace tagalong::bind
