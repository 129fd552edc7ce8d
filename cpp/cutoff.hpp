// The score from which a label is worth suggesting: learnt beside the weights, without a say in
// scores or ranking.
//
// It follows the constant threshold with the best F1 so far, over all labels together and with
// old rounds fading. Two histograms of predicted scores, of relevant labels and of all labels,
// give the F1 of every threshold in one sweep. Their range follows the relevant scores: it
// doubles when one falls outside and halves when they use only a quarter of it, so the scale of
// the scores does not matter.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace tagalong {

class Cutoff {
  public:
    double value() const { return value_; }

    // The scores that a round was predicted with, and its answer.
    template <class T>
    void observe(std::span<const T> scores, std::span<const int> relevant, std::span<const int> unknown) {
        ++rounds_;
        // Past the beginning a sample of the rounds says enough.
        if (rounds_ > kEveryRound && rounds_ % kSample != 0) return;
        fade();
        if (width_ == 0 && !find_range(scores, relevant)) return;
        for (const int label : relevant) {
            const double score = static_cast<double>(scores[label]);
            if (!std::isfinite(score)) continue;
            while (score < low_ || score >= low_ + kBins * width_) widen(score < low_);
            relevant_[bin(score)] += unit_;
        }
        for (const T score : scores) count(static_cast<double>(score)) += unit_;
        for (const int label : unknown) count(static_cast<double>(scores[label])) -= unit_;
        if (rounds_ % kZoomEvery == 0) narrow();
        choose();
    }

    // How often labels with such scores have been relevant lately: the histograms' shares, made
    // to rise with the score (by pooling neighbours that do not) and joined by straight lines.
    // Few observations say little: two more are assumed, of the overall share.
    template <class T>
    void probabilities(std::span<const T> scores, double* out) const {
        std::vector<Pool> pools = rising_pools();
        const double first = low_ + width_ / 2;
        for (std::size_t i = 0; i < scores.size(); ++i) {
            const double at = width_ > 0 ? (static_cast<double>(scores[i]) - first) / width_ : -1;
            out[i] = value_at(at, pools);
        }
    }

    std::vector<double> state() const {
        std::vector<double> out = {value_, low_, width_, unit_, static_cast<double>(rounds_)};
        out.insert(out.end(), relevant_.begin(), relevant_.end());
        out.insert(out.end(), all_.begin(), all_.end());
        out.push_back(below_);
        return out;
    }
    // False if this is not a state.
    bool restore(std::span<const double> state) {
        // Files of version 0.1 do not have what lies below the range.
        if (state.size() != 5 + 2 * kBins && state.size() != 6 + 2 * kBins) return false;
        value_ = state[0];
        low_ = state[1];
        width_ = state[2];
        unit_ = state[3];
        rounds_ = static_cast<std::int64_t>(state[4]);
        std::copy_n(state.begin() + 5, kBins, relevant_.begin());
        std::copy_n(state.begin() + 5 + kBins, kBins, all_.begin());
        below_ = state.size() > 5 + 2 * kBins ? state.back() : 0;
        return true;
    }

  private:
    static constexpr std::size_t kBins = 256;
    using Histogram = std::array<double, kBins>;
    static constexpr double kMemory = 0.999;
    static constexpr std::int64_t kEveryRound = 500;
    static constexpr std::int64_t kSample = 8;
    static constexpr std::int64_t kZoomEvery = 1000;

    std::size_t bin(double score) const {
        const double at = (score - low_) / width_;
        return at >= kBins ? kBins - 1 : static_cast<std::size_t>(at);
    }

    double& count(double score) { return score >= low_ ? all_[bin(score)] : below_; }

    // Bins first..last with one share of relevant labels.
    struct Pool {
        double relevant, all;
        std::size_t last;
    };

    // Neighbours are pooled until shares rise: isotonic regression. Pool 0 is below the range.
    std::vector<Pool> rising_pools() const {
        double relevant = 0, all = below_;
        for (std::size_t i = 0; i < kBins; ++i) {
            relevant += relevant_[i];
            all += all_[i];
        }
        const double share = all > 0 ? relevant / all : 0;
        const double assumed = 2 * unit_;
        std::vector<Pool> pools;
        const auto rises = [&](const Pool& a, const Pool& b) { return a.relevant * b.all <= b.relevant * a.all; };
        const auto add = [&](Pool pool) {
            while (!pools.empty() && !rises(pools.back(), pool)) {
                pool.relevant += pools.back().relevant;
                pool.all += pools.back().all;
                pools.pop_back();
            }
            pools.push_back(pool);
        };
        add({0, below_, 0});
        for (std::size_t i = 0; i < kBins; ++i) {
            // Empty bins join the pool before them; a count may be off by what rounding left.
            if (all_[i] < 0.5 * unit_) pools.back().last = i + 1;
            else add({relevant_[i], std::max(all_[i], relevant_[i]), i + 1});
        }
        for (Pool& pool : pools) {
            pool.relevant += assumed * share;
            pool.all += assumed;
        }
        return pools;
    }

    // `at` in bins from the middle of the first.
    static double value_at(double at, const std::vector<Pool>& pools) {
        const auto share = [&](double place) {  // of bin `place`; -1 and less: below the range
            const auto bin = static_cast<std::size_t>(std::clamp(place + 1, 0.0, static_cast<double>(kBins)));
            const auto pool = std::lower_bound(pools.begin(), pools.end(), bin,
                                               [](const Pool& p, std::size_t b) { return p.last < b; });
            const Pool& found = pool == pools.end() ? pools.back() : *pool;
            return found.all > 0 ? found.relevant / found.all : 0.0;
        };
        if (!(at > -1)) return share(-1);
        const double left = std::floor(at);
        const double low = share(left), high = share(left + 1);
        return low + (high - low) * std::min(1.0, at - left);
    }

    // A newer round weighs more than the older ones, instead of those less than it.
    void fade() {
        unit_ /= rounds_ > kEveryRound ? std::pow(kMemory, kSample) : kMemory;
        if (unit_ < 1e9) return;
        for (double& count : relevant_) count /= unit_;
        for (double& count : all_) count /= unit_;
        below_ /= unit_;
        unit_ = 1;
    }

    // From the first relevant score that is not zero.
    template <class T>
    bool find_range(std::span<const T> scores, std::span<const int> relevant) {
        double largest = 0;
        for (const int label : relevant) largest = std::max(largest, std::abs(static_cast<double>(scores[label])));
        if (largest == 0 || !std::isfinite(largest)) return false;
        width_ = 4 * largest / kBins;
        low_ = -2 * largest;
        return true;
    }

    void widen(bool downwards) {
        const auto merge = [&](Histogram& counts) {
            Histogram merged{};
            const std::size_t offset = downwards ? kBins / 2 : 0;
            for (std::size_t i = 0; i < kBins; ++i) merged[offset + i / 2] += counts[i];
            counts = merged;
        };
        merge(relevant_);
        merge(all_);
        if (downwards) low_ -= kBins * width_;
        width_ *= 2;
    }

    // Half the range, if the relevant scores lie within a quarter of it.
    void narrow() {
        double total = 0;
        for (const double count : relevant_) total += count;
        std::size_t first = 0, last = kBins;
        double below = 0, above = 0;
        while (first < kBins && (below += relevant_[first]) <= 0.001 * total) ++first;
        while (last > 0 && (above += relevant_[last - 1]) <= 0.001 * total) --last;
        if (last <= first || last - first > kBins / 4) return;
        const std::size_t middle = (first + last) / 2;
        const std::size_t from = std::min(kBins / 2, middle < kBins / 4 ? 0 : middle - kBins / 4);
        const auto split = [&](Histogram& counts) {
            Histogram fine{};
            for (std::size_t i = 0; i < kBins; ++i) fine[i] = counts[from + i / 2] / 2;
            // What was beyond the new range stays beyond every threshold.
            for (std::size_t i = from + kBins / 2; i < kBins; ++i) fine[kBins - 1] += counts[i];
            counts = fine;
        };
        for (std::size_t i = 0; i < from; ++i) below_ += all_[i];
        split(relevant_);
        split(all_);
        low_ += static_cast<double>(from) * width_;
        width_ /= 2;
    }

    void choose() {
        double total = 0;
        for (const double count : relevant_) total += count;
        double hits = 0, shown = 0, best = 0;
        for (std::size_t i = kBins; i-- > 0;) {
            hits += relevant_[i];
            shown += all_[i];
            // F1 = 2 hits / (shown + total)
            if (hits > best * (shown + total)) {
                best = hits / (shown + total);
                value_ = low_ + static_cast<double>(i) * width_;
            }
        }
    }

    double value_ = std::numeric_limits<double>::infinity();
    double low_ = 0;
    double width_ = 0;
    double unit_ = 1;
    std::int64_t rounds_ = 0;
    Histogram relevant_{};
    Histogram all_{};
    double below_ = 0;  // labels whose scores are below the range
};

}  // namespace tagalong
