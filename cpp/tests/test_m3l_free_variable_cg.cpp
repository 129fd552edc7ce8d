// Conjugate gradients on the free variables: a problem with nearly equal rows.
#include <cmath>
#include <cstdint>
#include <vector>

#include "m3l/linear_solver.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::m3l_free_variable_cg_test {
namespace {

constexpr int kRows = 240, kFeatures = 400, kLabels = 6;

template <class T>
void nearly_equal_rows_converge() {
    Random random(3);
    std::vector<T> values;
    std::vector<std::int32_t> indices, indptr{0};
    for (int i = 0; i < kRows / 2; ++i) {
        const std::size_t begin = indices.size();
        for (int j = 0; j < kFeatures; ++j)
            if (random.chance(0.03)) {
                indices.push_back(j);
                values.push_back(static_cast<T>(random.between(0, 1)));
            }
        const std::size_t end = indices.size();
        indptr.push_back(static_cast<std::int32_t>(end));
        // A copy of the row, with values changed by about 2%.
        for (std::size_t e = begin; e < end; ++e) {
            indices.push_back(indices[e]);
            values.push_back(
                static_cast<T>(static_cast<double>(values[e]) * (1 + 0.02 * random.normal())));
        }
        indptr.push_back(static_cast<std::int32_t>(indices.size()));
    }
    Matrix matrix{.rows = kRows,
                  .columns = kFeatures,
                  .values = values.data(),
                  .value_type = sizeof(T) == 4 ? Number::float32 : Number::float64};
    matrix.indices = indices.data();
    matrix.indptr = indptr.data();

    std::vector<std::int64_t> start{0}, no_labels(kRows + 1, 0);
    std::vector<std::int32_t> label;
    for (int i = 0; i < kRows; ++i) {
        for (int l = 0; l < kLabels; ++l)
            if (random.chance(0.3)) label.push_back(l);
        start.push_back(static_cast<std::int64_t>(label.size()));
    }
    const std::vector<double> two(kLabels, 2.0), bound(kLabels, 1.0);
    m3l::Problem problem;
    problem.rows = kRows;
    problem.labels = kLabels;
    problem.relevant = {start, label};
    problem.unknown = {no_labels, {}};
    problem.margin_relevant = problem.margin_irrelevant = two;
    problem.bound_relevant = problem.bound_irrelevant = bound;

    m3l::LinearSettings settings;
    settings.tolerance = 1e-3;
    settings.max_passes = 1000;  // coordinate steps alone need more
    m3l::LinearSolution<T> solution;
    m3l::SolverProgress progress;
    m3l::solve_linear(m3l::Rows<T>(matrix), problem, settings, progress, solution);
    check(solution.converged, "the solver did not converge");
    for (const T b : solution.dual) check(std::abs(b) <= 1, "a variable is outside its bounds");
    const auto& status = solution.status;
    at_most(-1e-5 * status.dual, status.gap);
    at_most(status.gap, 1e-3 * status.dual);
}

const Test converge{"m3l free-variable cg: a problem with nearly equal rows converges", [] {
                        nearly_equal_rows_converge<float>();
                        nearly_equal_rows_converge<double>();
                    }};

}  // namespace
}  // namespace tagalong::test::m3l_free_variable_cg_test
