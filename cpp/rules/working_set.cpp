#include "rules/working_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

#include "core/score_kernels.hpp"

namespace tagalong {

bool WorkingSet::choose(const Sides& sides, double q, const RuleParameters& rule) {
    const double violating = sides.lowest_score - rule.margin;
    if (!(sides.highest_score > violating)) return false;
    const std::vector<double>& scores = sides.irrelevant_scores;
    labels_.resize(scores.size());
    labels_.resize(kernels::indices_above(scores.data(), violating, labels_.data(), scores.size()));
    take_scores(scores);

    const Levels reached = reached_levels(sides, q, rule);
    const double depth = kDepth * rule.temperature;
    const double lowest = std::min(reached.irrelevant - depth, sides.highest_score);
    std::size_t kept = 0;
    for (const int label : labels_) {
        labels_[kept] = label;
        kept += scores[label] >= lowest;
    }
    labels_.resize(kept);
    if (scores.size() >= kMany) keep_highest(sides);
    take_scores(scores);
    part_.irrelevant_count = labels_.size();
    part_.highest_score = sides.highest_score;
    add_relevant(sides, std::max(reached.relevant + depth, sides.lowest_score));
    part_.margin = sides.margin;
    return true;
}

// Copies the scores of the labels.
void WorkingSet::take_scores(const std::vector<double>& scores) {
    part_.irrelevant_scores.resize(labels_.size());
    for (std::size_t i = 0; i < labels_.size(); ++i)
        part_.irrelevant_scores[i] = scores[static_cast<std::size_t>(labels_[i])];
}

// Update III on the labels that violate the margin: the labels that move reach common levels u and
// v. Each pass leaves out labels that do not move, until all of the rest do. The last pass counts.
WorkingSet::Levels WorkingSet::reached_levels(const Sides& sides, double q,
                                              const RuleParameters& rule) const {
    constexpr int kPasses = 50;  // a few are enough
    Levels at{sides.highest_score + rule.margin, sides.lowest_score - rule.margin};
    kernels::CountAndSum up{-1, 0}, down{-1, 0};
    for (int pass = 0; pass < kPasses; ++pass) {
        const kernels::CountAndSum up_before = up, down_before = down;
        up = {};
        for (const double score : sides.relevant_scores) {
            up.count += score < at.relevant ? 1.0 : 0.0;
            up.sum += score < at.relevant ? score : 0.0;
        }
        down = kernels::count_and_sum_above(part_.irrelevant_scores.data(), at.irrelevant,
                                            part_.irrelevant_scores.size());
        if (up.count == 0) up = {1, sides.lowest_score};
        if (down.count == 0) down = {1, sides.highest_score};
        if (up.count == up_before.count && down.count == down_before.count) break;
        const double loss = rule.margin - up.sum / up.count + down.sum / down.count;
        const double mass =
            std::clamp(loss / (q * (1 / up.count + 1 / down.count)), 0.0, rule.budget);
        at = {(up.sum + q * mass) / up.count, (down.sum - q * mass) / down.count};
    }
    return at;
}

// Keeps the labels with the highest scores, and of those with equal scores the first ones.
void WorkingSet::keep_highest(const Sides& sides) {
    const std::vector<double>& scores = sides.irrelevant_scores;
    const int highest = sides.highest_irrelevant();
    std::erase_if(labels_, [&](int label) { return scores[label] == 0 && label != highest; });
    if (labels_.size() <= kMost) return;
    drop_low_bins(sides);
    std::vector<double>& kept = part_.irrelevant_scores;
    take_scores(scores);
    const auto last = kept.begin() + (kMost - 1);
    std::nth_element(kept.begin(), last, kept.end(), std::greater<>());
    const double lowest = *last;
    std::size_t equal = kMost;  // room for labels with the lowest score that is kept
    for (const int label : labels_) equal -= scores[label] > lowest;
    std::erase_if(labels_, [&](int label) {
        if (scores[label] != lowest) return scores[label] < lowest;
        const bool full = equal == 0;
        equal -= !full;
        return full;
    });
}

// Drops most of the labels below the kMost highest, by a histogram of the scores.
void WorkingSet::drop_low_bins(const Sides& sides) {
    constexpr std::int32_t kBins = 128;
    take_scores(sides.irrelevant_scores);
    const std::vector<double>& scores = part_.irrelevant_scores;
    const double low = *std::min_element(scores.begin(), scores.end());
    const double width = (sides.highest_score - low) / kBins;
    bins_.resize(scores.size());
    kernels::bins(scores.data(), low, width, kBins, bins_.data(), scores.size());
    std::array<std::size_t, kBins + 1> counts{};
    for (const std::int32_t bin : bins_) ++counts[static_cast<std::size_t>(bin)];
    std::int32_t first = kBins;
    for (std::size_t above = 0; above < kMost && first > 0;)
        above += counts[static_cast<std::size_t>(--first)];
    std::size_t kept = 0;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
        labels_[kept] = labels_[i];
        kept += bins_[i] >= first;
    }
    labels_.resize(kept);
}

void WorkingSet::add_relevant(const Sides& sides, double highest) {
    part_.relevant.clear();
    part_.relevant_scores.clear();
    for (std::size_t i = 0; i < sides.relevant.size(); ++i) {
        if (sides.relevant_scores[i] > highest) continue;
        const int number = static_cast<int>(labels_.size());
        if (sides.relevant[i] == sides.lowest_relevant) part_.lowest_relevant = number;
        labels_.push_back(sides.relevant[i]);
        part_.relevant.push_back(number);
        part_.relevant_scores.push_back(sides.relevant_scores[i]);
        part_.irrelevant_scores.push_back(Sides::kNone);
    }
    part_.lowest_score = sides.lowest_score;
}

namespace {

class WorkingSetStep {
  public:
    explicit WorkingSetStep(LinearStep rule) : rule_(std::move(rule)) {}

    void operator()(const Sides& sides, double q, const RuleParameters& parameters, Step& out) {
        if (!set_.choose(sides, q, parameters)) return;
        part_.clear(set_.labels().size());
        rule_(set_.sides(), q, parameters, part_);
        for (const int number : part_.touched)
            out.set(set_.labels()[static_cast<std::size_t>(number)],
                    part_.alpha[static_cast<std::size_t>(number)]);
        out.mass = part_.mass;
        out.entropy = part_.entropy;
        out.iterations = part_.iterations;
        out.solved = part_.solved;
    }

  private:
    LinearStep rule_;
    WorkingSet set_;
    Step part_;
};

}  // namespace

LinearStep on_working_set(LinearStep rule) { return WorkingSetStep(std::move(rule)); }

}  // namespace tagalong
