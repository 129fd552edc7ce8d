// What Predtron predicts (P5), as a rule on scores.
//
// A prediction s has a representation rep(s) of length 1 in the space of the scores t, and
// pred(t) = argmax <rep(s), t>. A round with answer y has the loss L(pred(t), y); where it is not
// zero, the scores should move along
//
//     rep(correct) - rep(s),   s = argmax L(s, y) + <rep(s), t>   (update "mistake", Algorithm 1)
//                              s = pred(t), times the loss        (update "loss")
//
// with a correct prediction of y. Where several predictions score best, the one that loses most
// counts, so that equal scores are a mistake; further ties go to the lowest index, REJECT comes last.
// Labels of unknown relevance take no part: neither in predictions nor in losses.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "predtron/merge_decoder.hpp"
#include "rules/step.hpp"

namespace tagalong {

enum class ProblemKind { custom, binary, classes, ordinal, multilabel, ranking };
enum class SetLoss { hamming, subset, error_set };

struct ProblemConfig {
    ProblemKind kind = ProblemKind::ranking;
    std::vector<double>
        costs;  // binary, classes: of a wrong prediction, by the right class; empty: 1
    std::vector<double>
        reject;  // of REJECT, by the right class, or one number for all; empty: none
    SetLoss set_loss = SetLoss::hamming;
    bool reciprocal = false;  // ranking: f(i) = 1/i instead of -i^exponent
    double exponent = 1;
    bool precision = false;     // ranking: precision at k instead of NDCG
    std::int64_t depth = 0;     // k; 0: all places
    bool ties_by_score = true;  // between correct rankings
    double least_loss = 1;      // custom: the smallest loss that is not zero
};

class ProblemRule {
  public:
    explicit ProblemRule(const ProblemConfig& config) : config_(config) {}

    // The loss of the prediction; the direction goes into the step, which must be clear. `relevant`
    // and `unknown` ascend.
    double judge(std::span<const double> scores, std::span<const int> relevant,
                 std::span<const int> unknown, bool by_loss, Step& step);
    // The same for a ranking by grades; an answer with more than two grades has no quick
    // loss-augmented decoding, so it must be `by_loss`.
    double judge_grades(std::span<const double> scores, std::span<const double> grades,
                        bool by_loss, Step& step);
    // c_L: the smallest loss that is not zero, among `size` items with grades up to `top`.
    double least_loss(std::size_t size, double top) const;

    bool single_score() const {
        return config_.kind == ProblemKind::binary && config_.reject.empty();
    }
    bool one_answer() const {
        return config_.kind == ProblemKind::binary || config_.kind == ProblemKind::classes ||
               config_.kind == ProblemKind::ordinal;
    }
    const ProblemConfig& config() const { return config_; }

  private:
    double judge_sign(double score, int answer, Step& step) const;
    double judge_class(std::span<const double> scores, int answer, std::span<const int> unknown,
                       bool by_loss, Step& step) const;
    double judge_set(std::span<const double> scores, std::span<const int> relevant, bool by_loss,
                     Step& step);
    void augment_set(std::span<const double> scores);
    double cost(int predicted, int answer) const;
    void reach(std::size_t places);
    // Leaves out unknown labels; known_ has the numbers of the others.
    void leave_out(std::span<const double> scores, std::span<const int> relevant,
                   std::span<const int> unknown);

    ProblemConfig config_;
    MergeDecoder merge_;
    // Of the places of rankings.
    std::vector<double> f_, discount_, scaled_;
    // Scratch.
    std::vector<double> compact_, grades_, gains_;
    std::vector<int> compact_relevant_, known_, predicted_, correct_, inside_, outside_;
    std::vector<std::uint8_t> answer_, flip_;
    Step part_;
};

}  // namespace tagalong
