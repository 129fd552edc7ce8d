// The prediction problems of Predtron (P5) as rules on scores: the loss of a round and the
// direction of the update.
//
// A prediction s has a representation rep(s) of norm 1 in the space of the scores t, and pred(t) =
// argmax <rep(s), t>. The loss of a round with answer y is L(pred(t), y). If it is not zero, the
// scores move along
//
//     rep(correct) - rep(s),   s = argmax L(s, y) + <rep(s), t>   (update "mistake", Algorithm 1)
//                              s = pred(t), times the loss        (update "loss")
//
// where `correct` is a correct prediction for y. Among predictions of equal score, the one with the
// largest loss counts, so equal scores are a mistake. Further ties go to the lowest index; REJECT
// comes last. Labels of unknown relevance take part neither in predictions nor in losses.
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
    // binary, classes: the cost of a wrong prediction, by the correct class; empty: 1.
    std::vector<double> costs;
    // The cost of REJECT, by the correct class, or one number for all; empty: no REJECT.
    std::vector<double> reject;
    SetLoss set_loss = SetLoss::hamming;
    bool reciprocal = false;  // ranking: f(i) = 1/i instead of -i^exponent
    double exponent = 1;
    bool precision = false;     // ranking: precision at k instead of NDCG
    std::int64_t depth = 0;     // k; 0: all positions
    bool ties_by_score = true;  // breaks ties between correct rankings
    double least_loss = 1;      // custom: the smallest nonzero loss
};

class ProblemRule {
  public:
    explicit ProblemRule(const ProblemConfig& config) : config_(config) {}

    // Returns the loss of the prediction, and writes the direction of the update to `step`, which
    // must be empty. `relevant` and `unknown` ascend.
    double judge(std::span<const double> scores, std::span<const int> relevant,
                 std::span<const int> unknown, bool by_loss, Step& step);
    // Like judge(), for a ranking with grades. With more than two different grades there is no fast
    // loss-augmented decoding, so `by_loss` must be set.
    double judge_grades(std::span<const double> scores, std::span<const double> grades,
                        bool by_loss, Step& step);
    // c_L: the smallest nonzero loss for `size` items with grades up to `top`.
    double least_loss(std::size_t size, double top) const;

    bool single_score() const {
        return config_.kind == ProblemKind::binary && config_.reject.empty();
    }
    bool single_class() const {
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
    void decode_augmented_set(std::span<const double> scores);
    double cost(int predicted, int answer) const;
    void compute_discounts(std::size_t positions);
    // Copies scores and relevance without the unknown labels; known_labels_ maps back to label
    // numbers.
    void drop_unknown(std::span<const double> scores, std::span<const int> relevant,
                      std::span<const int> unknown);

    ProblemConfig config_;
    MergeDecoder merge_;
    // Per position of a ranking.
    std::vector<double> f_, discount_, scaled_;
    // Working memory.
    std::vector<double> known_scores_, grades_, gains_;
    std::vector<int> known_relevant_, known_labels_, predicted_, correct_, relevant_items_,
        irrelevant_items_;
    std::vector<std::uint8_t> is_relevant_, flip_;
    Step known_step_;
};

}  // namespace tagalong
