// Which labels to show, in which order (P3, step 3; Lemmas 1 and 4).
//
// A list of s labels with probabilities p costs, up to a constant, in expectation
//
//     sum over its places j of (1 - a) c(j, s) - (a + (1 - a) c(j, s)) p_j,
//
// where a weighs the labels that are missed and c(j, s) is what a wrong label costs in place j of s.
// The best list of a size has the likeliest labels, likeliest first, so all that remains is the size.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tagalong {

// c(j, s), places from 1: (s - j + 1)/s, or 1, or a table with s costs for each size s in turn.
class SlotCosts {
  public:
    enum class Kind { decreasing, constant, table };

    SlotCosts() = default;
    explicit SlotCosts(Kind kind) : kind_(kind) {}
    // Throws InputError unless there are 1 + 2 + ... + n costs.
    explicit SlotCosts(std::vector<double> table);

    double operator()(std::size_t place, std::size_t size) const {
        switch (kind_) {
            case Kind::decreasing:
                return static_cast<double>(size - place + 1) / static_cast<double>(size);
            case Kind::constant:
                return 1;
            case Kind::table:
                break;
        }
        return table_[size * (size - 1) / 2 + place - 1];
    }
    // The largest list that has costs.
    std::size_t sizes() const { return sizes_; }
    // Whether an earlier place always costs more.
    bool strictly_decreasing() const;

  private:
    Kind kind_ = Kind::decreasing;
    std::vector<double> table_;
    std::size_t sizes_ = static_cast<std::size_t>(-1);
};

struct GameConfig {
    double miss_weight = 0.5;  // a
    SlotCosts costs;
    bool ties_by_width = true;
    std::int64_t max_explore = -1;  // how many labels may be shown to explore; negative: any number
};

// What is known of the labels of a round. Orders go by probability; equal ones by margin, if ties
// are broken so, then by number.
struct Standing {
    std::vector<double> probability;
    std::vector<double> margin;
};

class Game {
  public:
    explicit Game(GameConfig config);

    const GameConfig& config() const { return config_; }

    // What a wrong label, and a right one, add in a place: (1 - a) c, and a + (1 - a) c.
    double stake(std::size_t place, std::size_t size) const {
        return config_.miss_weight + (1 - config_.miss_weight) * config_.costs(place, size);
    }
    double wrong(std::size_t place, std::size_t size) const {
        return (1 - config_.miss_weight) * config_.costs(place, size);
    }

    // The size with the least expected cost for labels in this order; the smallest of equals. In
    // the ranking mode (a = 1, costs that fall strictly) all of them.
    std::size_t best_size(std::span<const double> sorted) const;

    // The best list of up to `most` labels.
    void choose(const Standing& standing, std::size_t most, std::vector<std::int32_t>& out) const;

    // The best list that shows at most config().max_explore labels that `plain` has not.
    void choose_within_budget(const Standing& standing, std::span<const std::int32_t> plain,
                              std::size_t most, std::vector<std::int32_t>& out) const;

  private:
    void keep_best(const Standing& standing, std::size_t most,
                   std::vector<std::int32_t>& order) const;

    GameConfig config_;
    bool ranking_;
};

}  // namespace tagalong
