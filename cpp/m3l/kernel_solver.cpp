#include "m3l/kernel_solver.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "m3l/kernel_label.hpp"
#include "m3l/kernel_loops.hpp"
#include "m3l/threads.hpp"
#include "m3l/working_set.hpp"
#include "m3l/working_set_choice.hpp"

namespace tagalong::m3l {
namespace {

class KernelSolver {
  public:
    KernelSolver(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                 const KernelSettings& settings, SolverProgress& watch, KernelSolution& solution)
        : problem_(problem),
          cache_(cache),
          settings_(settings),
          watch_(watch),
          out_(solution),
          diagonal_(diagonal.begin(), diagonal.end()) {
        const std::size_t n = problem.rows;
        std::vector<Relevance> relevance(n * problem.labels, Relevance::no);
        for (std::size_t i = 0; i < n; ++i) {
            for (const std::int32_t l : problem.relevant.row(i))
                relevance[static_cast<std::size_t>(l) * n + i] = Relevance::yes;
            for (const std::int32_t l : problem.unknown.row(i))
                relevance[static_cast<std::size_t>(l) * n + i] = Relevance::unknown;
        }
        for (std::size_t l = 0; l < problem.labels; ++l)
            labels_.emplace_back(problem, l, std::span(relevance).subspan(l * n, n));
        if (!out_.dual.empty()) start();
    }

    void solve() {
        const auto stop = [&] { return watch_.stop.load(std::memory_order_relaxed); };
        if (cache_.whole() && !cache_.fill(settings_.threads, stop)) {
            stay();
            return;
        }
        refresh();
        const std::int64_t most = settings_.most_steps * static_cast<std::int64_t>(problem_.rows);
        const bool coupled = problem_.coupled();
        // Steps round; the derivatives are computed anew before they are believed.
        for (int turn = 0; turn < kMostTurns; ++turn) {
            const std::int64_t before = steps_;
            if (coupled) improve_in_turn(most * static_cast<std::int64_t>(labels_.size()));
            else improve_apart(most);
            refresh();
            if (stand() < settings_.tolerance || watch_.stop || steps_ == before) break;
        }
        out_.converged = out_.standing.violation < settings_.tolerance;
        out_.steps = steps_;
        keep();
    }

  private:
    // From the dual variables of the solution, within their bounds.
    void start() {
        for (std::size_t l = 0; l < labels_.size(); ++l)
            for (std::size_t i = 0; i < problem_.rows; ++i) {
                KernelLabel& label = labels_[l];
                const auto value = static_cast<float>(out_.dual[i * labels_.size() + l]);
                label.b[i] = std::clamp(value, label.low[i], label.high[i]);
            }
    }
    void keep() {
        out_.dual.resize(problem_.rows * labels_.size());
        for (std::size_t l = 0; l < labels_.size(); ++l)
            for (std::size_t i = 0; i < problem_.rows; ++i)
                out_.dual[i * labels_.size() + l] = static_cast<double>(labels_[l].b[i]);
    }
    // Stopped before the products were there: nothing is known but of a start from zero.
    void stay() {
        if (out_.dual.empty()) {
            for (KernelLabel& label : labels_)
                std::copy(label.target.begin(), label.target.end(), label.h.begin());
            stand();
        } else {
            constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
            out_.standing = {kUnknown, kUnknown, kUnknown};
        }
        keep();
    }

    static constexpr int kMostTurns = 20;
    static constexpr std::size_t kFour = 4;  // rows summed together
    static constexpr double kAim = 0.7;      // of the tolerance, before a check
    static constexpr double kShare = 0.1;    // of its violation that a label keeps in a turn
    static constexpr double kInside = 0.01;  // of the label's violation that such a set keeps
    static constexpr std::int64_t kStepsAVariable = 4;

    // A row, with others of a list from there on, which will be wanted too.
    const float* row_of(std::span<const std::int32_t> list) {
        const auto i = static_cast<std::size_t>(list[0]);
        return cache_.whole() ? cache_.ready(i) : cache_.row(i, list);
    }

    // The variables of the rows of the set, and their products.
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

    // What a set has changed, for all variables of the label; added to `change`, if there is one.
    void tell(KernelLabel& label, WorkingSet& set, double r, float* change) {
        std::vector<std::int32_t> moved;
        std::vector<float> by;
        for (std::size_t k = 0; k < set.rows.size(); ++k)
            if (set.b[k] != set.before[k]) {
                moved.push_back(set.rows[k]);
                by.push_back(set.b[k] - set.before[k]);
                label.b[set.rows[k]] = set.b[k];
            }
        for (std::size_t at = 0; at < moved.size(); at += kFour) {
            const float* rows[kFour];
            float own[kFour] = {}, others[kFour] = {};
            for (std::size_t k = 0; k < kFour; ++k) {
                const bool is_there = at + k < moved.size();
                rows[k] = is_there ? row_of(std::span(moved).subspan(at + k)) : rows[0];
                if (is_there) own[k] = static_cast<float>(r * static_cast<double>(by[at + k]));
                if (is_there) others[k] = -by[at + k];
            }
            take_four(label.h.data(), rows, own, problem_.rows);
            if (change) take_four(change, rows, others, problem_.rows);
        }
    }

    // Steps on pairs of a label until it violates less than `enough`, at most so many. Returns their
    // number. What they change of K b is added to `change`, if there is one.
    std::int64_t improve(std::size_t l, double enough, std::int64_t most, float* change) {
        KernelLabel& label = labels_[l];
        const double r = 4 * problem_.r(l, l);
        std::int64_t steps = 0;
        WorkingSet set;
        for (label.measure_violation(); label.violation >= enough && steps < most &&
                                        !watch_.stop.load(std::memory_order_relaxed);
             label.measure_violation()) {
            choose_working_set(label, set.rows);
            load(label, set);
            const std::int64_t at_most =
                std::min(most - steps, kStepsAVariable * static_cast<std::int64_t>(kWorkingSet));
            const std::int64_t made =
                set.improve(r, std::max(enough, kInside * label.violation), at_most);
            if (made == 0) break;
            steps += made;
            tell(label, set, r, change);
        }
        return steps;
    }

    void improve_apart(std::int64_t most) {
        watch_.labels_done = 0;
        for_each_of(labels_.size(), cache_.whole() ? settings_.threads : 1, [&](std::size_t l) {
            const std::int64_t steps = improve(l, kAim * settings_.tolerance, most, nullptr);
            steps_ += steps;
            watch_.passes += steps;
            watch_.labels_done += 1;
            watch_.violation = labels_[l].violation;
        });
    }

    void improve_in_turn(std::int64_t most) {
        const std::size_t n = problem_.rows;
        const double aim = kAim * settings_.tolerance;
        AlignedVector<float> change(n);
        for_each_of(labels_.size(), settings_.threads,
                    [&](std::size_t l) { labels_[l].measure_violation(); });
        while (steps_ < most && !watch_.stop.load(std::memory_order_relaxed)) {
            std::size_t worst = 0;
            for (std::size_t l = 1; l < labels_.size(); ++l)
                if (labels_[l].violation > labels_[worst].violation) worst = l;
            watch_.violation = labels_[worst].violation;
            if (labels_[worst].violation < aim) break;
            std::fill(change.begin(), change.end(), 0.0f);
            const auto at_most =
                std::max<std::int64_t>(64, static_cast<std::int64_t>(labels_.size()));
            const double enough = std::max(aim, kShare * labels_[worst].violation);
            const std::int64_t steps = improve(worst, enough, at_most, change.data());
            if (steps == 0) break;
            steps_ += steps;
            watch_.passes += steps;
            for_each_of(labels_.size(), settings_.threads, [&](std::size_t k) {
                const auto factor = static_cast<float>(4 * problem_.r(k, worst));
                if (k == worst || factor == 0) return;
                take(labels_[k].h.data(), change.data(), factor, n);
                labels_[k].measure_violation();
            });
        }
    }

    // h = t - 4 (K B R), summed in double precision.
    void refresh() {
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

    // K b of each label; empty where b = 0.
    std::vector<std::vector<double>> kernel_sums() {
        std::vector<std::vector<double>> sums(labels_.size());
        const std::vector<std::int32_t> used = rows_in_use();
        for (std::size_t at = 0; at < used.size(); at += kFour) {
            const std::size_t count = std::min(kFour, used.size() - at);
            const float* rows[kFour];
            for (std::size_t k = 0; k < kFour; ++k)
                rows[k] = row_of(std::span(used).subspan(at + std::min(k, count - 1)));
            for_each_of(labels_.size(), settings_.threads, [&](std::size_t l) {
                double b[kFour] = {};
                for (std::size_t k = 0; k < count; ++k)
                    b[k] =
                        static_cast<double>(labels_[l].b[static_cast<std::size_t>(used[at + k])]);
                if (b[0] == 0 && b[1] == 0 && b[2] == 0 && b[3] == 0) return;
                if (sums[l].empty()) sums[l].assign(problem_.rows, 0.0);
                give_four(sums[l].data(), rows, b, problem_.rows);
            });
        }
        return sums;
    }
    // The rows where a label has a variable other than 0. Those that the cache has come first: computing
    // others would drive them out.
    std::vector<std::int32_t> rows_in_use() const {
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

    double stand() {
        Standing standing;
        for (KernelLabel& label : labels_) label.add_standing(standing);
        out_.standing = standing;
        return standing.violation;
    }

    const Problem& problem_;
    KernelCache& cache_;
    const KernelSettings& settings_;
    SolverProgress& watch_;
    KernelSolution& out_;
    std::vector<float> diagonal_;
    std::vector<KernelLabel> labels_;
    std::atomic<std::int64_t> steps_{0};
};

}  // namespace

void solve_kernel(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                  const KernelSettings& settings, SolverProgress& watch, KernelSolution& solution) {
    KernelSolver(problem, diagonal, cache, settings, watch, solution).solve();
}

}  // namespace tagalong::m3l
