// Block coordinate ascent for labels that the prior couples, on dense rows: maximises the objective
// of m3l/problem.hpp over one label at a time. With few features it is cheap to recompute z_l = 2
// sum_k R_lk v_k from the v of all labels before each turn of label l. So a turn is short: one pass
// over the label's active variables. m3l/sweeps.hpp schedules the checks of all variables.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "m3l/dense_label.hpp"
#include "m3l/sweeps.hpp"
#include "m3l/threads.hpp"

namespace tagalong::m3l {

template <class T>
class CoupledDenseLabels {
  public:
    // `labels` holds label numbers in the order of a sweep. add() must be called for each, in this
    // order.
    CoupledDenseLabels(const Problem& problem, std::span<const std::int32_t> labels,
                       std::size_t stride, int threads)
        : rows_(std::max<std::size_t>(1, problem.rows)),
          stride_(stride),
          threads_(threads),
          couplings_(labels.size()) {
        for (std::size_t l = 0; l < labels.size(); ++l)
            for (std::size_t k = 0; k < labels.size(); ++k) {
                const double r = problem.r(static_cast<std::size_t>(labels[l]),
                                           static_cast<std::size_t>(labels[k]));
                if (r != 0) couplings_[l].emplace_back(k, 2 * r);
            }
        labels_.reserve(labels.size());
    }
    void add(DenseLabel<T>&& label, Shuffle shuffle) {
        labels_.push_back(std::move(label));
        shuffles_.push_back(shuffle);
    }

    // Runs until every projected derivative is below the tolerance or `max_passes` is reached.
    // Returns the number of passes: the number of variables visited, divided by the number of
    // variables.
    std::int64_t solve(double tolerance, int max_passes, SolverProgress& progress,
                       SolutionStatus& status) {
        const auto variables =
            static_cast<std::int64_t>(rows_ * std::max<std::size_t>(1, labels_.size()));
        std::int64_t visits = 0;
        const auto must_stop = [&] {
            return visits >= max_passes * variables ||
                   progress.stop.load(std::memory_order_relaxed);
        };
        std::vector<double> z(stride_);
        const auto check = [&] {
            visits += variables;
            progress.passes.fetch_add(static_cast<std::int64_t>(labels_.size()),
                                      std::memory_order_relaxed);
            return evaluate();
        };
        const auto sweep = [&](double target_violation) {
            double violation = 0;
            for (std::size_t l = 0; l < labels_.size(); ++l) {
                recompute_weights(l, z);
                violation = std::max(
                    violation,
                    labels_[l].improve_coupled(target_violation, kPasses, shuffles_[l], visits));
            }
            return violation;
        };
        status = run_sweeps(tolerance, progress, check, sweep, must_stop);
        return std::min<std::int64_t>(max_passes, (visits + variables - 1) / variables);
    }

    std::span<const DenseLabel<T>> labels() const { return labels_; }

  private:
    // Passes per turn; more would be wasted, since the other labels change too.
    static constexpr int kPasses = 1;

    void recompute_weights(std::size_t l, std::vector<double>& z) {
        std::fill(z.begin(), z.end(), 0.0);
        for (const auto& [k, r] : couplings_[l]) {
            const auto v = labels_[k].sums();
            for (std::size_t j = 0; j < z.size(); ++j) z[j] += r * v[j];
        }
        labels_[l].set_weights(z);
    }

    SolutionStatus evaluate() {
        for_each_of(labels_.size(), threads_, [&](std::size_t l) { labels_[l].collect_sums(); });
        std::vector<SolutionStatus> found(labels_.size());
        for_each_of(labels_.size(), threads_, [&](std::size_t l) {
            std::vector<double> z(stride_);
            recompute_weights(l, z);
            found[l] = labels_[l].evaluate();
        });
        SolutionStatus out;
        for (const SolutionStatus& each : found) out.include(each);
        return out;
    }

    std::size_t rows_, stride_;
    int threads_;
    // Per label l: pairs of a label k and 2 R_lk, where R_lk != 0.
    std::vector<std::vector<std::pair<std::size_t, double>>> couplings_;
    std::vector<DenseLabel<T>> labels_;
    std::vector<Shuffle> shuffles_;
};

}  // namespace tagalong::m3l
