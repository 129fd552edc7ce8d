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
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/round_labels.hpp"
#include "predictions/confidence.hpp"
#include "predictions/drift.hpp"
#include "predictions/priced_cutoff.hpp"
#include "predictions/ranking.hpp"
#include "predictions/round_options.hpp"
#include "race/contestant.hpp"
#include "race/feature_statistics.hpp"
#include "race/scaling.hpp"
#include "race/standings.hpp"

namespace tagalong {

struct RaceConfig {
    std::vector<const ContestantType*> types;
    RankerConfig ranker;  // the settings of the rankers; its budget is scaled by the contestants
    // The bytes that contestants other than the leader may take together.
    std::size_t memory = std::size_t{256} << 20;
};

// Why a contestant left the race.
enum class Reason { beaten, same, unsuited, memory, not_finite };

struct Departure {
    bool happened = false;
    Reason reason = Reason::unsuited;
    std::int64_t round = 0;
    std::int32_t winner = -1;  // the type that beat it, if any
    double lead = 0;           // of the winner, in standard errors
};

// The examples of a round, one per scaling, each made when it is first needed.
class ScaledExamples {
  public:
    // The example has the constant feature first; the statistics are those of the rows before it.
    void start(const Example& x, const FeatureStatistics& before);
    // The places of the features of the example in the statistics, and the number of those that
    // are known.
    std::span<const std::int32_t> places() const { return places_; }
    std::int32_t known() const;
    const Example& get(Scaling scaling, const FeatureStatistics& before,
                       const RankerConfig& config);
    // The Euclidean length of the raw example divided by that of the scaled one; 0 if that is 0, or
    // if nobody needed it.
    double length_ratio(Scaling scaling) const {
        const auto at = static_cast<std::size_t>(scaling);
        return ready_[at] ? ratio_[at] : 0;
    }

  private:
    const Example* raw_ = nullptr;
    std::vector<std::int32_t> places_;
    std::array<bool, kScalings> ready_{};
    std::array<double, kScalings> ratio_{};
    std::array<Example, kScalings> scaled_;
};

template <class T>
class Race {
  public:
    explicit Race(RaceConfig config);

    const RaceConfig& config() const { return config_; }
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

    // The ranker with the highest discounted gain; the first of equals. The certificate is its own.
    const LabelRanker<T>& leading_ranker() const {
        return *leading_ranker_entrant().learner->ranker();
    }
    double recompute_dual() const { return leading_ranker().recompute_dual(); }
    void restart_certificate();
    std::int64_t rounds() const { return rounds_; }
    std::int64_t unsolved() const;

    // The features with weights, and the constant feature last; a Selection of rows refers to
    // these.
    std::size_t rows() const { return statistics_.features().size() + 1; }
    std::size_t width() const { return labels_; }
    // The weights of a row for all labels, for examples whose lengths change by scaling as recent
    // ones did. Exact if the only contestant takes values as they are.
    void weights(std::size_t row, std::vector<double>& out) const;
    void rebuild(const Selection& selection);
    std::size_t bytes() const;

    Confidence& confidence() { return confidence_; }
    const Confidence& confidence() const { return confidence_; }
    const Drift& drift() const { return drift_; }

    // A contestant that is in the race.
    struct Entrant {
        std::size_t type;  // in config().types
        std::int64_t started;
        std::unique_ptr<Contestant<T>> learner;
        RecentMean variance;  // of the scores within a row
    };
    const std::vector<Entrant>& entrants() const { return entrants_; }
    const Entrant& leading_ranker_entrant() const;
    const Standings& standings() const { return standings_; }
    // The weight of each entrant in the mixture.
    const std::vector<double>& entrant_weights() const { return weight_; }
    // The last departure of each type.
    const std::vector<Departure>& departures() const { return departures_; }
    const FeatureStatistics& statistics() const { return statistics_; }

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
    const ContestantType& type_of(const Entrant& entrant) const {
        return *config_.types[entrant.type];
    }
    bool suits(const ContestantType& type) const;
    void join(std::size_t type);
    void leave(std::size_t entrant, Reason reason, std::int32_t winner = -1, double lead = 0);
    // Whether the race can go on without an entrant: a ranker stays, for its certificate.
    bool may_leave(std::size_t entrant) const;

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
    void review();
    void begin_again();
    void review_suitability();
    struct Loss {
        std::size_t winner, loser;
        double lead;
        Reason reason;
    };
    void review_pairs();
    std::optional<Loss> clearest_loss() const;
    void review_memory();
    void weigh();

    RaceConfig config_;
    std::size_t labels_ = 0;
    std::int64_t rounds_ = 0;
    std::int64_t unsolved_of_departed_ = 0;
    bool dense_ = false;
    FeatureStatistics statistics_;
    std::array<RecentMean, kScalings> length_ratio_;
    std::vector<Entrant> entrants_;
    std::vector<Departure> departures_;
    Standings standings_;
    std::vector<double> weight_;  // of each entrant in the mixture
    std::vector<double> factor_;  // the weight divided by the deviation of its scores
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
