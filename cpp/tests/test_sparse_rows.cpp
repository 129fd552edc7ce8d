// Rows that store only the touched labels have the same bits as whole rows.
#include <cstdint>
#include <vector>

#include "geometry/linear.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::sparse_rows_test {
namespace {

constexpr std::size_t kMany = 4000;  // number of labels; enough for sparse rows

template <class T>
void lines_hold_written_numbers() {
    Random random(3);
    SparseRows<T> rows(2);
    std::vector<std::vector<T>> expected(5, std::vector<T>(2 * kMany, T(0)));
    for (int row = 0; row < 5; ++row) rows.ensure_rows(rows.rows() + 1);
    for (int i = 0; i < 2000; ++i) {
        const int row = random.below(5), label = random.below(static_cast<int>(kMany));
        if (random.chance(0.003)) {  // released lines are reused and must be empty
            rows.release(row);
            std::fill(expected[row].begin(), expected[row].end(), T(0));
        }
        T* const number = rows.find_or_insert(row, label);
        number[0] = expected[row][label] = static_cast<T>(i);
        number[SparseRows<T>::kBlock] = expected[row][kMany + label] = static_cast<T>(-i);
    }
    for (int row = 0; row < 5; ++row) {
        std::vector<T> seen(2 * kMany, T(0));
        std::size_t blocks = 0, next = 0;
        rows.visit(row, [&](std::size_t label, const T* numbers) {
            check(label >= next && label % SparseRows<T>::kBlock == 0, "blocks are not in order");
            next = label + SparseRows<T>::kBlock;
            ++blocks;
            for (std::size_t k = 0; k < SparseRows<T>::kBlock; ++k) {
                seen[label + k] = numbers[k];
                seen[kMany + label + k] = numbers[SparseRows<T>::kBlock + k];
            }
        });
        same(blocks, rows.blocks(row));
        check(seen == expected[row], "numbers of a row differ");
        for (std::size_t label = 0; label < kMany; ++label) {
            const T* found = rows.find(row, label);
            same(found ? *found : T(0), expected[row][label]);
        }
    }
}

// The same steps on a geometry with sparse rows and on one with whole rows. With a working set, the
// complexity is summed in another order.
template <class T>
void geometries_agree(StepPattern steps, double rate, bool averaged) {
    const Note note("rate ", rate, ", averaged ", averaged);
    const bool to_the_bit = steps == StepPattern::few_labels;
    const double error = to_the_bit ? 0 : std::is_same_v<T, float> ? 1e-5 : 1e-12;
    Random random(11);
    LinearGeometry<T> sparse(rate, averaged, steps), whole(rate, averaged);
    std::size_t labels = kMany;
    sparse.add_labels(labels);
    whole.add_labels(labels);
    RowLookup<T> at_sparse, at_whole;
    Step step;
    bool any_sparse = false, any_whole = false;
    for (int round = 0; round < 300; ++round) {
        if (round == 150) {  // more than the spare memory: rows are reallocated
            labels += 3000;
            sparse.add_labels(3000);
            whole.add_labels(3000);
        }
        Example x;
        for (int i = 0; i < 6; ++i) {
            // A few frequent features, whose rows become whole.
            const int feature = random.chance(0.25) ? random.below(60) : random.below(3);
            x.add(feature, random.between(-1, 1));
        }
        x.finish(Norm::euclidean, 0);
        sparse.score(x, averaged, at_sparse);
        whole.score(x, averaged, at_whole);
        check(at_sparse.sums == at_whole.sums, "scores differ");
        if (averaged) check(at_sparse.mean_sums == at_whole.mean_sums, "averages differ");
        same(sparse.squared_norm(x, at_sparse), whole.squared_norm(x, at_whole));

        step.clear(labels);
        // Usually few labels; sometimes more than a quarter of all.
        const int moved = random.chance(0.01) ? 3000 : 1 + random.below(6);
        for (int i = 0; i < moved; ++i) {
            const int label = random.below(static_cast<int>(labels));
            if (step.alpha[label] == 0) step.set(label, random.between(-1, 1));
        }
        sparse.apply(x, step, round, at_sparse);
        whole.apply(x, step, round, at_whole);
        near(sparse.complexity(), whole.complexity(), error * whole.complexity());
    }
    const auto& rows = sparse.store();
    check(rows.features() == whole.store().features(), "rows differ");
    std::vector<T> actual(labels), expected(labels);
    for (std::size_t r = 0; r < rows.rows(); ++r) {
        const auto row = static_cast<std::int32_t>(r);
        (rows.is_dense(row) ? any_whole : any_sparse) = true;
        for (std::size_t plane = 0; plane < rows.planes(); ++plane) {
            rows.read(row, plane, actual.data());
            whole.store().read(row, plane, expected.data());
            check(actual == expected, "numbers differ");
            same(rows.value(row, plane, 17), expected[17]);
        }
        same(sparse.weight(row, 3, averaged ? 0.5 : 0), whole.weight(row, 3, averaged ? 0.5 : 0));
    }
    check(any_sparse && any_whole, "the test does not have rows of both kinds");
    same(sparse.recompute_complexity(), whole.recompute_complexity());
    check(rows.bytes() < whole.store().bytes(), "sparse rows do not save memory");
}

template <class T>
void rows_are_restored_sparse() {
    LinearGeometry<T> geometry(0, true, StepPattern::few_labels);
    geometry.add_labels(kMany);
    std::vector<T> theta(kMany, T(0)), means(kMany, T(0));
    theta[5] = 1;
    theta[3999] = -2;
    means[700] = 3;
    geometry.restore_row(9, {1, 5, 0}, theta.data(), means.data());
    std::fill(theta.begin(), theta.end(), T(1));
    geometry.restore_row(4, {1, 5, 0}, theta.data(), means.data());
    const auto& store = geometry.store();
    check(!store.is_dense(0), "a row of few numbers is not sparse");
    check(store.is_dense(1), "a row of many numbers is still sparse");
    same(store.sparse().blocks(0), 3u);
    same(store.value(0, 0, 3999), T(-2));
    same(store.value(0, 1, 700), T(3));
    same(store.value(1, 0, 1234), T(1));
    same(store.value(1, 1, 700), T(3));
}

const Test lines32{"sparse rows: lines hold the written numbers, float",
                   [] { lines_hold_written_numbers<float>(); }};
const Test lines64{"sparse rows: lines hold the written numbers, double",
                   [] { lines_hold_written_numbers<double>(); }};
const Test agree{"sparse rows: the same bits as whole rows", [] {
                     for (const auto steps : {StepPattern::few_labels, StepPattern::working_set}) {
                         geometries_agree<float>(steps, 0, false);
                         geometries_agree<float>(steps, 3, true);
                         geometries_agree<double>(steps, 3, false);
                         geometries_agree<double>(steps, 0, true);
                     }
                 }};
const Test restored{"sparse rows: a restored store has the same rows", [] {
                        rows_are_restored_sparse<float>();
                        rows_are_restored_sparse<double>();
                    }};

}  // namespace
}  // namespace tagalong::test::sparse_rows_test
