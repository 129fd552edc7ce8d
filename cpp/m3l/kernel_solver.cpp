#include "m3l/kernel_solver.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "m3l/kernel_loops.hpp"
#include "m3l/threads.hpp"
#include "m3l/two_variables.hpp"

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
                 const KernelSettings& settings, Watch& watch, KernelSolution& solution)
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
        if (cache_.whole()) cache_.fill();
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
        out_.dual.resize(problem_.rows * labels_.size());
        for (std::size_t l = 0; l < labels_.size(); ++l)
            for (std::size_t i = 0; i < problem_.rows; ++i)
                out_.dual[i * labels_.size() + l] = static_cast<double>(labels_[l].b[i]);
    }

  private:
    static constexpr int kMostTurns = 20;
    static constexpr std::size_t kFour = 4;   // rows summed together
    static constexpr double kAim = 0.7;       // of the tolerance, before a check
    static constexpr double kShare = 0.1;     // of its violation that a label keeps in a turn

    const float* row_of(std::size_t i, const Label& label) {
        if (cache_.whole()) return cache_.ready(i);
        if (cache_.has(i)) return cache_.row(i);
        return cache_.row(i, likely(label));
    }

    // Rows that this label will want soon: those that violate most.
    std::span<const std::int32_t> likely(const Label& label) {
        likely_.clear();
        for (std::size_t i = 0; i < problem_.rows; ++i)
            if (!cache_.has(i) && violation_at(label, i) > 0.5f * static_cast<float>(label.violation))
                likely_.push_back(static_cast<std::int32_t>(i));
        const auto worse = [&](std::int32_t a, std::int32_t b) {
            const float va = violation_at(label, static_cast<std::size_t>(a));
            const float vb = violation_at(label, static_cast<std::size_t>(b));
            return va != vb ? va > vb : a < b;
        };
        const std::size_t kept = std::min(likely_.size(), cache_.at_once());
        std::partial_sort(likely_.begin(), likely_.begin() + static_cast<std::ptrdiff_t>(kept), likely_.end(), worse);
        likely_.resize(kept);
        return likely_;
    }
    static float violation_at(const Label& label, std::size_t i) {
        const float up = label.b[i] < label.high[i] ? label.h[i] : 0.0f;
        const float down = label.b[i] > label.low[i] ? -label.h[i] : 0.0f;
        return std::max({up, down, 0.0f});
    }

    // Steps on pairs of a label until it violates less than `enough`, at most so many. Returns their
    // number. What they change of K b is added to `change`, if there is one.
    std::int64_t improve(std::size_t l, double enough, std::int64_t most, float* change) {
        Label& label = labels_[l];
        const std::size_t n = problem_.rows;
        const double r = 4 * problem_.r(l, l);
        std::int64_t steps = 0;
        Best p = most_violating(label.h.data(), label.b.data(), label.low.data(), label.high.data(), n);
        while (p.row < n && static_cast<double>(p.value) >= enough && steps < most &&
               !watch_.stop.load(std::memory_order_relaxed)) {
            label.violation = static_cast<double>(p.value);
            const float* row_p = row_of(p.row, label);
            Best q{n, 0.0f};
            if (r > 0)
                q = best_partner(label.h.data(), label.b.data(), label.low.data(), label.high.data(), row_p,
                                 diagonal_.data(), p.row, n);
            const std::size_t second = q.row < n ? q.row : p.row;
            const float* row_q = q.row < n ? row_of(q.row, label) : row_p;
            const auto room = [&](std::size_t i, bool up) {
                return static_cast<double>(up ? label.high[i] : label.low[i]) - static_cast<double>(label.b[i]);
            };
            TwoSteps step;
            const double hp = static_cast<double>(label.h[p.row]), kpp = static_cast<double>(diagonal_[p.row]);
            if (q.row < n) {
                const auto hq = static_cast<double>(label.h[second]), kqq = static_cast<double>(diagonal_[second]);
                const auto kpq = static_cast<double>(row_p[second]);
                const TwoVariables two{hp, hq, r * kpp, r * kqq, r * kpq,
                                       {room(p.row, false), room(second, false)},
                                       {room(p.row, true), room(second, true)}};
                step = solve_two(two);
            } else {
                step.first = best_step(hp, r * kpp, room(p.row, false), room(p.row, true));
            }
            const float before_p = label.b[p.row];
            move(label, p.row, step.first);
            const auto by_p = static_cast<double>(label.b[p.row] - before_p);
            const float before_q = label.b[second];
            if (q.row < n) move(label, second, step.second);
            const auto by_q = static_cast<double>(label.b[second] - before_q);
            if (by_p == 0 && by_q == 0) break;  // as near as single precision gets
            p = take_step(label.h.data(), row_p, static_cast<float>(r * by_p), row_q, static_cast<float>(r * by_q),
                          label.b.data(), label.low.data(), label.high.data(), n);
            if (change) take_both(change, row_p, static_cast<float>(-by_p), row_q, static_cast<float>(-by_q), n);
            ++steps;
        }
        label.violation = static_cast<double>(p.value);
        return steps;
    }

    // To the limit itself where the step ends there, so that a variable at its limit is known by it.
    static void move(Label& label, std::size_t i, double by) {
        const double moved = static_cast<double>(label.b[i]) + by;
        if (moved >= static_cast<double>(label.high[i])) label.b[i] = label.high[i];
        else if (moved <= static_cast<double>(label.low[i])) label.b[i] = label.low[i];
        else label.b[i] = static_cast<float>(moved);
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
    Watch& watch_;
    KernelSolution& out_;
    std::vector<float> diagonal_;
    std::vector<Label> labels_;
    std::vector<std::int32_t> likely_;
    std::atomic<std::int64_t> steps_{0};
};

}  // namespace

void solve_kernel(const Problem& problem, std::span<const double> diagonal, KernelCache& cache,
                  const KernelSettings& settings, Watch& watch, KernelSolution& solution) {
    KernelSolver(problem, diagonal, cache, settings, watch, solution).solve();
}

}  // namespace tagalong::m3l
