#include "bind/interruptible.hpp"

#include <nanobind/nanobind.h>

#ifdef __linux__
#include <sched.h>
#endif

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tagalong::bind {

// Between chunks of this many rows a long call looks whether the user wants to interrupt it.
static constexpr std::int64_t kRowsBetweenSignals = 256;

void for_rows(std::int64_t rows, RowWork work) {
    for (std::int64_t from = 0; from < rows; from += kRowsBetweenSignals) {
        {
            nanobind::gil_scoped_release release;
            for (std::int64_t i = from; i < std::min(rows, from + kRowsBetweenSignals); ++i)
                work(i);
        }
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }
}

// The cores that this process may run on, which are fewer than there are in a container, under taskset, or
// where a scheduler has dealt them out.
static std::int64_t usable_cores() {
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
    return std::thread::hardware_concurrency();
}

void for_independent_rows(std::int64_t rows, RowWork work) {
    constexpr std::int64_t kTaken = 64;
    const std::int64_t helpers = std::min(usable_cores(), rows / kTaken) - 1;
    if (helpers < 1) {
        for_rows(rows, work);
        return;
    }
    std::atomic<std::int64_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto take = [&] {  // false when nothing is left to take
        const std::int64_t from = next.fetch_add(kTaken);
        if (from >= rows) return false;
        try {
            for (std::int64_t i = from; i < std::min(rows, from + kTaken); ++i) work(i);
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!failure) failure = std::current_exception();
            next = rows;
        }
        return true;
    };
    bool interrupted = false;
    {
        std::vector<std::jthread> threads;  // joined at the end of the block
        nanobind::gil_scoped_release release;
        try {
            for (std::int64_t i = 0; i < helpers; ++i)
                threads.emplace_back([&] {
                    while (take()) {
                    }
                });
        } catch (const std::system_error&) {
            // There are no more threads to be had: those there are do it.
        }
        while (!interrupted && take()) {
            nanobind::gil_scoped_acquire acquire;
            interrupted = PyErr_CheckSignals() != 0;
        }
        if (interrupted) next = rows;
        threads.clear();
    }
    if (interrupted) throw nanobind::python_error();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tagalong::bind
