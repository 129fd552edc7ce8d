// Labels that share a column until a step tells them apart: the same numbers as without sharing.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "geometry/linear.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::label_columns_test {
namespace {

constexpr std::size_t kMany = 3000;  // labels: enough for them to share

// One geometry whose labels share and one whose labels do not, with the same steps.
template <class T>
struct Twins {
    LinearGeometry<T> shared, apart;
    RowLookup<T> at_shared, at_apart;
    Step step;
    bool averaged;
    std::size_t labels = 0;
    int round = 0;

    Twins(double rate, bool with_means)
        : shared(rate, with_means, StepPattern::by_score),
          apart(rate, with_means),
          averaged(with_means) {
        add_labels(kMany);
    }

    void add_labels(std::size_t count) {
        labels += count;
        shared.add_labels(count);
        apart.add_labels(count);
    }

    Example example(Random& random) {
        Example x;
        for (int i = 0; i < 12; ++i)
            x.add(random.chance(0.4) ? random.below(400) : random.below(5), random.between(-1, 1));
        x.finish(Norm::euclidean, 0);
        return x;
    }

    // As a rule would: what is irrelevant goes down by an amount that depends on the score alone, a few
    // labels are relevant, some unknown.
    void choose_step(Random& random) {
        step.clear(labels);
        const bool all_move = random.chance(0.7);
        const double slope = random.between(0.1, 1);
        for (std::size_t k = 0; all_move && k < labels; ++k)
            step.alpha[k] = -0.01 - slope * std::abs(static_cast<double>(at_apart.sums[k]));
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

    void play(Random& random, int rounds) {
        for (const int last = round + rounds; round < last; ++round) {
            const Example x = example(random);
            // Readers see rows that lack columns, the writer has them caught up: the same scores.
            for (const bool caught_up : {false, true}) {
                if (caught_up) shared.add_missing_columns(x);
                shared.score(x, averaged, at_shared);
                apart.score(x, averaged, at_apart);
                check(at_shared.sums == at_apart.sums, "other scores");
                if (averaged) check(at_shared.mean_sums == at_apart.mean_sums, "other means");
            }
            same(shared.squared_norm(x, at_shared), apart.squared_norm(x, at_apart));
            choose_step(random);
            shared.apply(x, step, round, at_shared);
            apart.apply(x, step, round, at_apart);
        }
        compare();
    }

    void compare() const {
        const auto& store = shared.store();
        check(store.features() == apart.store().features(), "other rows");
        std::vector<T> actual(labels), expected(labels);
        for (std::size_t r = 0; r < store.rows(); ++r) {
            const auto row = static_cast<std::int32_t>(r);
            for (std::size_t plane = 0; plane < store.planes(); ++plane) {
                store.read(row, plane, actual.data());
                apart.store().read(row, plane, expected.data());
                check(actual == expected, "other numbers");
            }
            same(shared.weight(row, 7, averaged ? 0.5 : 0),
                 apart.weight(row, 7, averaged ? 0.5 : 0));
            // Sums of squares in another order.
            const double norm2 = apart.row_state(r).norm2;
            near(shared.row_state(r).norm2, norm2, 1e-5 * norm2);
        }
        near(shared.complexity(), apart.complexity(), 1e-5 * apart.complexity());
        near(shared.recompute_complexity(), apart.recompute_complexity(),
             1e-12 * apart.complexity());
    }
};

template <class T>
void twins_agree(double rate, bool averaged) {
    const Note note("rate ", rate, ", averaged ", averaged);
    Random random(5);
    Twins<T> twins(rate, averaged);
    twins.play(random, 150);
    const auto& store = twins.shared.store();
    check(store.sharing(), "labels share");
    check(store.columns().count() > 50 && store.columns().shared_labels() > 1000,
          "some have parted, most have not");
    same(store.columns().count() - 1 + store.columns().shared_labels(), kMany);
    std::size_t lacking = 0;
    for (std::size_t r = 0; r < store.rows(); ++r)
        lacking += store.stored_columns(static_cast<std::int32_t>(r)) < store.width();
    check(lacking > 10, "rows that lack columns are needed for this to say something");
    check(5 * store.bytes() < twins.apart.store().bytes(), "shared columns take less");

    twins.add_labels(0);
    check(store.sharing(), "nobody came");
    twins.add_labels(40);  // those are not as the ones that were there
    check(!store.sharing(), "nothing is shared any more");
    twins.play(random, 50);
}

template <class T>
void all_part() {
    Random random(6);
    Twins<T> twins(3, true);
    twins.play(random, 20);
    const Example x = twins.example(random);
    twins.shared.score(x, true, twins.at_shared);
    twins.apart.score(x, true, twins.at_apart);
    twins.step.clear(kMany);
    for (std::size_t k = 0; k < kMany; ++k)
        twins.step.set(static_cast<int>(k), random.between(-1, 1));
    twins.shared.apply(x, twins.step, 20, twins.at_shared);
    twins.apart.apply(x, twins.step, 20, twins.at_apart);
    at_most(twins.shared.store().columns().shared_labels(), 1u);
    twins.play(random, 20);
}

// Where hardly anything is known of most labels, those go on sharing, and the few that are known part.
template <class T>
void unknown_labels_stay_together() {
    Random random(8);
    Twins<T> twins(3, true);
    for (int round = 0; round < 10; ++round) {
        const Example x = twins.example(random);
        twins.shared.score(x, true, twins.at_shared);
        twins.apart.score(x, true, twins.at_apart);
        twins.step.clear(kMany);
        for (int i = 0; i < 5; ++i) twins.step.set(10 * round + i, i == 0 ? 0.4 : -0.1);
        twins.shared.apply(x, twins.step, round, twins.at_shared);
        twins.apart.apply(x, twins.step, round, twins.at_apart);
    }
    twins.compare();
    same(twins.shared.store().columns().count(), std::size_t{1 + 10 * 5});
}

// A model that was saved goes on as if it had not been, to the bit.
template <class T>
void restored_columns_go_on() {
    Random random(7);
    Twins<T> twins(3, true);
    twins.play(random, 60);
    const LinearGeometry<T>& before = twins.shared;
    LinearGeometry<T> after(3, true, StepPattern::by_score);
    after.add_labels(kMany);
    check(after.restore_columns(before.store().columns().of_all_labels()), "they are columns");
    std::vector<T> theta(kMany), means(kMany);
    for (std::size_t r = 0; r < before.store().rows(); ++r) {
        before.store().read_columns(static_cast<std::int32_t>(r), 0, theta.data());
        before.store().read_columns(static_cast<std::int32_t>(r), 1, means.data());
        after.restore_row(before.store().features()[r], before.row_state(r), theta.data(),
                          means.data());
    }
    after.restore_complexity(before.complexity());
    RowLookup<T> at;
    for (int round = 60; round < 90; ++round) {
        const Example x = twins.example(random);
        twins.shared.score(x, true, twins.at_shared);
        after.score(x, true, at);
        check(at.sums == twins.at_shared.sums, "other scores");
        twins.at_apart.sums = at.sums;
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
const Test staying{"label columns: labels of unknown relevance stay together",
                   [] { unknown_labels_stay_together<float>(); }};
const Test parting{"label columns: all labels may part", [] { all_part<float>(); }};
const Test restoring{"label columns: restored ones go on with the same bits", [] {
                         restored_columns_go_on<float>();
                         restored_columns_go_on<double>();
                     }};
const Test few{"label columns: few labels do not share", [] {
                   LinearGeometry<float> geometry(0, false, StepPattern::by_score);
                   geometry.add_labels(100);
                   check(!geometry.store().sharing(), "too few");
                   geometry.add_labels(3000);  // still without a row
                   check(geometry.store().sharing(), "enough");
               }};
const Test refused{"label columns: what are no columns is refused", [] {
                       using Columns = std::vector<std::int32_t>;
                       LabelColumns columns;
                       check(columns.restore(Columns{0, 2, 0, 1}), "two labels have their own");
                       same(columns.shared_labels(), 2u);
                       check(!columns.restore(Columns{0, 2, 2, 1}),
                             "two labels in one column of their own");
                       check(!columns.restore(Columns{0, 3, 0, 1}), "a column that nobody has");
                       check(!columns.restore(Columns{0, -1, 0, 1}), "a negative one");
                       check(!columns.restore(Columns{0, 5, 0, 1}), "one beyond all");
                       same(columns.of(1), 2u);  // refused columns change nothing
                       WeightStore<float> store(1, StepPattern::by_score);
                       store.add_labels(kMany);
                       check(!store.restore_columns(Columns{0, 1}), "too few");
                   }};

}  // namespace
}  // namespace tagalong::test::label_columns_test
