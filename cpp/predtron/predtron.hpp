// Predtron (P5): perceptrons for general prediction problems. A round is scored, judged by the
// problem's rule, and where the prediction has a loss, the dual vectors move along the direction
// that the rule gives, times the example.
//
// The class offers what the label ranker offers. For problems that the core does not know, scores
// come from here, somebody else decides, and the step comes back. A query of documents (subset
// ranking) has one weight vector, whose step is the sum of the documents' rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <shared_mutex>
#include <span>
#include <variant>
#include <vector>

#include "core/matrix.hpp"
#include "geometry/linear.hpp"
#include "predictions/calibration.hpp"
#include "predictions/cutoff.hpp"
#include "predictions/ranking.hpp"
#include "predtron/kernel_geometry.hpp"
#include "predtron/link_geometry.hpp"
#include "predtron/problem_rule.hpp"

namespace tagalong {

// How weights are measured. In the trace norm they live elsewhere, and only counts are kept here.
enum class PredtronNorm { l2, l1, group, kernel, trace };

struct PredtronConfig {
    ProblemConfig problem;
    PredtronNorm norm = PredtronNorm::l2;
    KernelConfig kernel;
    std::size_t budget = 0;  // of support examples; 0: any number
    bool by_loss = false;
    double step = 0;  // 0: by the theory
    bool average = false;
    bool normalize = false;
    double constant = 0;
    std::int64_t n_features = 0;
    bool queries = false;       // one weight vector for rows that are documents
    std::size_t dimension = 0;  // of a problem that the core does not know; 0: a score a label
};

struct PredtronCounts {
    std::int64_t rounds = 0;   // since the learner began
    std::int64_t earlier = 0;  // those before the account was restarted
    std::int64_t mistakes = 0;
    double loss = 0;
    double radius = 0;      // the largest norm of an example
    double top_grade = 1;   // of a ranking's answers
    double least_step = 0;  // of the rounds with a loss
    double most_step = 0;
    double least_weight = 1;
    double most_weight = 1;
    double least_loss = 0;  // c_L, as the last step had it
    double dimension =
        0;  // p, whose logarithm is the exponent of the link; 0 before the first step

    // A round with an example of this weight and norm, whether or not it has a loss.
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

    // Every number under its name in files and in Python.
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
    std::size_t scores_a_row() const;
    void add_labels(std::size_t count);
    void finish(Example& x) const;

    void learn(Example& x, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight, T* scores = nullptr);

    struct Reader {
        Example x;
        RowLookup<T> at;
        std::vector<T> labels;
        std::vector<std::int32_t> best;
    };
    // Of the labels, with the weights that predict.
    std::span<const T> score(Reader& reader) const;
    // As the problem sees them, with the weights that learn or that predict.
    std::span<const T> raw_score(Reader& reader, bool predicting) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    void contributions(Reader& reader, int label, std::vector<double>& out) const;

    // For problems that are decided elsewhere: counts a round of a given size and loss and returns
    // how far to step; observes what was predicted; moves the weights.
    double count(double norm, double loss, double weight, std::size_t size);
    void observe(std::span<const T> predicted, std::span<const std::int32_t> relevant,
                 std::span<const std::int32_t> unknown);
    void move(const Example& x, std::span<const double> direction);

    // One query: its documents and their grades; the loss. `scores` gets what was predicted.
    double learn_query(std::span<const Example> documents, std::span<const double> grades,
                       double norm, double weight, T* scores);
    void score_documents(std::span<const Example> documents, bool predicting,
                         std::vector<T>& out) const;
    // The same where somebody else has judged it.
    void settle_query(std::span<const Example> documents, std::span<const double> grades,
                      double loss, std::span<const double> direction, double norm, double weight);

    double norm_of(const Example& x) const;
    double cutoff() const;
    double mean_factor() const;
    double weight(std::int32_t row, int label) const;
    // How much steeper than the l2 one the bound of a link is: p^(2/s) (s - 1).
    double spread() const;
    void restart_certificate();
    std::int64_t rounds() const { return counts_.rounds; }
    // How many features have weights, which is what a selection of rows chooses from.
    std::size_t rows() const { return store() ? store()->rows() : 0; }
    // How many numbers the weights of a feature are.
    std::size_t width() const { return scores_a_row(); }
    // Has other labels or fewer features from now on; the certificate begins anew. Not with a kernel.
    void rebuild(const Selection& selection);

    const WeightStore<T>* store() const;
    std::size_t bytes() const;
    PredtronCounts& counts() { return counts_; }
    const PredtronCounts& counts() const { return counts_; }
    Cutoff& cutoff_state() { return cutoff_; }
    const Cutoff& cutoff_state() const { return cutoff_; }
    Calibration& calibration() { return calibration_; }
    const Calibration& calibration() const { return calibration_; }
    using Geometry = std::variant<LinearGeometry<T>, LinkGeometry<T>, KernelGeometry>;
    Geometry& geometry() { return geometry_; }
    const Geometry& geometry() const { return geometry_; }
    void set_dimension(double p);
    std::shared_mutex& mutex() const { return mutex_; }

  private:
    static Geometry make_geometry(const PredtronConfig& config);
    bool single_score() const { return rule_.single_score(); }
    void score_rows(const Example& x, bool means, RowLookup<T>& at) const;
    std::span<const T> label_scores(std::span<const T> raw, std::vector<T>& out) const;
    void take_means(RowLookup<T>& at) const;
    void apply(const Example& x);
    void move_query(std::span<const Example> documents, std::span<const double> direction,
                    double step);
    void see_grades(std::span<const double> grades);
    void take_answer(std::span<const std::int32_t> relevant, std::span<const std::int32_t> unknown);
    void find_dimension();
    double step_size() const;
    bool has_link() const;
    void add_dimensions(std::size_t count);

    PredtronConfig config_;
    ProblemRule rule_;
    Geometry geometry_;
    std::size_t labels_ = 0;
    PredtronCounts counts_;
    Cutoff cutoff_;
    Calibration calibration_;
    mutable std::shared_mutex mutex_;

    // Scratch of the writer.
    RowLookup<T> at_;
    Step step_;
    std::vector<double> scores_;
    std::vector<T> shown_, current_;
    std::vector<int> relevant_, unknown_;
    Example sum_;
};

extern template class Predtron<float>;
extern template class Predtron<double>;

}  // namespace tagalong
