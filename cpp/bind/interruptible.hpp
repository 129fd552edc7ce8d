// Long loops without the GIL that Ctrl-C can end.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstdint>

namespace tagalong::bind {

// Between chunks of this many rows a long call looks whether the user wants to interrupt it.
inline constexpr std::int64_t kRowsBetweenSignals = 256;

template <class Work>
void for_rows(std::int64_t rows, Work&& work) {
    for (std::int64_t from = 0; from < rows; from += kRowsBetweenSignals) {
        {
            nanobind::gil_scoped_release release;
            for (std::int64_t i = from; i < std::min(rows, from + kRowsBetweenSignals); ++i) work(i);
        }
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }
}

}  // namespace tagalong::bind
