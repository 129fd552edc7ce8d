// Simultaneous projections (P2): one weight vector, and a block of rows a trial.
//
// A row asks for w.x_j >= gamma, its sign being part of its values. The loss of a trial is the
// largest of max(0, gamma - w.x_j) / v_j; or, for a block that falls into sets, the mean of that
// over the sets, each of which is treated from the same w with its part of the budget.
// Weights and dual value are those of the label ranker's geometries with a single label: the rules
// differ only in where rows come from.
#pragma once

#include <cstdint>
#include <shared_mutex>
#include <span>
#include <variant>
#include <vector>

#include "blocks/block_matrix.hpp"
#include "blocks/quadratic_program.hpp"
#include "blocks/row_block.hpp"
#include "blocks/rule_table.hpp"
#include "blocks/simplex_rules.hpp"
#include "geometry/entropic.hpp"
#include "geometry/linear_vector.hpp"

namespace tagalong {

struct BlockConfig {
    const BlockRule* update = &block_rule("simproj");
    bool entropic = false;
    double C = 1;
    double margin = 1;
    std::int64_t n_features = 0;  // declared up front; matters to the entropic geometry
};

struct BlockCertificate {
    std::int64_t rounds = 0;
    double mistakes = 0;  // trials, or shares of a trial's sets, with a mistaken row
    double loss = 0;
    double gain = 0;                           // gamma times the sum of all coefficients
    double curvature = 0;                      // half the largest squared length of a row
    double least_weight = 1, most_weight = 1;  // of 1 / v_j
    std::int64_t most_sets = 1;                // of a trial
    bool uneven = false;                       // whether some trial had different v_j
    bool restarted = false;
    std::int64_t solver_rounds = 0, solver_iterations = 0, solver_most_iterations = 0;

    // Every number under its name in files and in Python.
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
    }
};

template <class T>
using VectorGeometry = std::variant<LinearVector<T>, EntropicGeometry<T>>;

template <class T>
class BlockLearner {
  public:
    explicit BlockLearner(const BlockConfig& config);

    // One trial. `set` numbers the rows' sets 0, 1, 2, ... (empty: one set),
    // `weights` are v_j (empty: all 1); `scale` multiplies the budget. Returns the loss before the step.
    double learn(const RowBlock& given, std::span<const std::int32_t> set,
                 std::span<const double> weights, double scale = 1);

    // What a reader needs; one a thread.
    struct Reader {
        Example x;
        RowLookup<T> at;  // entropic
    };
    double score(Reader& reader) const;

    double dual() const;
    double recompute_dual() const;
    // Counts and the dual value begin anew, with the present weights as their centre.
    void restart_certificate();
    // Keeps the weights of some of the features, in the order of features().
    void select(const Selection& selection);
    double weight(std::int32_t row) const;
    // Of a feature, whether it has a row or not.
    double feature_weight(std::int32_t feature) const;
    const BlockConfig& config() const { return config_; }
    // The features that have weights of their own, in the order of their rows.
    const std::vector<std::int32_t>& features() const;
    std::size_t bytes() const;
    const BlockCertificate& certificate() const { return certificate_; }
    BlockCertificate& certificate_state() { return certificate_; }
    VectorGeometry<T>& geometry() { return geometry_; }
    const VectorGeometry<T>& geometry() const { return geometry_; }
    std::shared_mutex& mutex() const { return mutex_; }

  private:
    // How many rows join at a time.
    static constexpr std::size_t kPart = 128;

    void look_at(const LinearVector<T>& linear, const RowBlock& rows, double budget);
    void look_at(EntropicGeometry<T>& entropic, const RowBlock& rows, double budget);
    void solve_set(const RowBlock& rows, const std::vector<BlockRow>& looked, double budget);
    void best_step(const RowBlock& rows, const std::vector<BlockRow>& looked, double budget,
                   std::vector<double>& lambda);
    int solve_by_parts(double budget);
    int solve_part(BlockMatrix& rows, double budget);
    double value_after(std::size_t j) const;
    void apply(const RowBlock& rows);

    BlockConfig config_;
    VectorGeometry<T> geometry_;
    BlockCertificate certificate_;
    mutable std::shared_mutex mutex_;

    // Scratch of the writer.
    RowLookup<T> at_;
    RowBlock signed_;  // entropic: the rows with their signs in their values
    std::vector<BlockRow> rows_;
    std::vector<double> lambda_;  // of the whole block
    std::vector<std::size_t> members_;
    std::vector<BlockRow> set_rows_;
    std::vector<double> set_lambda_;
    std::vector<std::size_t> chosen_;
    std::vector<double> losses_, weights_;
    BlockMatrix matrix_;
    // The part of them that is solved for.
    std::vector<std::size_t> part_;
    std::vector<double> part_lambda_;
    BlockMatrix selected_;
    std::vector<double> products_, inside_, moved_;
    BlockQp qp_;
    BlockSimplex simplex_;
    Example sum_;
    Step step_;
};

extern template class BlockLearner<float>;
extern template class BlockLearner<double>;

}  // namespace tagalong
