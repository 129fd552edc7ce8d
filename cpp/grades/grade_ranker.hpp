// Ordinal regression on a stream (P2, Section 3.2): one weight vector w for all grades, and a
// threshold between each grade and the next. With k grades, an example x of grade y is a trial of
// the block learner with the rows (x, -e_j) for the thresholds j = 0 ... k - 2, whose signs are +1
// for j < y and -1 otherwise. The features of x are scaled first (grade_scaling.hpp).
//
// The labels are the grades, from the lowest to the highest. With the thresholds in order, the
// score of a grade is the distance of w.x to the nearer of its two thresholds, negative outside
// them: it is largest for the grade whose thresholds enclose w.x. The class has the interface of
// the other rankers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "blocks/block_learner.hpp"
#include "core/errors.hpp"
#include "grades/grade_scaling.hpp"
#include "predictions/confidence.hpp"
#include "predictions/cutoff.hpp"
#include "predictions/ranking.hpp"
#include "predictions/round_options.hpp"

namespace tagalong {

struct GradeConfig {
    BlockConfig block;
    bool scaled = true;  // whether features are scaled
};

template <class T>
class GradeRanker {
  public:
    // In the block learner the thresholds are the first features, those of examples follow.
    static constexpr std::int32_t kMostGrades = 1000;
    static constexpr std::int32_t kFirstFeature = kMostGrades - 1;

    explicit GradeRanker(const GradeConfig& config) : config_(config), block_(config.block) {}

    std::size_t labels() const { return grades_; }
    // All grades are added before the first example.
    void add_labels(std::size_t count);
    // The constant feature stands for the thresholds and for features that the example lacks.
    void finish(Example& x) const;

    void learn(Example& x, std::span<const std::int32_t> relevant,
               std::span<const std::int32_t> unknown, double weight,
               const RoundOptions<T>& options = {});

    // Working memory for predictions; one per thread.
    struct Reader {
        Example x;
        Example scaled;
        std::vector<double> thresholds;
        std::vector<T> scores;
        std::vector<std::int32_t> best;
    };
    std::span<const T> score(Reader& reader) const;
    std::span<const std::int32_t> rank(Reader& reader, std::size_t k) const;
    // Judges the first k places.
    void judge(Reader& reader, std::size_t k, const TieOrder& ties, Judgement& out) const;
    // The contribution of each feature of reader.x to the score of a grade.
    void contributions(Reader& reader, int grade, std::vector<double>& out) const;

    // The thresholds as learnt, which may be out of order.
    void thresholds(std::vector<double>& out) const;

    void restart_certificate() { block_.restart_certificate(); }
    std::int64_t rounds() const { return block_.certificate().rounds; }
    std::int64_t unsolved() const { return block_.unsolved(); }
    // The number of features with stored weights, without the thresholds.
    std::size_t rows() const;
    std::size_t width() const { return 1; }
    // Removes weights of features, and restarts the certificate. Grades stay.
    void rebuild(const Selection& selection);
    double cutoff() const { return cutoff_.value(); }

    BlockLearner<T>& block() { return block_; }
    const BlockLearner<T>& block() const { return block_; }
    GradeScaling& scaling() { return scaling_; }
    const GradeScaling& scaling() const { return scaling_; }
    Cutoff& cutoff_state() { return cutoff_; }
    const Cutoff& cutoff_state() const { return cutoff_; }
    Confidence& confidence() { return confidence_; }
    const Confidence& confidence() const { return confidence_; }
    const GradeConfig& config() const { return config_; }

  private:
    double feature_weight(std::int32_t feature) const {
        return block_.feature_weight(kFirstFeature + feature);
    }
    void scale(Reader& reader) const;
    // w.x of the scaled example.
    double latent(const Reader& reader) const;

    GradeConfig config_;
    std::size_t grades_ = 0;
    BlockLearner<T> block_;
    GradeScaling scaling_;
    Cutoff cutoff_;
    Confidence confidence_;

    // Scratch memory of learn().
    Reader scratch_;
    RowBlock rows_;
};

extern template class GradeRanker<float>;
extern template class GradeRanker<double>;

}  // namespace tagalong
