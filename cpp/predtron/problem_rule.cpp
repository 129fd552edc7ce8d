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
    const auto part = [&](std::span<const double> t, std::span<const int> yes, Step& out) {
        if (config_.kind == ProblemKind::multilabel) return judge_set(t, yes, by_loss, out);
        if (yes.empty() || yes.size() == t.size()) return 0.0;
        grades_.assign(t.size(), 0.0);
        for (const int label : yes) grades_[label] = 1;
        return judge_grades(t, grades_, by_loss, out);
    };
    if (unknown.empty()) return part(scores, relevant, step);
    leave_out(scores, relevant, unknown);
    part_.clear(compact_.size());
    const double loss = part(compact_, compact_relevant_, part_);
    for (const int label : part_.touched) step.set(known_[label], part_.alpha[label]);
    return loss;
}

void ProblemRule::leave_out(std::span<const double> scores, std::span<const int> relevant,
                            std::span<const int> unknown) {
    compact_.clear();
    compact_relevant_.clear();
    known_.clear();
    std::size_t skip = 0, yes = 0;
    for (int label = 0; label < static_cast<int>(scores.size()); ++label) {
        if (skip < unknown.size() && unknown[skip] == label) {
            ++skip;
            continue;
        }
        if (yes < relevant.size() && relevant[yes] == label) {
            ++yes;
            compact_relevant_.push_back(static_cast<int>(known_.size()));
        }
        known_.push_back(label);
        compact_.push_back(scores[label]);
    }
}

// Classes 0 and 1 are represented by -1 and +1.
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

// Class i is represented by e_i, REJECT by the sum of them over the root of their number.
double ProblemRule::judge_class(std::span<const double> scores, int answer,
                                std::span<const int> unknown, bool by_loss, Step& step) const {
    const int m = static_cast<int>(scores.size()), rejected = m;
    const auto takes_part = [&](int i) {
        return !std::binary_search(unknown.begin(), unknown.end(), i);
    };
    const double root = std::sqrt(static_cast<double>(m - static_cast<int>(unknown.size())));
    double reject_score = 0;
    if (!config_.reject.empty()) {
        for (int i = 0; i < m; ++i)
            if (takes_part(i)) reject_score += scores[i];
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
            if (takes_part(i) && (found < 0 || better(i, found))) found = i;
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
            if (takes_part(i)) step.set(i, (i == answer ? 1.0 : 0.0) - 1 / root);
    } else if (other != answer) {
        step.set(answer, 1.0);
        step.set(other, -1.0);
    }
    return loss;
}

// A set is represented by +-1/sqrt(m); it has the labels that score above 0.
double ProblemRule::judge_set(std::span<const double> scores, std::span<const int> relevant,
                              bool by_loss, Step& step) {
    const std::size_t m = scores.size();
    answer_.assign(m, 0);
    for (const int label : relevant) answer_[label] = 1;
    flip_.assign(m, 0);
    double missed = 0, added = 0;
    for (std::size_t j = 0; j < m; ++j) {
        flip_[j] = answer_[j] ? !(scores[j] > 0) : !(scores[j] < 0);
        if (flip_[j]) ++(answer_[j] ? missed : added);
    }
    double loss = missed + added;
    if (config_.set_loss == SetLoss::subset) loss = loss > 0;
    if (config_.set_loss == SetLoss::error_set) loss = missed * added;
    if (loss == 0) return 0;
    if (!by_loss) augment_set(scores);
    const double twice = 2 / std::sqrt(static_cast<double>(m));
    for (std::size_t j = 0; j < m; ++j)
        if (flip_[j]) step.set(static_cast<int>(j), answer_[j] ? twice : -twice);
    return loss;
}

// The set that scores well and loses much, as what to flip in the answer: gains[j] is what the
// score gains by flipping j.
void ProblemRule::augment_set(std::span<const double> scores) {
    const std::size_t m = scores.size();
    const double twice = 2 / std::sqrt(static_cast<double>(m));
    gains_.resize(m);
    for (std::size_t j = 0; j < m; ++j)
        gains_[j] = answer_[j] ? -twice * scores[j] : twice * scores[j];
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
    inside_.clear();
    outside_.clear();
    for (int j = 0; j < static_cast<int>(m); ++j) (answer_[j] ? inside_ : outside_).push_back(j);
    const auto larger = [&](int a, int b) { return gains_[a] > gains_[b]; };
    std::stable_sort(inside_.begin(), inside_.end(), larger);
    std::stable_sort(outside_.begin(), outside_.end(), larger);
    double best = -std::numeric_limits<double>::infinity(), inner = 0;
    std::size_t flip_in = 0, flip_out = 0;
    for (std::size_t a = 0; a <= inside_.size(); ++a) {
        double outer = 0;
        for (std::size_t b = 0; b <= outside_.size(); ++b) {
            const double worth = static_cast<double>(a) * static_cast<double>(b) + inner + outer;
            if (worth > best) best = worth, flip_in = a, flip_out = b;
            if (b < outside_.size()) outer += gains_[outside_[b]];
        }
        if (a < inside_.size()) inner += gains_[inside_[a]];
    }
    std::fill(flip_.begin(), flip_.end(), std::uint8_t{0});
    for (std::size_t a = 0; a < flip_in; ++a) flip_[inside_[a]] = 1;
    for (std::size_t b = 0; b < flip_out; ++b) flip_[outside_[b]] = 1;
}

// f(1), ..., f(m) over their length, and what a relevant item earns at each place.
void ProblemRule::reach(std::size_t places) {
    if (f_.size() == places) return;
    f_.resize(places);
    discount_.resize(places);
    double sum = 0;
    for (std::size_t i = 0; i < places; ++i) {
        const double place = static_cast<double>(i + 1);
        const bool counts = config_.depth == 0 || static_cast<std::int64_t>(i) < config_.depth;
        f_[i] = config_.reciprocal ? 1 / place : -std::pow(place, config_.exponent);
        discount_[i] = !counts ? 0.0 : config_.precision ? 1.0 : 1 / std::log2(1 + place);
        sum += f_[i] * f_[i];
    }
    const double length = std::sqrt(sum);
    for (double& value : f_) value /= length;
}

double ProblemRule::judge_grades(std::span<const double> scores, std::span<const double> grades,
                                 bool by_loss, Step& step) {
    const std::size_t m = scores.size();
    reach(m);
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
    // Summed place by place, so that a correct ranking loses exactly nothing.
    double ideal = 0, reached = 0;
    for (std::size_t place = 0; place < m; ++place) {
        ideal += gains_[correct_[place]] * discount_[place];
        reached += gains_[predicted_[place]] * discount_[place];
    }
    if (ideal == 0) return 0;
    const double loss = std::max(0.0, 1 - reached / ideal);
    if (loss == 0) return 0;
    std::span<const int> other = predicted_;
    if (!by_loss) {
        const double low = *std::min_element(gains_.begin(), gains_.end());
        const double high = *std::max_element(gains_.begin(), gains_.end());
        inside_.clear();
        for (std::size_t i = 0; i < m; ++i) {
            if (gains_[i] != low && gains_[i] != high)
                throw InputError("more than two grades need the decoding by linear assignment");
            if (gains_[i] == high) inside_.push_back(static_cast<int>(i));
        }
        // What all items earn whatever the ranking does not matter: only the difference counts.
        scaled_.resize(m);
        for (std::size_t i = 0; i < m; ++i) scaled_[i] = (high - low) * discount_[i] / ideal;
        other = merge_(scores, inside_, f_, scaled_);
    }
    scaled_.assign(m, 0.0);
    for (std::size_t place = 0; place < m; ++place) scaled_[correct_[place]] += f_[place];
    for (std::size_t place = 0; place < m; ++place) scaled_[other[place]] -= f_[place];
    for (std::size_t i = 0; i < m; ++i) step.set(static_cast<int>(i), scaled_[i]);
    return loss;
}

}  // namespace tagalong
