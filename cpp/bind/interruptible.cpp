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

// The number of rows between two checks for Ctrl-C.
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

// The number of cores that this process may use. In a container, under taskset or under a scheduler
// it can be smaller than the number of cores of the machine.
static std::int64_t usable_cores() {
#ifdef __linux__
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
#endif
    return std::thread::hardware_concurrency();
}

void for_independent_rows(std::int64_t rows, RowWork work) {
    constexpr std::int64_t kChunk = 64;
    const std::int64_t helpers = std::min(usable_cores(), rows / kChunk) - 1;
    if (helpers < 1) {
        for_rows(rows, work);
        return;
    }
    std::atomic<std::int64_t> next{0};
    std::mutex mutex;
    std::exception_ptr failure;
    const auto run_chunk = [&] {  // false if no rows are left
        const std::int64_t from = next.fetch_add(kChunk);
        if (from >= rows) return false;
        try {
            for (std::int64_t i = from; i < std::min(rows, from + kChunk); ++i) work(i);
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
                    while (run_chunk()) {
                    }
                });
        } catch (const std::system_error&) {
            // The system allows no more threads: those that have started do the work.
        }
        while (!interrupted && run_chunk()) {
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
