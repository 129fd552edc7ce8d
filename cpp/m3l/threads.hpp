// Work in several threads, whose result does not depend on how many there are.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tagalong::m3l {

// work(i) for i below count, in any order. The first exception is thrown again here.
template <class Work>
void for_each_of(std::size_t count, int threads, Work&& work) {
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failing;
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                work(i);
            } catch (...) {
                const std::lock_guard lock(failing);
                if (!failure) failure = std::current_exception();
                next = count;
            }
        }
    };
    std::vector<std::thread> helpers;
    for (std::size_t t = 1;
         t < std::min<std::size_t>(count, static_cast<std::size_t>(std::max(1, threads))); ++t)
        helpers.emplace_back(run);
    run();
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tagalong::m3l
