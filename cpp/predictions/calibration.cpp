#include "predictions/calibration.hpp"

#include <algorithm>
#include <utility>

#include "predictions/ranking.hpp"

namespace tagalong {

// The isotonic fraction of relevant labels as a function of the score: one value per bin, and one
// for scores below the range.
class Calibration::Curve {
  public:
    explicit Curve(const Histogram& counts) : low_(counts.low()), width_(counts.width()) {
        double relevant = 0, all = counts.below();
        for (std::size_t i = 0; i < kBins; ++i) {
            relevant += counts.relevant(i);
            all += counts.all(i);
        }
        if (all <= 0) return;
        std::vector<Pool> counted;
        add({0, counts.below(), 0, 0}, counted);
        for (std::size_t i = 0; i < kBins; ++i)
            if (counts.all(i) > kNegligible * counts.unit())
                add({counts.relevant(i), std::max(counts.all(i), counts.relevant(i)), i + 1, i + 1},
                    counted);
        // The pseudo-observations change small pools more than large ones, which can break
        // monotonicity: pool again.
        const double assumed = 2 * counts.unit();
        const double share =
            std::min(1.0, (relevant + 0.5 * counts.unit()) / (all + counts.unit()));
        std::vector<Pool> pools;
        for (const Pool& pool : counted)
            add({pool.relevant + assumed * share, pool.all + assumed, pool.first, pool.last},
                pools);
        fill(pools);
    }

    double operator()(double score) const {
        const double at = width_ > 0 ? (score - low_) / width_ + 1 : 0;
        if (!(at > 0)) return values_[0];
        return values_[at >= kBins ? kBins : static_cast<std::size_t>(at)];
    }

  private:
    static constexpr double kNegligible = 5e-4;
    // Pooled bins first..last; 0 stands for scores below the range, 1 for the first bin of the
    // histogram.
    struct Pool {
        double relevant, all;
        std::size_t first, last;
        double share() const { return relevant / all; }
    };
    // Pool adjacent violators: merges the new pool with its predecessors while their fraction is
    // larger.
    static void add(Pool pool, std::vector<Pool>& pools) {
        while (!pools.empty() &&
               pools.back().relevant * pool.all > pool.relevant * pools.back().all) {
            pool.relevant += pools.back().relevant;
            pool.all += pools.back().all;
            pool.first = pools.back().first;
            pools.pop_back();
        }
        pools.push_back(pool);
    }
    void fill(const std::vector<Pool>& pools) {
        for (std::size_t p = 0; p < pools.size(); ++p) {
            const Pool& pool = pools[p];
            std::fill(values_.begin() + pool.first, values_.begin() + pool.last + 1, pool.share());
            // Interpolate linearly across bins without observations.
            const bool more = p + 1 < pools.size();
            const std::size_t next = more ? pools[p + 1].first : kBins + 1;
            const double rise = more ? pools[p + 1].share() - pool.share() : 0;
            for (std::size_t i = pool.last + 1; i < next; ++i)
                values_[i] = pool.share() + rise * static_cast<double>(i - pool.last) /
                                                static_cast<double>(next - pool.last);
        }
    }
    double low_, width_;
    std::array<double, kBins + 1> values_{};
};

template <class T>
void Calibration::place_labels(std::span<const T> scores) {
    best_labels(scores, kHead, head_);
    group_.assign(scores.size(), kGroups - 1);
    for (std::size_t place = 0; place < head_.size(); ++place)
        group_[head_[place]] = static_cast<std::uint8_t>(group_of(place));
}

template <class T>
void Calibration::observe(std::span<const T> scores, std::span<const int> relevant,
                          std::span<const int> unknown) {
    if (!sampling_.observe_next()) return;
    for (Histogram& group : groups_) group.discount(sampling_.discount());
    place_labels(scores);
    for (const int label : relevant)
        groups_[group_[label]].add_relevant(static_cast<double>(scores[label]));
    // Count the first kHead labels by their group and all others in bulk; skip labels of unknown
    // relevance.
    not_in_rest_.assign(head_.begin(), head_.end());
    for (const int label : unknown) {
        if (group_[label] == kGroups - 1) not_in_rest_.push_back(label);
        group_[label] = kNoGroup;
    }
    for (const std::int32_t label : head_)
        if (group_[label] != kNoGroup)
            groups_[group_[label]].add(static_cast<double>(scores[label]));
    groups_.back().add_all(scores, not_in_rest_);
    if (sampling_.is_time_to_narrow())
        for (Histogram& group : groups_) group.narrow();
}

template <class T>
void Calibration::probabilities(std::span<const T> scores, double* out) const {
    std::vector<std::int32_t> head;
    best_labels(scores, kHead, head);
    std::array<double, kHead> at_head{};
    double most = 1;
    for (std::size_t place = 0, group = 0; place < head.size(); ++group) {
        const Curve curve(groups_[group]);
        for (; place < head.size() && group_of(place) == group; ++place)
            at_head[place] = most = std::min(most, curve(static_cast<double>(scores[head[place]])));
    }
    const Curve rest(groups_.back());
    for (std::size_t i = 0; i < scores.size(); ++i)
        out[i] = std::min(most, rest(static_cast<double>(scores[i])));
    for (std::size_t place = 0; place < head.size(); ++place) out[head[place]] = at_head[place];
}

std::vector<double> Calibration::state() const {
    std::vector<double> out = {static_cast<double>(sampling_.rounds())};
    for (const Histogram& group : groups_) group.write(out);
    return out;
}

bool Calibration::restore(std::span<const double> numbers) {
    StateReader state(numbers);
    Calibration restored;
    restored.sampling_.read(state);
    for (Histogram& group : restored.groups_) group.read(state);
    if (!state.sound() || !state.rest().empty()) return false;
    *this = std::move(restored);
    return true;
}

template void Calibration::observe(std::span<const float>, std::span<const int>,
                                   std::span<const int>);
template void Calibration::observe(std::span<const double>, std::span<const int>,
                                   std::span<const int>);
template void Calibration::probabilities(std::span<const float>, double*) const;
template void Calibration::probabilities(std::span<const double>, double*) const;

}  // namespace tagalong
