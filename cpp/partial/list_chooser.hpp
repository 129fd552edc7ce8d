// Chooses the list of labels to show, and its order (P3, step 3; Lemmas 1 and 4).
//
// The expected cost of a list of s labels with probabilities p_1..p_s is, up to a constant,
//
//     sum over slots j of (1 - a) c(j, s) - (a + (1 - a) c(j, s)) p_j,
//
// where a is the weight of missed relevant labels and c(j, s) is the cost of an irrelevant label in
// slot j of s. For a given size the best list holds the most probable labels in decreasing order,
// so only the size has to be optimised.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tagalong {

// c(j, s) for slots j = 1, ..., s: (s - j + 1)/s, or 1, or from a table that has the s costs of
// each size s in order.
class SlotCosts {
  public:
    enum class Kind { decreasing, constant, table };

    SlotCosts() = default;
    explicit SlotCosts(Kind kind) : kind_(kind) {}
    // Throws InputError unless there are 1 + 2 + ... + n costs.
    explicit SlotCosts(std::vector<double> table);

    double operator()(std::size_t slot, std::size_t size) const {
        switch (kind_) {
            case Kind::decreasing:
                return static_cast<double>(size - slot + 1) / static_cast<double>(size);
            case Kind::constant:
                return 1;
            case Kind::table:
                break;
        }
        return table_[size * (size - 1) / 2 + slot - 1];
    }
    // The largest list size that has costs.
    std::size_t max_size() const { return max_size_; }
    // Whether an earlier slot always costs more.
    bool strictly_decreasing() const;

  private:
    Kind kind_ = Kind::decreasing;
    std::vector<double> table_;
    std::size_t max_size_ = static_cast<std::size_t>(-1);
};

struct ListChooserConfig {
    double miss_weight = 0.5;  // a
    SlotCosts costs;
    bool ties_by_width = true;
    std::int64_t max_explore = -1;  // labels shown for exploration per list; negative: no limit
};

// Estimates for the labels of a round. Labels are ordered by probability; ties by margin if
// `ties_by_width` is set, then by number.
struct LabelEstimates {
    std::vector<double> probability;
    std::vector<double> margin;
};

class ListChooser {
  public:
    explicit ListChooser(ListChooserConfig config);

    const ListChooserConfig& config() const { return config_; }
    // Whether this is the ranking mode: a = 1 and strictly decreasing costs, so that every slot is
    // used.
    bool ranks() const { return ranking_; }

    // The terms of the expected cost: the cost of an irrelevant label in a slot, and the gain if
    // the label is relevant.
    double hit_gain(std::size_t slot, std::size_t size) const {
        return config_.miss_weight + (1 - config_.miss_weight) * config_.costs(slot, size);
    }
    double false_positive_cost(std::size_t slot, std::size_t size) const {
        return (1 - config_.miss_weight) * config_.costs(slot, size);
    }

    // The list size with the least expected cost for probabilities in decreasing order; the
    // smallest on ties. In the ranking mode, all labels.
    std::size_t best_size(std::span<const double> sorted) const;

    // Chooses the best list of at most `max_size` labels.
    void choose(const LabelEstimates& estimates, std::size_t max_size,
                std::vector<std::int32_t>& out) const;

    // Chooses the best list that contains at most config().max_explore labels outside `plain`.
    void choose_within_budget(const LabelEstimates& estimates, std::span<const std::int32_t> plain,
                              std::size_t max_size, std::vector<std::int32_t>& out) const;

  private:
    void keep_best(const LabelEstimates& estimates, std::size_t max_size,
                   std::vector<std::int32_t>& labels) const;

    ListChooserConfig config_;
    bool ranking_;
};

}  // namespace tagalong
