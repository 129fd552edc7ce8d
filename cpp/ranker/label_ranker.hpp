// Online label ranking: score, rule, rank-one update, with a certificate.
//
// A round: the example's rows are found and scored; the scores and the given labels go into a
// rule, which returns a coefficient per label; the geometry moves the labels' dual vectors by
// those multiples of x. The certificate keeps the dual value, a lower bound on what any fixed
// weights could have achieved on the stream so far.
#pragma once

#include <cstdint>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <vector>

#include "core/matrix.hpp"
#include "geometry/any.hpp"
#include "predictions/calibration.hpp"
#include "predictions/cutoff.hpp"
#include "predictions/ranking.hpp"
#include "ranker/blend.hpp"
#include "ranker/certificate.hpp"
#include "rules/rule_table.hpp"

namespace tagalong {

enum class Geometry { euclidean, adaptive, entropic };
enum class Average { never, always, chosen };

struct RankerConfig {
    const LabelRule* update = &label_rule("smooth");
    Geometry geometry = Geometry::adaptive;
    double C = 1;
    double margin = 1;
    double temperature = 0.1;
    Average average = Average::never;
    double constant = 0;
    bool normalize = true;
    Solver solver = Solver::exact;
    double rate = 0;              // of the adaptive geometry
    std::int64_t n_features = 0;  // declared up front; matters to the entropic geometry
};

template <class T>
class LabelRanker {
  public:
    explicit LabelRanker(const RankerConfig& config);

    const RankerConfig& config() const { return config_; }
    std::size_t labels() const;
    void add_labels(std::size_t count);

    // One round. Labels beyond the present ones are added first. `scores`, if given, receives
    // what decision_function would have said before the round; -infinity for labels it brought.
    void learn(Example& x, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight, T* scores = nullptr);

    // What a reader needs to score; one per thread.
    struct Reader {
        Example x;
        RowLookup<T> at;
        std::vector<std::int32_t> best;
    };
    // The scores of all labels with the weights that predict, in reader.at.sums.
    std::span<const T> score(Reader& reader) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;

    void finish(Example& x) const { x.finish(norm(), config_.constant); }

    // What a prediction depends on beside the weights.
    double cutoff() const;
    double blend_share() const;
    double dual() const;
    // The dual value from the stored theta alone: what the running value is checked against.
    double recompute_dual() const;
    // The weight that predicts, of a row of the store or of a feature that has none.
    double weight(std::int32_t row, int label) const;
    Certificate certificate() const;
    // Counts and the dual value begin anew, with the present weights as their centre: what was
    // proven does not hold for weights that were changed otherwise than by learning.
    void restart_certificate();
    // All rounds, those before a restart too.
    std::int64_t rounds() const { return certificate_.rounds; }
    // How many features have weights, which is what a selection of rows chooses from.
    std::size_t rows() const { return store().rows(); }
    // How many numbers the weights of a feature are.
    std::size_t width() const { return labels(); }
    // Has other labels or fewer features from now on; the certificate begins anew.
    void rebuild(const Selection& selection);
    // What each feature of reader.x adds to a label's score with the weights that predict.
    void contributions(Reader& reader, int label, std::vector<double>& out) const;

    // The writer and the readers of a model share this lock; see learn() and score().
    std::shared_mutex& mutex() const { return mutex_; }

    // For saving, loading and showing the weights.
    const WeightStore<T>& store() const;
    AnyGeometry<T>& geometry() { return geometry_; }
    const AnyGeometry<T>& geometry() const { return geometry_; }
    Certificate& certificate_state() { return certificate_; }
    Blend& blend_state() { return blend_; }
    Cutoff& cutoff_state() { return cutoff_; }
    const Blend& blend_state() const { return blend_; }
    const Cutoff& cutoff_state() const { return cutoff_; }
    Calibration& calibration() { return calibration_; }
    const Calibration& calibration() const { return calibration_; }
    // The part of the plane of means that is subtracted from theta to predict.
    double mean_factor() const;

  private:
    static AnyGeometry<T> make_geometry(const RankerConfig& config);
    Norm norm() const;
    // Which of Blend's ways predicts.
    std::size_t way_to_predict() const;

    // The parts of a round. The answer of the round is in relevant_ and unknown_, the scores in at_.sums.
    void take_answer(std::span<const std::int32_t> relevant, std::span<const std::int32_t> unknown);
    std::span<const T> predict(bool counts);
    void judge(const typename BlendScores<T>::Ways& ways);
    template <class G>
    void learn_in(G& geometry, Example& x, double weight);
    void choose_step(LinearGeometry<T>& geometry, const Example& x, double q,
                     const RuleParameters& rule);
    void choose_step(EntropicGeometry<T>& geometry, const Example& x, double q,
                     const RuleParameters& rule);

    RankerConfig config_;
    AnyGeometry<T> geometry_;
    Certificate certificate_;
    Blend blend_;
    Cutoff cutoff_;
    Calibration calibration_;
    mutable std::shared_mutex mutex_;

    // Scratch of the writer.
    RowLookup<T> at_;
    Sides sides_;
    Step step_;
    BlendScores<T> blend_scores_;
    std::vector<int> relevant_;
    std::vector<int> unknown_;
    AveragePrecision<T> average_precision_;
    LinearStep linear_rule_;      // of the linear geometries ...
    EntropicStep entropic_rule_;  // ... and of the entropic one; the other is empty
};

extern template class LabelRanker<float>;
extern template class LabelRanker<double>;

}  // namespace tagalong
