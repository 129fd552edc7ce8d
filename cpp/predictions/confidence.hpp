// How far the suggestions for an item can be trusted: the probability that each is right, whether
// it is sure enough to be acted on, and the probability that all chosen labels are exactly right.
//
// Each of the first ten places of a ranking has a rule of its own (ConfidenceRule). Seven numbers
// describe the label at a place: its score; the gap to the next score (first place) or to the first
// one (other places); its score relative to the scores of all labels; how often suggestions of this
// label at this place were right, and how often all suggestions at this place were; how often the
// label occurred; and how many features of the item are known.
//
// It learns from what the model says of an item just before the item is learnt, and only if a
// person answered without help (`judged` answers).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/selection.hpp"
#include "predictions/confidence_rule.hpp"
#include "predictions/judgement.hpp"
#include "predictions/label_precision.hpp"
#include "predictions/label_runs.hpp"
#include "predictions/margin_curve.hpp"
#include "predictions/ranking.hpp"

namespace tagalong {

enum class OneLabel { noticed, yes, no };  // noticed: no answer so far had several labels

// A scored item before its labels are known.
template <class T>
struct ScoredItem {
    std::span<const T> scores;
    double cutoff;       // labels that score at least this are chosen
    std::int32_t known;  // the features of the item that have weights
};

class Confidence {
  public:
    static constexpr std::size_t kPlaces = kJudgedPlaces;

    explicit Confidence(OneLabel one_label = OneLabel::noticed, const Caution& caution = {});

    // Judges the first k places.
    template <class T>
    void judge(const ScoredItem<T>& item, std::size_t k, const TieOrder& ties,
               Judgement& out) const;
    // The first k places without probabilities.
    template <class T>
    void rank_only(const ScoredItem<T>& item, std::size_t k, const TieOrder& ties,
                   Judgement& out) const;
    // Learns from the answer to an item; both label sets are sorted. An answer may stand for
    // several items. `before`, if given, receives the judgement before the answer.
    template <class T>
    void observe(const ScoredItem<T>& item, std::span<const int> relevant,
                 std::span<const int> unknown, double stands_for, Judgement* before);
    // Counts a wrong suggestion that was acted on, with a weight from 0 to 1: less than 1 if right
    // ones that were acted on are not counted.
    void count_mistake(std::int32_t label, double weight) {
        precision_.observe(label, 1, false, weight);
    }

    // The answers that it has learnt from.
    std::int64_t answers() const { return answers_; }
    bool has_one_label() const;
    // Changes nothing that was learnt from the answers so far.
    void set_one_label(OneLabel one_label) { one_label_ = one_label; }
    // Whether labels came in runs, up to the last answer.
    bool in_runs() const { return runs_.in_runs(); }
    // The recent answers whose first suggestion was sure at a target.
    CoveredShare covered(double target) const { return rules_[0].covered(target); }
    const LabelPrecision& label_precision() const { return precision_; }

    // Merges or forgets labels.
    void select(const Selection& selection, std::size_t labels_before);

    std::vector<double> state() const;
    // Returns false if the state is invalid.
    bool restore(std::span<const double> state, std::size_t labels);

  private:
    static constexpr std::size_t kNumbers = 7;
    static constexpr std::size_t kWholePlaces = 5;
    static constexpr std::size_t kKnownBuckets = 33;
    using Rule = ConfidenceRule<kNumbers>;

    // The recent share of right suggestions of one kind.
    struct RecentShare {
        double value = 0.5;
        double logit = 0;  // of the value, clipped
        std::int64_t rounds = 0;
        void observe(bool right, double weight);
    };
    // Recent suggestions of a label at a place, discounted.
    struct Suggested {
        float count = 0, right = 0;
    };
    struct PlaceHistory {
        RecentShare share;
        std::vector<Suggested> labels;
    };
    // The parts of the description of a label that are the same for all labels of an item.
    struct ItemNumbers {
        double first, mean, inverse_deviation, log_known;
    };
    // The labels at the first places, with the numbers and logits of their rules.
    struct Ranked {
        std::vector<std::int32_t> best;
        std::size_t described = 0;  // places that have numbers
        std::array<Rule::Numbers, kPlaces> numbers;
        std::array<double, kPlaces> logit;
    };
    struct WholeNumbers {
        ConfidenceRule<2>::Numbers numbers;
        double logit;
    };

    template <class T>
    static ItemNumbers describe_item(const ScoredItem<T>& item);
    Rule::Numbers describe_label(std::size_t rule, std::int32_t label, double score, double gap,
                                 const ItemNumbers& item) const;
    template <class T>
    void describe(const ScoredItem<T>& item, std::size_t places, Ranked& ranked) const;
    template <class T>
    void judge_ranked(const ScoredItem<T>& item, const Ranked& ranked, std::size_t places,
                      Judgement& out) const;
    template <class T>
    WholeNumbers describe_whole(const ScoredItem<T>& item, const Judgement& judged) const;
    // The chance of the whole answer; fills in `whole` unless items have one label.
    template <class T>
    double judge_whole(const ScoredItem<T>& item, const Judgement& judged,
                       WholeNumbers& whole) const;
    // Replaces a probability that few answers support by the base rate, in part.
    double supported(double probability, double base, double answers) const;
    // The rule for a place: a place learns only while there are more labels than places up to it.
    static std::size_t rule_for(std::size_t place, std::size_t labels) {
        return std::min({place, kPlaces - 1, labels < 2 ? 0 : labels - 2});
    }
    double base_rate(std::int32_t label, std::size_t labels) const;
    // How many answers had as few known features.
    double answers_with_known(std::int32_t known) const;
    void observe_place(std::size_t place, const Ranked& ranked, bool right,
                       const Evidence& evidence);

    OneLabel one_label_;
    Caution caution_;
    std::int64_t answers_ = 0;
    std::int64_t single_ = 0;   // complete answers with at most one label
    std::int64_t several_ = 0;  // answers with more than one label
    std::array<Rule, kPlaces> rules_;
    std::array<PlaceHistory, kPlaces> history_;
    ConfidenceRule<2> whole_;
    MarginCurve of_two_;  // the first of two exclusive labels
    RecentShare whole_share_;
    LabelRuns runs_;
    LabelPrecision precision_;
    std::vector<double> occurrences_;                       // per label
    std::array<double, kKnownBuckets> answers_by_known_{};  // by the bit length of `known`
    // Scratch memory of observe().
    Ranked ranked_;
    Judgement judged_;
};

}  // namespace tagalong
