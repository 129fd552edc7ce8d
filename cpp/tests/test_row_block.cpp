// Rows of a block, from any matrix; and the weights of a single label against a plain map.
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
        check(row.value[i] != 0, "zeros must be left out");
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
        // In order, or in any order with duplicates and zeros.
        const bool tidy = random.chance(0.5);
        for (int j = 0; j < rows; ++j) {
            signs.push_back(random.chance(0.5) ? 1.0 : -1.0);
            Map& row = expected[static_cast<std::size_t>(j)];
            for (int i = 0; i < columns; ++i) {
                if (!random.chance(0.4)) continue;
                const int column = tidy ? i : random.below(columns);
                const V value = tidy ? static_cast<V>(1 + random.below(8))
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
        for (int again = 0; again < 2; ++again) {  // the second time in arrays that are there
            block.clear();
            for (int j = 0; j < rows; ++j)
                block.append(matrix, j, signs[static_cast<std::size_t>(j)]);
            same(block.rows(), static_cast<std::size_t>(rows));
            for (std::size_t j = 0; j < block.rows(); ++j)
                check(as_map(block.row(j)) == expected[j], "another row");
        }
        // Where they lie, and two at a time, of which one may be in order and the other not.
        for (const int together : {1, 2, rows}) {
            block.clear();
            for (int j = 0; j < rows; j += together)
                block.append_references(matrix, j, std::min(rows, j + together), signs.data() + j);
            same(block.rows(), static_cast<std::size_t>(rows));
            for (std::size_t j = 0; j < block.rows(); ++j)
                check(signed_map(block, j) == expected[j], "another row in place");
            const bool in_place = tidy && sizeof(I) == 4 && sizeof(V) == 8;
            if (in_place) check(block.has_separate_signs(), "copied for no reason");
            if (sizeof(I) != 4 || sizeof(V) != 8)
                check(!block.has_separate_signs(), "other types cannot stay");
        }
    }
}

const Test types{"row block: rows of sparse matrices, whatever their types and order", [] {
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
                     check(as_map(block.row(0)) == Map{{1, -2.0}}, "the first row");
                     check(as_map(block.row(1)) == Map{{0, -1.0}}, "the second row");
                     const std::vector<double> signs = {-1.0, 1.0};
                     block.clear();
                     block.append_references(matrix, 0, 2, signs.data());
                     check(!block.has_separate_signs(), "rows with zeros are copied");
                     check(signed_map(block, 0) == Map{{1, -2.0}}, "the first row, copied");
                 }};

const Test dense_in_place{
    "row block: dense rows without zeros stay where they lie, apart or not", [] {
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
        check(block.row(1).value.data() == values.data() + 3, "copied for no reason");
        check(signed_map(block, 0) == Map{{0, -1.0}, {1, -2.0}}, "the first row");
        check(signed_map(block, 2) == Map{{0, -5.0}, {1, -6.0}}, "the last row");
    }};

const Test boundaries{
    "row block: columns may go down between rows, and only there; rows may be empty", [] {
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
            check(as_map(block.row(1)) == expected, "the first row with entries");
            for (const std::size_t j : {0u, 2u, 3u, 5u}) same(block.row(j).size(), 0u);
            return block.has_separate_signs();
        };
        check(in_place({1, 2, 0, 3}), "down between rows");
        check(in_place({1, 2, 2, 3}), "the same column in two rows");
        check(in_place({1, 2, 3, 4}), "up between rows");
        check(!in_place({2, 1, 3, 4}), "down within a row");
        check(!in_place({2, 2, 0, 4}), "a duplicate");
        check(!in_place({1, 2, 4, 3}), "down within the last row");
    }};

const Test products{"block matrix: products of rows with near and far features", [] {
                        Random random(4);
                        BlockMatrix matrix;
                        for (int repeat = 0; repeat < 50; ++repeat) {
                            RowBlock block;
                            std::vector<std::size_t> all;
                            for (std::size_t j = 0; j < 6; ++j) {
                                // Multiples of a power of two meet in a hash table; small ids need none.
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

const Test vector{"linear vector: scores, steps and complexity, against a map", [] {
                      for (const std::int64_t declared :
                           {0, 20, 1 << 30}) {  // none, one that some ids exceed, and many
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
                              // Back to nothing, at times: what has entered stays.
                              const bool back = round < 40 && round % 2;
                              if (back) weights.add(x, -amount);
                              for (std::size_t i = 0; i < x.size(); ++i)
                                  expected[x.feature[i]] += back ? 0 : amount * x.value[i];
                              check(weights.features() == order, "another order of entering");
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
