// Measures equal their definitions, averaged over every order of equal scores.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <vector>

#include "predictions/measures.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::measures_test {
namespace {

using Row = Measures::Row;
using Labels = std::vector<std::int32_t>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool in(const Labels& set, std::size_t label) {
    return std::find(set.begin(), set.end(), static_cast<std::int32_t>(label)) != set.end();
}

struct Round {
    std::vector<double> scores;
    Labels relevant, unknown;
    double cutoff = 0;
};

// Trailing labels with score -infinity do not exist unless they are relevant. Relevant labels
// without a score have score -infinity.
std::vector<double> all_scores(const Round& round) {
    std::vector<double> scores = round.scores;
    while (!scores.empty() && scores.back() == -kInfinity) scores.pop_back();
    for (const std::int32_t label : round.relevant)
        while (scores.size() <= static_cast<std::size_t>(label)) scores.push_back(-kInfinity);
    return scores;
}

// The measures of the first ranks: their mean over all orders with descending scores.
void over_orders(const Round& round, const std::vector<double>& scores,
                 std::vector<std::size_t> known, std::size_t k, Row& row) {
    const auto gain_of_first = [](std::size_t count) {
        double gain = 0;
        for (std::size_t i = 0; i < count; ++i) gain += 1 / std::log2(static_cast<double>(i) + 2);
        return gain;
    };
    std::sort(known.begin(), known.end());
    double orders = 0, first_wrong = 0, precision = 0, ndcg = 0;
    do {
        bool descending = true;
        for (std::size_t i = 1; i < known.size(); ++i)
            descending &= scores[known[i - 1]] >= scores[known[i]];
        if (!descending) continue;
        ++orders;
        first_wrong += !in(round.relevant, known[0]);
        for (std::size_t i = 0; i < std::min(k, known.size()); ++i) {
            if (!in(round.relevant, known[i])) continue;
            precision += 1 / static_cast<double>(k);
            ndcg += 1 / std::log2(static_cast<double>(i) + 2) /
                    gain_of_first(std::min(k, round.relevant.size()));
        }
    } while (std::next_permutation(known.begin(), known.end()));
    row[Measures::one_error] = first_wrong / orders;
    row[Measures::precision_at_k] = precision / orders;
    row[Measures::ndcg_at_k] = ndcg / orders;
}

Row brute_force(const Round& round, std::size_t k) {
    Row row{};
    const std::vector<double> scores = all_scores(round);
    std::vector<std::size_t> known;
    for (std::size_t y = 0; y < scores.size(); ++y)
        if (!in(round.unknown, y)) known.push_back(y);
    const auto R = static_cast<double>(round.relevant.size());
    const auto K = static_cast<double>(known.size());
    row[Measures::rows] = 1;
    row[Measures::relevant_labels] = R;
    for (const std::size_t y : known) {
        const bool chosen = scores[y] >= round.cutoff, relevant = in(round.relevant, y);
        row[Measures::chosen] += chosen;
        row[Measures::hits] += chosen && relevant;
        row[Measures::wrong_labels] += (chosen != relevant) / K;
    }
    row[Measures::exact] = row[Measures::wrong_labels] == 0;
    if (R == 0 || R == K) return row;
    row[Measures::ranked] = 1;
    for (const std::size_t r : known) {
        if (!in(round.relevant, r)) continue;
        double rank = 0, relevant_rank = 0;
        for (const std::size_t s : known) {
            if (scores[s] < scores[r]) continue;
            ++rank;
            if (in(round.relevant, s)) ++relevant_rank;
            else row[Measures::ranking_loss] += 1 / (R * (K - R));
        }
        row[Measures::average_precision] += relevant_rank / rank / R;
        row[Measures::coverage] = std::max(row[Measures::coverage], rank);
    }
    row[Measures::any_mistake] = row[Measures::ranking_loss] > 0;
    over_orders(round, scores, known, k, row);
    return row;
}

Round random_round(Random& random) {
    Round round;
    const int labels = random.below(7), new_labels = random.chance(0.2) ? random.below(2) : 0;
    const int levels = 1 + random.below(5);
    for (int y = 0; y < labels; ++y)
        round.scores.push_back(random.chance(0.05) ? -kInfinity
                                                   : 0.25 * (random.below(levels) - levels / 2));
    for (int y = 0; y < labels + new_labels; ++y) {
        if (random.chance(y >= labels ? 1 : 0.4)) round.relevant.push_back(y);
        else if (random.chance(0.2)) round.unknown.push_back(y);
    }
    random.shuffle(round.relevant);
    random.shuffle(round.unknown);
    round.cutoff = random.chance(0.1) ? (random.chance(0.5) ? kInfinity : -kInfinity)
                                      : 0.25 * (random.below(6) - 3);
    return round;
}

template <class T>
void observe(Measures& measures, const Round& round) {
    const std::vector<T> scores(round.scores.begin(), round.scores.end());
    measures.observe(std::span<const T>(scores), round.relevant, round.unknown, round.cutoff);
}

void rows_are_near(const Row& actual, const Row& expected, double distance,
                   const Where& where = Where::current()) {
    for (std::size_t i = 0; i < Measures::kValues; ++i) {
        const Note note("value ", i);
        near(actual[i], expected[i], distance, where);
    }
}

template <class T>
void like_brute_force(std::size_t k, std::size_t window) {
    Random random(51);
    Measures measures(k, window);
    Row totals{};
    std::deque<Row> recent;
    std::vector<Measures::PerLabel> per_label;
    for (int i = 0; i < 700; ++i) {
        const Note note("round ", i, ", k ", k);
        const Round round = random_round(random);
        const Row row = brute_force(round, k);
        Measures alone(k, 0);
        observe<T>(alone, round);
        rows_are_near(alone.totals(), row, 1e-12);
        observe<T>(measures, round);
        recent.push_back(row);
        if (recent.size() > window) recent.pop_front();
        for (std::size_t j = 0; j < Measures::kValues; ++j) totals[j] += row[j];
        const std::vector<double> scores = all_scores(round);
        per_label.resize(std::max(per_label.size(), scores.size()));
        for (std::size_t y = 0; y < scores.size(); ++y) {
            const bool chosen = scores[y] >= round.cutoff && !in(round.unknown, y);
            per_label[y].chosen += chosen;
            per_label[y].relevant += in(round.relevant, y);
            per_label[y].hits += chosen && in(round.relevant, y);
        }
        Row sums{};
        for (const Row& one : recent)
            for (std::size_t j = 0; j < Measures::kValues; ++j) sums[j] += one[j];
        rows_are_near(measures.recent_sums(), sums, 1e-10);
    }
    rows_are_near(measures.totals(), totals, 1e-8);
    same(measures.recent().size(), window);
    same(measures.per_label().size(), per_label.size());
    for (std::size_t y = 0; y < std::min(per_label.size(), measures.per_label().size()); ++y) {
        const Note note("label ", y);
        same(measures.per_label()[y].hits, per_label[y].hits);
        same(measures.per_label()[y].chosen, per_label[y].chosen);
        same(measures.per_label()[y].relevant, per_label[y].relevant);
    }
}

const Test twin{"measures: equal to their definitions, over every order of equal scores", [] {
                    for (const std::size_t k : {1, 2, 3, 5, 10}) like_brute_force<double>(k, 7);
                    like_brute_force<float>(3, 1);
                    like_brute_force<double>(4, 0);
                }};

const Test by_hand{
    "measures: values computed by hand", [] {
        Measures measures(2, 10);
        observe<double>(measures, {{3, 2, 2, 1}, {0, 2}, {}, 2});
        const Row row = measures.totals();
        same(row[Measures::any_mistake], 1);  // 2 ties with 1
        same(row[Measures::one_error], 0);
        same(row[Measures::ranking_loss], 0.25);
        same(row[Measures::coverage], 3);
        near(row[Measures::average_precision], (1 + 2.0 / 3) / 2, 1e-15);
        same(row[Measures::precision_at_k], 0.75);  // the tie is broken correctly half of the time
        near(row[Measures::ndcg_at_k], (1 + 0.5 / std::log2(3)) / (1 + 1 / std::log2(3)), 1e-15);
        same(row[Measures::hits], 2);
        same(row[Measures::chosen], 3);
        same(row[Measures::wrong_labels], 0.25);
        same(row[Measures::exact], 0);
    }};

const Test nothing{
    "measures: rows without a pair count only in the measures of sets", [] {
        for (const Round& round :
             {Round{{}, {}, {}, 0}, Round{{1, 2}, {}, {}, 5}, Round{{1, 2}, {1, 0}, {}, 0},
              Round{{1, 2, 3}, {1}, {0, 2}, 0}, Round{{}, {0}, {}, -kInfinity}}) {
            Measures measures(3, 1);
            observe<double>(measures, round);
            same(measures.totals()[Measures::ranked], 0);
            same(measures.totals()[Measures::rows], 1);
            same(measures.totals()[Measures::exact], 1);
        }
    }};

// Too many labels for brute force: measures are within their ranges and do not depend on the scale
// of the scores.
const Test many{
    "measures: bounds and scale invariance with many labels", [] {
        Random random(52);
        for (int i = 0; i < 50; ++i) {
            Round round;
            for (int y = 0; y < 1000; ++y) {
                round.scores.push_back(random.normal());
                if (random.chance(0.02)) round.relevant.push_back(y);
            }
            if (round.relevant.empty()) continue;
            Measures once(5, 0), scaled(5, 0);
            observe<double>(once, round);
            for (double& score : round.scores) score *= 0x1p40;
            round.cutoff *= 0x1p40;
            observe<double>(scaled, round);
            check(once.totals() == scaled.totals(), "a measure depends on the scale");
            for (const std::size_t value :
                 {Measures::one_error, Measures::ranking_loss, Measures::average_precision,
                  Measures::precision_at_k, Measures::ndcg_at_k, Measures::wrong_labels}) {
                at_most(0, once.totals()[value]);
                at_most(once.totals()[value], 1);
            }
            near(once.totals()[Measures::ranking_loss], 0.5, 0.4);
        }
    }};

// The cut-off is in double precision for every score type, and may lie between two scores of that
// type.
template <class T>
void choose(Random& random) {
    std::vector<T> scores;
    for (int y = 0; y < 100; ++y) scores.push_back(static_cast<T>(random.normal()));
    const double met = static_cast<double>(scores[static_cast<std::size_t>(random.below(100))]);
    for (const double cutoff :
         {met, std::nextafter(met, kInfinity), std::nextafter(met, -kInfinity), 0.0, 1e300, -1e300,
          kInfinity, -kInfinity}) {
        const Note note("cut-off ", cutoff);
        Measures measures(5, 0);
        measures.observe(std::span<const T>(scores), Labels{0}, Labels{}, cutoff);
        for (std::size_t y = 0; y < scores.size(); ++y)
            same(measures.per_label()[y].chosen == 1, static_cast<double>(scores[y]) >= cutoff);
    }
}

const Test chosen{"measures: labels that reach the cut-off are chosen", [] {
                      Random random(53);
                      for (int i = 0; i < 50; ++i) {
                          choose<float>(random);
                          choose<double>(random);
                      }
                  }};

// Trailing labels with zero counts may be missing.
bool same_counts(std::vector<Measures::PerLabel> a, std::vector<Measures::PerLabel> b) {
    a.resize(std::max(a.size(), b.size()));
    b.resize(a.size());
    return std::equal(a.begin(), a.end(), b.begin(), [](const auto& x, const auto& y) {
        return x.hits == y.hits && x.chosen == y.chosen && x.relevant == y.relevant;
    });
}

const Test restoring{"measures: a restored state continues", [] {
                         Random random(53);
                         Measures whole(3, 5), restored(3, 5);
                         for (int i = 0; i < 40; ++i) {
                             const Round round = random_round(random);
                             observe<double>(whole, round);
                             if (i == 20)
                                 restored.restore(whole.totals(), whole.per_label(), whole.recent(),
                                                  whole.recent_marks(), whole.next());
                             if (i > 20) observe<double>(restored, round);
                         }
                         check(whole.totals() == restored.totals(), "totals differ");
                         check(whole.recent_sums() == restored.recent_sums(),
                               "sums over the window differ");
                         same(whole.next(), restored.next());
                         check(same_counts(whole.recent_per_label(), restored.recent_per_label()),
                               "counts over the window differ");
                     }};

const Test recent_labels{
    "measures: counts per label over the window include only the rows of the window", [] {
        Random random(54);
        Measures measures(3, 4);
        std::vector<Round> rounds;
        for (int i = 0; i < 60; ++i) {
            rounds.push_back(random_round(random));
            observe<float>(measures, rounds.back());
            Measures last(3, 0);
            for (std::size_t from = rounds.size() < 4 ? 0 : rounds.size() - 4; from < rounds.size();
                 ++from)
                observe<float>(last, rounds[from]);
            check(same_counts(measures.recent_per_label(), last.per_label()), "counts differ");
        }
    }};

}  // namespace
}  // namespace tagalong::test::measures_test
