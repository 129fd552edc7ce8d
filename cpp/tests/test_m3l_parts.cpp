// The hooks of the linear solver for problems that several machines solve: ranges of blocks give
// the bits of the whole problem, and an anchor stands for rows that are elsewhere.
#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "m3l/linear_solver.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::m3l_parts_test {
namespace {

using namespace m3l;

constexpr std::size_t kFeatures = 12;

// Rows, sparse or dense, with a constant feature, and the problem of labels that are relevant here
// and there.
template <class T>
struct Case {
    std::size_t labels, size;
    bool sparse;
    double constant = 0.5;
    std::vector<T> values;
    std::vector<std::int32_t> indices, indptr{0}, label;
    std::vector<std::int64_t> label_start{0}, no_start;
    std::vector<double> margin, bound, prior;
    Problem problem;
    Matrix matrix;

    Case(Random& random, std::size_t size, std::size_t labels, bool sparse, bool coupled = false)
        : labels(labels), size(size), sparse(sparse), margin(labels, 2.0), bound(labels, 0.4) {
        for (std::size_t i = 0; i < size; ++i) {
            for (std::size_t j = 0; j < kFeatures; ++j) {
                const bool present = !sparse || j == i % kFeatures || random.chance(0.3);
                if (!present) continue;
                indices.push_back(static_cast<std::int32_t>(j));
                values.push_back(static_cast<T>(random.normal()));
            }
            indptr.push_back(static_cast<std::int32_t>(indices.size()));
            for (std::size_t l = 0; l < labels; ++l)
                if (random.chance(l % 3 == 0 ? 0.4 : 0.05))
                    label.push_back(static_cast<std::int32_t>(l));
            label_start.push_back(static_cast<std::int64_t>(label.size()));
        }
        no_start.assign(size + 1, 0);
        if (coupled) {
            prior.assign(labels * labels, 0.1);
            for (std::size_t l = 0; l < labels; ++l) prior[l * labels + l] = 1;
        }
        problem.rows = size;
        problem.labels = labels;
        problem.relevant = {label_start, label};
        problem.unknown = {no_start, {}};
        problem.margin_relevant = problem.margin_irrelevant = margin;
        problem.bound_relevant = problem.bound_irrelevant = bound;
        problem.prior = prior;
        matrix = {.rows = static_cast<std::int64_t>(size),
                  .columns = kFeatures,
                  .values = values.data(),
                  .value_type = sizeof(T) == 4 ? Number::float32 : Number::float64,
                  .row_stride = kFeatures};
        if (sparse) {
            matrix.indices = indices.data();
            matrix.indptr = indptr.data();
        }
    }
    Case(const Case&) = delete;
    Case& operator=(const Case&) = delete;

    bool relevant(std::size_t i, std::size_t l) const {
        const auto found = problem.relevant.row(i);
        return std::find(found.begin(), found.end(), static_cast<std::int32_t>(l)) != found.end();
    }
    // The product of row i with the weights of a label, the constant feature included.
    double score(std::size_t i, std::size_t l, const std::vector<double>& z) const {
        double out = constant * z[kFeatures * labels + l];
        for (auto e = static_cast<std::size_t>(indptr[i]);
             e < static_cast<std::size_t>(indptr[i + 1]); ++e)
            out += static_cast<double>(values[e]) *
                   z[static_cast<std::size_t>(indices[e]) * labels + l];
        return out;
    }
    // Adds 2 sum_k R_lk b_ik x_i to the weights of each label l.
    void add_weights(const std::vector<double>& b, std::vector<double>& z) const {
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t k = 0; k < labels; ++k)
                for (std::size_t l = 0; l < labels; ++l) {
                    const double step = 2 * problem.r(l, k) * b[i * labels + k];
                    if (step == 0) continue;
                    z[kFeatures * labels + l] += step * constant;
                    for (auto e = static_cast<std::size_t>(indptr[i]);
                         e < static_cast<std::size_t>(indptr[i + 1]); ++e)
                        z[static_cast<std::size_t>(indices[e]) * labels + l] +=
                            step * static_cast<double>(values[e]);
                }
    }
    // The status of variables at weights, by the formulas of m3l/problem.hpp.
    SolutionStatus status(const std::vector<double>& b, const std::vector<double>& z) const {
        SolutionStatus out;
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t l = 0; l < labels; ++l) {
                const double t = relevant(i, l) ? 2.0 : -2.0, s = score(i, l, z), h = t - 2 * s;
                const double low = relevant(i, l) ? 0.0 : -0.4, high = relevant(i, l) ? 0.4 : 0.0;
                const double each = b[i * labels + l];
                out.dual += each * (t - s);
                out.gap += (h > 0 ? high : low) * h - each * h;
                // Bounds are in the precision of the solver.
                if (h > 0 && each < high - 1e-7) out.violation = std::max(out.violation, h);
                if (h < 0 && each > low + 1e-7) out.violation = std::max(out.violation, -h);
            }
        return out;
    }
    // Dual variables of a solution, (rows, labels).
    std::vector<double> by_label(const LinearSolution<T>& solution) const {
        std::vector<double> out(size * labels);
        for (std::size_t l = 0; l < labels; ++l) {
            const auto at = static_cast<std::size_t>(solution.position[l]);
            for (std::size_t i = 0; i < size; ++i)
                out[i * labels + l] = static_cast<double>(
                    solution.dual[(at / kLanes * size + i) * kLanes + at % kLanes]);
        }
        return out;
    }
};

template <class T>
std::vector<T> rounded(const std::vector<double>& numbers) {
    return {numbers.begin(), numbers.end()};
}

// Solves one half of the rows while the other half stays fixed.
template <class T>
void anchored(bool sparse, bool coupled, double tolerance, double distance) {
    Random random(sparse ? 5 : 6);
    const std::size_t labels = 20;
    const Case<T> here(random, 50, labels, sparse, coupled),
        elsewhere(random, 30, labels, sparse, coupled);
    std::vector<double> fixed(elsewhere.size * labels);
    for (std::size_t i = 0; i < elsewhere.size; ++i)
        for (std::size_t l = 0; l < labels; ++l)
            fixed[i * labels + l] = elsewhere.relevant(i, l) ? 0.1 : -0.05;
    std::vector<double> anchor((kFeatures + 1) * labels, 0.0);
    elsewhere.add_weights(fixed, anchor);

    const Rows<T> rows(here.matrix, here.constant);
    same(rows.dense(), !sparse);
    LinearSettings settings;
    settings.tolerance = tolerance;
    settings.max_passes = 20000;
    SolverProgress progress;
    LinearSolution<T> solution;
    const std::vector<T> z0 = rounded<T>(anchor);
    solve_linear<T>(rows, here.problem, settings, progress, solution, z0);
    check(solution.converged, "not converged");

    const std::vector<double> b = here.by_label(solution);
    std::vector<double> z = anchor;
    here.add_weights(b, z);
    const SolutionStatus expected = here.status(b, z);
    at_most(expected.violation, tolerance + distance);
    check(std::any_of(b.begin(), b.end(), [](double each) { return each != 0; }), "nothing moved");

    settings.warm_start = true;
    const SolutionStatus found =
        evaluate_linear<T>(rows, here.problem, settings, rounded<T>(z), solution);
    near(found.dual, expected.dual, distance * 100);
    near(found.gap, expected.gap, distance * 100);
    at_most(found.violation, tolerance + distance);
}

const Test anchors{"m3l parts: an anchor stands for rows that are elsewhere", [] {
                       for (const bool sparse : {true, false})
                           for (const bool coupled : {true, false}) {
                               Note note("sparse ", sparse, ", coupled ", coupled);
                               anchored<double>(sparse, coupled, 1e-6, 1e-9);
                               anchored<float>(sparse, coupled, 1e-2, 1e-3);
                           }
                   }};

template <class T>
void in_ranges(bool sparse) {
    Random random(sparse ? 7 : 8);
    const std::size_t labels = 70, blocks = 5;  // the last block has six labels
    const Case<T> each(random, 120, labels, sparse);
    const Rows<T> rows(each.matrix, each.constant);
    LinearSettings settings;
    settings.seed = 3;
    SolverProgress progress;
    LinearSolution<T> whole;
    solve_linear<T>(rows, each.problem, settings, progress, whole);
    SolutionStatus sum;
    std::vector<T> dual, weights(whole.weights.size(), T{0});
    for (const auto& [first, last] : {std::pair{0, 2}, std::pair{2, 3}, std::pair{3, 5}}) {
        settings.first_block = static_cast<std::size_t>(first);
        settings.last_block = static_cast<std::size_t>(last);
        LinearSolution<T> part;
        solve_linear<T>(rows, each.problem, settings, progress, part);
        dual.insert(dual.end(), part.dual.begin(), part.dual.end());
        for (std::size_t j = 0; j < weights.size(); ++j) weights[j] += part.weights[j];
        for (const SolutionStatus& one : part.part_status) sum.include(one);
    }
    same(dual.size(), blocks * each.size * kLanes);
    same_bits(std::span<const T>(dual), std::span<const T>(whole.dual.data(), whole.dual.size()));
    same_bits(std::span<const T>(weights), std::span<const T>(whole.weights));
    same(sum.dual, whole.status.dual);
    same(sum.gap, whole.status.gap);
    same(sum.violation, whole.status.violation);
}

const Test ranges{"m3l parts: ranges of blocks give the bits of the whole problem", [] {
                      for (const bool sparse : {true, false}) {
                          Note note("sparse ", sparse);
                          in_ranges<float>(sparse);
                          in_ranges<double>(sparse);
                      }
                  }};

}  // namespace
}  // namespace tagalong::test::m3l_parts_test
