#include "m3l/kernel_solver.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "m3l/kernel_dual.hpp"
#include "m3l/kernel_loops.hpp"
#include "m3l/kernel_run.hpp"
#include "m3l/threads.hpp"
#include "m3l/working_set.hpp"
#include "m3l/working_set_selection.hpp"

namespace tagalong::m3l {
namespace {

class KernelSolver {
  public:
    KernelSolver(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                 const KernelSettings& settings, SolverProgress& progress)
        : problem_(problem),
          settings_(settings),
          progress_(progress),
          dual_(problem, diagonal, cache, settings.threads) {}

    void solve(KernelSolution& solution) {
        const std::int64_t max_steps =
            settings_.max_steps * static_cast<std::int64_t>(problem_.rows);
        const bool coupled = problem_.coupled();
        run_kernel_solver(dual_, settings_, progress_, solution, [&] {
            const std::int64_t before = steps_;
            if (coupled) improve_coupled(max_steps * static_cast<std::int64_t>(problem_.labels));
            else improve_independent(max_steps);
            return steps_ - before;
        });
    }

  private:
    static constexpr std::size_t kRowsAtOnce = 4;  // of subtract_four_rows()
    static constexpr double kTurnShare = 0.1;      // target of a turn, relative to the violation
    static constexpr double kSetShare = 0.01;  // target in a working set, relative to the violation
    static constexpr std::int64_t kStepsPerVariable = 4;

    // Loads the variables of the set's rows, and their products.
    void load(const KernelLabel& label, WorkingSet& set) {
        const std::size_t count = set.rows.size();
        set.resize(count);
        for (std::size_t k = 0; k < count; ++k) {
            const auto i = static_cast<std::size_t>(set.rows[k]);
            set.h[k] = label.h[i];
            set.b[k] = label.b[i];
            set.low[k] = label.low[i];
            set.high[k] = label.high[i];
            set.diagonal[k] = dual_.diagonal()[i];
        }
        dual_.cache().among(set.rows, set.products.data());
    }

    // Applies the changes of a working set to b and h of all variables of the label, and adds the
    // change of K b to `change` if it is not null.
    void apply_set_changes(KernelLabel& label, WorkingSet& set, double r, float* change) {
        std::vector<std::int32_t> moved;
        std::vector<float> delta;
        for (std::size_t k = 0; k < set.rows.size(); ++k)
            if (set.b[k] != set.b_before[k]) {
                moved.push_back(set.rows[k]);
                delta.push_back(set.b[k] - set.b_before[k]);
                label.b[set.rows[k]] = set.b[k];
            }
        for (std::size_t at = 0; at < moved.size(); at += kRowsAtOnce) {
            const float* rows[kRowsAtOnce];
            float own[kRowsAtOnce] = {}, others[kRowsAtOnce] = {};
            for (std::size_t k = 0; k < kRowsAtOnce; ++k) {
                const bool used = at + k < moved.size();
                rows[k] = used ? dual_.row_of(std::span(moved).subspan(at + k)) : rows[0];
                if (used) own[k] = static_cast<float>(r * static_cast<double>(delta[at + k]));
                if (used) others[k] = -delta[at + k];
            }
            subtract_four_rows(label.h.data(), rows, own, problem_.rows);
            if (change) subtract_four_rows(change, rows, others, problem_.rows);
        }
    }

    // Makes pair steps on a label until its violation is below `target_violation` or `max_steps` is
    // reached. Adds the change of K b to `change` if it is not null. Returns the number of steps.
    std::int64_t improve(std::size_t l, double target_violation, std::int64_t max_steps,
                         float* change) {
        KernelLabel& label = dual_.labels()[l];
        const double r = 4 * problem_.r(l, l);
        std::int64_t steps = 0;
        WorkingSet set;
        for (label.measure_violation(); label.violation >= target_violation && steps < max_steps &&
                                        !progress_.stop.load(std::memory_order_relaxed);
             label.measure_violation()) {
            select_working_set(label, set.rows);
            load(label, set);
            const std::int64_t max_set_steps = std::min(
                max_steps - steps, kStepsPerVariable * static_cast<std::int64_t>(kWorkingSetSize));
            const std::int64_t set_steps = set.improve(
                r, std::max(target_violation, kSetShare * label.violation), max_set_steps);
            if (set_steps == 0) break;
            steps += set_steps;
            apply_set_changes(label, set, r, change);
        }
        return steps;
    }

    // A label whose last check found it converged stays as it is: its solution does not depend on
    // the other labels.
    void improve_independent(std::int64_t max_steps) {
        progress_.labels_done = 0;
        for_each_of(problem_.labels, dual_.cache().fits_all_rows() ? settings_.threads : 1,
                    [&](std::size_t l) {
                        const std::int64_t steps =
                            dual_.labels()[l].violation < settings_.tolerance
                                ? 0
                                : improve(l, kKernelAimShare * settings_.tolerance, max_steps,
                                          nullptr);
                        steps_ += steps;
                        progress_.passes += steps;
                        progress_.labels_done += 1;
                        progress_.violation = dual_.labels()[l].violation;
                    });
    }

    void improve_coupled(std::int64_t max_steps) {
        const double final_target = kKernelAimShare * settings_.tolerance;
        const auto max_turn_steps =
            std::max<std::int64_t>(64, static_cast<std::int64_t>(problem_.labels));
        AlignedVector<float> change(problem_.rows);
        for_each_of(problem_.labels, settings_.threads,
                    [&](std::size_t l) { dual_.labels()[l].measure_violation(); });
        while (steps_ < max_steps && !progress_.stop.load(std::memory_order_relaxed)) {
            const std::size_t worst = dual_.worst_label();
            const double violation = dual_.labels()[worst].violation;
            progress_.violation = violation;
            if (violation < final_target) break;
            std::fill(change.begin(), change.end(), 0.0f);
            const std::int64_t steps =
                improve(worst, std::max(final_target, kTurnShare * violation), max_turn_steps,
                        change.data());
            if (steps == 0) break;
            steps_ += steps;
            progress_.passes += steps;
            dual_.propagate(worst, change.data());
        }
    }

    const Problem& problem_;
    const KernelSettings& settings_;
    SolverProgress& progress_;
    KernelDual dual_;
    std::atomic<std::int64_t> steps_{0};
};

}  // namespace

void solve_kernel(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                  const KernelSettings& settings, SolverProgress& progress,
                  KernelSolution& solution) {
    KernelSolver(problem, diagonal, cache, settings, progress).solve(solution);
}

}  // namespace tagalong::m3l
