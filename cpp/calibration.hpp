// How likely a label is relevant, given its score and its place in the ranking.
//
// At the same score, a label at the head of its ranking is relevant more often than one further
// down. So labels are counted by place: the first, the second, and so on in growing groups.
// Within a group the probability is the share of relevant labels at that score, made to rise with
// the score by pooling neighbours that do not (isotonic regression) and joined by straight lines.
// Few observations say little: two more are assumed, with the share of the whole group.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "ranking.hpp"
#include "score_histogram.hpp"

namespace tagalong {

class Calibration {
  public:
    // The scores that a round was predicted with, and its answer.
    template <class T>
    void observe(std::span<const T> scores, std::span<const int> relevant, std::span<const int> unknown) {
        if (!sampling_.next()) return;
        for (Histogram& group : groups_) group.fade(sampling_.fading());
        place_labels(scores);
        for (const int label : relevant)
            groups_[group_[label]].add_relevant(static_cast<double>(scores[label]));
        for (std::size_t i = 0; i < scores.size(); ++i) groups_[group_[i]].add(static_cast<double>(scores[i]));
        for (const int label : unknown) groups_[group_[label]].remove(static_cast<double>(scores[label]));
        if (sampling_.time_to_narrow())
            for (Histogram& group : groups_) group.narrow();
    }

    // Of each label of an item; they fall from place to place.
    template <class T>
    void probabilities(std::span<const T> scores, double* out) const {
        std::vector<std::int32_t> head;
        best_labels(scores, kHead, head);
        std::array<double, kHead> at_head{};
        double most = 1;
        for (std::size_t place = 0; place < head.size(); ++place) {
            const Curve curve(groups_[group_of(place)]);
            at_head[place] = most = std::min(most, curve(static_cast<double>(scores[head[place]])));
        }
        const Curve rest(groups_.back());
        for (std::size_t i = 0; i < scores.size(); ++i)
            out[i] = std::min(most, rest(static_cast<double>(scores[i])));
        for (std::size_t place = 0; place < head.size(); ++place) out[head[place]] = at_head[place];
    }

    std::vector<double> state() const {
        std::vector<double> out = {static_cast<double>(sampling_.rounds())};
        for (const Histogram& group : groups_) group.write(out);
        return out;
    }
    // False if this is not a state.
    bool restore(std::span<const double> state) {
        if (state.size() != 1 + kGroups * Histogram::kNumbers) return false;
        sampling_.restore(static_cast<std::int64_t>(state[0]));
        for (std::size_t i = 0; i < kGroups; ++i) groups_[i].read(state.subspan(1 + i * Histogram::kNumbers));
        return true;
    }

  private:
    static constexpr std::size_t kBins = 64;
    using Histogram = ScoreHistogram<kBins>;

    // Places 1, 2, 3, 4-5, 6-10, and the rest.
    static constexpr std::array<std::uint8_t, 10> kGroupOfPlace = {0, 1, 2, 3, 3, 4, 4, 4, 4, 4};
    static constexpr std::size_t kHead = kGroupOfPlace.size();
    static constexpr std::size_t kGroups = 6;
    static std::size_t group_of(std::size_t place) { return place < kHead ? kGroupOfPlace[place] : kGroups - 1; }

    template <class T>
    void place_labels(std::span<const T> scores) {
        best_labels(scores, kHead, head_);
        group_.assign(scores.size(), kGroups - 1);
        for (std::size_t place = 0; place < head_.size(); ++place)
            group_[head_[place]] = static_cast<std::uint8_t>(group_of(place));
    }

    // The rising share of relevant labels over the score.
    class Curve {
      public:
        explicit Curve(const Histogram& counts) : counts_(counts) {
            double relevant = 0, all = counts.below();
            for (std::size_t i = 0; i < kBins; ++i) {
                relevant += counts.relevant(i);
                all += counts.all(i);
            }
            const double share = all > 0 ? relevant / all : 0;
            add({0, counts.below(), 0});
            for (std::size_t i = 0; i < kBins; ++i) {
                // Empty bins join the pool before them.
                if (counts.all(i) < 0.5 * counts.unit() * kNegligible) pools_.back().last = i + 1;
                else add({counts.relevant(i), std::max(counts.all(i), counts.relevant(i)), i + 1});
            }
            for (Pool& pool : pools_) {
                pool.relevant += 2 * counts.unit() * share;
                pool.all += 2 * counts.unit();
            }
        }

        double operator()(double score) const {
            if (counts_.empty()) return share(-1);
            const double at = (score - counts_.low()) / counts_.width() - 0.5;
            if (!(at > -1)) return share(-1);
            const double left = std::floor(std::min(at, static_cast<double>(kBins)));
            const double low = share(left), high = share(left + 1);
            return low + (high - low) * std::min(1.0, at - left);
        }

      private:
        static constexpr double kNegligible = 1e-3;
        // Bins up to `last` (1 is the first bin, 0 what lies below the range).
        struct Pool {
            double relevant, all;
            std::size_t last;
        };
        void add(Pool pool) {
            while (!pools_.empty() && pools_.back().relevant * pool.all > pool.relevant * pools_.back().all) {
                pool.relevant += pools_.back().relevant;
                pool.all += pools_.back().all;
                pools_.pop_back();
            }
            pools_.push_back(pool);
        }
        double share(double bin) const {
            const auto wanted = static_cast<std::size_t>(std::clamp(bin + 1, 0.0, static_cast<double>(kBins)));
            auto pool = std::lower_bound(pools_.begin(), pools_.end(), wanted,
                                         [](const Pool& p, std::size_t b) { return p.last < b; });
            if (pool == pools_.end()) --pool;
            return pool->all > 0 ? pool->relevant / pool->all : 0;
        }
        const Histogram& counts_;
        std::vector<Pool> pools_;
    };

    Sampling sampling_;
    std::array<Histogram, kGroups> groups_;
    // Scratch of observe().
    std::vector<std::int32_t> head_;
    std::vector<std::uint8_t> group_;
};

}  // namespace tagalong
