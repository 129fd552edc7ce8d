#include "m3l/block_assignment.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "m3l/lanes.hpp"

namespace tagalong::m3l {
namespace {

std::vector<std::int32_t> most_frequent_first(const Problem& problem) {
    std::vector<std::size_t> relevant(problem.labels, 0);
    for (const std::int32_t label : problem.relevant.label) ++relevant[label];
    std::vector<std::int32_t> labels(problem.labels);
    std::iota(labels.begin(), labels.end(), 0);
    std::stable_sort(labels.begin(), labels.end(),
                     [&](std::int32_t a, std::int32_t b) { return relevant[a] > relevant[b]; });
    return labels;
}

// How strongly the prior couples two labels: |R_ab| / sqrt(R_aa R_bb).
double coupling_strength(const Problem& problem, std::int32_t a, std::int32_t b) {
    const auto r = [&](std::int32_t l, std::int32_t k) {
        return problem.r(static_cast<std::size_t>(l), static_cast<std::size_t>(k));
    };
    const double diagonal = r(a, a) * r(b, b);
    return diagonal > 0 ? std::abs(r(a, b)) / std::sqrt(diagonal) : 0.0;
}

// Within a block, a step on one label updates the scores of the others at once, so strongly coupled
// labels should share a block. Greedy: a block starts with the first remaining label and repeatedly
// takes the label with the largest sum of couplings to the block, until it is full.
std::vector<std::int32_t> group_coupled_labels(const Problem& problem,
                                               std::vector<std::int32_t> remaining) {
    std::vector<std::int32_t> labels;
    while (!remaining.empty()) {
        std::vector<double> coupling(problem.labels, 0.0);
        for (std::size_t k = 0; k < kLanes && !remaining.empty(); ++k) {
            const auto less_coupled = [&](std::int32_t a, std::int32_t b) {
                return coupling[a] < coupling[b];
            };
            const auto next =
                k == 0 ? remaining.begin()
                       : std::max_element(remaining.begin(), remaining.end(), less_coupled);
            const std::int32_t chosen = *next;
            remaining.erase(next);
            labels.push_back(chosen);
            for (const std::int32_t other : remaining)
                coupling[other] += coupling_strength(problem, chosen, other);
        }
    }
    return labels;
}

}  // namespace

std::vector<std::int32_t> block_positions(const Problem& problem) {
    std::vector<std::int32_t> labels = most_frequent_first(problem);
    if (problem.coupled()) labels = group_coupled_labels(problem, std::move(labels));
    std::vector<std::int32_t> position(problem.labels);
    for (std::size_t at = 0; at < labels.size(); ++at)
        position[labels[at]] = static_cast<std::int32_t>(at);
    return position;
}

}  // namespace tagalong::m3l
