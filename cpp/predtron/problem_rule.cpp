#include "predtron/problem_rule.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/errors.hpp"

namespace tagalong {

double ProblemRule::least_loss(std::size_t size, double top) const {
    const auto least = [](const std::vector<double>& values, double found) {
        for (const double value : values) found = std::min(found, value);
        return found;
    };
    const double m = static_cast<double>(std::max<std::size_t>(size, 1));
    switch (config_.kind) {
        case ProblemKind::custom:
            return config_.least_loss;
        case ProblemKind::binary:
        case ProblemKind::classes:
            return least(config_.reject,
                         config_.costs.empty()
                             ? 1.0
                             : *std::min_element(config_.costs.begin(), config_.costs.end()));
        case ProblemKind::ranking: {
            if (config_.precision) return 1 / std::min(m, static_cast<double>(config_.depth));
            const double bits = std::log2(2 * m);
            return std::exp2(-top) / (m * m * bits * bits);
        }
        default:
            return 1;
    }
}

double ProblemRule::judge(std::span<const double> scores, std::span<const int> relevant,
                          std::span<const int> unknown, bool by_loss, Step& step) {
    switch (config_.kind) {
        case ProblemKind::binary:
            if (relevant.empty()) return 0;
            if (single_score()) return judge_sign(scores[0], relevant[0], step);
            [[fallthrough]];
        case ProblemKind::classes:
        case ProblemKind::ordinal:
            return relevant.empty() ? 0 : judge_class(scores, relevant[0], unknown, by_loss, step);
        default:
            break;
    }
    const auto judge_known = [&](std::span<const double> t, std::span<const int> relevant_known,
                                 Step& out) {
        if (config_.kind == ProblemKind::multilabel)
            return judge_set(t, relevant_known, by_loss, out);
        if (relevant_known.empty() || relevant_known.size() == t.size()) return 0.0;
        grades_.assign(t.size(), 0.0);
        for (const int label : relevant_known) grades_[label] = 1;
        return judge_grades(t, grades_, by_loss, out);
    };
    if (unknown.empty()) return judge_known(scores, relevant, step);
    drop_unknown(scores, relevant, unknown);
    known_step_.clear(known_scores_.size());
    const double loss = judge_known(known_scores_, known_relevant_, known_step_);
    for (const int label : known_step_.touched)
        step.set(known_labels_[label], known_step_.alpha[label]);
    return loss;
}

void ProblemRule::drop_unknown(std::span<const double> scores, std::span<const int> relevant,
                               std::span<const int> unknown) {
    known_scores_.clear();
    known_relevant_.clear();
    known_labels_.clear();
    std::size_t next_unknown = 0, next_relevant = 0;
    for (int label = 0; label < static_cast<int>(scores.size()); ++label) {
        if (next_unknown < unknown.size() && unknown[next_unknown] == label) {
            ++next_unknown;
            continue;
        }
        if (next_relevant < relevant.size() && relevant[next_relevant] == label) {
            ++next_relevant;
            known_relevant_.push_back(static_cast<int>(known_labels_.size()));
        }
        known_labels_.push_back(label);
        known_scores_.push_back(scores[label]);
    }
}

// Representations: -1 for class 0 and +1 for class 1.
double ProblemRule::judge_sign(double score, int answer, Step& step) const {
    if (answer == 1 ? score > 0 : score < 0) return 0;
    step.set(0, answer == 1 ? 2.0 : -2.0);
    return config_.costs.empty() ? 1.0 : config_.costs[answer];
}

double ProblemRule::cost(int predicted, int answer) const {
    if (predicted == answer) return 0;
    if (config_.kind == ProblemKind::ordinal) return std::abs(predicted - answer);
    return config_.costs.empty() ? 1.0 : config_.costs[answer];
}

// Representations: e_i for class i, and the sum of all e_i divided by sqrt(m) for REJECT.
double ProblemRule::judge_class(std::span<const double> scores, int answer,
                                std::span<const int> unknown, bool by_loss, Step& step) const {
    const int m = static_cast<int>(scores.size()), rejected = m;
    const auto is_known = [&](int i) {
        return !std::binary_search(unknown.begin(), unknown.end(), i);
    };
    const double root = std::sqrt(static_cast<double>(m - static_cast<int>(unknown.size())));
    double reject_score = 0;
    if (!config_.reject.empty()) {
        for (int i = 0; i < m; ++i)
            if (is_known(i)) reject_score += scores[i];
        reject_score /= root;
    }
    const auto loss_of = [&](int predicted) {
        if (predicted != rejected) return cost(predicted, answer);
        return config_.reject[config_.reject.size() == 1 ? 0 : static_cast<std::size_t>(answer)];
    };
    const auto score_of = [&](int i) { return i == rejected ? reject_score : scores[i]; };
    const auto best = [&](auto&& better) {
        int found = -1;
        for (int i = 0; i < m; ++i)
            if (is_known(i) && (found < 0 || better(i, found))) found = i;
        if (!config_.reject.empty() && better(rejected, found)) found = rejected;
        return found;
    };
    const int predicted = best([&](int i, int j) {
        return score_of(i) != score_of(j) ? score_of(i) > score_of(j) : loss_of(i) > loss_of(j);
    });
    const double loss = loss_of(predicted);
    if (loss == 0) return 0;
    const int other = by_loss ? predicted : best([&](int i, int j) {
        return loss_of(i) + score_of(i) > loss_of(j) + score_of(j);
    });
    if (other == rejected) {
        for (int i = 0; i < m; ++i)
            if (is_known(i)) step.set(i, (i == answer ? 1.0 : 0.0) - 1 / root);
    } else if (other != answer) {
        step.set(answer, 1.0);
        step.set(other, -1.0);
    }
    return loss;
}

// Representations: +-1/sqrt(m) per label. The prediction contains the labels with scores above 0.
double ProblemRule::judge_set(std::span<const double> scores, std::span<const int> relevant,
                              bool by_loss, Step& step) {
    const std::size_t m = scores.size();
    is_relevant_.assign(m, 0);
    for (const int label : relevant) is_relevant_[label] = 1;
    flip_.assign(m, 0);
    double missed = 0, added = 0;
    for (std::size_t j = 0; j < m; ++j) {
        flip_[j] = is_relevant_[j] ? !(scores[j] > 0) : !(scores[j] < 0);
        if (flip_[j]) ++(is_relevant_[j] ? missed : added);
    }
    double loss = missed + added;
    if (config_.set_loss == SetLoss::subset) loss = loss > 0;
    if (config_.set_loss == SetLoss::error_set) loss = missed * added;
    if (loss == 0) return 0;
    if (!by_loss) decode_augmented_set(scores);
    const double two_over_root = 2 / std::sqrt(static_cast<double>(m));
    for (std::size_t j = 0; j < m; ++j)
        if (flip_[j])
            step.set(static_cast<int>(j), is_relevant_[j] ? two_over_root : -two_over_root);
    return loss;
}

// Finds the set that maximises loss plus score, as the labels to flip in the answer. gains_[j] is
// the increase of the score if label j is flipped.
void ProblemRule::decode_augmented_set(std::span<const double> scores) {
    const std::size_t m = scores.size();
    const double two_over_root = 2 / std::sqrt(static_cast<double>(m));
    gains_.resize(m);
    for (std::size_t j = 0; j < m; ++j)
        gains_[j] = is_relevant_[j] ? -two_over_root * scores[j] : two_over_root * scores[j];
    if (config_.set_loss == SetLoss::hamming) {
        for (std::size_t j = 0; j < m; ++j) flip_[j] = 1 + gains_[j] > 0;
        return;
    }
    if (config_.set_loss == SetLoss::subset) {
        bool any = false;
        for (std::size_t j = 0; j < m; ++j) any |= flip_[j] = gains_[j] > 0;
        if (any) return;
        const auto best = static_cast<std::size_t>(std::max_element(gains_.begin(), gains_.end()) -
                                                   gains_.begin());
        flip_[best] = 1 + gains_[best] > 0;
        return;
    }
    relevant_items_.clear();
    irrelevant_items_.clear();
    for (int j = 0; j < static_cast<int>(m); ++j)
        (is_relevant_[j] ? relevant_items_ : irrelevant_items_).push_back(j);
    const auto larger_gain = [&](int a, int b) { return gains_[a] > gains_[b]; };
    std::stable_sort(relevant_items_.begin(), relevant_items_.end(), larger_gain);
    std::stable_sort(irrelevant_items_.begin(), irrelevant_items_.end(), larger_gain);
    double best = -std::numeric_limits<double>::infinity(), relevant_gain = 0;
    std::size_t flip_relevant = 0, flip_irrelevant = 0;
    for (std::size_t a = 0; a <= relevant_items_.size(); ++a) {
        double irrelevant_gain = 0;
        for (std::size_t b = 0; b <= irrelevant_items_.size(); ++b) {
            const double value =
                static_cast<double>(a) * static_cast<double>(b) + relevant_gain + irrelevant_gain;
            if (value > best) best = value, flip_relevant = a, flip_irrelevant = b;
            if (b < irrelevant_items_.size()) irrelevant_gain += gains_[irrelevant_items_[b]];
        }
        if (a < relevant_items_.size()) relevant_gain += gains_[relevant_items_[a]];
    }
    std::fill(flip_.begin(), flip_.end(), std::uint8_t{0});
    for (std::size_t a = 0; a < flip_relevant; ++a) flip_[relevant_items_[a]] = 1;
    for (std::size_t b = 0; b < flip_irrelevant; ++b) flip_[irrelevant_items_[b]] = 1;
}

// Computes f(1), ..., f(m) divided by their norm, and the discount of each position.
void ProblemRule::compute_discounts(std::size_t positions) {
    if (f_.size() == positions) return;
    f_.resize(positions);
    discount_.resize(positions);
    double sum = 0;
    for (std::size_t i = 0; i < positions; ++i) {
        const double position = static_cast<double>(i + 1);
        const bool counts = config_.depth == 0 || static_cast<std::int64_t>(i) < config_.depth;
        f_[i] = config_.reciprocal ? 1 / position : -std::pow(position, config_.exponent);
        discount_[i] = !counts ? 0.0 : config_.precision ? 1.0 : 1 / std::log2(1 + position);
        sum += f_[i] * f_[i];
    }
    const double length = std::sqrt(sum);
    for (double& value : f_) value /= length;
}

double ProblemRule::judge_grades(std::span<const double> scores, std::span<const double> grades,
                                 bool by_loss, Step& step) {
    const std::size_t m = scores.size();
    compute_discounts(m);
    gains_.resize(m);
    for (std::size_t i = 0; i < m; ++i)
        gains_[i] = config_.precision ? grades[i] > 0 : std::exp2(grades[i]) - 1;
    predicted_.resize(m);
    for (std::size_t i = 0; i < m; ++i) predicted_[i] = static_cast<int>(i);
    std::sort(predicted_.begin(), predicted_.end(), [&](int a, int b) {
        if (scores[a] != scores[b]) return scores[a] > scores[b];
        return gains_[a] != gains_[b] ? gains_[a] < gains_[b] : a < b;
    });
    correct_.resize(m);
    for (std::size_t i = 0; i < m; ++i) correct_[i] = static_cast<int>(i);
    std::sort(correct_.begin(), correct_.end(), [&](int a, int b) {
        if (gains_[a] != gains_[b]) return gains_[a] > gains_[b];
        if (config_.ties_by_score && scores[a] != scores[b]) return scores[a] > scores[b];
        return a < b;
    });
    // Both sums run over the positions in order, so that the loss of a correct ranking is exactly
    // 0.
    double ideal = 0, achieved = 0;
    for (std::size_t position = 0; position < m; ++position) {
        ideal += gains_[correct_[position]] * discount_[position];
        achieved += gains_[predicted_[position]] * discount_[position];
    }
    if (ideal == 0) return 0;
    const double loss = std::max(0.0, 1 - achieved / ideal);
    if (loss == 0) return 0;
    std::span<const int> other = predicted_;
    if (!by_loss) {
        const double low = *std::min_element(gains_.begin(), gains_.end());
        const double high = *std::max_element(gains_.begin(), gains_.end());
        relevant_items_.clear();
        for (std::size_t i = 0; i < m; ++i) {
            if (gains_[i] != low && gains_[i] != high)
                throw InputError(
                    "more than two different grades per query need decoding by linear assignment");
            if (gains_[i] == high) relevant_items_.push_back(static_cast<int>(i));
        }
        // The gain that all items share does not depend on the ranking: only the difference
        // matters.
        scaled_.resize(m);
        for (std::size_t i = 0; i < m; ++i) scaled_[i] = (high - low) * discount_[i] / ideal;
        other = merge_(scores, relevant_items_, f_, scaled_);
    }
    scaled_.assign(m, 0.0);
    for (std::size_t position = 0; position < m; ++position)
        scaled_[correct_[position]] += f_[position];
    for (std::size_t position = 0; position < m; ++position)
        scaled_[other[position]] -= f_[position];
    for (std::size_t i = 0; i < m; ++i) step.set(static_cast<int>(i), scaled_[i]);
    return loss;
}

}  // namespace tagalong
