// Rows of a block, from any matrix; and the weights of a single label against a plain map.
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "block_matrix.hpp"
#include "check.hpp"
#include "geometry/linear_vector.hpp"
#include "random.hpp"
#include "row_block.hpp"

namespace tagalong::test {
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

template <class I, class V>
void rows_of_type(Number index_type, Number value_type) {
    Random random(static_cast<std::uint64_t>(sizeof(I) * 10 + sizeof(V)));
    for (int repeat = 0; repeat < 50; ++repeat) {
        const Note note("repeat ", repeat, ", index ", sizeof(I), " bytes, value ", sizeof(V), " bytes");
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
                const V value = tidy ? static_cast<V>(1 + random.below(8)) : static_cast<V>(random.below(5) - 2);
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
            for (int j = 0; j < rows; ++j) block.append(matrix, j, signs[static_cast<std::size_t>(j)]);
            same(block.rows(), static_cast<std::size_t>(rows));
            for (std::size_t j = 0; j < block.rows(); ++j) check(as_map(block.row(j)) == expected[j], "another row");
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
}};

const Test products{"block matrix: products of rows with far features", [] {
    Random random(4);
    for (int repeat = 0; repeat < 50; ++repeat) {
        RowBlock block;
        std::vector<std::size_t> all;
        for (std::size_t j = 0; j < 6; ++j) {
            // Multiples of a power of two meet in a hash table.
            for (std::int32_t i = 0; i < 40; ++i)
                if (random.chance(0.3)) block.add(i << 20, random.normal());
            block.end_row();
            all.push_back(j);
        }
        BlockMatrix matrix;
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
    Random random(5);
    LinearVector<double> weights;
    Map expected;
    std::vector<std::int32_t> place;
    const auto half_square = [&] {
        double sum = 0;
        for (const auto& [feature, weight] : expected) sum += weight * weight / 2;
        return sum;
    };
    double base = 0;
    for (int round = 0; round < 300; ++round) {
        Example x;
        for (std::int32_t i = 0; i < 30; ++i)
            if (random.chance(0.3)) x.add(i % 3 ? i : i * 1'000'003, random.normal());
        x.merge();
        place.resize(x.size());
        const auto score = weights.score(x, place.data());
        bool known = true;
        for (std::size_t i = 0; i < x.size(); ++i) {
            same(place[i], weights.find(x.feature[i]));
            known &= place[i] != FeatureIndex::kAbsent;
        }
        same(score.known, known);
        double value = 0, squared = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            value += x.value[i] * expected[x.feature[i]];
            squared += x.value[i] * x.value[i];
        }
        near(score.value, value, 1e-12 * (1 + std::abs(value)));
        near(score.squared, squared, 1e-12 * squared);
        const double amount = random.normal();
        // Twice from the same places: the first time may have made rows for them.
        std::vector<std::int32_t> again = place;
        for (auto* places : {&place, &again}) {
            weights.enter(x, places->data());
            weights.add(x, amount, places->data());
        }
        for (std::size_t i = 0; i < x.size(); ++i) expected[x.feature[i]] += 2 * amount * x.value[i];
        near(weights.complexity(), half_square() - base, 1e-10 * (1 + half_square()));
        if (round == 150) {
            weights.restart();
            base = half_square();
        }
    }
    for (const auto& [feature, weight] : expected) near(weights.weight(weights.find(feature)), weight, 1e-10);
    same(weights.weight(weights.find(12345)), 0.0);
}};

}  // namespace
}  // namespace tagalong::test
