#include "m3l/kernel_solver.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "m3l/kernel_loops.hpp"
#include "m3l/threads.hpp"
#include "m3l/working_set.hpp"

namespace tagalong::m3l {
namespace {

// The variables of one label.
struct Label {
    AlignedVector<float> b, low, high, h;
    std::vector<double> target;
    double violation = 0;
};

class KernelSolver {
  public:
    KernelSolver(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                 const KernelSettings& settings, SolverProgress& watch, KernelSolution& solution)
        : problem_(problem), cache_(cache), settings_(settings), watch_(watch), out_(solution),
          diagonal_(diagonal.begin(), diagonal.end()), labels_(problem.labels) {
        const std::size_t n = problem.rows;
        std::vector<char> unknown(n * problem.labels, 0), yes(n * problem.labels, 0);
        for (std::size_t i = 0; i < n; ++i) {
            for (const std::int32_t l : problem.relevant.row(i)) yes[static_cast<std::size_t>(l) * n + i] = 1;
            for (const std::int32_t l : problem.unknown.row(i)) unknown[static_cast<std::size_t>(l) * n + i] = 1;
        }
        for (std::size_t l = 0; l < labels_.size(); ++l) {
            Label& label = labels_[l];
            label.b.assign(n, 0.0f);
            label.low.assign(n, 0.0f);
            label.high.assign(n, 0.0f);
            label.h.assign(n, 0.0f);
            if (problem.tied) label.target = problem.tied_targets(l);
            else label.target.resize(n);
            for (std::size_t i = 0; i < n; ++i) {
                const bool relevant = yes[l * n + i];
                if (!problem.tied) label.target[i] = relevant ? problem.margin_yes[l] : -problem.margin_no[l];
                const double bound = (relevant ? problem.bound_yes[l] : problem.bound_no[l]) * problem.weight(i);
                if (unknown[l * n + i]) continue;
                (relevant ? label.high[i] : label.low[i]) = static_cast<float>(relevant ? bound : -bound);
                if (out_.dual.empty()) continue;
                const auto start = static_cast<float>(out_.dual[i * labels_.size() + l]);
                label.b[i] = std::clamp(start, label.low[i], label.high[i]);
            }
        }
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
    void keep() {
        out_.dual.resize(problem_.rows * labels_.size());
        for (std::size_t l = 0; l < labels_.size(); ++l)
            for (std::size_t i = 0; i < problem_.rows; ++i)
                out_.dual[i * labels_.size() + l] = static_cast<double>(labels_[l].b[i]);
    }
    // Stopped before the products were there: nothing is known but of a start from zero.
    void stay() {
        if (out_.dual.empty()) {
            for (Label& label : labels_) std::copy(label.target.begin(), label.target.end(), label.h.begin());
            stand();
        } else {
            constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
            out_.standing = {kUnknown, kUnknown, kUnknown};
        }
        keep();
    }

    static constexpr int kMostTurns = 20;
    static constexpr std::size_t kFour = 4;   // rows summed together
    static constexpr double kAim = 0.7;       // of the tolerance, before a check
    static constexpr double kShare = 0.1;     // of its violation that a label keeps in a turn
    static constexpr std::size_t kSet = 128;  // variables that steps are made on before others are told
    static constexpr double kInside = 0.01;   // of the label's violation that such a set keeps
    static constexpr std::int64_t kStepsAVariable = 4;
    static constexpr float kLeast = 0.1f;     // of it that a variable has that joins a set

    static float violation_at(const Label& label, std::size_t i) {
        const float up = label.b[i] < label.high[i] ? label.h[i] : 0.0f;
        const float down = label.b[i] > label.low[i] ? -label.h[i] : 0.0f;
        return std::max({up, down, 0.0f});
    }

    // A row, with others of a list from there on, which will be wanted too.
    const float* row_of(std::span<const std::int32_t> list) {
        const auto i = static_cast<std::size_t>(list[0]);
        return cache_.whole() ? cache_.ready(i) : cache_.row(i, list);
    }

    // The variables of the last set that are between their limits, for half of the new one, and those
    // that violate most.
    void choose(const Label& label, WorkingSet& set) {
        constexpr std::size_t most = kSet;
        std::vector<std::int32_t>& rows = set.rows;
        std::erase_if(rows, [&](std::int32_t i) { return !(label.low[i] < label.b[i] && label.b[i] < label.high[i]); });
        if (rows.size() > most / 2) rows.resize(most / 2);
        const std::size_t kept = rows.size();
        for (std::size_t i = 0; i < problem_.rows; ++i)
            if (violation_at(label, i) > kLeast * static_cast<float>(label.violation))
                rows.push_back(static_cast<std::int32_t>(i));
        const auto last = [&] { return rows.begin() + static_cast<std::ptrdiff_t>(kept); };
        const std::vector<std::int32_t> old(rows.begin(), last());
        rows.erase(std::remove_if(last(), rows.end(),
                                  [&](std::int32_t i) { return std::find(old.begin(), old.end(), i) != old.end(); }),
                   rows.end());
        const auto worse = [&](std::int32_t a, std::int32_t b) {
            const float va = violation_at(label, static_cast<std::size_t>(a));
            const float vb = violation_at(label, static_cast<std::size_t>(b));
            return va != vb ? va > vb : a < b;
        };
        if (rows.size() > most) {
            std::nth_element(last(), rows.begin() + static_cast<std::ptrdiff_t>(most - 1), rows.end(), worse);
            rows.resize(most);
        }
        std::sort(rows.begin(), rows.end());
        load(label, set);
    }
    void load(const Label& label, WorkingSet& set) {
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
    void tell(Label& label, WorkingSet& set, double r, float* change) {
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
        Label& label = labels_[l];
        const double r = 4 * problem_.r(l, l);
        std::int64_t steps = 0;
        WorkingSet set;
        for (look(label); label.violation >= enough && steps < most && !watch_.stop.load(std::memory_order_relaxed);
             look(label)) {
            choose(label, set);
            const std::int64_t at_most = std::min(most - steps, kStepsAVariable * static_cast<std::int64_t>(kSet));
            const std::int64_t made = set.improve(r, std::max(enough, kInside * label.violation), at_most);
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
        for_each_of(labels_.size(), settings_.threads, [&](std::size_t l) { look(labels_[l]); });
        while (steps_ < most && !watch_.stop.load(std::memory_order_relaxed)) {
            std::size_t worst = 0;
            for (std::size_t l = 1; l < labels_.size(); ++l)
                if (labels_[l].violation > labels_[worst].violation) worst = l;
            watch_.violation = labels_[worst].violation;
            if (labels_[worst].violation < aim) break;
            std::fill(change.begin(), change.end(), 0.0f);
            const auto at_most = std::max<std::int64_t>(64, static_cast<std::int64_t>(labels_.size()));
            const double enough = std::max(aim, kShare * labels_[worst].violation);
            const std::int64_t steps = improve(worst, enough, at_most, change.data());
            if (steps == 0) break;
            steps_ += steps;
            watch_.passes += steps;
            for_each_of(labels_.size(), settings_.threads, [&](std::size_t k) {
                const auto factor = static_cast<float>(4 * problem_.r(k, worst));
                if (k == worst || factor == 0) return;
                take(labels_[k].h.data(), change.data(), factor, n);
                look(labels_[k]);
            });
        }
    }

    void look(Label& label) {
        label.violation = static_cast<double>(
            most_violating(label.h.data(), label.b.data(), label.low.data(), label.high.data(), problem_.rows).value);
    }

    // h = t - 4 (K B R), summed in double precision.
    void refresh() {
        const std::size_t n = problem_.rows;
        std::vector<std::vector<double>> sums(labels_.size());
        std::vector<std::int32_t> soon;
        for (std::size_t i = 0; i < n; ++i) {
            bool any = false;
            for (const Label& label : labels_) any |= label.b[i] != 0;
            if (any) soon.push_back(static_cast<std::int32_t>(i));
        }
        // First the rows that are there: computing others would drive them out.
        std::stable_partition(soon.begin(), soon.end(),
                              [&](std::int32_t i) { return cache_.has(static_cast<std::size_t>(i)); });
        for (std::size_t at = 0; at < soon.size(); at += kFour) {
            const std::size_t count = std::min(kFour, soon.size() - at);
            const float* rows[kFour];
            for (std::size_t k = 0; k < kFour; ++k) {
                const std::size_t which = at + std::min(k, count - 1);
                const auto i = static_cast<std::size_t>(soon[which]);
                rows[k] = cache_.whole() ? cache_.ready(i) : cache_.row(i, std::span(soon).subspan(which));
            }
            for_each_of(labels_.size(), settings_.threads, [&](std::size_t l) {
                double b[kFour] = {};
                for (std::size_t k = 0; k < count; ++k)
                    b[k] = static_cast<double>(labels_[l].b[static_cast<std::size_t>(soon[at + k])]);
                if (b[0] == 0 && b[1] == 0 && b[2] == 0 && b[3] == 0) return;
                if (sums[l].empty()) sums[l].assign(n, 0.0);
                give_four(sums[l].data(), rows, b, n);
            });
        }
        for_each_of(labels_.size(), settings_.threads, [&](std::size_t l) {
            std::vector<double> h = labels_[l].target;
            for (std::size_t k = 0; k < labels_.size(); ++k) {
                const double factor = 4 * problem_.r(l, k);
                if (factor == 0 || sums[k].empty()) continue;
                for (std::size_t i = 0; i < n; ++i) h[i] -= factor * sums[k][i];
            }
            std::copy(h.begin(), h.end(), labels_[l].h.begin());
        });
    }

    double stand() {
        Standing standing;
        for (Label& label : labels_) {
            look(label);
            standing.violation = std::max(standing.violation, label.violation);
            for (std::size_t i = 0; i < problem_.rows; ++i) {
                const auto h = static_cast<double>(label.h[i]), b = static_cast<double>(label.b[i]);
                const double slack = static_cast<double>(h > 0 ? label.high[i] : label.low[i]) * h;
                standing.gap += slack - b * h;
                standing.dual += b * (label.target[i] + h) / 2;
            }
        }
        out_.standing = standing;
        return standing.violation;
    }

    const Problem& problem_;
    KernelCache& cache_;
    const KernelSettings& settings_;
    SolverProgress& watch_;
    KernelSolution& out_;
    std::vector<float> diagonal_;
    std::vector<Label> labels_;
    std::atomic<std::int64_t> steps_{0};
};

}  // namespace

void solve_kernel(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                  const KernelSettings& settings, SolverProgress& watch, KernelSolution& solution) {
    KernelSolver(problem, diagonal, cache, settings, watch, solution).solve();
}

}  // namespace tagalong::m3l
