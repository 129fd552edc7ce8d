#include "m3l/linear_solver.hpp"

#include <cstdint>
#include <variant>

#include "m3l/block_turns.hpp"
#include "m3l/label_turns.hpp"
#include "m3l/linear_task.hpp"
#include "m3l/rare_label_start.hpp"
#include "m3l/separate_labels.hpp"

namespace tagalong::m3l {
namespace {

template <class T>
void solve_labels_in_turn(const LinearTask<T>& task, const DenseRows<T>& rows) {
    const Problem& problem = task.problem;
    const LinearSettings& settings = task.settings;
    const RowsOfLabels relevant(problem.relevant, problem.rows, problem.labels);
    const RowsOfLabels unknown(problem.unknown, problem.rows, problem.labels);
    LabelTurns<T> turns(problem, task.ordered(), rows.stride, settings.threads);
    for (std::size_t place = 0; place < problem.labels; ++place)
        turns.add(task.label(place, rows, relevant, unknown), task.shuffle(place));
    task.solution.passes = turns.solve(settings.tolerance, settings.most_passes, task.progress,
                                       task.solution.standing);
    for (std::size_t place = 0; place < problem.labels; ++place)
        task.keep(turns.labels()[place], place);
    task.progress.labels_done = static_cast<std::int64_t>(problem.labels);
}

template <class T>
void solve_dense(const LinearTask<T>& task, const DenseRows<T>& rows) {
    if (task.problem.coupled()) solve_labels_in_turn(task, rows);
    else solve_labels_separately(task, rows);
}

template <class T>
void solve_sparse(const LinearTask<T>& task) {
    if (!task.settings.resume) RareLabelStart<T>(task).set();
    if (task.problem.coupled()) BlockTurns<T>(task).solve();
    else solve_blocks_separately(task);
}

}  // namespace

template <class T>
void solve_linear(const Rows<T>& rows, const Problem& problem, const LinearSettings& settings,
                  SolverProgress& watch, LinearSolution<T>& solution) {
    const LinearTask<T> task(rows, problem, settings, watch, solution);
    if (const auto* dense = std::get_if<DenseRows<T>>(&rows.any())) solve_dense(task, *dense);
    else solve_sparse(task);
    solution.converged = solution.standing.violation < settings.tolerance;
}

template void solve_linear(const Rows<float>&, const Problem&, const LinearSettings&,
                           SolverProgress&, LinearSolution<float>&);
template void solve_linear(const Rows<double>&, const Problem&, const LinearSettings&,
                           SolverProgress&, LinearSolution<double>&);

}  // namespace tagalong::m3l
