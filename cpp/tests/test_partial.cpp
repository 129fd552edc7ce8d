// Ranking with partial feedback: tiles, growing matrices, lists, and all forms of the covariance.
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/errors.hpp"
#include "partial/partial_ranker.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::partial_test {
namespace {

template <class T>
void tiles_are_a_symmetric_matrix() {
    Random random(3);
    for (const std::size_t side : {1u, 7u, 8u, 9u, 24u}) {
        SymmetricTiles<T> tiles;
        tiles.grow(side / 2);
        tiles.grow(side);
        std::vector<double> full(side * side, 0.0);
        for (std::size_t i = 0; i < side; ++i) full[i * side + i] = 1;
        const std::size_t padded = (side + 7) / 8 * 8;
        AlignedVector<T> x(padded, T(0)), out(padded), scratch(padded * SymmetricTiles<T>::kSide);
        for (int round = 0; round < 5; ++round) {
            for (std::size_t i = 0; i < side; ++i) x[i] = static_cast<T>(random.between(-1, 1));
            tiles.add_outer(x.data(), T(0.5));
            for (std::size_t i = 0; i < side; ++i)
                for (std::size_t j = 0; j < side; ++j)
                    full[i * side + j] +=
                        0.5 * static_cast<double>(x[i]) * static_cast<double>(x[j]);
        }
        tiles.multiply(x.data(), out.data(), scratch.data());
        double form = 0;
        for (std::size_t i = 0; i < side; ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < side; ++j) {
                near(static_cast<double>(tiles.at(i, j)), full[i * side + j], 1e-5);
                sum += full[i * side + j] * static_cast<double>(x[j]);
            }
            near(static_cast<double>(out[i]), sum, 1e-4);
            form += sum * static_cast<double>(x[i]);
        }
        // One matrix gives the same bits alone and together with others.
        const std::vector<const T*> many(5, tiles.data());
        std::vector<double> compute_variances(5);
        quadratic_forms(many.data(), x.data(), SymmetricTiles<T>::blocks(side), 5,
                        compute_variances.data());
        for (const double found : compute_variances) same(found, compute_variances[0]);
        near(compute_variances[0], form, 1e-4);
    }
}

Example row(Random& random, int features) {
    Example x;
    for (int j = 0; j < features; ++j)
        if (random.between(0, 1) < 0.5) x.add(j * 7919 % 1000, random.between(-1, 1));
    x.finish(Norm::euclidean, 0);
    return x;
}

// The same rounds in the full and the dual form: margins and x.A^-1 x agree.
void dual_form_equals_full_form() {
    Random random(5);
    FullCovariance<double> full(1e9);
    KernelCovariance<double> dual({}, 1e9);
    full.add_labels(3);
    dual.add_labels(3);
    typename FullCovariance<double>::Scratch a;
    typename KernelCovariance<double>::Scratch b;
    std::vector<double> forms_a, forms_b, margins_a, margins_b;
    for (int round = 0; round < 60; ++round) {
        const Example x = row(random, 12);
        if (x.size() == 0) continue;
        full.load_example(x, a);
        dual.load_example(x, b);
        full.compute_variances(a, forms_a);
        dual.compute_variances(b, forms_b);
        full.compute_margins(a, margins_a);
        dual.compute_margins(b, margins_b);
        for (int k = 0; k < 3; ++k) {
            near(forms_a[k], forms_b[k], 1e-10);
            near(margins_a[k], margins_b[k], 1e-10);
        }
        const std::vector<std::int32_t> changed = {round % 3, (round + 1) % 3};
        full.prepare(x, a, changed);
        dual.prepare(x, b, changed);
        const double weight = round % 5 == 0 ? 2.5 : 1;
        for (const std::int32_t label : changed) {
            const double q = full.select_label(label);
            near(q, forms_a[label], 1e-10);
            near(dual.select_label(label), q, 1e-10);
            full.project(0.3);
            dual.project(0.3);
            if (label != changed[0]) continue;
            near(full.add_outer_product(weight), dual.add_outer_product(weight), 1e-10);
            full.step(1.5);
            dual.step(1.5);
        }
    }
}

template <class Action>
bool refused(Action&& action) {
    try {
        action();
    } catch (const InputError&) {
        return true;
    }
    return false;
}

void memory_limit_changes_nothing() {
    Random random(7);
    FullCovariance<float> full(FullCovariance<float>::bytes_per_label(8));
    full.add_labels(2);
    const Example small = row(random, 8), large = row(random, 60);
    const std::vector<std::int32_t> one = {0}, both = {0, 1};
    const typename FullCovariance<float>::Scratch scratch;
    full.prepare(small, scratch, one);
    check(refused([&] { full.prepare(small, scratch, both); }), "two labels must exceed the limit");
    check(refused([&] { full.prepare(large, scratch, one); }),
          "many features must exceed the limit");
    same(full.bytes(), static_cast<std::size_t>(FullCovariance<float>::bytes_per_label(8)));
    same(full.features().size(), small.size());
}

void lists_have_the_best_size() {
    ListChooserConfig config;
    config.miss_weight = 0.5;
    const ListChooser game(config);
    std::vector<std::int32_t> list;
    game.choose({{0.1, 0.9, 0.6, 0.0}, {0, 0, 0, 0}}, 4, list);
    check(!list.empty() && list[0] == 1, "the most probable label is not first");
    game.choose({{0.1, 0.9, 0.6, 0.0}, {0, 0, 0, 0}}, 1, list);
    check(list == std::vector<std::int32_t>{1}, "the list is not the single most probable label");
    game.choose({{0.0, 0.0}, {0, 0}}, 2, list);
    check(list.empty(), "labels of probability 0 were shown");
}

// For any list size: the first labels in sorted order, including ties.
void lists_are_the_first_labels() {
    Random random(13);
    ListChooserConfig config;
    config.miss_weight = 1;  // every list has its largest size
    for (int repeat = 0; repeat < 200; ++repeat) {
        config.ties_by_width = random.chance(0.5);
        const ListChooser game(config);
        LabelEstimates estimates;
        std::vector<std::int32_t> expected, list;
        const std::int32_t count = 1 + random.below(40);
        for (std::int32_t label = 0; label < count; ++label) {
            estimates.probability.push_back(0.25 * random.below(5));
            estimates.margin.push_back(0.5 * random.below(3));
            expected.push_back(label);
        }
        std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) {
            if (estimates.probability[a] != estimates.probability[b])
                return estimates.probability[a] > estimates.probability[b];
            return config.ties_by_width && estimates.margin[a] > estimates.margin[b];
        });
        const auto max_size = static_cast<std::size_t>(1 + random.below(25));
        expected.resize(std::min(max_size, expected.size()));
        game.choose(estimates, max_size, list);
        check(list == expected, "the list is not the first labels in order");
    }
}

// The squares of such a row underflow in the storage type; the row itself does not.
void tiny_rows_are_learnt() {
    DiagonalCovariance<float> diagonal;
    diagonal.add_labels(2);
    Example x;
    x.add(3, 1e-25);
    x.add(5, -2e-25);
    const std::vector<std::int32_t> both = {0, 1};
    typename DiagonalCovariance<float>::Scratch scratch;
    for (int round = 0; round < 2; ++round) {
        diagonal.load_example(x, scratch);
        diagonal.prepare(x, scratch, both);
        near(diagonal.select_label(1) / 5e-50, 1, 1e-6);
        diagonal.add_outer_product(1.0);
        diagonal.step(1.0);
        near(diagonal.weight(1, 0) / 1e-25, round + 1, 1e-6);
        near(diagonal.weight(1, 1) / -2e-25, round + 1, 1e-6);
        same(diagonal.weight(0, 0), 0.0);
    }
}

template <class T>
void every_covariance_learns() {
    for (const CovarianceKind kind :
         {CovarianceKind::full, CovarianceKind::diagonal, CovarianceKind::kernel}) {
        PartialConfig config;
        config.covariance = kind;
        config.max_labels = 2;
        config.confidence.exploration = 0.1;
        config.chooser.max_explore = 1;
        PartialRanker<T> ranker(config);
        Random random(11);
        for (int round = 0; round < 80; ++round) {
            Example x = row(random, 10 + round / 4);                                // new features
            const std::vector<std::int32_t> relevant = {round % (1 + round / 10)};  // new labels
            std::vector<T> scores(ranker.labels() + 10);
            ranker.learn(x, relevant, {}, 1.0, scores.data());
            at_most(static_cast<double>(ranker.last_shown().size()), 2);
        }
        same(ranker.labels(), 8u);
        same(ranker.totals().rounds, 80);
        typename PartialRanker<T>::Reader reader;
        reader.x = row(random, 200);
        ranker.suggest(reader, 0, true);
        for (const double width : reader.width)
            check(width >= 0 && width <= 2, "a width is outside [0, 2R]");
    }
}

const Test tiles{"partial: tiles store a symmetric matrix", [] {
                     tiles_are_a_symmetric_matrix<float>();
                     tiles_are_a_symmetric_matrix<double>();
                 }};
const Test dual{"partial: the dual form equals the full form", dual_form_equals_full_form};
const Test memory{"partial: an update beyond the memory limit changes nothing",
                  memory_limit_changes_nothing};
const Test lists{"partial: lists have the size of least expected cost", lists_have_the_best_size};
const Test first_labels{"partial: lists are the first labels in sorted order",
                        lists_are_the_first_labels};
const Test tiny{"partial: rows whose squares underflow are learnt", tiny_rows_are_learnt};
const Test covariances{"partial: every covariance learns while features and labels are added", [] {
                           every_covariance_learns<float>();
                           every_covariance_learns<double>();
                       }};

}  // namespace
}  // namespace tagalong::test::partial_test
