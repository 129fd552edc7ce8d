// The optimisation problem of max-margin multi-label learning (M3L) with a prior matrix R of label
// correlations (P4: Hariharan, Vishwanathan, Varma, 2012): the dual, Eq. 25, in signed dual
// variables b_il = y_il a_il,
//
//     max over b of  sum_il t_il b_il - 2 sum_lk R_lk b_l' K b_k
//     subject to     0 <= b_il <= C_il   if label l is relevant for row i,
//                    -C_il <= b_il <= 0  if it is irrelevant,
//                    b_il = 0            if its relevance is unknown.
//
// K is the kernel matrix of the rows. The linear term is t_il = y_il d_il, where the margin d_il is
// the loss of a wrong prediction minus the loss of a right one (2 for the Hamming loss). With v_l =
// sum_i b_il phi(x_i) and z_l = 2 sum_k R_lk v_k, the score of label l is z_l.phi(x), and the
// derivative of the objective by b_il is h_il = t_il - 2 z_l.phi(x_i) (Eq. 29). At any feasible b
// the value of the primal problem, minimised over its slack variables, exceeds the dual value by
// the duality gap
//
//     sum_il C_il max(0, y_il h_il) - b_il h_il,
//
// a sum of nonnegative terms. The solvers never invert R, so R may be singular.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tagalong::m3l {

// One set of labels per row, in compressed sparse row layout.
struct LabelSets {
    std::span<const std::int64_t> start;
    std::span<const std::int32_t> label;

    std::span<const std::int32_t> row(std::size_t i) const {
        return label.subspan(static_cast<std::size_t>(start[i]),
                             static_cast<std::size_t>(start[i + 1] - start[i]));
    }
};

struct Problem {
    std::size_t rows = 0, labels = 0;
    LabelSets relevant, unknown;
    // One number per label: the margin d and the bound C of its relevant and irrelevant rows.
    std::span<const double> margin_relevant, margin_irrelevant, bound_relevant, bound_irrelevant;
    // One factor of C per row; empty if all are 1.
    std::span<const double> row_weight;
    // R, row-major; empty for the identity.
    std::span<const double> prior;
    // Whether the loss is tied to the prior: then d_il = 2 y_il (R y_i)_l replaces the given
    // margins.
    bool tied = false;
    // A factor on the margin per row and label, row-major; empty if all are 1.
    std::span<const double> cost;

    double r(std::size_t l, std::size_t k) const {
        return prior.empty() ? (l == k ? 1.0 : 0.0) : prior[l * labels + k];
    }
    bool coupled() const {
        for (std::size_t l = 0; l < labels; ++l)
            for (std::size_t k = 0; k < labels; ++k)
                if (l != k && r(l, k) != 0) return true;
        return false;
    }
    double weight(std::size_t i) const { return row_weight.empty() ? 1.0 : row_weight[i]; }

    // Whether the margins of a label depend on more than its relevance.
    bool margins_vary_by_row() const { return tied || !cost.empty(); }
    // t of every row for label l.
    std::vector<double> targets(std::size_t l) const {
        std::vector<double> out = tied ? tied_targets(l) : signed_margins(l);
        if (!cost.empty())
            for (std::size_t i = 0; i < rows; ++i) out[i] *= cost[i * labels + l];
        return out;
    }

  private:
    std::vector<double> signed_margins(std::size_t l) const {
        std::vector<double> out(rows, -margin_irrelevant[l]);
        for (std::size_t i = 0; i < rows; ++i)
            for (const std::int32_t label : relevant.row(i))
                if (static_cast<std::size_t>(label) == l) out[i] = margin_relevant[l];
        return out;
    }
    // t of the loss tied to the prior: 2 (R y_i)_l for every row i. Unknown labels count as 0 in
    // y_i.
    std::vector<double> tied_targets(std::size_t l) const {
        double all_irrelevant = 0;
        for (std::size_t k = 0; k < labels; ++k) all_irrelevant -= r(l, k);
        std::vector<double> out(rows, 2 * all_irrelevant);
        for (std::size_t i = 0; i < rows; ++i) {
            for (const std::int32_t label : relevant.row(i))
                out[i] += 4 * r(l, static_cast<std::size_t>(label));
            for (const std::int32_t label : unknown.row(i))
                out[i] += 2 * r(l, static_cast<std::size_t>(label));
        }
        return out;
    }
};

// How close a feasible point is to the optimum, over all variables.
struct SolutionStatus {
    double dual = 0;       // the dual objective
    double gap = 0;        // the primal objective minus the dual objective
    double violation = 0;  // the largest absolute projected derivative (Eq. 31)

    // Combines with the status of another part of the variables.
    void include(const SolutionStatus& part) {
        dual += part.dual;
        gap += part.gap;
        violation = std::max(violation, part.violation);
    }
};

inline SolutionStatus combined(std::span<const SolutionStatus> parts) {
    SolutionStatus out;
    for (const SolutionStatus& each : parts) out.include(each);
    return out;
}

}  // namespace tagalong::m3l
