// Labels that a prior couples, on dense rows: each is solved by itself, in turns. With few features
// it costs next to nothing to tell a label what the others have come to, z_l = 2 sum_k R_lk v_k, so
// a turn is short: one pass over the label's active variables. m3l/turns.hpp says when all variables of
// all labels are looked at again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "m3l/label.hpp"
#include "m3l/threads.hpp"
#include "m3l/turns.hpp"

namespace tagalong::m3l {

template <class T>
class LabelTurns {
  public:
    // Labels by number, in the order in which they take their turns; then they are added.
    LabelTurns(const Problem& problem, std::span<const std::int32_t> ordered, std::size_t stride,
               int threads)
        : rows_(std::max<std::size_t>(1, problem.rows)),
          stride_(stride),
          threads_(threads),
          bonds_(ordered.size()) {
        for (std::size_t l = 0; l < ordered.size(); ++l)
            for (std::size_t k = 0; k < ordered.size(); ++k) {
                const double r = problem.r(static_cast<std::size_t>(ordered[l]),
                                           static_cast<std::size_t>(ordered[k]));
                if (r != 0) bonds_[l].emplace_back(k, 2 * r);
            }
        labels_.reserve(ordered.size());
    }
    void add(Label<T>&& label, Shuffle shuffle) {
        labels_.push_back(std::move(label));
        shuffles_.push_back(shuffle);
    }

    // Until no projected derivative, over all variables, reaches the tolerance; at most so many
    // passes: visits to variables over their number. Returns the passes made.
    std::int64_t solve(double tolerance, int most, SolverProgress& watch, Standing& standing) {
        const auto variables =
            static_cast<std::int64_t>(rows_ * std::max<std::size_t>(1, labels_.size()));
        std::int64_t visits = 0;
        const auto ended = [&] {
            return visits >= most * variables || watch.stop.load(std::memory_order_relaxed);
        };
        std::vector<double> z(stride_);
        const auto look = [&] {
            visits += variables;
            watch.passes.fetch_add(static_cast<std::int64_t>(labels_.size()),
                                   std::memory_order_relaxed);
            return stand();
        };
        const auto sweep = [&](double enough) {
            double met = 0;
            for (std::size_t l = 0; l < labels_.size(); ++l) {
                weigh(l, z);
                met = std::max(met, labels_[l].take_turn(enough, kPasses, shuffles_[l], visits));
            }
            return met;
        };
        standing = take_turns(tolerance, watch, look, sweep, ended);
        return std::min<std::int64_t>(most, (visits + variables - 1) / variables);
    }

    std::span<const Label<T>> labels() const { return labels_; }

  private:
    static constexpr int kPasses = 1;  // per turn, as the other labels move too

    void weigh(std::size_t l, std::vector<double>& z) {
        std::fill(z.begin(), z.end(), 0.0);
        for (const auto& [k, r] : bonds_[l]) {
            const auto v = labels_[k].sums();
            for (std::size_t j = 0; j < z.size(); ++j) z[j] += r * v[j];
        }
        labels_[l].weigh(z);
    }

    Standing stand() {
        for_each_of(labels_.size(), threads_, [&](std::size_t l) { labels_[l].collect_sums(); });
        std::vector<Standing> found(labels_.size());
        for_each_of(labels_.size(), threads_, [&](std::size_t l) {
            std::vector<double> z(stride_);
            weigh(l, z);
            found[l] = labels_[l].stand();
        });
        Standing out;
        for (const Standing& each : found) out.include(each);
        return out;
    }

    std::size_t rows_, stride_;
    int threads_;
    std::vector<std::vector<std::pair<std::size_t, double>>> bonds_;  // 2 R_lk, where it is not 0
    std::vector<Label<T>> labels_;
    std::vector<Shuffle> shuffles_;
};

}  // namespace tagalong::m3l
