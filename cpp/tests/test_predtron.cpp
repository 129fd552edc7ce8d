// Predtron's decoder, link geometry and sum tree, compared with enumeration and with the formulas.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "predtron/link_geometry.hpp"
#include "predtron/merge_decoder.hpp"
#include "predtron/predtron.hpp"
#include "predtron/sum_tree.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::predtron_test {
namespace {

double objective(const std::vector<int>& order, const std::vector<double>& t,
                 const std::vector<int>& relevant, const std::vector<double>& f,
                 const std::vector<double>& discount) {
    double sum = 0;
    for (std::size_t position = 0; position < order.size(); ++position) {
        sum += t[order[position]] * f[position];
        if (std::find(relevant.begin(), relevant.end(), order[position]) != relevant.end())
            sum -= discount[position];
    }
    return sum;
}

const Test merging{
    "predtron: the merge decoder finds the best of all rankings", [] {
        Random random(1);
        MergeDecoder decode;
        for (int round = 0; round < 60; ++round) {
            const int m = 1 + round % 6;
            std::vector<double> t, f, discount;
            std::vector<int> relevant, order(m);
            for (int i = 0; i < m; ++i) {
                t.push_back(round % 2 ? random.between(-2, 2) : std::floor(random.between(-2, 2)));
                f.push_back(-static_cast<double>(i + 1));
                discount.push_back(random.between(0, 1));
                if (random.between(0, 1) < 0.5) relevant.push_back(i);
            }
            std::sort(discount.rbegin(), discount.rend());
            std::iota(order.begin(), order.end(), 0);
            double best = -1e300;
            do best = std::max(best, objective(order, t, relevant, f, discount));
            while (std::next_permutation(order.begin(), order.end()));
            const auto found = decode(t, relevant, f, discount);
            near(objective({found.begin(), found.end()}, t, relevant, f, discount), best, 1e-12);
        }
    }};

const Test ties{
    "predtron: among equal rankings, relevant items come first", [] {
        MergeDecoder decode;
        const std::vector<double> t(4, 0.0), f{-1, -2, -3, -4}, zeros(4, 0.0);
        const auto order = decode(t, std::vector<int>{1, 3}, f, zeros);
        same(std::vector<int>(order.begin(), order.end()) == std::vector<int>{1, 3, 0, 2}, true);
    }};

const Test sums{"predtron: the sum of a tree depends only on its current numbers", [] {
                    Random random(2);
                    SumTree grown, fresh;
                    std::vector<double> values(37, 0.0);
                    for (int change = 0; change < 2000; ++change) {
                        const auto i = static_cast<std::size_t>(random.between(0, 37));
                        values[i] = std::exp(random.between(-60, 60));
                        grown.set(i, values[i]);
                    }
                    for (auto& value : values) value = random.between(0, 1);
                    for (std::size_t i = 0; i < values.size(); ++i) grown.set(i, values[i]);
                    for (std::size_t i = values.size(); i-- > 0;) fresh.set(i, values[i]);
                    same(grown.total() == fresh.total(), true);
                    near(grown.total(), std::accumulate(values.begin(), values.end(), 0.0), 1e-12);
                    near(SumTree().total(), 0.0, 0.0);
                }};

template <class T>
void check_link(bool entrywise, double distance) {
    Random random(3);
    constexpr int features = 9, labels = 5;
    LinkGeometry<T> geometry(entrywise);
    geometry.add_labels(labels);
    geometry.set_dimension(entrywise ? 1e4 : 400);
    const double s = geometry.exponent();
    RowLookup<T> at;
    for (int round = 0; round < 300; ++round) {
        Example x;
        // Sometimes a row that is much larger or much smaller than all others.
        const double size = round % 50 == 20 ? 1e12 : round % 50 == 40 ? 1e-12 : 1;
        for (int j = 0; j < features; ++j)
            if (random.between(0, 1) < 0.5) x.add(j, size * random.between(-1, 1));
        geometry.score(x, false, at);
        Step step;
        step.clear(labels);
        step.set(round % labels, 1.0);
        step.set((round + 1) % labels, -random.between(0, 1));
        geometry.apply(x, step, round, at);
    }
    double total = 0, largest = 0;
    const auto size_of = [&](std::int32_t row, int k) {
        if (entrywise) return std::abs(static_cast<double>(geometry.store().row(row)[k]));
        double sum = 0;
        for (int l = 0; l < labels; ++l) {
            const double value = geometry.store().row(row)[l];
            sum += value * value;
        }
        return std::sqrt(sum);
    };
    const auto rows = static_cast<std::int32_t>(geometry.store().rows());
    for (std::int32_t row = 0; row < rows; ++row)
        for (int k = 0; k < labels; ++k) largest = std::max(largest, size_of(row, k));
    for (std::int32_t row = 0; row < rows; ++row)
        for (int k = 0; k < (entrywise ? labels : 1); ++k)
            total += std::pow(size_of(row, k) / largest, s);
    const double norm = largest * std::pow(total, 1 / s);
    for (std::int32_t row = 0; row < rows; ++row)
        for (int k = 0; k < labels; ++k) {
            const double theta = geometry.store().row(row)[k];
            near(geometry.weight(row, k, 0), theta * std::pow(size_of(row, k) / norm, s - 2),
                 distance * largest);
        }
}

const Test links{"predtron: weights are the gradient of the link", [] {
                     check_link<double>(true, 1e-10);
                     check_link<double>(false, 1e-10);
                     check_link<float>(true, 1e-4);
                     check_link<float>(false, 1e-4);
                 }};

// Some rounds have no update, and some rows are much larger than all before: then the unit changes.
template <class T>
void check_means(bool entrywise, double distance) {
    Random random(4);
    constexpr int features = 6, labels = 3, rounds = 200;
    LinkGeometry<T> geometry(entrywise, true);
    geometry.add_labels(labels);
    geometry.set_dimension(1e4);
    std::vector<double> sums(features * labels, 0.0);
    RowLookup<T> at;
    for (int round = 0; round < rounds; ++round) {
        Example x;
        for (int j = 0; j < features; ++j)
            if (random.between(0, 1) < 0.5)
                x.add(j, (round == 50 ? 1e3 : 1.0) * random.between(-1, 1));
        geometry.score(x, true, at);
        Step step;
        step.clear(labels);
        step.set(round % labels, 1.0);
        if (round % 3 != 1) geometry.apply(x, step, round, at);
        for (int j = 0; j < features; ++j)
            for (int k = 0; k < labels; ++k)
                sums[j * labels + k] += geometry.weight(geometry.store().find(j), k, 0);
    }
    Example all;
    for (int j = 0; j < features; ++j) all.add(j, random.between(-1, 1));
    geometry.score(all, true, at);
    double largest = 0;
    for (const double sum : sums) largest = std::max(largest, std::abs(sum) / rounds);
    for (int k = 0; k < labels; ++k) {
        double score = 0;
        for (int j = 0; j < features; ++j) {
            const double mean = sums[j * labels + k] / rounds;
            near(geometry.weight(geometry.store().find(j), k, 1.0 / rounds), mean,
                 distance * largest);
            score += all.value[j] * mean;
        }
        near(at.sums[k] - at.mean_sums[k] / rounds, score, distance * features * largest);
    }
}

const Test means{"predtron: averaged weights are the mean of the link's weights", [] {
                     check_means<double>(true, 1e-10);
                     check_means<double>(false, 1e-10);
                     check_means<float>(true, 1e-4);
                     check_means<float>(false, 1e-4);
                 }};

const Test queries{"predtron: a query updates the one weight vector", [] {
                       PredtronConfig config;
                       config.queries = true;
                       config.step = 1;
                       Predtron<double> learner(config);
                       std::vector<Example> documents(2);
                       documents[0].add(0, 1.0);
                       documents[1].add(1, 2.0);
                       const std::vector<double> grades{0, 1};
                       double scores[2] = {7, 7};
                       const double loss = learner.learn_query(documents, grades, 2.0, 1.0, scores);
                       near(scores[0], 0.0, 0.0);
                       near(loss, 1 - 1 / std::log2(3.0), 1e-15);
                       // rep is (-1, -2) / sqrt(5), so the coefficients of the two documents are -1
                       // and 1 over sqrt(5).
                       near(learner.weight(learner.store()->find(0), 0), -1 / std::sqrt(5.0),
                            1e-15);
                       near(learner.weight(learner.store()->find(1), 0), 2 / std::sqrt(5.0), 1e-15);
                       near(learner.learn_query(documents, grades, 2.0, 1.0, scores), 0.0, 0.0);
                       same(learner.counts().mistakes == 1 && learner.counts().rounds == 2, true);
                   }};

}  // namespace
}  // namespace tagalong::test::predtron_test
