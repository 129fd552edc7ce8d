// Random numbers that are the same on every machine. The standard fixes the generator but not the
// distributions, so the distributions are implemented here.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace tagalong::test {

class Random {
  public:
    explicit Random(std::uint64_t seed) : generator_(seed) {}

    std::uint64_t bits() { return generator_(); }
    double uniform() { return static_cast<double>(generator_() >> 11) * 0x1p-53; }
    double between(double low, double high) { return low + (high - low) * uniform(); }
    // Log-uniform.
    double magnitude(double low, double high) {
        return std::exp(between(std::log(low), std::log(high)));
    }
    int below(int count) {
        return static_cast<int>(generator_() % static_cast<std::uint64_t>(count));
    }
    bool chance(double probability) { return uniform() < probability; }
    // Approximately normal with unit variance: a sum of twelve uniform numbers.
    double normal() {
        double sum = -6;
        for (int i = 0; i < 12; ++i) sum += uniform();
        return sum;
    }
    template <class V>
    void shuffle(std::vector<V>& values) {
        for (std::size_t i = values.size(); i > 1; --i)
            std::swap(values[i - 1], values[static_cast<std::size_t>(below(static_cast<int>(i)))]);
    }

  private:
    std::mt19937_64 generator_;
};

}  // namespace tagalong::test
