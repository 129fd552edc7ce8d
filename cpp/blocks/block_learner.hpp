// Simultaneous projections (P2): online learning of one weight vector w from trials, each of which
// is a block of rows x_j with signs y_j.
//
// A row is the constraint y_j w.x_j >= gamma; the formulas below include the sign in x_j. The loss
// of a trial is max_j max(0, gamma - w.x_j) / v_j, with a weight v_j > 0 per row (P2, Section 10).
// If a block is divided into sets, the loss is the mean over the sets (P2, Eq. 17); each set is
// solved from the same w with an equal part of the budget C. A trial solves, exactly or
// approximately, the problem (P2, Eq. 2)
//     min_w  F(w; w_t) + C loss(w),
// where F is 1/2 |w - w_t|^2 or, on the simplex, the relative entropy (Eq. 20). The update rules
// (update_rules.hpp) choose the coefficients lambda_j of its dual, and the dual vector theta of w
// moves by sum_j lambda_j x_j.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "blocks/block_matrix.hpp"
#include "blocks/quadratic_program.hpp"
#include "blocks/row_block.hpp"
#include "blocks/rule_table.hpp"
#include "blocks/simplex_program.hpp"
#include "geometry/entropic.hpp"
#include "geometry/linear_vector.hpp"

namespace tagalong {

struct BlockConfig {
    const BlockRule* update = &block_rule("simproj");
    bool entropic = false;
    double C = 1;
    double margin = 1;
    std::int64_t n_features = 0;  // features declared up front
};

struct BlockCertificate {
    std::int64_t rounds = 0;
    double mistakes = 0;  // sum over trials of the fraction of sets with a mistaken row
    double loss = 0;
    double gain = 0;                           // gamma times the sum of all coefficients
    double curvature = 0;                      // half the largest squared norm of a row
    double least_weight = 1, most_weight = 1;  // range of the trial's weight divided by v_j
    std::int64_t most_sets = 1;                // the largest number of sets of a trial
    bool uneven = false;                       // whether the v_j of some trial differ
    bool restarted = false;
    std::int64_t solver_rounds = 0, solver_iterations = 0, solver_most_iterations = 0;
    std::int64_t unsolved = 0;  // sets for which the solver reached its limit

    // Whether numbers from a file can be those of a learner.
    bool consistent() const {
        return mistakes >= 0 && least_weight <= most_weight && least_weight >= 0 &&
               curvature >= 0 && most_sets >= 1 && solver_most_iterations <= solver_iterations;
    }
    // Visits every number with its name in model files and in Python.
    template <class Counts, class Visit>
    static void fields(Counts& counts, Visit&& visit) {
        visit("rounds", counts.rounds);
        visit("mistakes", counts.mistakes);
        visit("loss", counts.loss);
        visit("gain", counts.gain);
        visit("curvature", counts.curvature);
        visit("least_weight", counts.least_weight);
        visit("most_weight", counts.most_weight);
        visit("most_sets", counts.most_sets);
        visit("uneven", counts.uneven);
        visit("restarted", counts.restarted);
        visit("solver_rounds", counts.solver_rounds);
        visit("solver_iterations", counts.solver_iterations);
        visit("solver_most_iterations", counts.solver_most_iterations);
        visit("unsolved", counts.unsolved);
    }
};

template <class T>
using VectorGeometry = std::variant<LinearVector<T>, EntropicGeometry<T>>;

template <class T>
class BlockLearner {
  public:
    explicit BlockLearner(const BlockConfig& config);

    // Learns one trial. `set` gives the set number 0, 1, 2, ... of each row (empty: one set),
    // `weights` are v_j (empty: all 1), `scale` is the weight of the trial, which multiplies the
    // budget. Returns the loss before the update.
    double learn(const RowBlock& given, std::span<const std::int32_t> set,
                 std::span<const double> weights, double scale = 1);

    // Working memory for predictions; one per thread.
    struct Reader {
        Example x;
        RowLookup<T> lookup;  // used by the entropic geometry
    };
    double score(Reader& reader) const;

    double dual() const;
    double recompute_dual() const;
    // Resets the counts and centres the dual problem on the present weights.
    void restart_certificate();
    // Removes features; the selection refers to the order of features().
    void select(const Selection& selection);
    double weight(std::int32_t row) const;
    // The weight of a feature, with or without a row.
    double feature_weight(std::int32_t feature) const;
    const BlockConfig& config() const { return config_; }
    // The features with stored weights, in the order of their rows.
    const std::vector<std::int32_t>& features() const;
    std::size_t bytes() const;
    const BlockCertificate& certificate() const { return certificate_; }
    std::int64_t unsolved() const { return certificate_.unsolved; }
    BlockCertificate& certificate_state() { return certificate_; }
    VectorGeometry<T>& geometry() { return geometry_; }
    const VectorGeometry<T>& geometry() const { return geometry_; }

  private:
    // The number of rows that solve_with_working_set adds to the working set at a time.
    static constexpr std::size_t kRowsPerExtension = 128;

    void evaluate_rows(const LinearVector<T>& linear, const RowBlock& rows, double budget);
    void evaluate_rows(EntropicGeometry<T>& entropic, const RowBlock& rows, double budget);
    void solve_set(const RowBlock& rows, const std::vector<BlockRow>& evaluated, double budget);
    void best_step(const RowBlock& rows, const std::vector<BlockRow>& evaluated, double budget,
                   std::vector<double>& lambda);
    int solve_with_working_set(double budget);
    int solve_working_set(BlockMatrix& rows, double budget);
    double value_after(std::size_t j) const;
    void apply(const RowBlock& rows);

    BlockConfig config_;
    VectorGeometry<T> geometry_;
    BlockCertificate certificate_;

    // Scratch memory of learn().
    RowLookup<T> lookup_;
    RowBlock signed_;  // entropic geometry: the rows multiplied by their signs
    std::vector<BlockRow> rows_;
    std::vector<double> lambda_;  // coefficients of all rows of the block
    std::vector<std::size_t> members_;
    std::vector<BlockRow> set_rows_;
    std::vector<double> set_lambda_;
    std::vector<std::size_t> chosen_;
    std::vector<double> losses_, weights_;
    BlockMatrix matrix_;
    // The working set of solve_with_working_set and its coefficients.
    std::vector<std::size_t> working_set_;
    std::vector<double> working_lambda_;
    BlockMatrix selected_;
    std::vector<double> products_, inside_, moved_;
    BlockQp qp_;
    BlockSimplexProgram simplex_;
    Example sum_;
    Step step_;
};

extern template class BlockLearner<float>;
extern template class BlockLearner<double>;

}  // namespace tagalong
