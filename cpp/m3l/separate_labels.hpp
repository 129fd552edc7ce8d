// Without a coupling prior the dual problem is a sum over labels: blocks of labels, or labels on dense
// rows, are solved independently, several at a time.
#pragma once

#include <algorithm>
#include <vector>

#include "m3l/linear_task.hpp"
#include "m3l/threads.hpp"

namespace tagalong::m3l {

// Parts of a problem that are solved independently: where each stands, and the passes it took.
class SeparateParts {
  public:
    explicit SeparateParts(std::size_t count) : standing(count), passes(count, 0) {}

    std::vector<Standing> standing;
    std::vector<int> passes;

    template <class T>
    void add_up(LinearSolution<T>& solution) const {
        for (const Standing& each : standing) solution.standing.include(each);
        for (const int each : passes)
            solution.passes = std::max<std::int64_t>(solution.passes, each);
    }
};

template <class T>
void solve_blocks_separately(const LinearTask<T>& task) {
    const LinearSettings& settings = task.settings;
    SeparateParts parts(task.blocks());
    for_each_of(task.blocks(), settings.threads, [&](std::size_t b) {
        BlockSpace<T> space(task.rows.features());
        Block<T> block = task.block(b, space);
        Shuffle shuffle = task.shuffle(b);
        block.weigh();
        parts.passes[b] = block.solve(settings.tolerance, settings.most_passes, shuffle,
                                      task.progress, parts.standing[b]);
        task.keep(block, space.weights);
        task.progress.labels_done += static_cast<std::int64_t>(block.labels().size());
        task.progress.violation = parts.standing[b].violation;
    });
    parts.add_up(task.solution);
}

template <class T>
void solve_labels_separately(const LinearTask<T>& task, const DenseRows<T>& rows) {
    const LinearSettings& settings = task.settings;
    const Problem& problem = task.problem;
    const RowsOfLabels relevant(problem.relevant, problem.rows, problem.labels);
    const RowsOfLabels unknown(problem.unknown, problem.rows, problem.labels);
    SeparateParts parts(problem.labels);
    for_each_of(problem.labels, settings.threads, [&](std::size_t place) {
        Label<T> label = task.label(place, rows, relevant, unknown);
        Shuffle shuffle = task.shuffle(place);
        parts.passes[place] = label.solve(settings.tolerance, settings.most_passes, shuffle,
                                          task.progress, parts.standing[place]);
        task.keep(label, place);
        task.progress.labels_done += 1;
        task.progress.violation = parts.standing[place].violation;
    });
    parts.add_up(task.solution);
}

}  // namespace tagalong::m3l
