// Complement naive Bayes against the formulas with dense counts. Also merged and forgotten labels,
// saved counts and extreme values, and the lists in which the counts are stored.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include "race/complement_bayes.hpp"
#include "tests/check.hpp"
#include "tests/word_stream.hpp"

namespace tagalong::test::complement_bayes_test {
namespace {

// The definition, from the texts themselves.
class Naive {
  public:
    void add_labels(std::size_t count) {
        labels_ += count;
        for (auto& [word, counts] : counts_) counts.resize(labels_);
    }
    void learn(const RowView& x, std::span<const int> relevant, std::span<const int>,
               double weight) {
        for (std::size_t i = 0; i < x.size(); ++i)
            for (const int label : relevant) {
                auto& counts = counts_[x.feature[i]];
                counts.resize(labels_);
                counts[static_cast<std::size_t>(label)] += weight * x.value[i];
            }
    }
    double score(const RowView& x, std::size_t label) const {
        double of_others = 0.1 * static_cast<double>(counts_.size()), score = 0;
        for (const auto& [word, counts] : counts_) of_others += others(counts, label);
        for (std::size_t i = 0; i < x.size(); ++i)
            if (const auto found = counts_.find(x.feature[i]); found != counts_.end())
                score += x.value[i] *
                         (std::log(of_others) - std::log(others(found->second, label) + 0.1));
        return score;
    }

  private:
    static double others(const std::vector<double>& counts, std::size_t label) {
        double sum = 0;
        for (std::size_t k = 0; k < counts.size(); ++k) sum += k == label ? 0 : counts[k];
        return sum;
    }
    std::size_t labels_ = 0;
    std::map<std::int32_t, std::vector<double>> counts_;
};

template <class T>
void follows_the_definition(double tolerance) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        ComplementBayes<T> learner;
        Naive naive;
        int round = 0;
        for (const ScaledText& text : random_texts(seed, 300, 60, 25, 0)) {
            const Note note("seed ", seed, ", round ", round++);
            learn_text(learner, text);
            learn_text(naive, text);
            const std::vector<T> scores = scores_of(learner, text.x);
            for (std::size_t k = 0; k < scores.size(); ++k)
                near(static_cast<double>(scores[k]), naive.score(text.x, k), tolerance);
        }
    }
}

template <class T>
ComplementBayes<T> learnt(std::uint64_t seed, int length) {
    ComplementBayes<T> learner;
    for (const ScaledText& text : random_texts(seed, length, 60, 25, 0)) learn_text(learner, text);
    return learner;
}

template <class T>
void restore_counts(ComplementBayes<T>& out, const ComplementBayes<T>& learner) {
    out.add_labels(learner.labels());
    for (std::size_t word = 0; word < learner.words().size(); ++word) {
        std::vector<std::int32_t> labels;
        std::vector<double> counts;
        for (const LabelCount& entry : learner.counts()[word]) {
            labels.push_back(entry.label);
            counts.push_back(entry.count);
        }
        out.restore_word(learner.words()[word], labels, counts);
    }
}

const Test definition{"complement Bayes: scores are those of the formulas", [] {
                          follows_the_definition<double>(1e-10);
                          follows_the_definition<float>(1e-4);
                      }};

const Test nothing{"complement Bayes: unknown words and no words score 0", [] {
                       ComplementBayes<float> learner;
                       learner.add_labels(2);
                       Example x;
                       x.add(5, 1);
                       for (const float score : scores_of(learner, x)) same(score, 0.0f);
                       learner.learn(x, std::vector<int>{1}, {}, 1);
                       Example other;
                       other.add(6, 1);
                       for (const float score : scores_of(learner, other)) same(score, 0.0f);
                       for (const float score : scores_of(learner, Example())) same(score, 0.0f);
                       learner.learn(other, std::vector<int>{0}, {}, 1);
                       check(scores_of(learner, x)[1] > scores_of(learner, x)[0],
                             "nothing is learnt");
                   }};

const Test irrelevant{"complement Bayes: only relevant labels learn", [] {
                          ComplementBayes<double> learner = learnt<double>(3, 50);
                          const ScaledText text = random_texts(5, 1, 60, 2, 0)[0];
                          const auto before = scores_of(learner, text.x);
                          learner.learn(text.x, {}, std::vector<int>{0, 1}, 1);
                          same_bits(scores_of(learner, text.x), before);
                      }};

const Test saved{"complement Bayes: a restored learner goes on with the same bits", [] {
                     const auto texts = random_texts(5, 300, 60, 25, 0);
                     ComplementBayes<double> learner, copy;
                     for (std::size_t t = 0; t < 150; ++t) learn_text(learner, texts[t]);
                     restore_counts(copy, learner);
                     check(copy.restore_sums(learner.sums()), "the sums are refused");
                     for (std::size_t t = 150; t < texts.size(); ++t) {
                         same_bits(scores_of(copy, texts[t].x), scores_of(learner, texts[t].x));
                         learn_text(learner, texts[t]);
                         learn_text(copy, texts[t]);
                     }
                 }};

const Test refused{
    "complement Bayes: sums that do not fit the counts are refused", [] {
        const ComplementBayes<float> learner = learnt<float>(2, 60);
        using Sums = ComplementBayes<float>::Sums;
        const auto accepts = [&](auto&& damage) {
            Sums sums = learner.sums();
            damage(sums);
            ComplementBayes<float> copy;
            restore_counts(copy, learner);
            return copy.restore_sums(sums);
        };
        check(accepts([](Sums&) {}), "the sums are refused");
        constexpr double kBad[] = {0,
                                   -1,
                                   1e301,
                                   0.99,
                                   std::numeric_limits<double>::quiet_NaN(),
                                   std::numeric_limits<double>::infinity()};
        for (const double bad : kBad) {
            const Note note("factor ", bad);
            check(!accepts([=](Sums& s) { s.of_words[3] *= bad; }), "a word");
            check(!accepts([=](Sums& s) { s.of_labels[1] *= bad; }), "a label");
            check(!accepts([=](Sums& s) { s.total *= bad; }), "the total");
        }
        check(!accepts([](Sums& s) { s.of_words.pop_back(); }), "a word too few");
        check(!accepts([](Sums& s) { s.of_labels.push_back(0); }), "a label too many");
        ComplementBayes<float> huge;
        huge.add_labels(2);
        for (const std::int32_t word : {1, 2})
            huge.restore_word(word, std::vector<std::int32_t>{0, 1},
                              std::vector<double>{1e308, 1e308});
        check(!huge.restore_sums({{1e300, 1e300}, {1e300, 1e300}, 1e300}), "infinite sums");
    }};

const Test explained{
    "complement Bayes: contributions add up to the score", [] {
        const ComplementBayes<double> learner = learnt<double>(2, 200);
        ComplementBayes<double>::Scratch scratch;
        std::vector<double> parts;
        for (const ScaledText& text : random_texts(9, 40, 80, 25, 0)) {
            const auto scores = scores_of(learner, text.x);
            for (std::size_t k = 0; k < learner.labels(); ++k) {
                const double rest =
                    learner.contributions(text.x, scratch, static_cast<int>(k), parts);
                same(parts.size(), text.x.size());
                near(std::accumulate(parts.begin(), parts.end(), rest), scores[k], 1e-12);
            }
        }
    }};

// The stream with its labels renamed; -1 forgets a label.
std::vector<ScaledText> renamed(std::vector<ScaledText> texts, std::span<const int> names) {
    for (ScaledText& text : texts) {
        std::vector<int> relevant;
        for (const int label : text.relevant)
            if (names[static_cast<std::size_t>(label)] >= 0)
                relevant.push_back(names[static_cast<std::size_t>(label)]);
        text.relevant = relevant;
    }
    return texts;
}

const Test merged{"complement Bayes: merged and forgotten labels are as if learnt that way", [] {
                      ComplementBayes<double> learner, expected;
                      const auto texts = random_texts(4, 200, 60, 6, 0);
                      const std::vector<int> names{1, 0, 1, 2, -1, -1};
                      expected.add_labels(3);
                      for (const ScaledText& text : texts) learn_text(learner, text);
                      for (const ScaledText& text : renamed(texts, names))
                          expected.learn(text.x, text.relevant, {}, text.weight);
                      learner.rebuild(Selection::of_labels({{1}, {0, 2}, {3}}, 6));
                      same(learner.words().size(), expected.words().size());
                      for (const ScaledText& text : random_texts(8, 40, 80, 6, 0)) {
                          const auto now = scores_of(learner, text.x),
                                     then = scores_of(expected, text.x);
                          for (std::size_t k = 0; k < 3; ++k) near(now[k], then[k], 1e-10);
                      }
                      learner.rebuild(Selection::of_labels({}, 3));
                      same(learner.words().size(), std::size_t{0});
                  }};

const Test pruned{"complement Bayes: dropped features are as if they had never been seen", [] {
                      ComplementBayes<double> learner, expected;
                      for (const ScaledText& text : random_texts(7, 200, 60, 25, 0)) {
                          learn_text(learner, text);
                          ScaledText odd = text;
                          odd.x.clear();
                          for (std::size_t i = 0; i < text.x.size(); ++i)
                              if (text.x.feature[i] % 2 != 0)
                                  odd.x.add(text.x.feature[i], text.x.value[i]);
                          learn_text(expected, odd);
                      }
                      learner.drop_features([](std::int32_t feature) { return feature % 2 == 0; });
                      same(learner.words().size(), expected.words().size());
                      for (const ScaledText& text : random_texts(8, 40, 60, 25, 0)) {
                          const auto now = scores_of(learner, text.x),
                                     then = scores_of(expected, text.x);
                          for (std::size_t k = 0; k < now.size(); ++k) near(now[k], then[k], 1e-10);
                      }
                  }};

const Test extreme{"complement Bayes: extreme weights and negative values leave scores finite", [] {
                       Random random(1);
                       constexpr double kSizes[] = {1e-310, 1e-160, 1e-9, 1, 1e9, 1e150, 1e299};
                       ComplementBayes<double> learner;
                       learner.add_labels(3);
                       for (int t = 0; t < 400; ++t) {
                           Example x;
                           for (int i = 0; i < 4; ++i)
                               x.add(random.below(6), random.normal() * kSizes[random.below(6)]);
                           x.merge();
                           const std::vector<int> relevant{random.below(3)};
                           learner.learn(x, relevant, {}, kSizes[random.below(7)]);
                           for (const double score : scores_of(learner, x))
                               check(std::isfinite(score), "a score is not finite");
                           at_most(learner.sums().total, ComplementBayes<double>::kLargest);
                       }
                   }};

const Test negative{"complement Bayes: values that are not positive teach nothing", [] {
                        ComplementBayes<double> learner, expected;
                        for (auto* one : {&learner, &expected}) one->add_labels(2);
                        Example x, positive;
                        x.add(1, 0.5);
                        x.add(2, -0.5);
                        positive.add(1, 0.5);
                        learner.learn(x, std::vector<int>{0}, {}, 1);
                        expected.learn(positive, std::vector<int>{0}, {}, 1);
                        same(learner.words().size(), std::size_t{1});
                        same_bits(scores_of(learner, x), scores_of(expected, x));
                    }};

const Test rounding{
    "complement Bayes: saved sums may be smaller than their parts", [] {
        ComplementBayes<double> learner;
        learner.add_labels(1);
        learner.restore_word(1, std::vector<std::int32_t>{0}, std::vector<double>{1e9});
        const double smaller = 1e9 * (1 - 5e-7);
        check(learner.restore_sums({{smaller}, {1e9}, 1e9}), "the sums are refused");
        Example x;
        x.add(1, 1);
        same(scores_of(learner, x)[0], 0.0);  // the only word, so both logarithms are that of .1
    }};

const Test lists{"entry lists: keep sorted counts while they grow and move", [] {
                     Random random(2);
                     EntryLists lists;
                     std::vector<std::map<std::int32_t, double>> expected(20);
                     for (std::size_t list = 0; list < expected.size(); ++list) lists.add_list();
                     for (int i = 0; i < 3000; ++i) {
                         const auto list = static_cast<std::size_t>(random.below(20));
                         const int label = random.below(1 + 5 * static_cast<int>(list));
                         lists.add(list, label, 1 + i);
                         expected[list][label] += 1 + i;
                     }
                     for (std::size_t list = 0; list < expected.size(); ++list) {
                         same(lists[list].size(), expected[list].size());
                         auto next = expected[list].begin();
                         for (const LabelCount& entry : lists[list]) {
                             same(entry.label, next->first);
                             same(entry.count, next->second);
                             same(lists.find(list, entry.label), next++->second);
                         }
                         same(lists.find(list, 1000), 0.0);
                     }
                 }};

const Test places{"entry lists: places that lists have left are used again", [] {
                      EntryLists lists;
                      for (std::size_t list = 0; list < 100; ++list) {
                          lists.add_list();
                          for (int label = 0; label < 8; ++label) lists.add(list, label, 1);
                      }
                      const EntryLists empty = [] {
                          EntryLists out;
                          for (int i = 0; i < 100; ++i) out.add_list();
                          return out;
                      }();
                      same(lists.places(), std::size_t{100 * 8 + 1 + 2 + 4});
                      same(lists.bytes() - empty.bytes(), sizeof(LabelCount) * 100 * 8);
                  }};

}  // namespace
}  // namespace tagalong::test::complement_bayes_test
