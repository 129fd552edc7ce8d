#include "m3l/kernel_solver.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "m3l/kernel_label.hpp"
#include "m3l/kernel_loops.hpp"
#include "m3l/threads.hpp"
#include "m3l/working_set.hpp"
#include "m3l/working_set_selection.hpp"

namespace tagalong::m3l {
namespace {

class KernelSolver {
  public:
    KernelSolver(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                 const KernelSettings& settings, SolverProgress& progress, KernelSolution& solution)
        : problem_(problem),
          cache_(cache),
          settings_(settings),
          progress_(progress),
          out_(solution),
          diagonal_(diagonal.begin(), diagonal.end()) {
        const std::size_t n = problem.rows;
        std::vector<Relevance> relevance(n * problem.labels, Relevance::irrelevant);
        for (std::size_t i = 0; i < n; ++i) {
            for (const std::int32_t l : problem.relevant.row(i))
                relevance[static_cast<std::size_t>(l) * n + i] = Relevance::relevant;
            for (const std::int32_t l : problem.unknown.row(i))
                relevance[static_cast<std::size_t>(l) * n + i] = Relevance::unknown;
        }
        for (std::size_t l = 0; l < problem.labels; ++l)
            labels_.emplace_back(problem, l, std::span(relevance).subspan(l * n, n));
        if (!out_.dual.empty()) warm_start();
    }

    void solve() {
        const auto stop = [&] { return progress_.stop.load(std::memory_order_relaxed); };
        if (cache_.fits_all_rows() && !cache_.compute_all(settings_.threads, stop)) {
            stop_before_start();
            return;
        }
        recompute_derivatives();
        const std::int64_t max_steps =
            settings_.max_steps * static_cast<std::int64_t>(problem_.rows);
        const bool coupled = problem_.coupled();
        // Steps accumulate rounding errors, so the derivatives are recomputed before each
        // convergence test.
        for (int round = 0; round < kMaxRounds; ++round) {
            const std::int64_t before = steps_;
            if (coupled) improve_coupled(max_steps * static_cast<std::int64_t>(labels_.size()));
            else improve_independent(max_steps);
            recompute_derivatives();
            if (evaluate() < settings_.tolerance || progress_.stop || steps_ == before) break;
        }
        out_.converged = out_.status.violation < settings_.tolerance;
        out_.steps = steps_;
        store_dual();
    }

  private:
    // Starts from the dual variables of the solution, clipped to their bounds.
    void warm_start() {
        for (std::size_t l = 0; l < labels_.size(); ++l)
            for (std::size_t i = 0; i < problem_.rows; ++i) {
                KernelLabel& label = labels_[l];
                const auto value = static_cast<float>(out_.dual[i * labels_.size() + l]);
                label.b[i] = std::clamp(value, label.low[i], label.high[i]);
            }
    }
    void store_dual() {
        out_.dual.resize(problem_.rows * labels_.size());
        for (std::size_t l = 0; l < labels_.size(); ++l)
            for (std::size_t i = 0; i < problem_.rows; ++i)
                out_.dual[i * labels_.size() + l] = static_cast<double>(labels_[l].b[i]);
    }
    // Sets the status of a run that stopped before the kernel matrix was computed. It is known only
    // if all variables are 0.
    void stop_before_start() {
        if (out_.dual.empty()) {
            for (KernelLabel& label : labels_)
                std::copy(label.target.begin(), label.target.end(), label.h.begin());
            evaluate();
        } else {
            constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
            out_.status = {kUnknown, kUnknown, kUnknown};
        }
        store_dual();
    }

    static constexpr int kMaxRounds = 20;
    // Rows per call of subtract_four_rows() and add_four_rows().
    static constexpr std::size_t kRowsAtOnce = 4;
    static constexpr double kAimShare = 0.7;   // target before a check, relative to the tolerance
    static constexpr double kTurnShare = 0.1;  // target of a turn, relative to the violation
    static constexpr double kSetShare = 0.01;  // target in a working set, relative to the violation
    static constexpr std::int64_t kStepsPerVariable = 4;

    // The first row of the list; the cache may compute the following ones along with it.
    const float* row_of(std::span<const std::int32_t> list) {
        const auto i = static_cast<std::size_t>(list[0]);
        return cache_.fits_all_rows() ? cache_.cached_row(i) : cache_.row(i, list);
    }

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
            set.diagonal[k] = diagonal_[i];
        }
        cache_.among(set.rows, set.products.data());
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
                rows[k] = used ? row_of(std::span(moved).subspan(at + k)) : rows[0];
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
        KernelLabel& label = labels_[l];
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
        for_each_of(labels_.size(), cache_.fits_all_rows() ? settings_.threads : 1,
                    [&](std::size_t l) {
                        const std::int64_t steps =
                            labels_[l].violation < settings_.tolerance
                                ? 0
                                : improve(l, kAimShare * settings_.tolerance, max_steps, nullptr);
                        steps_ += steps;
                        progress_.passes += steps;
                        progress_.labels_done += 1;
                        progress_.violation = labels_[l].violation;
                    });
    }

    void improve_coupled(std::int64_t max_steps) {
        const std::size_t n = problem_.rows;
        const double final_target = kAimShare * settings_.tolerance;
        AlignedVector<float> change(n);
        for_each_of(labels_.size(), settings_.threads,
                    [&](std::size_t l) { labels_[l].measure_violation(); });
        while (steps_ < max_steps && !progress_.stop.load(std::memory_order_relaxed)) {
            std::size_t worst = 0;
            for (std::size_t l = 1; l < labels_.size(); ++l)
                if (labels_[l].violation > labels_[worst].violation) worst = l;
            progress_.violation = labels_[worst].violation;
            if (labels_[worst].violation < final_target) break;
            std::fill(change.begin(), change.end(), 0.0f);
            const auto max_turn_steps =
                std::max<std::int64_t>(64, static_cast<std::int64_t>(labels_.size()));
            const double target_violation =
                std::max(final_target, kTurnShare * labels_[worst].violation);
            const std::int64_t steps =
                improve(worst, target_violation, max_turn_steps, change.data());
            if (steps == 0) break;
            steps_ += steps;
            progress_.passes += steps;
            for_each_of(labels_.size(), settings_.threads, [&](std::size_t k) {
                const auto factor = static_cast<float>(4 * problem_.r(k, worst));
                if (k == worst || factor == 0) return;
                subtract_row(labels_[k].h.data(), change.data(), factor, n);
                labels_[k].measure_violation();
            });
        }
    }

    // h = t - 4 K B R, summed in double precision.
    void recompute_derivatives() {
        const std::vector<std::vector<double>> sums = kernel_sums();
        for_each_of(labels_.size(), settings_.threads, [&](std::size_t l) {
            std::vector<double> h = labels_[l].target;
            for (std::size_t k = 0; k < labels_.size(); ++k) {
                const double factor = 4 * problem_.r(l, k);
                if (factor == 0 || sums[k].empty()) continue;
                for (std::size_t i = 0; i < h.size(); ++i) h[i] -= factor * sums[k][i];
            }
            std::copy(h.begin(), h.end(), labels_[l].h.begin());
        });
    }

    // K b of each label; empty if b = 0.
    std::vector<std::vector<double>> kernel_sums() {
        std::vector<std::vector<double>> sums(labels_.size());
        const std::vector<std::int32_t> used = rows_with_dual();
        for (std::size_t at = 0; at < used.size(); at += kRowsAtOnce) {
            const std::size_t count = std::min(kRowsAtOnce, used.size() - at);
            const float* rows[kRowsAtOnce];
            for (std::size_t k = 0; k < kRowsAtOnce; ++k)
                rows[k] = row_of(std::span(used).subspan(at + std::min(k, count - 1)));
            for_each_of(labels_.size(), settings_.threads, [&](std::size_t l) {
                double b[kRowsAtOnce] = {};
                for (std::size_t k = 0; k < count; ++k)
                    b[k] =
                        static_cast<double>(labels_[l].b[static_cast<std::size_t>(used[at + k])]);
                if (b[0] == 0 && b[1] == 0 && b[2] == 0 && b[3] == 0) return;
                if (sums[l].empty()) sums[l].assign(problem_.rows, 0.0);
                add_four_rows(sums[l].data(), rows, b, problem_.rows);
            });
        }
        return sums;
    }
    // The rows where any label has a nonzero variable. Cached rows come first, before the
    // computation of the others evicts them.
    std::vector<std::int32_t> rows_with_dual() const {
        std::vector<std::int32_t> used;
        for (std::size_t i = 0; i < problem_.rows; ++i)
            if (std::any_of(labels_.begin(), labels_.end(),
                            [&](const KernelLabel& label) { return label.b[i] != 0; }))
                used.push_back(static_cast<std::int32_t>(i));
        std::stable_partition(used.begin(), used.end(), [&](std::int32_t i) {
            return cache_.has(static_cast<std::size_t>(i));
        });
        return used;
    }

    double evaluate() {
        SolutionStatus status;
        for (KernelLabel& label : labels_) label.add_status(status);
        out_.status = status;
        return status.violation;
    }

    const Problem& problem_;
    KernelCache& cache_;
    const KernelSettings& settings_;
    SolverProgress& progress_;
    KernelSolution& out_;
    std::vector<float> diagonal_;
    std::vector<KernelLabel> labels_;
    std::atomic<std::int64_t> steps_{0};
};

}  // namespace

void solve_kernel(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                  const KernelSettings& settings, SolverProgress& progress,
                  KernelSolution& solution) {
    KernelSolver(problem, diagonal, cache, settings, progress, solution).solve();
}

}  // namespace tagalong::m3l
