// Labels that share a column until a step distinguishes them: the same numbers as without sharing.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "geometry/linear.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::label_columns_test {
namespace {

constexpr std::size_t kMany = 3000;  // number of labels; enough for sharing

// Two geometries with the same steps: in `shared` labels share columns, in `separate` they do not.
template <class T>
struct Twins {
    LinearGeometry<T> shared, separate;
    RowLookup<T> at_shared, at_separate;
    Step step;
    bool averaged;
    std::size_t labels = 0;
    int round = 0;

    Twins(double rate, bool with_means)
        : shared(rate, with_means, StepPattern::by_score),
          separate(rate, with_means),
          averaged(with_means) {
        add_labels(kMany);
    }

    void add_labels(std::size_t count) {
        labels += count;
        shared.add_labels(count);
        separate.add_labels(count);
    }

    Example example(Random& random) {
        Example x;
        for (int i = 0; i < 12; ++i)
            x.add(random.chance(0.4) ? random.below(400) : random.below(5), random.between(-1, 1));
        x.finish(Norm::euclidean, 0);
        return x;
    }

    // A step as from an update rule: irrelevant labels decrease by an amount that depends only on
    // the score, a few labels are relevant, some are unknown.
    void choose_step(Random& random) {
        step.clear(labels);
        const bool all_move = random.chance(0.7);
        const double slope = random.between(0.1, 1);
        for (std::size_t k = 0; all_move && k < labels; ++k)
            step.alpha[k] = -0.01 - slope * std::abs(static_cast<double>(at_separate.sums[k]));
        if (all_move) step.touch_all();
        const int others = 1 + random.below(4);
        for (int i = 0; i < others; ++i) {
            const int label = random.below(static_cast<int>(labels));
            if (!all_move && step.alpha[label] != 0) continue;
            const double alpha = all_move && random.chance(0.3) ? 0 : random.between(0.1, 1);
            if (all_move) step.alpha[label] = alpha;
            else step.set(label, alpha);
        }
    }

    void run_rounds(Random& random, int rounds) {
        for (const int last = round + rounds; round < last; ++round) {
            const Example x = example(random);
            // Scores are the same before rows get their missing columns (readers) and afterwards
            // (the writer).
            for (const bool caught_up : {false, true}) {
                if (caught_up) shared.add_missing_columns(x);
                shared.score(x, averaged, at_shared);
                separate.score(x, averaged, at_separate);
                check(at_shared.sums == at_separate.sums, "scores differ");
                if (averaged)
                    check(at_shared.mean_sums == at_separate.mean_sums, "averages differ");
            }
            same(shared.squared_norm(x, at_shared), separate.squared_norm(x, at_separate));
            choose_step(random);
            shared.apply(x, step, round, at_shared);
            separate.apply(x, step, round, at_separate);
        }
        compare();
    }

    void compare() const {
        const auto& store = shared.store();
        check(store.features() == separate.store().features(), "rows differ");
        std::vector<T> actual(labels), expected(labels);
        for (std::size_t r = 0; r < store.rows(); ++r) {
            const auto row = static_cast<std::int32_t>(r);
            for (std::size_t plane = 0; plane < store.planes(); ++plane) {
                store.read(row, plane, actual.data());
                separate.store().read(row, plane, expected.data());
                check(actual == expected, "numbers differ");
            }
            same(shared.weight(row, 7, averaged ? 0.5 : 0),
                 separate.weight(row, 7, averaged ? 0.5 : 0));
            // The sums of squares have another order of summation.
            const double norm2 = separate.row_state(r).norm2;
            near(shared.row_state(r).norm2, norm2, 1e-5 * norm2);
        }
        near(shared.complexity(), separate.complexity(), 1e-5 * separate.complexity());
        near(shared.recompute_complexity(), separate.recompute_complexity(),
             1e-12 * separate.complexity());
    }
};

template <class T>
void twins_agree(double rate, bool averaged) {
    const Note note("rate ", rate, ", averaged ", averaged);
    Random random(5);
    Twins<T> twins(rate, averaged);
    twins.run_rounds(random, 150);
    const auto& store = twins.shared.store();
    check(store.sharing(), "no labels share a column");
    check(store.columns().count() > 50 && store.columns().shared_labels() > 1000,
          "the labels are not split into a few separate and many shared ones");
    same(store.columns().count() - 1 + store.columns().shared_labels(), kMany);
    std::size_t lacking = 0;
    for (std::size_t r = 0; r < store.rows(); ++r)
        lacking += store.stored_columns(static_cast<std::int32_t>(r)) < store.width();
    check(lacking > 10, "the test has too few rows without columns");
    check(5 * store.bytes() < twins.separate.store().bytes(), "shared columns do not save memory");

    twins.add_labels(0);
    check(store.sharing(), "adding no labels ended the sharing");
    twins.add_labels(40);  // the new labels differ from the existing ones
    check(!store.sharing(), "labels still share a column");
    twins.run_rounds(random, 50);
}

template <class T>
void every_label_separates() {
    Random random(6);
    Twins<T> twins(3, true);
    twins.run_rounds(random, 20);
    const Example x = twins.example(random);
    twins.shared.score(x, true, twins.at_shared);
    twins.separate.score(x, true, twins.at_separate);
    twins.step.clear(kMany);
    for (std::size_t k = 0; k < kMany; ++k)
        twins.step.set(static_cast<int>(k), random.between(-1, 1));
    twins.shared.apply(x, twins.step, 20, twins.at_shared);
    twins.separate.apply(x, twins.step, 20, twins.at_separate);
    at_most(twins.shared.store().columns().shared_labels(), 1u);
    twins.run_rounds(random, 20);
}

// If the relevance of most labels is unknown, those keep sharing a column, and the few others
// separate.
template <class T>
void unknown_labels_keep_sharing() {
    Random random(8);
    Twins<T> twins(3, true);
    for (int round = 0; round < 10; ++round) {
        const Example x = twins.example(random);
        twins.shared.score(x, true, twins.at_shared);
        twins.separate.score(x, true, twins.at_separate);
        twins.step.clear(kMany);
        for (int i = 0; i < 5; ++i) twins.step.set(10 * round + i, i == 0 ? 0.4 : -0.1);
        twins.shared.apply(x, twins.step, round, twins.at_shared);
        twins.separate.apply(x, twins.step, round, twins.at_separate);
    }
    twins.compare();
    same(twins.shared.store().columns().count(), std::size_t{1 + 10 * 5});
}

// A restored model continues with the same bits as the original.
template <class T>
void restored_columns_continue() {
    Random random(7);
    Twins<T> twins(3, true);
    twins.run_rounds(random, 60);
    const LinearGeometry<T>& before = twins.shared;
    LinearGeometry<T> after(3, true, StepPattern::by_score);
    after.add_labels(kMany);
    check(after.restore_columns(before.store().columns().of_all_labels()),
          "valid columns were refused");
    std::vector<T> theta(kMany), means(kMany);
    for (std::size_t r = 0; r < before.store().rows(); ++r) {
        before.store().read_columns(static_cast<std::int32_t>(r), 0, theta.data());
        before.store().read_columns(static_cast<std::int32_t>(r), 1, means.data());
        after.restore_row(before.store().features()[r], before.row_state(r), theta.data(),
                          means.data());
    }
    after.restore_complexity(before.complexity(), before.largest_complexity());
    RowLookup<T> at;
    for (int round = 60; round < 90; ++round) {
        const Example x = twins.example(random);
        twins.shared.score(x, true, twins.at_shared);
        after.score(x, true, at);
        check(at.sums == twins.at_shared.sums, "scores differ");
        twins.at_separate.sums = at.sums;
        twins.choose_step(random);
        twins.shared.apply(x, twins.step, round, twins.at_shared);
        after.apply(x, twins.step, round, at);
        same(after.complexity(), twins.shared.complexity());
    }
}

const Test agree{"label columns: the same weights and scores as without sharing", [] {
                     twins_agree<float>(0, false);
                     twins_agree<float>(3, true);
                     twins_agree<double>(3, false);
                     twins_agree<double>(0, true);
                 }};
const Test sharing_unknown{"label columns: labels of unknown relevance keep sharing a column",
                           [] { unknown_labels_keep_sharing<float>(); }};
const Test separating{"label columns: every label may get a separate column",
                      [] { every_label_separates<float>(); }};
const Test restoring{"label columns: a restored model continues with the same bits", [] {
                         restored_columns_continue<float>();
                         restored_columns_continue<double>();
                     }};
const Test few{"label columns: few labels do not share", [] {
                   LinearGeometry<float> geometry(0, false, StepPattern::by_score);
                   geometry.add_labels(100);
                   check(!geometry.store().sharing(), "few labels share columns");
                   geometry.add_labels(3000);  // before the first row
                   check(geometry.store().sharing(), "many labels do not share columns");
               }};
const Test refused{
    "label columns: invalid columns are refused", [] {
        using Columns = std::vector<std::int32_t>;
        LabelColumns columns;
        check(columns.restore(Columns{0, 2, 0, 1}), "two separate columns were refused");
        same(columns.shared_labels(), 2u);
        check(!columns.restore(Columns{0, 2, 2, 1}),
              "two labels in one separate column were accepted");
        check(!columns.restore(Columns{0, 3, 0, 1}), "an unused column was accepted");
        check(!columns.restore(Columns{0, -1, 0, 1}), "a negative column was accepted");
        check(!columns.restore(Columns{0, 5, 0, 1}), "a column out of range was accepted");
        same(columns.of(1), 2u);  // refused columns change nothing
        WeightStore<float> store(1, StepPattern::by_score);
        store.add_labels(kMany);
        check(!store.restore_columns(Columns{0, 1}), "the wrong number of columns was accepted");
    }};

}  // namespace
}  // namespace tagalong::test::label_columns_test
