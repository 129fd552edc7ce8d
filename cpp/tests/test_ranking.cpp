// best_labels and AveragePrecision equal sorting and direct counting.
#include <algorithm>
#include <numeric>
#include <vector>

#include "predictions/ranking.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::ranking_test {
namespace {

template <class T>
std::vector<T> random_scores(Random& random, int labels) {
    std::vector<T> scores(static_cast<std::size_t>(labels));
    const bool ties = random.chance(0.5);
    for (T& score : scores)
        score = ties ? static_cast<T>(random.below(7) - 3) : static_cast<T>(random.normal());
    return scores;
}

template <class T>
void best_like_sorting() {
    Random random(1);
    std::vector<std::int32_t> actual;
    for (int round = 0; round < 1500; ++round) {
        const int labels = random.below(120);
        const auto k = static_cast<std::size_t>(random.below(labels + 5));
        const Note note("labels ", labels, ", k ", k);
        const auto scores = random_scores<T>(random, labels);
        std::vector<std::int32_t> expected(scores.size());
        std::iota(expected.begin(), expected.end(), 0);
        std::stable_sort(expected.begin(), expected.end(), [&](auto a, auto b) {
            return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
        });
        expected.resize(std::min(k, expected.size()));
        best_labels(std::span<const T>(scores), k, actual);
        check(actual == expected, "orders differ");
    }
}

const Test best{"ranking: best_labels equals a stable sort", [] {
                    best_like_sorting<float>();
                    best_like_sorting<double>();
                }};

// A random subset of the labels, in any order, and another subset disjoint from it.
struct Sets {
    std::vector<int> relevant, unknown;

    Sets(Random& random, int labels, int how_many, int how_many_unknown) {
        std::vector<int> all(static_cast<std::size_t>(labels));
        std::iota(all.begin(), all.end(), 0);
        random.shuffle(all);
        relevant.assign(all.begin(), all.begin() + how_many);
        unknown.assign(all.begin() + how_many, all.begin() + how_many + how_many_unknown);
    }
};

// The mean over relevant labels of the share of relevant labels among the known labels that score
// at least as high.
template <class T>
double naive_precision(const std::vector<T>& scores, const Sets& sets) {
    std::vector<bool> known(scores.size(), true);
    for (const int label : sets.unknown) known[static_cast<std::size_t>(label)] = false;
    double sum = 0;
    for (const int label : sets.relevant) {
        const T score = scores[static_cast<std::size_t>(label)];
        int rank = 0, hits = 0;
        for (std::size_t k = 0; k < scores.size(); ++k) rank += known[k] && scores[k] >= score;
        for (const int other : sets.relevant)
            hits += scores[static_cast<std::size_t>(other)] >= score;
        sum += static_cast<double>(hits) / rank;
    }
    return sum / static_cast<double>(sets.relevant.size());
}

template <class T>
void precision_like_counting() {
    Random random(2);
    AveragePrecision<T> precision;
    for (int round = 0; round < 1500; ++round) {
        const int labels = 1 + random.below(100), relevant = 1 + random.below(labels);
        const Sets sets(random, labels, relevant, random.below(labels - relevant + 1));
        const Note note("labels ", labels, ", relevant ", relevant, ", unknown ",
                        sets.unknown.size());
        const auto scores = random_scores<T>(random, labels);
        near(precision(scores, sets.relevant, sets.unknown), naive_precision(scores, sets), 1e-14);
    }
}

const Test precision{"ranking: average precision equals direct counting", [] {
                         precision_like_counting<float>();
                         precision_like_counting<double>();
                     }};

const Test by_hand{"ranking: average precision by hand", [] {
                       AveragePrecision<double> precision;
                       const std::vector<double> scores{4, 3, 2, 1};
                       const std::vector<int> none;
                       same(precision(scores, std::vector<int>{0, 1}, none), 1.0);
                       same(precision(scores, std::vector<int>{0, 2}, none), (1 + 2.0 / 3) / 2);
                       same(precision(scores, std::vector<int>{3}, none), 0.25);
                       same(precision(scores, std::vector<int>{3}, std::vector<int>{0, 1}), 0.5);
                       same(precision(std::vector<double>{1, 1, 1, 1}, std::vector<int>{2}, none),
                            0.25);
                   }};

}  // namespace
}  // namespace tagalong::test::ranking_test
