// A compact copy of a label ranker or of a race, for predictions only.
//
//     score = scale * sum_e factor_e (s_e - mean(s_e)),   s_ek = sum_j x_ej w_ejk + b_k mass_e
//
// as in Race: x_e is the example in the scaling of contestant e, mass_e the sum of its values for
// features that e knows. A copy of one ranker has one part and neither centres nor scales.
// Averaging is folded into the weights w. Of each row only the large weights are stored, as
// integers from -127 to 127 times a number per row; the row of the constant feature is complete.
//
// The rows are in memory of somebody else, such as a mapped file that processes share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/errors.hpp"
#include "core/selection.hpp"
#include "predictions/confidence.hpp"
#include "predictions/ranking.hpp"
#include "predictions/round_options.hpp"
#include "race/feature_statistics.hpp"
#include "race/scaled_examples.hpp"
#include "race/scaling.hpp"
#include "ranker/label_ranker.hpp"

namespace tagalong {

// The weights of one contestant. Row j has the entries from offsets[j] to offsets[j + 1], with
// ascending labels.
struct CompactPart {
    Scaling scaling = Scaling::unit;
    double factor = 1;
    double ratio = 1;  // of the lengths of examples before and after scaling, for showing weights
    std::span<const std::uint32_t> offsets;
    std::span<const std::uint16_t> labels;
    std::span<const std::int8_t> values;
    std::span<const float> scales;    // per row; 0 if the contestant does not know the feature
    std::span<const float> constant;  // per label: the weights of the constant feature
    std::span<const float> bias;      // per label: b; empty if it is 0

    // Whether everything is in range, for this number of rows and labels.
    bool sound(std::size_t rows, std::size_t label_count) const;
    double weight(std::size_t row, int label) const;
    // The sum of the weights of a row over all labels.
    double sum(std::size_t row) const;
};

struct CompactConfig {
    bool centred = true;  // a race
    OneLabel one_label = OneLabel::noticed;
    bool probability = true;
    bool normalize = true;
    double constant = 0;
};

class CompactRanker {
  public:
    static constexpr double kLargest = 1e12;  // of weights, factors and cut-offs
    static constexpr std::size_t kMostLabels = 65536;

    explicit CompactRanker(const CompactConfig& config);

    const CompactConfig& config() const { return config_; }
    std::size_t labels() const { return labels_; }
    double cutoff() const { return cutoff_; }
    Confidence& confidence() { return confidence_; }
    const Confidence& confidence() const { return confidence_; }
    const FeatureStatistics& statistics() const { return statistics_; }
    const std::vector<CompactPart>& parts() const { return parts_; }
    std::size_t rows() const { return statistics_.features().size() + 1; }
    std::size_t bytes() const;

    // Working memory for predictions; one per thread.
    struct Reader {
        Example x;
        ScaledExamples scaled;
        std::vector<std::int32_t> places;  // of the features of a scaled example
        std::vector<double> sums, mixture;
        std::vector<float> scores;
        std::vector<std::int32_t> best;
    };
    void finish(Example& x) const { x.finish(Norm::none, 1); }
    std::span<const float> score(Reader& reader) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    void judge(Reader& reader, std::size_t k, const TieOrder& ties, Judgement& out) const;
    // The contribution of each feature of reader.x to the score of a label, as Race has them.
    void contributions(Reader& reader, int label, std::vector<double>& out) const;
    // The weights of a feature for all labels; the last row is the constant feature.
    void weights(std::size_t row, std::vector<double>& out) const;

    // A compact ranker does not learn.
    void learn(const Example&, std::span<const std::int32_t>, std::span<const std::int32_t>, double,
               const RoundOptions<float>& = {}) {
        refuse();
    }
    void add_labels(std::size_t count) {
        if (count > 0) refuse();
    }
    static void restart_certificate() { refuse(); }

    // For files: all parts, and the owner of their memory.
    void restore(std::size_t labels, double cutoff, FeatureStatistics statistics,
                 std::vector<CompactPart> parts, std::shared_ptr<const void> owner);

  private:
    [[noreturn]] static void refuse() {
        throw InputError("a compact model is for predictions only: it cannot learn");
    }
    // Returns the factor of Race::put_on_scale.
    double score_scale(Reader& reader) const;
    const Example& scaled(Reader& reader, const CompactPart& part) const;
    static bool is_known(const CompactPart& part, std::int32_t place) {
        return place != FeatureIndex::kAbsent && part.scales[static_cast<std::size_t>(place)] > 0;
    }

    CompactConfig config_;
    RankerConfig ranker_config_;
    std::size_t labels_ = 0;
    double cutoff_ = 0;
    Confidence confidence_;
    FeatureStatistics statistics_;
    std::vector<CompactPart> parts_;
    std::shared_ptr<const void> owner_;
};

}  // namespace tagalong
