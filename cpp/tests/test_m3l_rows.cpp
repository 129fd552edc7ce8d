// Rows in every layout give the products of their matrix; the kernel cache returns the computed
// rows for any capacity.
#include <cstdint>
#include <vector>

#include "m3l/block_kernels.hpp"
#include "m3l/kernel_cache.hpp"
#include "m3l/kernel_loops.hpp"
#include "m3l/rows.hpp"
#include "m3l/shuffle.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::m3l_rows_test {

using namespace m3l;

namespace {

struct Sparse {
    std::vector<double> value;
    std::vector<std::int32_t> index, start = {0};
    std::int64_t columns;

    Sparse(Random& random, int rows, int columns, double density, bool constant_rows)
        : columns(columns) {
        for (int i = 0; i < rows; ++i) {
            const double constant = random.normal();
            for (int j = 0; j < columns; ++j)
                if (random.chance(density)) {
                    index.push_back(j);
                    value.push_back(constant_rows ? constant : random.normal());
                }
            start.push_back(static_cast<std::int32_t>(index.size()));
        }
    }
    Matrix matrix() const {
        Matrix out;
        out.rows = static_cast<std::int64_t>(start.size()) - 1;
        out.columns = columns;
        out.values = value.data();
        out.indices = index.data();
        out.indptr = start.data();
        return out;
    }
};

template <class T>
void compare(const Matrix& matrix, Random& random, double distance, double constant = 0) {
    const Rows<T> rows(matrix, constant);
    if (constant != 0) same(rows.feature().back(), static_cast<std::int32_t>(matrix.columns));
    AlignedVector<T> weights(rows.features() * kLanes);
    for (T& each : weights) each = static_cast<T>(random.normal());
    std::visit(
        [&](const auto& any) {
            Example row;
            for (std::int64_t i = 0; i < matrix.rows; ++i) {
                Note note("row ", i);
                matrix.read(i, row);
                double expected[kLanes] = {}, squared = constant * constant;
                const std::size_t last = (rows.features() - 1) * kLanes;
                for (std::size_t k = 0; k < kLanes && constant != 0; ++k)
                    expected[k] = constant * static_cast<double>(weights[last + k]);
                for (std::size_t e = 0; e < row.size(); ++e) {
                    squared += row.value[e] * row.value[e];
                    for (std::size_t j = 0; j < rows.features(); ++j)
                        if (rows.feature()[j] == row.feature[e])
                            for (std::size_t k = 0; k < kLanes; ++k)
                                expected[k] +=
                                    row.value[e] * static_cast<double>(weights[j * kLanes + k]);
                }
                alignas(64) T found[kLanes];
                any.score(static_cast<std::size_t>(i), weights.data()).store(found);
                for (std::size_t k = 0; k < kLanes; ++k)
                    near(static_cast<double>(found[k]), expected[k], distance);
                near(rows.squared_norm(static_cast<std::size_t>(i)), squared, 1e-9);
                // Adding the row itself increases each score by the row's squared norm.
                AlignedVector<T> moved = weights;
                any.add(static_cast<std::size_t>(i), Lanes<T>::broadcast(1), moved.data());
                alignas(64) T after[kLanes];
                any.score(static_cast<std::size_t>(i), moved.data()).store(after);
                for (std::size_t k = 0; k < kLanes; ++k)
                    near(static_cast<double>(after[k]), expected[k] + squared, 4 * distance);
            }
        },
        rows.storage());
}

Test sparse_rows("m3l rows: sparse rows, with constant and with varying values", [] {
    Random random(3);
    for (const bool constant_rows : {false, true}) {
        const Sparse data(random, 20, 37, 0.2, constant_rows);
        compare<float>(data.matrix(), random, 1e-4);
        compare<double>(data.matrix(), random, 1e-12);
    }
});

Test constant_feature("m3l rows: a constant feature is one more column of sparse rows", [] {
    Random random(5);
    for (const bool constant_rows : {false, true}) {
        const Sparse data(random, 20, 37, 0.2, constant_rows);
        compare<float>(data.matrix(), random, 1e-4, 0.7);
        compare<double>(data.matrix(), random, 1e-12, 0.7);
    }
});

Test wide_rows("m3l rows: more features than 16 bits can number", [] {
    Random random(4);
    Sparse data(random, 0, 0, 0, false);
    data.columns = 70000;
    for (std::int32_t j = 0; j < 70000; ++j) {
        data.index.push_back(j);
        data.value.push_back(j % 7 == 0 ? 2.0 : 0.5);
    }
    data.start.push_back(70000);
    const Rows<float> rows(data.matrix());
    check((std::holds_alternative<m3l::SparseRows<float, std::uint32_t>>(rows.storage())),
          "feature numbers do not have 32 bits");
    same(rows.features(), std::size_t{70000});
});

Test shared_rows("m3l rows: wide rows of matching types are read in place", [] {
    Random random(8);
    Sparse data(random, 0, 0, 0, false);
    data.columns = 70000;
    for (std::int32_t j = 0; j < 70000; ++j) {
        data.index.push_back(j);
        data.value.push_back(1.0);
    }
    data.start.push_back(70000);
    for (const std::int32_t j : {3, 500, 69999}) {
        data.index.push_back(j);
        data.value.push_back(random.normal());
    }
    data.start.push_back(70003);
    constexpr double kConstant = 0.7;
    const Rows<double> rows(data.matrix(), kConstant);
    const auto& shared = std::get<m3l::SparseRows<double, std::uint32_t>>(rows.storage());
    check(shared.value.data() == data.value.data(), "the values were copied");
    check(static_cast<const void*>(shared.index.data()) == data.index.data(),
          "the columns were copied");
    AlignedVector<double> weights(rows.features() * kLanes);
    for (double& each : weights) each = random.normal();
    alignas(64) double found[kLanes];
    shared.score(1, weights.data()).store(found);
    for (std::size_t k = 0; k < kLanes; ++k) {
        double expected = kConstant * weights[70000 * kLanes + k];
        for (std::size_t e = 70000; e < 70003; ++e)
            expected +=
                data.value[e] * weights[static_cast<std::size_t>(data.index[e]) * kLanes + k];
        near(found[k], expected, 1e-12);
    }
});

Test dense_rows("m3l rows: dense rows", [] {
    Random random(5);
    std::vector<double> value(9 * 13);
    for (double& each : value) each = random.normal();
    Matrix matrix;
    matrix.rows = 9;
    matrix.columns = matrix.row_stride = 13;
    matrix.values = value.data();
    check(Rows<float>(matrix).dense(), "a matrix without zeros was stored as sparse");
    compare<float>(matrix, random, 1e-4);
    compare<double>(matrix, random, 1e-12);
    check(Rows<float>(matrix, 0.7).dense(), "a constant feature changed the layout");
    compare<float>(matrix, random, 1e-4, 0.7);
    compare<double>(matrix, random, 1e-12, 0.7);
});

Test cache("m3l kernel cache: returns the requested rows at any capacity", [] {
    Random random(6);
    constexpr std::size_t kRows = 30;
    for (const std::size_t bytes :
         {std::size_t{0}, std::size_t{10 * 4 * kRows}, std::size_t{1000000}}) {
        Note note("bytes ", bytes);
        std::size_t computed = 0;
        const auto product = [](std::size_t i, std::size_t j) {
            return static_cast<float>((i + 1) * (j + 1));
        };
        Products products;
        products.rows = [&](std::span<const std::int32_t> rows, std::span<float* const> out) {
            computed += rows.size();
            for (std::size_t k = 0; k < rows.size(); ++k)
                for (std::size_t i = 0; i < kRows; ++i) out[k][i] = product(rows[k], i);
        };
        products.among = [&](std::span<const std::int32_t> rows, float* out) {
            for (const std::int32_t i : rows)
                for (const std::int32_t j : rows) *out++ = product(i, j);
        };
        KernelCache cache(kRows, bytes, products);
        at_most(static_cast<double>(cache.slots()),
                std::max(8.0, static_cast<double>(bytes) / (4 * kRows)));
        const std::vector<std::int32_t> wanted_soon = {1, 5, 9, 13, 2, 8};
        for (int round = 0; round < 500; ++round) {
            const auto p = static_cast<std::size_t>(random.below(kRows));
            const auto q = static_cast<std::size_t>(random.below(kRows));
            const float* first = cache.row(p, wanted_soon);
            const float* second = cache.row(q, wanted_soon);
            same(first[3], product(p, 3));
            same(second[7], product(q, 7));
            // Cached and missing rows together: among() must not compute whole rows.
            const std::vector<std::int32_t> some = {
                static_cast<std::int32_t>(q), 4, 11, 17, 23, 29};
            const std::size_t before = computed;
            std::vector<float> found(some.size() * some.size());
            cache.among(some, found.data());
            same(computed, before);
            for (std::size_t k = 0; k < found.size(); ++k)
                same(found[k], product(some[k / some.size()], some[k % some.size()]));
        }
        if (cache.fits_all_rows()) {
            check(!cache.compute_all(1, [] { return true; }), "compute_all ignored stop()");
            check(cache.compute_all(3, [] { return false; }), "compute_all stopped without reason");
            same(cache.cached_row(29)[29], 900.0f);
            same(cache.cached_row(0)[29], 30.0f);
        }
    }
});

template <class T>
void propagate_all(double distance) {
    Random random(8);
    constexpr std::size_t kFeatures = 2 * Changes<T>::kPart + 37;
    AlignedVector<T> sums(kFeatures * kLanes, T{0}), weights(kFeatures * kLanes),
        r(kLanes * kLanes, T{0});
    for (T& each : weights) each = static_cast<T>(random.normal());
    for (std::size_t j = 0; j < kFeatures; ++j)
        for (std::size_t k = 0; k < kLanes; ++k)
            if (j % 3 != 0 && random.chance(0.4))
                sums[j * kLanes + k] = static_cast<T>(random.normal());
    constexpr Mask kCoupledLabels = 0b1010'0110'1110'0101;
    for (std::size_t k = 0; k < kLanes; ++k)
        if (kCoupledLabels >> k & 1)
            for (std::size_t l = 0; l < kLanes; ++l)
                r[k * kLanes + l] = static_cast<T>(random.normal());
    std::vector<double> expected(weights.begin(), weights.end());
    for (std::size_t j = 0; j < kFeatures; ++j)
        for (std::size_t k = 0; k < kLanes; ++k)
            for (std::size_t l = 0; l < kLanes; ++l)
                expected[j * kLanes + l] += static_cast<double>(sums[j * kLanes + k]) *
                                            static_cast<double>(r[k * kLanes + l]);
    Changes<T> changes;
    extract_changes(sums, changes);
    check(std::all_of(sums.begin(), sums.end(), [](T each) { return each == 0; }),
          "the sums were not set to zero");
    check(std::all_of(changes.feature.begin(), changes.feature.end(),
                      [](auto j) { return j % 3 != 0; }),
          "an unchanged feature is listed");
    for (const std::size_t part : {2, 0, 1})
        propagate(changes, part, r.data(), kCoupledLabels, weights.data());
    for (std::size_t e = 0; e < expected.size(); ++e)
        near(static_cast<double>(weights[e]), expected[e], distance);
    extract_changes(sums, changes);
    same(changes.feature.size(), std::size_t{0});
}

Test propagating("m3l propagate: changes of v times the prior are added to the weights", [] {
    propagate_all<float>(1e-4);
    propagate_all<double>(1e-12);
});

Test loops(
    "m3l kernel loops: the first of equal violations, and no row where nothing violates", [] {
        const std::size_t n = 700;
        std::vector<float> h(n, 0.5f), b(n, 0.0f), low(n, 0.0f), high(n, 1.0f);
        h[300] = h[650] = 2.0f;
        same(most_violating(h.data(), b.data(), low.data(), high.data(), n).row, std::size_t{300});
        b.assign(n, 1.0f);  // at the upper bound with a positive derivative
        same(most_violating(h.data(), b.data(), low.data(), high.data(), n).row, n);
        h[699] = -0.25f;
        same(most_violating(h.data(), b.data(), low.data(), high.data(), n).row, std::size_t{699});
    });

Test shuffling("m3l shuffle: a permutation, the same for the same seed", [] {
    std::vector<std::uint32_t> a(100), b(100);
    for (std::uint32_t i = 0; i < 100; ++i) a[i] = b[i] = i;
    Shuffle first(7), second(7);
    first(a.data(), a.size());
    second(b.data(), b.size());
    check(a == b, "equal seeds give different orders");
    check(!std::is_sorted(a.begin(), a.end()), "the order did not change");
    std::sort(a.begin(), a.end());
    for (std::uint32_t i = 0; i < 100; ++i) same(a[i], i);
});

}  // namespace
}  // namespace tagalong::test::m3l_rows_test
