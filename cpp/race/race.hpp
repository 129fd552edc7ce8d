// A race of learners that differ in how they scale the features, in their budgets and in their
// methods. All of them learn every example. The prediction is a mixture of their scores, in which
// those with better rankings weigh more. Contestants that are clearly worse than another one leave,
// and their memory is freed.
//
//     mixture = sum_e weight_e (s_e - mean(s_e)) / deviation_e
//
// where s_e are the scores of contestant e for all labels, deviation_e is the recent standard
// deviation of its scores within a row, and weight_e is proportional to exp(rate * gain_e) with the
// discounted sum gain_e of its average precisions (Standings). If items can have several labels, the
// score is mixture / d^(3/4), where d is the deviation of the mixture over the labels of the row.
// Without this (d^0), one cut-off for all rows would ignore that some items have stronger scores
// than others; standardised scores (d^1) would ignore that strong scores are right more often.
//
// Cut-off and confidence are learnt on the mixture, and changes of the answers are noticed in its
// rankings. Every ranker in the race has a certificate; the mixture has none.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/round_labels.hpp"
#include "predictions/confidence.hpp"
#include "predictions/drift.hpp"
#include "predictions/priced_cutoff.hpp"
#include "predictions/ranking.hpp"
#include "predictions/round_options.hpp"
#include "race/contestant.hpp"
#include "race/entrants.hpp"
#include "race/feature_statistics.hpp"
#include "race/scaled_examples.hpp"
#include "race/scaling.hpp"
#include "race/standings.hpp"

namespace tagalong {

template <class T>
class Race {
  public:
    explicit Race(RaceConfig config);

    const RaceConfig& config() const { return entrants_.config(); }
    std::size_t labels() const { return labels_; }
    void add_labels(std::size_t count);

    void learn(const Example& x, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight,
               const RoundOptions<T>& options = {});

    // Working memory for predictions; one per thread.
    struct Reader {
        Example x;
        ScaledExamples scaled;
        typename Contestant<T>::Scratch scratch;
        std::vector<T> scores;  // of one contestant
        std::vector<T> mixture;
        std::vector<std::int32_t> best;
    };
    std::span<const T> score(Reader& reader) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    void judge(Reader& reader, std::size_t k, const TieOrder& ties, Judgement& out) const;
    // Examples keep their length: every contestant scales them itself.
    void finish(Example& x) const { x.finish(Norm::none, 1); }

    double cutoff() const { return cutoff_.value(); }
    // The contribution of each feature of reader.x to the score of a label. The constant feature
    // has everything that belongs to no feature of the example.
    void contributions(Reader& reader, int label, std::vector<double>& out) const;

    // The ranker whose certificate is that of the race.
    const LabelRanker<T>& leading_ranker() const {
        return *entrants_.leading_ranker().learner->ranker();
    }
    double recompute_dual() const { return leading_ranker().recompute_dual(); }
    void restart_certificate();
    std::int64_t rounds() const { return rounds_; }
    std::int64_t unsolved() const { return entrants_.unsolved(); }

    // The features with weights, and the constant feature last; a Selection of rows refers to
    // these.
    std::size_t rows() const { return statistics_.features().size() + 1; }
    std::size_t width() const { return labels_; }
    // The weights of a row for all labels, for examples whose lengths change by scaling as recent
    // ones did. Exact if the only contestant takes values as they are.
    void weights(std::size_t row, std::vector<double>& out) const;
    void rebuild(const Selection& selection);
    std::size_t bytes() const { return entrants_.bytes(); }

    Confidence& confidence() { return confidence_; }
    const Confidence& confidence() const { return confidence_; }
    const Drift& drift() const { return drift_; }

    const Entrants<T>& entrants() const { return entrants_; }
    const FeatureStatistics& statistics() const { return statistics_; }
    // The recent length of examples, divided by their length after scaling.
    double length_ratio(Scaling scaling) const {
        return length_ratio_[static_cast<std::size_t>(scaling)].value();
    }

    // For files: everything but the contestants, the statistics, the cut-off and the confidence.
    FeatureStatistics& statistics_state() { return statistics_; }
    PricedCutoff& cutoff_state() { return cutoff_; }
    const PricedCutoff& cutoff_state() const { return cutoff_; }
    Drift& drift_state() { return drift_; }
    std::vector<double> state() const;
    // Makes the entrants, without their weights. Returns false if the state is invalid.
    bool restore(std::span<const double> numbers, std::size_t labels);
    // To be called when all parts are restored.
    void finish_restoring();

  private:
    const RankerConfig& ranker_config() const { return config().ranker; }
    bool suits(const ContestantType& type) const;

    void take_labels(std::span<const std::int32_t> relevant, std::span<const std::int32_t> unknown);
    // Mean and variance of the scores of the labels seen before a round.
    struct Moments {
        double mean = 0, variance = 0;
    };
    static Moments moments(std::span<const T> scores);
    // Adds the scores of an entrant to the mixture, centred by their mean.
    void add_to_mixture(std::size_t entrant, std::span<const T> scores, double mean,
                        std::span<T> mixture) const;
    // Divides the mixture by a power of its deviation over the first `seen` labels, unless items
    // have one label each; returns the factor.
    T put_on_scale(std::size_t seen, std::span<T> mixture) const;
    // Scores an example; returns the factor of put_on_scale.
    double score_scale(Reader& reader) const;
    void keep_order_for_standard();
    void compare(std::size_t seen);
    // Looks for changed answers in the rankings of the mixture.
    void watch_for_drift(std::span<const T> predicted);
    void begin_again();
    void review_suitability();

    std::size_t labels_ = 0;
    std::int64_t rounds_ = 0;
    bool dense_ = false;
    FeatureStatistics statistics_;
    std::array<RecentMean, kScalings> length_ratio_;
    Entrants<T> entrants_;
    PricedCutoff cutoff_;
    Confidence confidence_;
    Drift drift_;

    // Scratch memory of learn().
    ScaledExamples scaled_;
    typename Contestant<T>::Scratch scratch_;
    std::vector<std::vector<T>> scores_;  // per entrant
    std::vector<Moments> moments_;        // of these
    std::vector<T> mixture_;
    RoundLabels round_;
    RoundLabels seen_;  // those of the round that had a score
    std::vector<double> gains_;
    std::vector<double> precisions_;  // of the mixture at the ranks of the relevant labels
    AveragePrecision<T> average_precision_;
};

extern template class Race<float>;
extern template class Race<double>;

}  // namespace tagalong
