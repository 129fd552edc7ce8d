// Max-margin multi-label learning with a prior on how labels go together (Hariharan, Vishwanathan,
// Varma, 2012), in signed dual variables b_il = y_il a_il:
//
//     max over b of  sum_il t_il b_il - 2 sum_lk R_lk b_l' K b_k
//
// where t_il = y_il d_il, d_il is what a wrong label costs more than a right one (2 for the Hamming
// loss), and b_il lies between 0 and C_il for a relevant label, between -C_il and 0 for another, and
// is 0 where relevance is unknown. With v_l = sum_i b_il phi(x_i) and z_l = 2 sum_k R_lk v_k, label l
// scores z_l.phi(x), and the derivative by b_il is h_il = t_il - 2 z_l.phi(x_i). At any feasible b the
// primal problem's value, with the slacks solved for, is above the dual's by
//
//     sum_il C_il max(0, y_il h_il) - b_il h_il,
//
// a sum without negative terms. R is never inverted, so that it may be singular.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tagalong::m3l {

// Sets of labels, one a row.
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
    // A number a label: d of its relevant and its irrelevant rows, and their C.
    std::span<const double> margin_yes, margin_no, bound_yes, bound_no;
    // A factor of C a row; empty for ones.
    std::span<const double> row_weight;
    // R, row by row; empty for the identity.
    std::span<const double> prior;
    // Whether d_il = 2 y_il (R y_i)_l, the loss tied to the prior, instead of the given margins.
    bool tied = false;

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

    // 2 (R y_i)_l for every row i, where unknown labels count as 0: t of the loss tied to the prior.
    std::vector<double> tied_targets(std::size_t l) const {
        double none = 0;
        for (std::size_t k = 0; k < labels; ++k) none -= r(l, k);
        std::vector<double> out(rows, 2 * none);
        for (std::size_t i = 0; i < rows; ++i) {
            for (const std::int32_t label : relevant.row(i))
                out[i] += 4 * r(l, static_cast<std::size_t>(label));
            for (const std::int32_t label : unknown.row(i))
                out[i] += 2 * r(l, static_cast<std::size_t>(label));
        }
        return out;
    }
};

// Where a solution stands, over all variables.
struct Standing {
    double dual = 0;       // the dual objective
    double gap = 0;        // how far the primal value is above it
    double violation = 0;  // the largest projected derivative

    // Takes in where another part of the variables stands.
    void include(const Standing& part) {
        dual += part.dual;
        gap += part.gap;
        violation = std::max(violation, part.violation);
    }
};

}  // namespace tagalong::m3l
