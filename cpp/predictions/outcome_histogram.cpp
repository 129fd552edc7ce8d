#include "predictions/outcome_histogram.hpp"

#include "predictions/online_logistic.hpp"

namespace tagalong {

const OutcomeHistogram::Bins& OutcomeHistogram::predicted_curve() {
    static const Bins curve = [] {
        Bins values{};
        for (std::size_t i = 0; i < kBins; ++i) values[i] = sigmoid(centre(i));
        return values;
    }();
    return curve;
}

double OutcomeHistogram::probability(double logit) const {
    const double at = (logit - centre(0)) / kWidth;
    // The open outer bins have suggestions of very different probabilities, above all those of
    // later places: there the prediction counts, with the correction of the bin.
    if (at <= 0) return std::clamp(sigmoid(logit) + lowest_correction_, 0.0, curve_.front());
    if (at >= kBins - 1)
        return std::clamp(sigmoid(logit) + highest_correction_, curve_.back(), 1.0);
    const auto i = static_cast<std::size_t>(at);
    return curve_[i] + (at - static_cast<double>(i)) * (curve_[i + 1] - curve_[i]);
}

void OutcomeHistogram::observe(double logit, double p, bool right, const Evidence& evidence) {
    unit_ /= 1 - evidence.weight / std::min(1000.0, 50 + total_ / 2);
    const double weight = unit_ * evidence.weight * evidence.stands_for;
    sums_[bin(logit)].add({weight, weight * evidence.stands_for, right ? weight : 0, weight * p});
    total_ += evidence.weight;
    if (unit_ > 1e9) {
        for (Sums& sums : sums_) {
            Sums scaled;
            scaled.add(sums, 1 / unit_);
            sums = scaled;
        }
        unit_ = 1;
    }
}

void OutcomeHistogram::refresh() {
    refresh_assured();
    refresh_curve();
}

void OutcomeHistogram::refresh_assured() {
    constexpr double assumed = 100, least_answers = 10;
    Sums above;
    for (std::size_t i = kBins; i-- > 0;) {
        above.add(sums_[i]);
        const double n = effective(above);
        const double tested =
            (n * above.right + assumed * above.predicted) / (above.weight * (n + assumed));
        assured_[i] = n >= least_answers ? std::min(tested, 1.0) : 0;
    }
    for (std::size_t i = 1; i < kBins; ++i) assured_[i] = std::max(assured_[i], assured_[i - 1]);
}

// The correction of a bin is the mean excess of right over predicted answers around it, with ten
// answers without excess added. Pooling adjacent violators makes the curve increase.
void OutcomeHistogram::refresh_curve() {
    constexpr std::size_t reach = 3;
    constexpr double assumed = 10;
    struct Pool {
        double sum, weight;
        std::size_t bins;
    };
    std::array<Pool, kBins> pools;
    std::size_t count = 0;
    for (std::size_t i = 0; i < kBins; ++i) {
        Sums near;
        for (std::size_t j = i > reach ? i - reach : 0; j <= std::min(kBins - 1, i + reach); ++j) {
            const double distance = static_cast<double>(i > j ? i - j : j - i);
            near.add(sums_[j], 1 - distance / (reach + 1));
        }
        const double n = effective(near);
        const double excess = near.weight > 0 ? (near.right - near.predicted) / near.weight : 0;
        const double correction = excess * (n / (n + assumed));
        if (i == 0) lowest_correction_ = correction;
        if (i == kBins - 1) highest_correction_ = correction;
        const double value = std::clamp(predicted_curve()[i] + correction, 0.0, 1.0);
        Pool pool{value * (n + assumed), n + assumed, 1};
        while (count > 0 && pools[count - 1].sum * pool.weight > pool.sum * pools[count - 1].weight) {
            --count;
            pool.sum += pools[count].sum;
            pool.weight += pools[count].weight;
            pool.bins += pools[count].bins;
        }
        pools[count++] = pool;
    }
    std::size_t i = 0;
    for (std::size_t pool = 0; pool < count; ++pool)
        for (std::size_t bin = 0; bin < pools[pool].bins; ++bin)
            curve_[i++] = std::min(pools[pool].sum / pools[pool].weight, 1.0);
}

CoveredShare OutcomeHistogram::covered(double target) const {
    Sums all, sure;
    for (std::size_t i = 0; i < kBins; ++i) {
        all.add(sums_[i]);
        if (assured_[i] >= target) sure.add(sums_[i]);
    }
    if (!(sure.weight > 0)) return {};
    return {sure.weight / all.weight, sure.right / sure.weight, effective(sure)};
}

void OutcomeHistogram::write(std::vector<double>& out) const {
    out.insert(out.end(), {total_, unit_});
    for (const Sums& sums : sums_)
        out.insert(out.end(), {sums.weight, sums.squares, sums.right, sums.predicted});
    out.insert(out.end(), assured_.begin(), assured_.end());
    out.insert(out.end(), curve_.begin(), curve_.end());
    out.insert(out.end(), {lowest_correction_, highest_correction_});
}

void OutcomeHistogram::read(StateReader& state) {
    constexpr double most = 1e25;  // a unit of 1e9, times weights and their squares
    total_ = state.number(0, 1e16);
    unit_ = state.number(1, 2e9);
    for (Sums& sums : sums_) {
        sums.weight = state.number(0, most);
        sums.squares = state.number(0, most);
        sums.right = state.number(0, most);
        sums.predicted = state.number(0, most);
    }
    for (double& assured : assured_) assured = state.number(0, 1);
    for (double& probability : curve_) probability = state.number(0, 1);
    lowest_correction_ = state.number(-1, 1);
    highest_correction_ = state.number(-1, 1);
}

}  // namespace tagalong
