// Helpers for model states: named numbers, and parts that are stored as one array of numbers.
#pragma once

#include <nanobind/nanobind.h>

#include <span>
#include <string>
#include <type_traits>

#include "bind/arrays.hpp"

namespace tagalong::bind {

// The fields of a struct of counts, each stored under its name.
template <class Counts>
void write_fields(const Counts& counts, nb::dict& out) {
    Counts::fields(counts, [&](const char* name, const auto& value) { out[name] = value; });
}
template <class Counts>
void read_fields(Counts& counts, const nb::dict& from) {
    Counts::fields(counts, [&](const char* name, auto& value) {
        value = nb::cast<std::remove_reference_t<decltype(value)>>(from[name]);
    });
}

template <class V, class From>
NumPy<V> vector_array(std::size_t count, From&& value) {
    Owned<V> out({count});
    for (std::size_t i = 0; i < count; ++i) out.data[i] = value(i);
    return out.array;
}

// A part whose state is an array of numbers: the cut-off, the calibration.
template <class Part>
void write_part(const Part& part, const char* name, nb::dict& arrays) {
    const auto state = part.state();
    arrays[name] = vector_array<double>(state.size(), [&](std::size_t i) { return state[i]; });
}
template <class Part>
void read_part(Part& part, const char* name, const nb::dict& arrays) {
    const auto state = nb::cast<VectorOf<double>>(arrays[name]);
    if (!part.restore({state.data(), state.shape(0)}))
        throw InputError(std::string("model state: '") + name + "' has the wrong length");
}

// The confidence depends on the number of labels. Older files have none: it then starts anew.
template <class Learner>
void read_confidence(Learner& self, const nb::dict& arrays) {
    if (!arrays.contains("confidence")) return;
    const auto state = nb::cast<VectorOf<double>>(arrays["confidence"]);
    if (!self.confidence().restore({state.data(), state.shape(0)}, self.labels()))
        throw InputError("model state: 'confidence' has invalid numbers");
}

}  // namespace tagalong::bind
