#include "m3l/joint_smo.hpp"

#include <algorithm>

#include "core/aligned.hpp"
#include "m3l/kernel_dual.hpp"
#include "m3l/kernel_loops.hpp"
#include "m3l/kernel_run.hpp"
#include "m3l/two_variables.hpp"

namespace tagalong::m3l {
namespace {

class JointSmo {
  public:
    JointSmo(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
             const KernelSettings& settings, SolverProgress& progress)
        : problem_(problem),
          settings_(settings),
          progress_(progress),
          dual_(problem, diagonal, cache, settings.threads),
          coupled_(problem.coupled()),
          change_(coupled_ ? problem.rows : 0) {}

    void solve(KernelSolution& solution) {
        max_steps_ = settings_.max_steps * static_cast<std::int64_t>(problem_.rows) *
                     static_cast<std::int64_t>(problem_.labels);
        run_kernel_solver(dual_, settings_, progress_, solution, [&] { return improve(); });
    }

  private:
    // Takes turns until no label violates or the steps are used up. Returns the number of steps.
    std::int64_t improve() {
        const std::int64_t before = steps_;
        for (KernelLabel& label : dual_.labels()) label.measure_violation();
        while (steps_ < max_steps_ && !progress_.stop.load(std::memory_order_relaxed)) {
            const std::size_t l = dual_.worst_label();
            progress_.violation = dual_.labels()[l].violation;
            if (dual_.labels()[l].violation < target_violation()) break;
            const std::int64_t steps = take_turn(l);
            if (steps == 0) break;  // single precision allows no progress
            steps_ += steps;
            progress_.passes += steps;
        }
        return steps_ - before;
    }

    double target_violation() const { return kKernelAimShare * settings_.tolerance; }

    // The inner loop of Algorithm 1 on label l, and the delayed update of the other labels.
    std::int64_t take_turn(std::size_t l) {
        KernelLabel& label = dual_.labels()[l];
        std::fill(change_.begin(), change_.end(), 0.0f);
        const auto most = std::min(static_cast<std::int64_t>(problem_.labels), max_steps_ - steps_);
        std::int64_t steps = 0;
        RowValue p = most_violating(label.h.data(), label.b.data(), label.low.data(),
                                    label.high.data(), problem_.rows);
        while (steps < most && p.row < problem_.rows &&
               static_cast<double>(p.value) >= target_violation()) {
            if (!step_from(label, 4 * problem_.r(l, l), p)) break;
            ++steps;
        }
        label.violation = p.row < problem_.rows ? static_cast<double>(p.value) : 0.0;
        if (coupled_ && steps > 0) dual_.propagate(l, change_.data());
        return steps;
    }

    // A step on variable p and its best partner, or on p alone if none is independent of it. Then p
    // is the variable that violates most. Returns false if nothing moved. r is 4 R_ll.
    bool step_from(KernelLabel& label, double r, RowValue& p) {
        const std::size_t n = problem_.rows;
        const float *b = label.b.data(), *low = label.low.data(), *high = label.high.data();
        const float* const row_p = row(p.row);
        RowValue q{n, 0.0f};
        if (r > 0)
            q = best_partner(label.h.data(), b, low, high, row_p, dual_.diagonal().data(), p.row,
                             n);
        const bool pair = q.row < n;
        const float* const row_q = pair ? row(q.row) : row_p;
        const TwoSteps step =
            pair ? best_step_on(label, p.row, q.row, r * as_double(row_p[q.row]), r)
                 : TwoSteps{best_step_on(label, p.row, r), 0};
        const double moved_p = label.move(p.row, step.first);
        const double moved_q = pair ? label.move(q.row, step.second) : 0.0;
        if (moved_p == 0 && moved_q == 0) return false;
        if (coupled_) {
            const float* const rows[4] = {row_p, row_q, row_p, row_p};
            const float factors[4] = {static_cast<float>(-moved_p), static_cast<float>(-moved_q), 0,
                                      0};
            subtract_four_rows(change_.data(), rows, factors, n);
        }
        p = subtract_step(label.h.data(), row_p, static_cast<float>(r * moved_p), row_q,
                          static_cast<float>(r * moved_q), b, low, high, n);
        return true;
    }

    double best_step_on(const KernelLabel& label, std::size_t p, double r) const {
        return best_step(as_double(label.h[p]), r * as_double(dual_.diagonal()[p]),
                         label.room_below(p), label.room_above(p));
    }
    TwoSteps best_step_on(const KernelLabel& label, std::size_t p, std::size_t q, double coupling,
                          double r) const {
        return solve_two({as_double(label.h[p]),
                          as_double(label.h[q]),
                          r * as_double(dual_.diagonal()[p]),
                          r * as_double(dual_.diagonal()[q]),
                          coupling,
                          {label.room_below(p), label.room_below(q)},
                          {label.room_above(p), label.room_above(q)}});
    }

    const float* row(std::size_t i) {
        const auto number = static_cast<std::int32_t>(i);
        return dual_.row_of(std::span(&number, 1));
    }
    static double as_double(float number) { return static_cast<double>(number); }

    const Problem& problem_;
    const KernelSettings& settings_;
    SolverProgress& progress_;
    KernelDual dual_;
    bool coupled_;
    AlignedVector<float> change_;  // u: the change of K b_l in a turn, if labels are coupled
    std::int64_t steps_ = 0, max_steps_ = 0;
};

}  // namespace

void solve_joint_smo(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                     const KernelSettings& settings, SolverProgress& progress,
                     KernelSolution& solution) {
    JointSmo(problem, diagonal, cache, settings, progress).solve(solution);
}

}  // namespace tagalong::m3l
