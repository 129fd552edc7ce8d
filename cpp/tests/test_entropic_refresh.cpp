// The running sums of the entropic geometry: Z and the plane of exponentials stay consistent with
// theta through steps that overflow, steps that underflow, and many small steps.
#include <cmath>
#include <limits>
#include <vector>

#include "core/vector_math.hpp"
#include "tests/check.hpp"
#include "tests/stream.hpp"

namespace tagalong::test::entropic_refresh_test {
namespace {

template <class T>
void sums_are_right(const LabelRanker<T>& ranker, double distance) {
    const EntropicGeometry<T>& geometry = entropic(ranker);
    const WeightStore<T>& store = ranker.store();
    for (std::size_t y = 0; y < ranker.labels(); ++y) {
        const auto& state = geometry.label_state()[y];
        const auto unseen =
            static_cast<double>(geometry.dimension() - static_cast<std::int64_t>(store.rows()));
        double Z = unseen * std::exp(-state.shift);
        for (std::size_t r = 0; r < store.rows(); ++r) {
            const auto row = static_cast<std::int32_t>(r);
            const double above = static_cast<double>(store.row(row)[y]) - state.shift;
            at_most(above, 60);
            same(store.row(row, 1)[y], static_cast<T>(vector_exp(above)));
            Z += std::exp(above);
        }
        near(state.Z / Z, 1, distance);
        // The weights sum to 1.
        double sum = unseen * geometry.weight(FeatureIndex::kAbsent, static_cast<int>(y));
        for (std::size_t r = 0; r < store.rows(); ++r)
            sum += geometry.weight(static_cast<std::int32_t>(r), static_cast<int>(y));
        near(sum, 1, distance);
    }
}

// The softmax of theta, recomputed in long double.
template <class T>
void scores_are_right(const LabelRanker<T>& ranker, const Item& item, double distance) {
    const EntropicGeometry<T>& geometry = entropic(ranker);
    const WeightStore<T>& store = ranker.store();
    const auto scores = scores_of(ranker, item);
    Example x = item.example();
    ranker.finish(x);
    for (std::size_t y = 0; y < scores.size(); ++y) {
        long double top = 0;
        for (std::size_t r = 0; r < store.rows(); ++r)
            top = std::max<long double>(top, store.row(static_cast<std::int32_t>(r))[y]);
        const auto unseen =
            static_cast<double>(geometry.dimension() - static_cast<std::int64_t>(store.rows()));
        long double Z = unseen * std::exp(-top), sum = 0;
        for (std::size_t r = 0; r < store.rows(); ++r)
            Z += std::exp(static_cast<long double>(store.row(static_cast<std::int32_t>(r))[y]) -
                          top);
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::int32_t row = store.find(x.feature[i]);
            const long double theta = row == FeatureIndex::kAbsent ? 0 : store.row(row)[y];
            sum += x.value[i] * std::exp(theta - top);
        }
        near(scores[y], static_cast<double>(sum / Z), distance);
    }
}

template <class T>
void large_steps(double C, double distance) {
    const Note note("C ", C);
    RankerConfig config = config_of(Geometry::entropic, "fixed");
    config.C = C;
    LabelRanker<T> ranker(config);
    ranker.add_labels(8);
    bool shifted = false;
    for (const Item& item : random_stream(1, 150, {})) {
        learn(ranker, item);
        sums_are_right(ranker, distance);
        scores_are_right(ranker, item, distance);
        for (const auto& state : entropic(ranker).label_state()) shifted |= state.shift != 0;
    }
    check(shifted == (C > 5), "labels other than those with large steps were recomputed");
}

const Test large{"entropic refresh: steps that would overflow", [] {
                     for (const double C : {2.0, 10.0, 100.0, 900.0}) {
                         large_steps<double>(C, 1e-10);
                         large_steps<float>(C, 2e-5);
                     }
                 }};

// Both features are in every example: label 1 only decreases, and so does its Z.
template <class T>
void falling(double distance) {
    RankerConfig config = config_of(Geometry::entropic, "single");
    config.n_features = 2;
    LabelRanker<T> ranker(config);
    const Item item{{{0, 1.0}, {1, 0.5}}, {0}, {}, 1};
    ranker.add_labels(2);
    for (int round = 0; round < 300; ++round) {
        Item other = item;
        other.pairs[1].second = round % 2 ? 1.0 : 0.9;
        learn(ranker, other);
        sums_are_right(ranker, distance);
        scores_are_right(ranker, other, distance);
    }
    at_most(entropic(ranker).label_state()[1].shift, -1);
}

const Test vanishing{"entropic refresh: a Z that approaches zero", [] {
                         falling<double>(1e-10);
                         falling<float>(2e-5);
                     }};

// Two labels alternate, so both stay near uniform and only the update count triggers a refresh.
const Test many{"entropic refresh: ten thousand small steps", [] {
                    RankerConfig config = config_of(Geometry::entropic, "fixed");
                    config.C = 1e-3;
                    config.n_features = 3;
                    LabelRanker<double> ranker(config);
                    ranker.add_labels(2);
                    int refreshed = 0;
                    std::int64_t most = 0;
                    for (int round = 0; round < 25000; ++round) {
                        const std::int32_t relevant =
                            scores_of(ranker, {{{0, 1.0}, {1, 0.3}}, {}, {}, 1})[0] > 1.3 / 3 ? 1
                                                                                              : 0;
                        learn(ranker, {{{0, 1.0}, {1, 0.3}}, {relevant}, {}, 1});
                        const std::int64_t updates = entropic(ranker).label_state()[0].updates;
                        refreshed += updates < most;
                        most = refreshed > 0 ? updates : std::max(most, updates);
                        if (round % 500 == 0) sums_are_right(ranker, 1e-12);
                    }
                    check(refreshed >= 1, "no label was recomputed");
                    sums_are_right(ranker, 1e-12);
                }};

// Nearly all weight is on the features of x: the mass outside must not be lost to rounding.
const Test saturated{
    "entropic refresh: steps continue when all weight is on the features of x", [] {
        for (const std::string_view update : {"single", "optimal", "smooth"}) {
            RankerConfig config = config_of(Geometry::entropic, update);
            config.C = 20;
            config.margin = 0.99;
            LabelRanker<double> ranker(config);
            ranker.add_labels(3);
            double last = 0;
            for (const Item& item : random_stream(
                     2, 200, {.labels = 3, .length = 3, .binary = true, .unknown = false})) {
                learn(ranker, item);
                sums_are_right(ranker, 1e-9);
                scores_are_right(ranker, item, 1e-9);
                check(std::isfinite(ranker.dual()), "the dual value is not finite");
                at_most(last, ranker.dual() + 1e-9);
                last = ranker.dual();
            }
        }
    }};

const Test entering{"entropic refresh: new features have the weight of theta = 0", [] {
                        RankerConfig config = config_of(Geometry::entropic, "smooth");
                        config.n_features = 0;
                        config.C = 5;
                        LabelRanker<double> ranker(config);
                        ranker.add_labels(8);
                        std::int64_t largest = 0;
                        for (const Item& item : random_stream(3, 200, {.features = 400})) {
                            learn(ranker, item);
                            sums_are_right(ranker, 1e-10);
                            scores_are_right(ranker, item, 1e-10);
                            largest = std::max(largest, entropic(ranker).dimension());
                        }
                        same(largest, static_cast<std::int64_t>(ranker.store().rows()));
                    }};

}  // namespace
}  // namespace tagalong::test::entropic_refresh_test
