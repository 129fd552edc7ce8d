// Parallel loops whose result does not depend on the number of threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tagalong::m3l {

// Calls work(i) for each i below count, in any order. Rethrows the first exception.
template <class Work>
void for_each_of(std::size_t count, int threads, Work&& work) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                const std::lock_guard lock(failure_mutex);
                if (!failure) failure = std::current_exception();
                next = count;
            }
        }
    };
    std::vector<std::thread> workers;
    for (std::size_t t = 1;
         t < std::min<std::size_t>(count, static_cast<std::size_t>(std::max(1, threads))); ++t)
        workers.emplace_back(run);
    run();
    for (std::thread& worker : workers) worker.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tagalong::m3l
