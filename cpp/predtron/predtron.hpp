// Predtron (P5: Jain, Natarajan, Tewari, 2015): perceptrons for general prediction problems. A
// round scores the example and gets the loss and a direction from the problem's rule
// (predtron/problem_rule.hpp). If the loss is not zero, the dual vectors move by
//
//     W += eta (rep(correct) - rep(s)) x'                        (update "mistake", Algorithm 1)
//     W += eta L(s, y) (rep(correct) - rep(s)) x'                (update "loss")
//
// eta is given, or taken from the theory: c_L / (4 R^2), divided by link_factor() for the l1, group
// and trace norms, for "mistake"; 1 for "loss".
//
// The interface is that of LabelRanker. For problems that the core does not know, this class
// computes the scores; the caller decodes them and passes the step back. A query of documents
// (subset ranking) has one weight vector; its step is a weighted sum of the documents' rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/matrix.hpp"
#include "geometry/linear.hpp"
#include "predictions/calibration.hpp"
#include "predictions/confidence.hpp"
#include "predictions/cutoff.hpp"
#include "predictions/ranking.hpp"
#include "predictions/round_options.hpp"
#include "predtron/kernel_geometry.hpp"
#include "predtron/link_geometry.hpp"
#include "predtron/problem_rule.hpp"

namespace tagalong {

// The norm of the weights. With the trace norm and a custom norm, Python holds the weights, and this
// class holds only the counts.
enum class PredtronNorm { l2, l1, group, kernel, trace, custom };

struct PredtronConfig {
    ProblemConfig problem;
    PredtronNorm norm = PredtronNorm::l2;
    KernelConfig kernel;
    std::size_t budget = 0;  // largest number of support examples; 0: no limit
    bool by_loss = false;
    double step = 0;  // eta; 0: from the theory
    bool average = false;
    bool normalize = false;
    double constant = 0;
    std::int64_t n_features = 0;
    bool queries = false;       // one weight vector; rows are documents
    std::size_t dimension = 0;  // scores of a custom problem; 0: one per label
};

struct PredtronCounts {
    std::int64_t rounds = 0;   // since construction
    std::int64_t earlier = 0;  // rounds before the last restart_certificate()
    std::int64_t mistakes = 0;
    double loss = 0;
    double radius = 0;      // R, the largest norm of an example
    double top_grade = 1;   // the largest grade of a ranking's answers
    double least_step = 0;  // the smallest step of the rounds with a loss
    double most_step = 0;
    double least_weight = 1;
    double most_weight = 1;
    double least_loss = 0;  // c_L at the last step
    // p, whose logarithm is the exponent of the link; 0 before the first step.
    double dimension = 0;

    // Counts a round with an example of this weight and norm, with or without a loss.
    void count_round(double weight, double norm) {
        const bool first = rounds == earlier;
        least_weight = first ? weight : std::min(least_weight, weight);
        most_weight = first ? weight : std::max(most_weight, weight);
        ++rounds;
        radius = std::max(radius, norm);
    }
    void count_mistake(double step) {
        least_step = mistakes == 0 ? step : std::min(least_step, step);
        most_step = mistakes == 0 ? step : std::max(most_step, step);
        ++mistakes;
    }

    // Whether numbers from a file can be those of a learner.
    bool consistent() const {
        return earlier <= rounds && mistakes <= rounds - earlier && loss >= 0 && radius >= 0 &&
               least_step >= 0 && least_step <= most_step && least_weight >= 0 &&
               least_weight <= most_weight && least_loss >= 0 && dimension >= 0 &&
               dimension <= kLargestDimension;
    }
    // As many features as there can be, times as many labels.
    static constexpr double kLargestDimension = 0x1p62;

    // Visits every number with its name in files and in Python.
    template <class Counts, class Visit>
    static void fields(Counts& counts, Visit&& visit) {
        visit("rounds", counts.rounds);
        visit("earlier", counts.earlier);
        visit("mistakes", counts.mistakes);
        visit("loss", counts.loss);
        visit("radius", counts.radius);
        visit("top_grade", counts.top_grade);
        visit("least_step", counts.least_step);
        visit("most_step", counts.most_step);
        visit("least_weight", counts.least_weight);
        visit("most_weight", counts.most_weight);
        visit("least_loss", counts.least_loss);
        visit("dimension", counts.dimension);
    }
};

template <class T>
class Predtron {
  public:
    explicit Predtron(const PredtronConfig& config);

    const PredtronConfig& config() const { return config_; }
    std::size_t labels() const { return labels_; }
    std::size_t scores_per_row() const;
    void add_labels(std::size_t count);
    void finish(Example& x) const;

    void learn(Example& x, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight,
               const RoundOptions<T>& options = {});

    struct Reader {
        Example x;
        RowLookup<T> at;
        std::vector<T> labels;
        std::vector<std::int32_t> best;
    };
    // The scores of the labels, with the weights for prediction (averaged, if configured).
    std::span<const T> score(Reader& reader) const;
    // The scores of the problem, with the current weights or, if `predicting`, the weights for
    // prediction.
    std::span<const T> raw_score(Reader& reader, bool predicting) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    // Judges the first k places.
    void judge(Reader& reader, std::size_t k, const TieOrder& ties, Judgement& out) const;
    void contributions(Reader& reader, int label, std::vector<double>& out) const;

    // For problems that the caller decodes: count() counts a round of a given size and loss and
    // returns the step length; observe() updates cut-off and calibration; move() adds the step to
    // the weights.
    double count(double norm, double loss, double weight, std::size_t size);
    void observe(std::span<const T> predicted, std::span<const std::int32_t> relevant,
                 std::span<const std::int32_t> unknown);
    // Like observe(), for targets that are labels; updates the confidence too. Both sets of labels
    // are sorted.
    void observe_labels(const ScoredItem<T>& item, std::span<const T> predicted,
                        std::span<const std::int32_t> relevant,
                        std::span<const std::int32_t> unknown, const RoundOptions<T>& options);
    void move(const Example& x, std::span<const double> direction);

    // Learns from one query, its documents and their grades. Returns the loss. `scores` gets the
    // predicted scores if it is not null.
    double learn_query(std::span<const Example> documents, std::span<const double> grades,
                       double norm, double weight, T* scores);
    void score_documents(std::span<const Example> documents, bool predicting,
                         std::vector<T>& out) const;
    // Like learn_query(), with the loss and the direction computed by the caller.
    void learn_judged_query(std::span<const Example> documents, std::span<const double> grades,
                            double loss, std::span<const double> direction, double norm,
                            double weight);

    double norm_of(const Example& x) const;
    double cutoff() const;
    double mean_factor() const;
    double weight(std::int32_t row, int label) const;
    // The factor of the mistake bound relative to the l2 norm: p^(2/s) (s - 1).
    double link_factor() const;
    void restart_certificate();
    std::int64_t rounds() const { return counts_.rounds; }
    // The number of features with weights, from which a Selection chooses.
    std::size_t rows() const { return store() ? store()->rows() : 0; }
    // The number of weights per feature.
    std::size_t width() const { return scores_per_row(); }
    // Merges labels or drops features; restarts the certificate. Not with a kernel.
    void rebuild(const Selection& selection);

    const WeightStore<T>* store() const;
    std::size_t bytes() const;
    PredtronCounts& counts() { return counts_; }
    const PredtronCounts& counts() const { return counts_; }
    Cutoff& cutoff_state() { return cutoff_; }
    const Cutoff& cutoff_state() const { return cutoff_; }
    Calibration& calibration() { return calibration_; }
    const Calibration& calibration() const { return calibration_; }
    Confidence& confidence() { return confidence_; }
    const Confidence& confidence() const { return confidence_; }
    using Geometry = std::variant<LinearGeometry<T>, LinkGeometry<T>, KernelGeometry>;
    Geometry& geometry() { return geometry_; }
    const Geometry& geometry() const { return geometry_; }
    void set_dimension(double p);

  private:
    static Geometry make_geometry(const PredtronConfig& config);
    bool single_score() const { return rule_.single_score(); }
    void score_rows(const Example& x, bool means, RowLookup<T>& at) const;
    std::int32_t known(const Example& x, const RowLookup<T>& at) const;
    std::span<const T> label_scores(std::span<const T> raw, std::vector<T>& out) const;
    void apply_averaging(RowLookup<T>& at) const;
    void apply(const Example& x);
    void move_query(std::span<const Example> documents, std::span<const double> direction,
                    double step);
    void update_top_grade(std::span<const double> grades);
    void set_answer(std::span<const std::int32_t> relevant, std::span<const std::int32_t> unknown);
    void set_link_dimension();
    double step_size() const;
    bool has_link() const;
    void add_dimensions(std::size_t count);

    PredtronConfig config_;
    ProblemRule rule_;
    Geometry geometry_;
    std::size_t labels_ = 0;
    PredtronCounts counts_;
    Cutoff cutoff_;
    Calibration calibration_;  // for any problem
    Confidence confidence_;    // for labels

    // Working memory of the writer.
    RowLookup<T> at_;
    Step step_;
    std::vector<double> scores_;
    std::vector<T> predicted_scores_, current_scores_;
    std::vector<int> relevant_, unknown_;
    Example sum_;
};

extern template class Predtron<float>;
extern template class Predtron<double>;

}  // namespace tagalong
