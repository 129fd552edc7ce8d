// Online label ranking with one weight vector per label (P1): dual ascent on
//     min over w of  sum_y F(w_y) + C sum_t max(0, gamma - margin_t(w)),
// where margin_t is the lowest score of a relevant label minus the highest score of an irrelevant
// one in round t, and <w_y, x_t> is the score of label y.
//
// In each round the learner looks up the rows of the example and computes the scores; the update
// rule turns scores and labels into one coefficient alpha_y per label; the geometry applies
// theta_y += alpha_y x to the dual vectors. The certificate counts the dual value, a lower bound of
// the objective above on the stream so far.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/matrix.hpp"
#include "core/round_labels.hpp"
#include "geometry/any.hpp"
#include "predictions/confidence.hpp"
#include "predictions/cutoff.hpp"
#include "predictions/ranking.hpp"
#include "predictions/round_options.hpp"
#include "ranker/blend.hpp"
#include "ranker/certificate.hpp"
#include "rules/rule_table.hpp"

namespace tagalong {

enum class Geometry { euclidean, adaptive, entropic };
enum class Average { never, always, chosen };  // chosen: see Blend

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
    bool working_set = false;  // linear geometries: steps on a working set of labels
    double rate = 0;           // growth rate of S in the adaptive geometry
    RelevanceOf relevance = RelevanceOf::none;  // used by the adaptive geometry
    std::int64_t n_features = 0;  // features declared up front; used by the entropic geometry
    // At the start; Confidence::set_one_label changes it.
    OneLabel one_label = OneLabel::noticed;
    bool probability = true;  // whether to learn how far suggestions can be trusted
    bool cutoff = true;       // whether to learn the cut-off
};

template <class T>
class LabelRanker {
  public:
    explicit LabelRanker(const RankerConfig& config);

    const RankerConfig& config() const { return config_; }
    std::size_t labels() const;
    void add_labels(std::size_t count);

    // Learns one example. New labels are added first.
    void learn(const Example& x, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight,
               const RoundOptions<T>& options = {});

    // Working memory for predictions; one per thread.
    struct Reader {
        Example x;
        RowLookup<T> lookup;
        std::vector<std::int32_t> best;
    };
    // The scores of all labels with the prediction weights; they are stored in lookup.sums.
    std::span<const T> score(Reader& reader) const { return score(reader.x, reader.lookup); }
    std::span<const T> score(const RowView& x, RowLookup<T>& lookup) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    // Judges the first k places. Without confidence, probabilities are 0.
    void judge(Reader& reader, std::size_t k, const TieOrder& ties, Judgement& out) const;

    void finish(Example& x) const { x.finish(norm(), config_.constant); }

    // The score threshold of a suggestion, and the weight of the mean in predictions
    // (Blend::kShares).
    double cutoff() const;
    double blend_share() const;
    double dual() const;
    // The dual value computed from the stored theta, to check the running value.
    double recompute_dual() const;
    // The sum of all decreases of the dual value by changes of the scales of features. The steps
    // have increased it by at most dual() + penalty().
    double penalty() const;
    // The prediction weight of a row of the store, or of a feature without a row.
    double weight(std::int32_t row, int label) const;
    Certificate certificate() const;
    // Resets the counts and centres the dual problem on the present weights. Needed after changes
    // of the weights other than learning, which invalidate the bounds.
    void restart_certificate();
    // All rounds, including those before a restart.
    std::int64_t rounds() const { return certificate_.rounds; }
    // The rounds whose solver reached its limit.
    std::int64_t unsolved() const { return certificate_.unsolved; }
    // The number of features with stored weights; a Selection of rows refers to these.
    std::size_t rows() const { return store().rows(); }
    // The number of weights per feature.
    std::size_t width() const { return labels(); }
    // Merges or removes labels, or removes features, and restarts the certificate.
    void rebuild(const Selection& selection);
    // The contribution of each feature of an example to the score of a label, with the prediction
    // weights.
    void contributions(Reader& reader, int label, std::vector<double>& out) const {
        contributions(reader.x, label, reader.lookup, out);
    }
    void contributions(const RowView& x, int label, RowLookup<T>& lookup,
                       std::vector<double>& out) const;
    // The sum of the contributions of each feature to the scores of all labels, added label by
    // label in ascending order.
    void summed_contributions(const RowView& x, RowLookup<T>& lookup,
                              std::vector<double>& out) const;

    // The reader-writer lock of the model. The caller locks it around learn() and score().

    // For saving, loading and showing the weights.
    const WeightStore<T>& store() const;
    AnyGeometry<T>& geometry() { return geometry_; }
    const AnyGeometry<T>& geometry() const { return geometry_; }
    Certificate& certificate_state() { return certificate_; }
    Blend& blend_state() { return blend_; }
    Cutoff& cutoff_state() { return cutoff_; }
    const Blend& blend_state() const { return blend_; }
    const Cutoff& cutoff_state() const { return cutoff_; }
    Confidence& confidence() { return confidence_; }
    const Confidence& confidence() const { return confidence_; }
    // The prediction weights are theta - mean_factor u, with u the plane of means.
    double mean_factor() const;

  private:
    static AnyGeometry<T> make_geometry(const RankerConfig& config);
    Norm norm() const;
    // The index into Blend::kShares of the prediction weights.
    std::size_t prediction_candidate() const;

    // The steps of a round. The labels of the round are in round_, the scores in
    // lookup_.sums.
    void take_labels(std::span<const std::int32_t> relevant, std::span<const std::int32_t> unknown);
    std::span<const T> predict(bool judged);
    void update_blend(const typename BlendScores<T>::Candidates& candidates);
    template <class G>
    void learn_example(G& geometry, const Example& x, double weight);
    void choose_step(LinearGeometry<T>& geometry, const Example& x, double q,
                     const RuleParameters& rule);
    void choose_step(EntropicGeometry<T>& geometry, const Example& x, double q,
                     const RuleParameters& rule);

    RankerConfig config_;
    AnyGeometry<T> geometry_;
    Certificate certificate_;
    Blend blend_;
    Cutoff cutoff_;
    Confidence confidence_;

    // Scratch memory of learn().
    RowLookup<T> lookup_;
    Sides sides_;
    Step step_;
    BlendScores<T> blend_scores_;
    RoundLabels round_;
    AveragePrecision<T> average_precision_;
    LinearStep linear_rule_;      // the rule for a linear geometry ...
    EntropicStep entropic_rule_;  // ... or for the entropic one; the other is empty
};

extern template class LabelRanker<float>;
extern template class LabelRanker<double>;

}  // namespace tagalong
