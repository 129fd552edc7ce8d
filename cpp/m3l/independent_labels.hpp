// Solves a problem without coupling prior. The dual problem of m3l/problem.hpp is then a sum over
// labels: blocks of labels, or labels on dense rows, are solved independently, in parallel.
#pragma once

#include <algorithm>
#include <vector>

#include "m3l/linear_task.hpp"
#include "m3l/threads.hpp"

namespace tagalong::m3l {

// Status and number of passes of each part of a problem whose parts are solved independently.
class IndependentParts {
  public:
    explicit IndependentParts(std::size_t count) : status(count), passes(count, 0) {}

    std::vector<SolutionStatus> status;
    std::vector<int> passes;

    template <class T>
    void combine(LinearSolution<T>& solution) const {
        solution.part_status = status;
        solution.status = combined(status);
        for (const int each : passes)
            solution.passes = std::max<std::int64_t>(solution.passes, each);
    }
};

template <class T>
void solve_blocks_independently(const LinearTask<T>& task) {
    const LinearSettings& settings = task.settings;
    IndependentParts parts(task.last_block() - task.first_block());
    for_each_of(parts.status.size(), settings.threads, [&](std::size_t part) {
        const std::size_t b = task.first_block() + part;
        BlockWorkspace<T> workspace(task.rows.features());
        Block<T> block = task.block(b, workspace);
        Shuffle shuffle = task.shuffle(b);
        block.recompute_weights();
        parts.passes[part] = block.solve(settings.tolerance, settings.max_passes, shuffle,
                                         task.progress, parts.status[part]);
        task.store(block, workspace.weights);
        task.progress.labels_done += static_cast<std::int64_t>(block.labels().size());
        task.progress.violation = parts.status[part].violation;
    });
    parts.combine(task.solution);
}

template <class T>
void solve_labels_independently(const LinearTask<T>& task, const DenseRows<T>& rows) {
    const LinearSettings& settings = task.settings;
    const Problem& problem = task.problem;
    const LabelRows relevant(problem.relevant, problem.rows, problem.labels);
    const LabelRows unknown(problem.unknown, problem.rows, problem.labels);
    IndependentParts parts(task.last_position() - task.first_position());
    for_each_of(parts.status.size(), settings.threads, [&](std::size_t part) {
        const std::size_t position = task.first_position() + part;
        DenseLabel<T> label = task.label(position, rows, relevant, unknown);
        Shuffle shuffle = task.shuffle(position);
        parts.passes[part] = label.solve(settings.tolerance, settings.max_passes, shuffle,
                                         task.progress, parts.status[part]);
        task.store(label, position);
        task.progress.labels_done += 1;
        task.progress.violation = parts.status[part].violation;
    });
    parts.combine(task.solution);
}

}  // namespace tagalong::m3l
