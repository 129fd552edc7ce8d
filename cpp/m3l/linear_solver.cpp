#include "m3l/linear_solver.hpp"

#include <cstdint>
#include <variant>

#include "m3l/coupled_blocks.hpp"
#include "m3l/coupled_dense_labels.hpp"
#include "m3l/independent_labels.hpp"
#include "m3l/linear_task.hpp"
#include "m3l/rare_label_start.hpp"

namespace tagalong::m3l {
namespace {

template <class T>
void solve_coupled_labels(const LinearTask<T>& task, const DenseRows<T>& rows) {
    const Problem& problem = task.problem;
    const LinearSettings& settings = task.settings;
    const LabelRows relevant(problem.relevant, problem.rows, problem.labels);
    const LabelRows unknown(problem.unknown, problem.rows, problem.labels);
    CoupledDenseLabels<T> coupled(problem, task.labels_by_position(), rows.stride,
                                  settings.threads);
    for (std::size_t position = 0; position < problem.labels; ++position)
        coupled.add(task.label(position, rows, relevant, unknown), task.shuffle(position));
    task.solution.passes =
        coupled.solve(settings.tolerance, settings.max_passes, task.progress, task.solution.status);
    for (std::size_t position = 0; position < problem.labels; ++position)
        task.store(coupled.labels()[position], position);
    task.progress.labels_done = static_cast<std::int64_t>(problem.labels);
}

template <class T>
void solve_dense(const LinearTask<T>& task, const DenseRows<T>& rows) {
    if (task.problem.coupled()) solve_coupled_labels(task, rows);
    else solve_labels_independently(task, rows);
}

template <class T>
void solve_sparse(const LinearTask<T>& task) {
    if (!task.settings.warm_start && task.anchor.empty()) RareLabelStart<T>(task).apply();
    if (task.problem.coupled()) CoupledBlocks<T>(task).solve();
    else solve_blocks_independently(task);
}

template <class T>
SolutionStatus evaluate_blocks(const LinearTask<T>& task, FixedWeights<T> weights) {
    std::vector<SolutionStatus> status(task.blocks());
    for_each_of(task.blocks(), task.settings.threads, [&](std::size_t b) {
        BlockWorkspace<T> workspace(task.rows.features());
        Block<T> block = task.block(b, workspace);
        block.set_weights(weights, task.problem.labels);
        status[b] = block.check(task.settings.tolerance);
    });
    return combined(status);
}

template <class T>
SolutionStatus evaluate_labels(const LinearTask<T>& task, const DenseRows<T>& rows,
                               FixedWeights<T> weights) {
    const Problem& problem = task.problem;
    const LabelRows relevant(problem.relevant, problem.rows, problem.labels);
    const LabelRows unknown(problem.unknown, problem.rows, problem.labels);
    std::vector<SolutionStatus> status(problem.labels);
    for_each_of(problem.labels, task.settings.threads, [&](std::size_t position) {
        DenseLabel<T> label = task.label(position, rows, relevant, unknown);
        label.set_weights(weights, problem.labels);
        status[position] = label.evaluate();
    });
    return combined(status);
}

}  // namespace

template <class T>
void solve_linear(const Rows<T>& rows, const Problem& problem, const LinearSettings& settings,
                  SolverProgress& progress, LinearSolution<T>& solution, FixedWeights<T> anchor) {
    const LinearTask<T> task(rows, problem, settings, progress, solution, anchor);
    if (const auto* dense = std::get_if<DenseRows<T>>(&rows.storage())) solve_dense(task, *dense);
    else solve_sparse(task);
    solution.converged = solution.status.violation < settings.tolerance;
}

template <class T>
SolutionStatus evaluate_linear(const Rows<T>& rows, const Problem& problem,
                               const LinearSettings& settings, FixedWeights<T> weights,
                               LinearSolution<T>& solution) {
    SolverProgress progress;
    const LinearTask<T> task(rows, problem, settings, progress, solution, {});
    if (const auto* dense = std::get_if<DenseRows<T>>(&rows.storage()))
        return evaluate_labels(task, *dense, weights);
    return evaluate_blocks(task, weights);
}

template void solve_linear(const Rows<float>&, const Problem&, const LinearSettings&,
                           SolverProgress&, LinearSolution<float>&, FixedWeights<float>);
template void solve_linear(const Rows<double>&, const Problem&, const LinearSettings&,
                           SolverProgress&, LinearSolution<double>&, FixedWeights<double>);
template SolutionStatus evaluate_linear(const Rows<float>&, const Problem&, const LinearSettings&,
                                        FixedWeights<float>, LinearSolution<float>&);
template SolutionStatus evaluate_linear(const Rows<double>&, const Problem&, const LinearSettings&,
                                        FixedWeights<double>, LinearSolution<double>&);

}  // namespace tagalong::m3l
