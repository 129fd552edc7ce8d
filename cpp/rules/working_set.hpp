// The labels that take part in a step. Any feasible step raises the dual value by a known amount, so
// labels whose coefficients would be negligible may be left out: a rule then takes its best step on
// the others, as if the relevance of those left out were unknown.
//
// A round in which every relevant label is ranked above every irrelevant one by the margin gamma
// has no step. In other rounds, those labels can move that violate the margin against the worst
// label of the other side. Let u and v be the levels that the worst labels of the two sides reach
// by Update III, on relevant labels below u and irrelevant labels above v. The working set has the
// relevant labels with scores up to u + 4 T and the irrelevant ones with scores from v - 4 T on,
// where T is the temperature: all others would move less than exp(-4) = 2% of the worst ones. It
// contains the worst pair of labels, so that the bound on the number of mistakes holds.
//
// With kMany labels and more, two further restrictions keep rows of weights short. Irrelevant labels
// with a score of exactly 0 are left out, but for the worst one: they have no weights for the
// features of the example, and thousands of labels that were never relevant would get some. Of the
// rest, the kMost labels with the highest scores take part; of labels with equal scores, those with
// the smallest numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rules/rule_table.hpp"
#include "rules/step.hpp"

namespace tagalong {

class WorkingSet {
  public:
    static constexpr double kDepth = 4;  // in temperatures
    static constexpr std::size_t kMany = 2048;
    static constexpr std::size_t kMost = 128;

    // Chooses the labels for a round with both kinds of labels. Returns false if the margin holds.
    bool choose(const Sides& sides, double q, const RuleParameters& rule);
    // The round with these labels only, which are numbered anew, and the labels of these numbers.
    const Sides& sides() const { return part_; }
    const std::vector<int>& labels() const { return labels_; }

  private:
    // The scores that the worst labels of the two sides reach.
    struct Levels {
        double relevant, irrelevant;
    };
    Levels reached_levels(const Sides& sides, double q, const RuleParameters& rule) const;
    void take_scores(const std::vector<double>& scores);
    void keep_highest(const Sides& sides);
    void drop_low_bins(const Sides& sides);
    void add_relevant(const Sides& sides, double highest);

    std::vector<int> labels_;
    Sides part_;
    std::vector<std::int32_t> bins_;
};

// A rule that takes the step of another rule on a working set.
LinearStep on_working_set(LinearStep rule);

}  // namespace tagalong
