// Random permutations that are the same on every machine and for every number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tagalong::m3l {

class Shuffle {
  public:
    explicit Shuffle(std::uint64_t seed) : state_(seed) {}

    template <class V>
    void operator()(V* values, std::size_t count) {
        for (std::size_t i = count; i > 1; --i)
            std::swap(values[i - 1], values[below(static_cast<std::uint32_t>(i))]);
    }

  private:
    // A random number below `count`, from SplitMix64. The upper half of the product replaces a
    // remainder: it is as good and faster.
    std::uint32_t below(std::uint32_t count) {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        return static_cast<std::uint32_t>(((z ^ z >> 31) >> 32) * count >> 32);
    }

    std::uint64_t state_;
};

}  // namespace tagalong::m3l
