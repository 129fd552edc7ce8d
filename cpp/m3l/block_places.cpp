#include "m3l/block_places.hpp"

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
    std::vector<std::int32_t> ordered(problem.labels);
    std::iota(ordered.begin(), ordered.end(), 0);
    std::stable_sort(ordered.begin(), ordered.end(),
                     [&](std::int32_t a, std::int32_t b) { return relevant[a] > relevant[b]; });
    return ordered;
}

// |R_ab| / sqrt(R_aa R_bb): how strongly two labels move each other.
double bond_between(const Problem& problem, std::int32_t a, std::int32_t b) {
    const auto r = [&](std::int32_t l, std::int32_t k) {
        return problem.r(static_cast<std::size_t>(l), static_cast<std::size_t>(k));
    };
    const double both = r(a, a) * r(b, b);
    return both > 0 ? std::abs(r(a, b)) / std::sqrt(both) : 0.0;
}

// Labels of one block take turns at every row, so that those which move each other most should share
// one. A block begins with the first label left and takes the one most bound to its labels, until it
// is full.
std::vector<std::int32_t> most_bound_together(const Problem& problem,
                                              std::vector<std::int32_t> left) {
    std::vector<std::int32_t> ordered;
    while (!left.empty()) {
        std::vector<double> bond(problem.labels, 0.0);
        for (std::size_t k = 0; k < kLanes && !left.empty(); ++k) {
            const auto less_bound = [&](std::int32_t a, std::int32_t b) {
                return bond[a] < bond[b];
            };
            const auto next =
                k == 0 ? left.begin() : std::max_element(left.begin(), left.end(), less_bound);
            const std::int32_t chosen = *next;
            left.erase(next);
            ordered.push_back(chosen);
            for (const std::int32_t other : left)
                bond[other] += bond_between(problem, chosen, other);
        }
    }
    return ordered;
}

}  // namespace

std::vector<std::int32_t> block_places(const Problem& problem) {
    std::vector<std::int32_t> ordered = most_frequent_first(problem);
    if (problem.coupled()) ordered = most_bound_together(problem, std::move(ordered));
    std::vector<std::int32_t> place(problem.labels);
    for (std::size_t at = 0; at < ordered.size(); ++at)
        place[ordered[at]] = static_cast<std::int32_t>(at);
    return place;
}

}  // namespace tagalong::m3l
