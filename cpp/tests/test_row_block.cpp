// RowBlock: rows from any matrix. BlockMatrix: their products. LinearVector equals a simple map.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "blocks/block_matrix.hpp"
#include "blocks/row_block.hpp"
#include "geometry/linear_vector.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::row_block_test {
namespace {

using Map = std::map<std::int32_t, double>;

Map as_map(const RowView& row) {
    Map out;
    for (std::size_t i = 0; i < row.size(); ++i) {
        check(i == 0 || row.feature[i - 1] < row.feature[i], "features must ascend");
        check(row.value[i] != 0, "zeros must be dropped");
        out[row.feature[i]] = row.value[i];
    }
    return out;
}

Map signed_map(const RowBlock& block, std::size_t j) {
    Map out = as_map(block.row(j));
    for (auto& [feature, value] : out) value *= block.sign(j);
    return out;
}

template <class I, class V>
void rows_of_type(Number index_type, Number value_type) {
    Random random(static_cast<std::uint64_t>(sizeof(I) * 10 + sizeof(V)));
    for (int repeat = 0; repeat < 50; ++repeat) {
        const Note note("repeat ", repeat, ", index ", sizeof(I), " bytes, value ", sizeof(V),
                        " bytes");
        const int rows = 1 + random.below(4);
        constexpr int columns = 20;
        std::vector<I> indices, starts = {0};
        std::vector<V> values;
        std::vector<Map> expected(static_cast<std::size_t>(rows));
        std::vector<double> signs;
        // Sorted without duplicates and zeros, or in any order with both.
        const bool sorted = random.chance(0.5);
        for (int j = 0; j < rows; ++j) {
            signs.push_back(random.chance(0.5) ? 1.0 : -1.0);
            Map& row = expected[static_cast<std::size_t>(j)];
            for (int i = 0; i < columns; ++i) {
                if (!random.chance(0.4)) continue;
                const int column = sorted ? i : random.below(columns);
                const V value = sorted ? static_cast<V>(1 + random.below(8))
                                       : static_cast<V>(random.below(5) - 2);
                indices.push_back(static_cast<I>(column));
                values.push_back(value);
                row[column] += signs.back() * static_cast<double>(value);
            }
            std::erase_if(row, [](const auto& entry) { return entry.second == 0; });
            starts.push_back(static_cast<I>(indices.size()));
        }
        Matrix matrix;
        matrix.rows = rows;
        matrix.columns = columns;
        matrix.values = values.data();
        matrix.value_type = value_type;
        matrix.indices = indices.data();
        matrix.indptr = starts.data();
        matrix.index_type = index_type;
        RowBlock block;
        for (int pass = 0; pass < 2; ++pass) {  // the second time with reused arrays
            block.clear();
            for (int j = 0; j < rows; ++j)
                block.append(matrix, j, signs[static_cast<std::size_t>(j)]);
            same(block.rows(), static_cast<std::size_t>(rows));
            for (std::size_t j = 0; j < block.rows(); ++j)
                check(as_map(block.row(j)) == expected[j], "rows differ");
        }
        // Rows read in place, all together or in groups of one or two, of which some may be sorted.
        for (const int group : {1, 2, rows}) {
            block.clear();
            for (int j = 0; j < rows; j += group)
                block.append_references(matrix, j, std::min(rows, j + group), signs.data() + j);
            same(block.rows(), static_cast<std::size_t>(rows));
            for (std::size_t j = 0; j < block.rows(); ++j)
                check(signed_map(block, j) == expected[j], "the row in place differs");
            const bool in_place = sorted && sizeof(I) == 4 && sizeof(V) == 8;
            if (in_place) check(block.has_separate_signs(), "rows were copied without need");
            if (sizeof(I) != 4 || sizeof(V) != 8)
                check(!block.has_separate_signs(), "rows of other types were not copied");
        }
    }
}

const Test types{"row block: rows of sparse matrices of all types, in any order", [] {
                     rows_of_type<std::int32_t, float>(Number::int32, Number::float32);
                     rows_of_type<std::int32_t, double>(Number::int32, Number::float64);
                     rows_of_type<std::int64_t, float>(Number::int64, Number::float32);
                     rows_of_type<std::int64_t, double>(Number::int64, Number::float64);
                 }};

const Test dense{"row block: rows of dense matrices", [] {
                     const std::vector<double> values = {0, 2, 0, -1, 0, 0};
                     Matrix matrix;
                     matrix.rows = 2;
                     matrix.columns = matrix.row_stride = 3;
                     matrix.values = values.data();
                     RowBlock block;
                     block.append(matrix, 0, -1.0);
                     block.append(matrix, 1, 1.0);
                     check(as_map(block.row(0)) == Map{{1, -2.0}}, "the first row differs");
                     check(as_map(block.row(1)) == Map{{0, -1.0}}, "the second row differs");
                     const std::vector<double> signs = {-1.0, 1.0};
                     block.clear();
                     block.append_references(matrix, 0, 2, signs.data());
                     check(!block.has_separate_signs(), "rows with zeros were not copied");
                     check(signed_map(block, 0) == Map{{1, -2.0}},
                           "the first row differs after copying");
                 }};

const Test dense_in_place{
    "row block: dense rows without zeros are read in place, contiguous or not", [] {
        const std::vector<double> values = {1, 2, 0, 3, 4, 0, 5, 6, 0};
        Matrix matrix;
        matrix.rows = 3;
        matrix.columns = 2;
        matrix.row_stride = 3;
        matrix.values = values.data();
        const std::vector<double> signs = {-1.0, 1.0, -1.0};
        RowBlock block;
        block.append_references(matrix, 0, 3, signs.data());
        same(block.rows(), 3u);
        check(block.row(1).value.data() == values.data() + 3, "rows were copied without need");
        check(signed_map(block, 0) == Map{{0, -1.0}, {1, -2.0}}, "the first row differs");
        check(signed_map(block, 2) == Map{{0, -5.0}, {1, -6.0}}, "the last row differs");
    }};

const Test boundaries{
    "row block: columns may decrease between rows, but not within a row; rows may be empty", [] {
        const std::vector<std::int32_t> starts = {0, 0, 2, 2, 2, 4, 4};
        const std::vector<double> values = {1, 2, 3, 4}, signs(6, 1.0);
        Matrix matrix;
        matrix.rows = 6;
        matrix.columns = 10;
        matrix.values = values.data();
        matrix.indptr = starts.data();
        const auto in_place = [&](std::vector<std::int32_t> indices) {
            matrix.indices = indices.data();
            RowBlock block;
            block.append_references(matrix, 0, 6, signs.data());
            same(block.rows(), 6u);
            Map expected = {{indices[0], 1.0}};
            expected[indices[1]] += 2;
            check(as_map(block.row(1)) == expected, "the first nonempty row differs");
            for (const std::size_t j : {0u, 2u, 3u, 5u}) same(block.row(j).size(), 0u);
            return block.has_separate_signs();
        };
        check(in_place({1, 2, 0, 3}), "a decrease between rows was refused");
        check(in_place({1, 2, 2, 3}), "the same column in two rows was refused");
        check(in_place({1, 2, 3, 4}), "an increase between rows was refused");
        check(!in_place({2, 1, 3, 4}), "a decrease within a row was accepted");
        check(!in_place({2, 2, 0, 4}), "a duplicate was accepted");
        check(!in_place({1, 2, 4, 3}), "a decrease within the last row was accepted");
    }};

const Test products{"block matrix: products of rows with small and large feature ids", [] {
                        Random random(4);
                        BlockMatrix matrix;
                        for (int repeat = 0; repeat < 50; ++repeat) {
                            RowBlock block;
                            std::vector<std::size_t> all;
                            for (std::size_t j = 0; j < 6; ++j) {
                                // Multiples of a power of two collide in a hash table; small ids
                                // are indices.
                                for (std::int32_t i = 0; i < 40; ++i)
                                    if (random.chance(0.3))
                                        block.add(repeat % 2 ? i << 20 : i, random.normal());
                                block.end_row();
                                all.push_back(j);
                            }
                            std::vector<double> found;
                            matrix.load(block, all);
                            matrix.products(found);
                            for (std::size_t j = 0; j < 6; ++j)
                                for (std::size_t k = 0; k < 6; ++k) {
                                    const Map a = as_map(block.row(j)), b = as_map(block.row(k));
                                    double expected = 0;
                                    for (const auto& [feature, value] : a)
                                        if (b.count(feature)) expected += value * b.at(feature);
                                    near(found[j * 6 + k], expected, 1e-12);
                                }
                        }
                    }};

const Test vector{"linear vector: scores, steps and complexity equal those of a map", [] {
                      for (const std::int64_t declared :
                           {0, 20, 1 << 30}) {  // none, fewer than some ids, and more than all
                          Random random(5);
                          LinearVector<double> weights(declared);
                          Map expected;
                          std::vector<std::int32_t> order;
                          const auto half_square = [&] {
                              double sum = 0;
                              for (const auto& [feature, weight] : expected)
                                  sum += weight * weight / 2;
                              return sum;
                          };
                          double base = 0;
                          for (int round = 0; round < 300; ++round) {
                              Example x;
                              for (std::int32_t i = 0; i < 30; ++i)
                                  if (random.chance(round < 20 ? 0.02 : 0.3))
                                      x.add(i % 3 ? i : i * 1'000'003, random.normal());
                              if (round % 2) x.add(kConstantFeature, 1);
                              x.merge();
                              const auto score = weights.score(x);
                              for (const std::int32_t feature : x.feature)
                                  if (!expected.count(feature)) order.push_back(feature);
                              double value = 0, squared = 0;
                              for (std::size_t i = 0; i < x.size(); ++i) {
                                  value += x.value[i] * expected[x.feature[i]];
                                  squared += x.value[i] * x.value[i];
                              }
                              near(score.value, value, 1e-12 * (1 + std::abs(value)));
                              near(score.squared, squared, 1e-12 * squared);
                              const double amount = random.normal();
                              weights.add(x, amount);
                              // Sometimes the step is undone: features that were added stay.
                              const bool back = round < 40 && round % 2;
                              if (back) weights.add(x, -amount);
                              for (std::size_t i = 0; i < x.size(); ++i)
                                  expected[x.feature[i]] += back ? 0 : amount * x.value[i];
                              check(weights.features() == order, "the order of insertion differs");
                              near(weights.complexity(), half_square() - base,
                                   1e-10 * (1 + half_square()));
                              if (round == 150) {
                                  weights.restart();
                                  base = half_square();
                              }
                          }
                          for (const auto& [feature, weight] : expected)
                              near(weights.feature_weight(feature), weight, 1e-10);
                          for (std::size_t row = 0; row < order.size(); ++row)
                              same(weights.weight(static_cast<std::int32_t>(row)),
                                   weights.feature_weight(order[row]));
                          same(weights.feature_weight(12345), 0.0);
                          same(weights.weight(FeatureIndex::kAbsent), 0.0);
                      }
                  }};

}  // namespace
}  // namespace tagalong::test::row_block_test
