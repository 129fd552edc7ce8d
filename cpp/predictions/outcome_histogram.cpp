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
    const std::size_t at = bin(logit);
    sums_.weight[at] += weight;
    sums_.squares[at] += weight * evidence.stands_for;
    sums_.right[at] += right ? weight : 0;
    sums_.predicted[at] += weight * p;
    total_ += evidence.weight;
    if (unit_ < 1e9) return;
    sums_.each([&](Bins& bins) {
        for (double& sum : bins) sum /= unit_;
    });
    unit_ = 1;
}

void OutcomeHistogram::refresh() {
    refresh_assured();
    refresh_curve();
}

// The highest target t with (right + a q) / (n + a) >= t, where a = by_risk / (1 - t) answers are
// assumed, of which the share q is right: the smaller root of
//     n t^2 - (right + n + by_risk) t + right + by_risk q = 0.
static double highest_target(double n, double right, double q, double by_risk) {
    const double sum = right + n + by_risk, last = right + by_risk * q;
    return 2 * last / (sum + std::sqrt(std::max(0.0, sum * sum - 4 * n * last)));
}

// Weights A with squares S count like n = A^2 / S equal answers. Fractions are multiplied out to
// save divisions.
void OutcomeHistogram::refresh_assured() {
    constexpr double least_answers = 10;
    const double assumed = caution_.assumed, by_risk = caution_.assumed_by_risk;
    Sums above = sums_;
    above.each([](Bins& bins) {
        for (std::size_t i = kBins - 1; i-- > 0;) bins[i] += bins[i + 1];
    });
    for (std::size_t i = 0; i < kBins; ++i) {
        const double weight = above.weight[i], weight2 = weight * weight;
        const double squares = above.squares[i] * unit_;
        double tested = (weight2 * above.right[i] + assumed * squares * above.predicted[i]) /
                        std::max(weight * (weight2 + assumed * squares), 1e-300);
        if (by_risk > 0 && squares > 0) {
            const double n = weight2 / squares, right = above.right[i] / weight * n;
            const double most = 1 - by_risk / assumed;
            if (tested < most)
                tested = std::min(
                    highest_target(n, right, above.predicted[i] / weight, by_risk), most);
        }
        const bool enough = weight2 >= least_answers * squares && squares > 0;
        assured_[i] = enough ? std::min(tested, 1.0) : 0;
    }
    for (std::size_t i = 1; i < kBins; ++i) assured_[i] = std::max(assured_[i], assured_[i - 1]);
}

// Replaces each bin by the sum over the bins within three, weighed by a triangle: sums over four
// adjacent bins, twice.
void OutcomeHistogram::smooth(Bins& bins) {
    std::array<double, kBins + 12> padded{};  // six zeros on either side
    std::copy(bins.begin(), bins.end(), padded.begin() + 6);
    const auto sum_with_next = [&](std::size_t distance) {
        for (std::size_t i = 0; i + distance < padded.size(); ++i)
            padded[i] += padded[i + distance];
    };
    sum_with_next(1);
    sum_with_next(2);
    sum_with_next(1);
    sum_with_next(2);
    for (std::size_t i = 0; i < kBins; ++i) bins[i] = 0.25 * padded[i + 3];
}

// The correction of a bin is the mean excess of right over predicted answers around it, with ten
// answers without excess added. Pooling adjacent violators makes the curve increase.
void OutcomeHistogram::refresh_curve() {
    constexpr double assumed = 10;
    Sums near = sums_;
    near.each(smooth);
    const Bins& predicted = predicted_curve();
    Bins correction;
    for (std::size_t i = 0; i < kBins; ++i) {
        const double weight = near.weight[i];
        correction[i] = (near.right[i] - near.predicted[i]) * weight /
                        std::max(weight * weight + assumed * near.squares[i] * unit_, 1e-300);
        curve_[i] = std::clamp(predicted[i] + correction[i], 0.0, 1.0);
    }
    lowest_correction_ = std::clamp(correction.front(), -1.0, 1.0);
    highest_correction_ = std::clamp(correction.back(), -1.0, 1.0);
    if (std::is_sorted(curve_.begin(), curve_.end())) return;
    struct Pool {
        double sum, weight;
        std::size_t bins;
    };
    std::array<Pool, kBins> pools;
    std::size_t count = 0;
    for (std::size_t i = 0; i < kBins; ++i) {
        const double squares = near.squares[i] * unit_;
        const double weight =
            assumed + (squares > 0 ? near.weight[i] * near.weight[i] / squares : 0);
        Pool pool{curve_[i] * weight, weight, 1};
        while (count > 0 &&
               pools[count - 1].sum * pool.weight > pool.sum * pools[count - 1].weight) {
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
    double all = 0, weight = 0, squares = 0, right = 0;
    for (std::size_t i = 0; i < kBins; ++i) {
        all += sums_.weight[i];
        if (assured_[i] < target) continue;
        weight += sums_.weight[i];
        squares += sums_.squares[i];
        right += sums_.right[i];
    }
    if (!(weight > 0)) return {};
    return {weight / all, right / weight, weight * weight / (squares * unit_)};
}

void OutcomeHistogram::write(std::vector<double>& out) const {
    out.insert(out.end(), {total_, unit_});
    for (const Bins* bins : {&sums_.weight, &sums_.squares, &sums_.right, &sums_.predicted})
        out.insert(out.end(), bins->begin(), bins->end());
    out.insert(out.end(), assured_.begin(), assured_.end());
    out.insert(out.end(), curve_.begin(), curve_.end());
    out.insert(out.end(), {lowest_correction_, highest_correction_});
}

void OutcomeHistogram::read(StateReader& state) {
    constexpr double most = 1e25;  // a unit of 1e9, times weights and their squares
    total_ = state.number(0, 1e16);
    unit_ = state.number(1, 2e9);
    sums_.each([&](Bins& bins) {
        for (double& sum : bins) sum = state.number(0, most);
    });
    for (std::size_t i = 0; i < kBins; ++i)
        if (std::max(sums_.right[i], sums_.predicted[i]) > sums_.weight[i]) state.refuse();
    for (double& assured : assured_) assured = state.number(0, 1);
    for (double& probability : curve_) probability = state.number(0, 1);
    lowest_correction_ = state.number(-1, 1);
    highest_correction_ = state.number(-1, 1);
}

}  // namespace tagalong
