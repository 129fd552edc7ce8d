// One-vs-rest against the formulas with a dense matrix, which has a column for labels that do not
// exist yet. Also merged and forgotten labels, saved weights and extreme values.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "race/one_vs_rest.hpp"
#include "tests/check.hpp"
#include "tests/word_stream.hpp"

namespace tagalong::test::one_vs_rest_test {
namespace {

constexpr double kConstant = 0.5;

// The definition. Column 0 is the ghost, an irrelevant label from the first round on; label k has
// column k + 1, which starts as a copy of the ghost.
class Naive {
  public:
    void add_labels(std::size_t count) {
        labels_ += count;
        for (auto& [feature, row] : rows_) row.theta.resize(labels_ + 1, row.theta[0]);
    }
    std::vector<double> score(const RowView& x) const {
        std::vector<double> rho(labels_ + 1, 0.0);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const auto found = rows_.find(x.feature[i]);
            if (found == rows_.end()) continue;
            for (std::size_t k = 0; k <= labels_; ++k)
                rho[k] += x.value[i] / std::sqrt(found->second.S) * found->second.theta[k];
        }
        return rho;
    }
    void learn(const RowView& x, std::span<const int> relevant, std::span<const int> unknown,
               double weight) {
        const std::vector<double> rho = score(x);
        for (const std::int32_t feature : x.feature)
            rows_.try_emplace(feature, Row{1, std::vector<double>(labels_ + 1, 0.0)});
        double q = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            q += x.value[i] * x.value[i] / std::sqrt(rows_.at(x.feature[i]).S);
        for (std::size_t k = 0; k <= labels_; ++k) {
            const int label = static_cast<int>(k) - 1;
            if (std::count(unknown.begin(), unknown.end(), label) > 0) continue;
            const double y = std::count(relevant.begin(), relevant.end(), label) > 0 ? 1 : -1;
            const double alpha = y * std::max(0.0, 1 - y * rho[k]) / (q + 1 / (2 * 10 * weight));
            for (std::size_t i = 0; i < x.size(); ++i)
                rows_.at(x.feature[i]).theta[k] += alpha * x.value[i];
        }
        for (std::size_t i = 0; i < x.size(); ++i)
            rows_.at(x.feature[i]).S += 3 * x.value[i] * x.value[i];
    }

  private:
    struct Row {
        double S;
        std::vector<double> theta;
    };
    std::size_t labels_ = 0;
    std::map<std::int32_t, Row> rows_;
};

template <class T>
void follows_the_definition(double tolerance) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        OneVsRest<T> learner;
        Naive naive;
        int round = 0;
        for (const ScaledText& text : random_texts(seed, 300, 60, 25, kConstant)) {
            const Note note("seed ", seed, ", round ", round++);
            learn_text(learner, text);
            learn_text(naive, text);
            const std::vector<double> expected = naive.score(text.x);
            const std::vector<T> scores = scores_of(learner, text.x);
            for (std::size_t k = 0; k < scores.size(); ++k)
                near(static_cast<double>(scores[k]), expected[k + 1], tolerance);
        }
    }
}

template <class T>
OneVsRest<T> learnt(std::uint64_t seed, int length) {
    OneVsRest<T> learner;
    for (const ScaledText& text : random_texts(seed, length, 60, 25, kConstant))
        learn_text(learner, text);
    return learner;
}

// A copy by what a file has.
template <class T>
OneVsRest<T> reloaded(const OneVsRest<T>& learner) {
    OneVsRest<T> out;
    out.add_labels(learner.labels());
    check(out.restore_columns(learner.store().columns().of_all_labels()), "columns are refused");
    std::vector<T> theta(learner.store().width());
    for (std::size_t r = 0; r < learner.store().rows(); ++r) {
        learner.store().read_columns(static_cast<std::int32_t>(r), 0, theta.data());
        out.restore_row(learner.store().features()[r], learner.row_sums()[r], theta.data());
    }
    return out;
}

const Test definition{"one-vs-rest: scores are those of the formulas", [] {
                          follows_the_definition<double>(1e-10);
                          follows_the_definition<float>(1e-3);
                      }};

const Test late_labels{"one-vs-rest: labels added late equal labels declared up front", [] {
                           const auto texts = random_texts(3, 200, 60, 25, kConstant);
                           OneVsRest<float> late, early;
                           for (const ScaledText& text : texts) early.add_labels(text.new_labels);
                           for (const ScaledText& text : texts) {
                               learn_text(late, text);
                               early.learn(text.x, text.relevant, text.unknown, text.weight);
                               auto scores = scores_of(early, text.x);
                               scores.resize(late.labels());
                               same_bits(scores_of(late, text.x), scores);
                           }
                       }};

const Test scored{"one-vs-rest: learning what was just scored gives the same bits", [] {
                      const auto texts = random_texts(6, 200, 60, 25, kConstant);
                      OneVsRest<float> plain, scored;
                      OneVsRest<float>::Scratch scratch;
                      for (const ScaledText& text : texts) {
                          std::vector<float> scores(scored.labels());
                          scored.score(text.x, scratch, scores.data());
                          scored.add_labels(text.new_labels);
                          scored.learn_scored(text.x, scratch, text.relevant, text.unknown,
                                              text.weight);
                          learn_text(plain, text);
                          same_bits(scores_of(scored, text.x), scores_of(plain, text.x));
                      }
                  }};

const Test without_labels{"one-vs-rest: rounds before the first label count", [] {
                              Example x;
                              x.add(3, 1);
                              x.finish(Norm::euclidean, kConstant);
                              OneVsRest<double> learner;
                              learner.learn(x, {}, {}, 1);
                              learner.add_labels(1);
                              // theta = -x / (q + .05), then S = 1 + 3 x^2
                              near(scores_of(learner, x)[0],
                                   -(0.25 / std::sqrt(1.75) + 1 / std::sqrt(4.0)) / 1.3, 1e-15);
                          }};

const Test declared{"one-vs-rest: labels that were never relevant take no memory", [] {
                        const OneVsRest<float> few = learnt<float>(1, 50);
                        OneVsRest<float> many = reloaded(few);
                        many.add_labels(2000);
                        same(many.bytes(), few.bytes());
                        Example x;
                        x.add(1, 1);
                        x.finish(Norm::euclidean, kConstant);
                        const auto scores = scores_of(many, x);
                        same(scores.size(), few.labels() + 2000);
                        same(scores.back(), scores[few.labels()]);
                    }};

const Test saved{"one-vs-rest: a restored learner goes on with the same bits", [] {
                     const auto texts = random_texts(5, 300, 60, 25, kConstant);
                     OneVsRest<float> learner;
                     for (int t = 0; t < 150; ++t)
                         learn_text(learner, texts[static_cast<std::size_t>(t)]);
                     OneVsRest<float> copy = reloaded(learner);
                     for (std::size_t t = 150; t < texts.size(); ++t) {
                         same_bits(scores_of(copy, texts[t].x), scores_of(learner, texts[t].x));
                         learn_text(learner, texts[t]);
                         learn_text(copy, texts[t]);
                     }
                     OneVsRest<float> empty = reloaded(OneVsRest<float>());
                     learn_text(empty, texts[0]);
                     same(empty.labels(), texts[0].new_labels);
                 }};

const Test refused{"one-vs-rest: columns that no learner has are refused", [] {
                       OneVsRest<float> learner;
                       learner.add_labels(3);
                       for (const std::vector<std::int32_t>& columns :
                            {std::vector<std::int32_t>{}, {0, 1}, {0, 1, 1}, {0, 2, 0}, {-1, 0, 1}})
                           check(!learner.restore_columns(columns), "columns are accepted");
                   }};

const Test explained{
    "one-vs-rest: contributions add up to the score", [] {
        const OneVsRest<double> learner = learnt<double>(2, 200);
        OneVsRest<double>::Scratch scratch;
        std::vector<double> parts;
        for (const ScaledText& text : random_texts(9, 40, 80, 25, kConstant)) {
            const auto scores = scores_of(learner, text.x);
            for (std::size_t k = 0; k < learner.labels(); ++k) {
                const double rest =
                    learner.contributions(text.x, scratch, static_cast<int>(k), parts);
                same(parts.size(), text.x.size());
                near(std::accumulate(parts.begin(), parts.end(), rest), scores[k], 1e-12);
            }
        }
    }};

const Test merged{
    "one-vs-rest: merged labels add what sets them apart from the rest", [] {
        OneVsRest<double> before = learnt<double>(4, 200);
        before.add_labels(1);
        const int last = static_cast<int>(before.labels()) - 1;
        OneVsRest<double> after = reloaded(before);
        after.rebuild(Selection::of_labels({{2}, {0, 3}, {last}, {1, last}}, before.labels()));
        same(after.labels(), std::size_t{4});
        same(after.store().width(), std::size_t{4});
        for (const ScaledText& text : random_texts(8, 40, 80, 25, kConstant)) {
            const auto old = scores_of(before, text.x), now = scores_of(after, text.x);
            const double ghost = old.back();
            same(now[0], old[2]);
            near(now[1], old[0] + old[3] - ghost, 1e-12);
            same(now[2], ghost);
            same(now[3], old[1]);
        }
    }};

const Test forgotten{
    "one-vs-rest: learning goes on after labels are forgotten", [] {
        OneVsRest<float> learner = learnt<float>(4, 100);
        learner.rebuild(Selection::of_labels({{0}, {1}}, learner.labels()));
        same(learner.labels(), std::size_t{2});
        for (const ScaledText& text : random_texts(6, 100, 60, 25, kConstant))
            learn_text(learner, text);
        for (const float score : scores_of(learner, random_texts(6, 1, 60, 2, .5)[0].x))
            check(std::isfinite(score), "a score is not finite");
    }};

const Test pruned{"one-vs-rest: dropped features are as if they had never been seen", [] {
                      const OneVsRest<float> before = learnt<float>(7, 200);
                      OneVsRest<float> after = reloaded(before);
                      after.drop_features([](std::int32_t feature) { return feature % 2 == 0; });
                      check(after.bytes() < before.bytes(), "no memory is freed");
                      for (const ScaledText& text : random_texts(8, 40, 60, 25, kConstant)) {
                          Example odd;
                          for (std::size_t i = 0; i < text.x.size(); ++i)
                              if (text.x.feature[i] % 2 != 0)
                                  odd.add(text.x.feature[i], text.x.value[i]);
                          same_bits(scores_of(after, text.x), scores_of(before, odd));
                      }
                  }};

const Test extreme{"one-vs-rest: extreme weights and values leave scores finite", [] {
                       Random random(1);
                       constexpr double kSizes[] = {1e-300, 1e-160, 1e-9, 1, 1e9, 1e15, 1e200};
                       OneVsRest<double> learner;
                       learner.add_labels(3);
                       for (int t = 0; t < 400; ++t) {
                           Example x;
                           for (int i = 0; i < 4; ++i)
                               x.add(random.below(6), random.normal() * kSizes[random.below(7)]);
                           x.finish(t % 2 == 0 ? Norm::euclidean : Norm::none, 0.5);
                           const std::vector<int> relevant{random.below(3)};
                           learner.learn(x, relevant, {}, kSizes[random.below(7)]);
                           for (const double score : scores_of(learner, x))
                               check(std::isfinite(score), "a score is not finite");
                       }
                       Example empty;
                       learner.learn(empty, {}, {}, 1);
                       for (const double score : scores_of(learner, empty)) same(score, 0.0);
                   }};

}  // namespace
}  // namespace tagalong::test::one_vs_rest_test
