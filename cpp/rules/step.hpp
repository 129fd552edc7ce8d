// The input and output of an update rule.
//
// The labels of a round form two sides: relevant labels, which should be ranked above, and
// irrelevant labels, which should be ranked below. Labels of unknown relevance belong to neither. A
// rule turns the scores of the two sides into a step: one coefficient alpha_y per label, which
// moves the dual vector of the label along x, theta_y += alpha_y x.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "core/score_kernels.hpp"

namespace tagalong {

struct Sides {
    static constexpr double kNone = -std::numeric_limits<double>::infinity();

    std::vector<int> relevant;              // relevant labels, ascending
    std::vector<double> relevant_scores;    // scores of the relevant labels, in the same order
    std::vector<double> irrelevant_scores;  // per label; kNone for labels that are not irrelevant
    std::size_t irrelevant_count = 0;       // number of irrelevant labels

    int lowest_relevant = -1;  // the relevant label with the lowest score; ties: the first
    double lowest_score = 0;   // score of `lowest_relevant`
    double highest_score = 0;  // the highest score of an irrelevant label
    double margin = 0;         // lowest_score - highest_score

    bool has_pair() const { return !relevant.empty() && irrelevant_count > 0; }
    bool mistake() const { return margin <= 0; }
    // The irrelevant label with the highest score; of labels with equal scores, the first.
    int highest_irrelevant() const {
        return static_cast<int>(kernels::first_above(irrelevant_scores.data(),
                                                     std::nextafter(highest_score, kNone), 0,
                                                     irrelevant_scores.size()));
    }

    void split(std::span<const float> scores, std::span<const int> sorted_relevant,
               std::span<const int> sorted_unknown) {
        divide(scores, sorted_relevant, sorted_unknown);
    }
    void split(std::span<const double> scores, std::span<const int> sorted_relevant,
               std::span<const int> sorted_unknown) {
        divide(scores, sorted_relevant, sorted_unknown);
    }

  private:
    template <class T>
    void divide(std::span<const T> scores, std::span<const int> sorted_relevant,
                std::span<const int> sorted_unknown) {
        relevant.assign(sorted_relevant.begin(), sorted_relevant.end());
        irrelevant_scores.resize(scores.size());
        kernels::to_finite_doubles(scores.data(), irrelevant_scores.data(), scores.size());
        for (const int label : sorted_unknown) irrelevant_scores[label] = kNone;
        relevant_scores.clear();
        for (const int label : relevant) {
            relevant_scores.push_back(irrelevant_scores[label]);
            irrelevant_scores[label] = kNone;
        }
        irrelevant_count = scores.size() - relevant.size() - sorted_unknown.size();
        if (!has_pair()) return;
        const auto first = static_cast<std::size_t>(
            std::min_element(relevant_scores.begin(), relevant_scores.end()) -
            relevant_scores.begin());
        const double top = kernels::largest(irrelevant_scores.data(), irrelevant_scores.size());
        lowest_relevant = relevant[first];
        lowest_score = relevant_scores[first];
        highest_score = top;
        margin = lowest_score - highest_score;
    }
};

struct Step {
    std::vector<double> alpha;  // coefficient per label; zero unless listed in `touched`
    std::vector<int> touched;   // labels with a coefficient
    double mass = 0;            // sum of the coefficients of the relevant labels
    double entropy = 0;         // entropy term of a smoothed loss in the dual, C T H(p)
    int iterations = 0;         // of an iterative solver
    bool solved = true;  // false if the solver reached its limit: a feasible step, not the best

    bool empty() const { return touched.empty(); }

    void clear(std::size_t labels) {
        if (touched.size() == alpha.size()) std::fill(alpha.begin(), alpha.end(), 0.0);
        else
            for (const int label : touched) alpha[label] = 0;
        touched.clear();
        alpha.resize(labels, 0.0);
        mass = entropy = 0;
        iterations = 0;
        solved = true;
    }
    void set(int label, double coefficient) {
        if (coefficient == 0) return;
        alpha[label] = coefficient;
        touched.push_back(label);
    }
    // For rules that write all of alpha directly.
    void touch_all() {
        touched.resize(alpha.size());
        std::iota(touched.begin(), touched.end(), 0);
    }
    // Rounding errors change the sums of the two sides, which are given. Scales the sides so that
    // both move the mass, and the mass is within the budget. Returns false if the errors are too
    // large for that: then the scores are so large that the step cannot change them.
    bool balance(double up, double down, double budget) {
        constexpr double kNegligible = 1e-10, kRepairable = 1e-3;
        const double error =
            std::max({std::abs(up - mass), std::abs(down - mass), mass - budget}) / budget;
        if (!(error <= kRepairable) || (up > 0) != (down > 0)) return false;
        if (error <= kNegligible) return true;
        mass = std::min(mass, budget);
        for (const int label : touched) alpha[label] *= mass / (alpha[label] > 0 ? up : down);
        return true;
    }
    // A step on one pair: raises the relevant and lowers the irrelevant label.
    void set_pair(int relevant, int irrelevant, double amount) {
        if (!(amount > 0)) return;
        set(relevant, amount);
        set(irrelevant, -amount);
        mass = amount;
    }
};

struct RuleParameters {
    double budget = 1;       // C, times the weight of the example
    double margin = 1;       // gamma
    double temperature = 0;  // T of the smoothed loss
};

}  // namespace tagalong
