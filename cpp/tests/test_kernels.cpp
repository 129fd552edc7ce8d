// The kernels equal simple loops, for any number of rows and every remainder of their blocks.
#include <cmath>
#include <limits>
#include <vector>

#include "core/aligned.hpp"
#include "core/kernels.hpp"
#include "core/score_kernels.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::kernels_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
AlignedVector<T> random_row(Random& random, std::size_t n) {
    AlignedVector<T> row(n);
    for (T& value : row) value = static_cast<T>(random.normal());
    return row;
}

template <class V>
std::span<const V> view(const AlignedVector<V>& values) {
    return {values.data(), values.size()};
}

template <class T>
void score_like_a_loop() {
    Random random(1);
    for (std::size_t count = 0; count <= 27; ++count)
        for (const std::size_t labels : {1u, 16u, 40u, 161u}) {
            const Note note("rows ", count, ", labels ", labels);
            const std::size_t n = padded<T>(labels);
            std::vector<AlignedVector<T>> rows;
            std::vector<const T*> pointers;
            std::vector<T> x;
            for (std::size_t i = 0; i < count; ++i) {
                rows.push_back(random_row<T>(random, n));
                x.push_back(static_cast<T>(random.normal()));
            }
            for (const auto& row : rows) pointers.push_back(row.data());
            AlignedVector<T> actual(n, T(99)), expected(n, T(0));
            kernels::score_rows(actual.data(), pointers.data(), x.data(), count, n);
            for (std::size_t k = 0; k < n; ++k)
                for (std::size_t i = 0; i < count; ++i) expected[k] += x[i] * rows[i][k];
            same_bits(view(actual), view(expected));
        }
}

template <class T>
void add_like_a_loop() {
    Random random(2);
    for (const std::size_t labels : {1u, 16u, 40u, 161u, 1000u}) {
        const Note note("labels ", labels);
        const std::size_t n = padded<T>(labels);
        const auto start = random_row<T>(random, n), alpha = random_row<T>(random, n);
        const T x = static_cast<T>(random.normal());
        auto expected = start, added = start, added_norm = start, beside = start;
        const auto old_means = random_row<T>(random, n);
        auto expected_means = old_means, means = old_means;
        long double squares = 0;
        for (std::size_t k = 0; k < n; ++k) {
            expected[k] += alpha[k] * x;
            squares += static_cast<long double>(expected[k]) * expected[k];
            expected_means[k] += 7 * (alpha[k] * x);
        }
        kernels::add_scaled(added.data(), alpha.data(), x, n);
        const double norm = kernels::add_scaled_norm(added_norm.data(), alpha.data(), x, n);
        same_bits(view(added), view(expected));
        same_bits(view(added_norm), view(expected));
        same(kernels::add_scaled_norm(beside.data(), means.data(), alpha.data(), x, 7, n), norm);
        same_bits(view(beside), view(expected));
        same_bits(view(means), view(expected_means));
        near(norm / static_cast<double>(squares), 1,
             30 * static_cast<double>(std::numeric_limits<T>::epsilon()));

        // With the product of alpha and the old row, the rest has the same bits.
        auto along_row = start, along_beside = start, along_means = expected;
        double along = 0, along_too = 0, product = 0, size = 0;
        for (std::size_t k = 0; k < n; ++k) {
            product += static_cast<double>(alpha[k]) * static_cast<double>(start[k]);
            size += std::abs(static_cast<double>(alpha[k]) * static_cast<double>(start[k]));
        }
        same(kernels::add_scaled_along(along_row.data(), alpha.data(), x, n, &along), norm);
        same(kernels::add_scaled_along(along_beside.data(), along_means.data(), alpha.data(), x, 7,
                                       n, &along_too),
             norm);
        same_bits(view(along_row), view(expected));
        same_bits(view(along_beside), view(expected));
        same(along, along_too);
        near(along, product, 30 * static_cast<double>(std::numeric_limits<T>::epsilon()) * size);
    }
}

template <class T>
void exponentials_like_a_loop() {
    Random random(3);
    const double tolerance = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (const std::size_t labels : {1u, 16u, 40u, 161u}) {
        const Note note("labels ", labels);
        const std::size_t n = padded<T>(labels);
        auto theta = random_row<T>(random, n), alpha = random_row<T>(random, n);
        AlignedVector<double> shift(n), gain(n), top(n, -kInfinity);
        AlignedVector<T> e(n);
        for (std::size_t k = 0; k < n; ++k) {
            shift[k] = random.normal();
            gain[k] = random.normal();
            if (random.chance(0.2)) top[k] = 5;
            if (random.chance(0.3)) alpha[k] = 0;
            if (random.chance(0.05)) alpha[k] = 400;
            e[k] = static_cast<T>(std::exp(static_cast<double>(theta[k]) - shift[k]));
        }
        const auto old_theta = theta, old_e = e;
        const auto old_gain = gain, old_top = top;
        const T x = static_cast<T>(0.75);
        kernels::add_exponential(theta.data(), e.data(), alpha.data(), x, shift.data(), gain.data(),
                                 top.data(), n);
        for (std::size_t k = 0; k < n; ++k) {
            if (alpha[k] == 0) {
                same(theta[k], old_theta[k]);
                same(e[k], old_e[k]);
                same(gain[k], old_gain[k]);
                continue;
            }
            same(theta[k], static_cast<T>(old_theta[k] + alpha[k] * x));
            const double above = static_cast<double>(theta[k]) - shift[k];
            near(static_cast<double>(e[k]) / std::exp(std::min(above, 60.0)), 1, tolerance);
            const double rise = static_cast<double>(e[k]) - static_cast<double>(old_e[k]);
            near(gain[k], old_gain[k] + rise, 1e-15 * (std::abs(rise) + std::abs(old_gain[k])));
            same(top[k], std::max(old_top[k], above));
        }
    }
}

const Test scores{"kernels: score_rows adds the rows in order", [] {
                      score_like_a_loop<float>();
                      score_like_a_loop<double>();
                  }};

const Test adding{"kernels: add_scaled and the norm after it", [] {
                      add_like_a_loop<float>();
                      add_like_a_loop<double>();
                  }};

const Test exponentials{"kernels: add_exponential changes only labels with a coefficient", [] {
                            exponentials_like_a_loop<float>();
                            exponentials_like_a_loop<double>();
                        }};

const Test largest{"kernels: largest", [] {
                       Random random(4);
                       for (std::size_t n = 1; n < 70; ++n)
                           for (int round = 0; round < 20; ++round) {
                               std::vector<double> values(n);
                               for (double& value : values)
                                   value = random.chance(0.3) ? -kInfinity : random.normal();
                               same(kernels::largest(values.data(), n),
                                    *std::max_element(values.begin(), values.end()));
                           }
                   }};

const Test above{"kernels: indices_above is in order, bound excluded", [] {
                     Random random(5);
                     for (std::size_t n = 0; n < 70; ++n) {
                         std::vector<double> values(n);
                         for (double& value : values) value = random.below(5);
                         values.insert(values.end(), n > 10 ? 1 : 0, -kInfinity);
                         for (const double bound : {-kInfinity, -1.0, 0.0, 2.0, 4.0}) {
                             std::vector<int> expected, actual(values.size());
                             for (std::size_t k = 0; k < values.size(); ++k)
                                 if (values[k] > bound) expected.push_back(static_cast<int>(k));
                             actual.resize(kernels::indices_above(values.data(), bound,
                                                                  actual.data(), values.size()));
                             check(actual == expected, "indices differ");
                             const kernels::CountAndSum tally =
                                 kernels::count_and_sum_above(values.data(), bound, values.size());
                             // Sums of small integers do not depend on the order of summation.
                             double sum = 0;
                             for (const int k : expected)
                                 sum += values[static_cast<std::size_t>(k)];
                             same(tally.count, static_cast<double>(expected.size()));
                             same(tally.sum, sum);
                         }
                     }
                 }};

template <class T>
void first_above_like_a_loop() {
    Random random(8);
    for (std::size_t n = 0; n < 70; ++n) {
        std::vector<T> values(n);
        for (T& value : values)
            value = random.chance(0.05) ? std::numeric_limits<T>::quiet_NaN()
                                        : static_cast<T>(random.below(40));
        for (const T bound : {T(-1), T(30), T(37), T(38), std::numeric_limits<T>::infinity()})
            for (std::size_t from = 0; from <= n; ++from) {
                std::size_t expected = from;
                while (expected < n && !(values[expected] > bound)) ++expected;
                same(kernels::first_above(values.data(), bound, from, n), expected);
            }
    }
}

const Test first_above{"kernels: first_above from any index, bound excluded", [] {
                           first_above_like_a_loop<float>();
                           first_above_like_a_loop<double>();
                       }};

template <class T>
void bins_like_a_loop() {
    Random random(9);
    for (std::size_t n = 0; n < 40; ++n) {
        std::vector<T> values(n);
        for (T& value : values) value = static_cast<T>(random.between(-3, 6));
        if (n > 4) {
            values[0] = -1;  // the lower end is in the first bin
            values[1] = std::numeric_limits<T>::infinity();
            values[2] = std::numeric_limits<T>::quiet_NaN();
            values[3] = std::numeric_limits<T>::lowest();
        }
        for (const double width : {0.25, 0.1, 0.0}) {
            std::vector<std::int32_t> out(n);
            kernels::bins(values.data(), -1, width, 16, out.data(), n);
            for (std::size_t k = 0; k < n; ++k) {
                const double value = static_cast<double>(values[k]);
                std::int32_t expected = 16;
                if (width > 0 && value >= -1)
                    expected =
                        static_cast<std::int32_t>(std::min(15.0, std::floor((value + 1) / width)));
                same(out[k], expected);
            }
        }
    }
}

const Test bins{"kernels: bins, their ends, and values above and below the range", [] {
                    bins_like_a_loop<float>();
                    bins_like_a_loop<double>();
                }};

template <class T>
void narrow_like_a_loop() {
    Random random(6);
    for (std::size_t n = 0; n < 70; ++n) {
        std::vector<double> values(n);
        for (double& value : values) value = random.normal();
        std::vector<T> out(n);
        kernels::to_storage(values.data(), out.data(), n);
        for (std::size_t k = 0; k < n; ++k) same(out[k], static_cast<T>(values[k]));
    }
}

const Test narrowing{"kernels: to_storage rounds once", [] {
                         narrow_like_a_loop<float>();
                         narrow_like_a_loop<double>();
                     }};

const Test widening{"kernels: to_finite_doubles clips infinities at any index", [] {
                        Random random(7);
                        for (std::size_t n = 1; n < 40; ++n) {
                            std::vector<float> values(n);
                            for (float& value : values) value = static_cast<float>(random.normal());
                            for (const double odd : {0.5, kInfinity, -kInfinity, std::nan("")}) {
                                const auto place =
                                    static_cast<std::size_t>(random.below(static_cast<int>(n)));
                                values[place] = static_cast<float>(odd);
                                std::vector<double> out(n);
                                kernels::to_finite_doubles(values.data(), out.data(), n);
                                for (std::size_t k = 0; k < n; ++k) {
                                    if (k != place) same(out[k], static_cast<double>(values[k]));
                                    else if (odd == 0.5) same(out[k], 0.5);
                                    else same(out[k], odd > 0 ? 1e300 : (odd < 0 ? -1e300 : 0.0));
                                }
                                values[place] = 0;
                            }
                        }
                    }};

}  // namespace
}  // namespace tagalong::test::kernels_test
