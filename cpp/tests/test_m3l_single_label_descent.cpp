// Single-label descent: active variables reach the tolerance, all other variables stay.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "m3l/single_label_descent.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::m3l_single_label_descent_test {
namespace {

using namespace m3l;

constexpr int kRows = 60, kFeatures = 25;
constexpr std::size_t kLabels = 5;
constexpr Mask kUnconverged = 0b10110;

template <class T>
struct Case {
    std::vector<T> values, squared_norm, inverse_squared_norm, weight;
    std::vector<std::int32_t> indices, indptr{0};
    Matrix matrix;
    std::vector<Mask> relevant, known, active;
    std::vector<std::uint32_t> order;
    AlignedVector<T> dual, weights;
    BlockView<T> view{};

    Case(Random& random, bool constant)
        : dual(kRows * kLanes, T{0}), weights(kFeatures * kLanes, T{0}) {
        for (int i = 0; i < kRows; ++i) {
            double sum = 0;
            for (int j = 0; j < kFeatures; ++j) {
                // Every feature occurs, so that features are reordered but not dropped.
                if (j != i % kFeatures && !random.chance(0.2)) continue;
                indices.push_back(j);
                values.push_back(static_cast<T>(constant ? 0.5 : random.normal()));
                sum += static_cast<double>(values.back()) * static_cast<double>(values.back());
            }
            indptr.push_back(static_cast<std::int32_t>(indices.size()));
            squared_norm.push_back(static_cast<T>(sum));
            inverse_squared_norm.push_back(static_cast<T>(1 / sum));
            weight.push_back(static_cast<T>(random.between(0.5, 2)));
            relevant.push_back(static_cast<Mask>(random.below(32)));
            known.push_back(0b11111);
            active.push_back(static_cast<Mask>(random.below(32)));
            order.push_back(static_cast<std::uint32_t>(i));
        }
        matrix = {.rows = kRows,
                  .columns = kFeatures,
                  .values = values.data(),
                  .value_type = sizeof(T) == 4 ? Number::float32 : Number::float64};
        matrix.indices = indices.data();
        matrix.indptr = indptr.data();
        for (std::size_t k = 0; k < kLabels; ++k) {
            view.target_relevant[k] = static_cast<T>(2 + 0.1 * static_cast<double>(k));
            view.target_irrelevant[k] = -2;
            view.bound_relevant[k] = 1;
            view.bound_irrelevant[k] = static_cast<T>(0.7);
            view.scale[k] = 2;
            view.inverse_curvature[k] = static_cast<T>(0.25);
        }
        std::fill_n(view.threshold, kLanes, std::numeric_limits<T>::infinity());
        view.rows = kRows;
        view.row_weight = weight.data();
        view.squared_norm = squared_norm.data();
        view.inverse_squared_norm = inverse_squared_norm.data();
        view.relevant = relevant.data();
        view.known = known.data();
        view.active = active.data();
        view.dual = dual.data();
        view.weights = weights.data();
        view.unconverged = kUnconverged;
        view.order = order.data();
        view.count = kRows;
        // Inactive variables are anywhere within their bounds.
        for (int i = 0; i < kRows; ++i)
            for (std::size_t k = 0; k < kLabels; ++k)
                if (!(active[i] >> k & 1))
                    dual[i * kLanes + k] = static_cast<T>(random.between(0, 0.3)) *
                                           (relevant[i] >> k & 1 ? T{1} : T{-1});
    }
    // z of a label, in the order of columns.
    std::vector<double> expected_weights(std::size_t k) const {
        std::vector<double> out(kFeatures, 0.0);
        for (int i = 0; i < kRows; ++i)
            for (std::int32_t e = indptr[i]; e < indptr[i + 1]; ++e)
                out[indices[e]] +=
                    2 * static_cast<double>(dual[i * kLanes + k]) * static_cast<double>(values[e]);
        return out;
    }
};

template <class T>
void solve(bool constant, double target_violation, double distance) {
    Random random(constant ? 1 : 2);
    Case<T> each(random, constant);
    const Rows<T> rows(each.matrix);
    same(rows.features(), std::size_t{kFeatures});
    for (std::size_t k = 0; k < kLabels; ++k) {
        const std::vector<double> z = each.expected_weights(k);
        for (std::size_t j = 0; j < kFeatures; ++j)
            each.weights[j * kLanes + k] = static_cast<T>(z[rows.feature()[j]]);
    }
    const auto before = each.dual;
    const auto were_active = each.active;
    SingleLabelState<T> state;
    Shuffle shuffle(3);
    SolverProgress progress;
    const int passes = improve_single_labels(
        rows, each.view, state, static_cast<T>(target_violation), 5000, shuffle, progress);
    at_most(passes, 4999);
    same(each.view.unconverged, Mask{0});
    for (std::size_t k = 0; k < kLabels; ++k) {
        Note note("label ", k);
        const std::vector<double> z = each.expected_weights(k);
        for (std::size_t j = 0; j < kFeatures; ++j)
            near(static_cast<double>(each.weights[j * kLanes + k]), z[rows.feature()[j]], distance);
        int moved = 0;
        for (std::size_t i = 0; i < kRows; ++i) {
            const bool was_active = (kUnconverged & were_active[i]) >> k & 1,
                       is_relevant = each.relevant[i] >> k & 1;
            const T b = each.dual[i * kLanes + k];
            moved += b != before[i * kLanes + k];
            if (!was_active) {
                same(b, before[i * kLanes + k]);
                same(each.active[i] >> k & 1, were_active[i] >> k & 1);
                continue;
            }
            const T low = is_relevant ? T{0} : -each.view.bound_irrelevant[k] * each.weight[i];
            const T high = is_relevant ? each.view.bound_relevant[k] * each.weight[i] : T{0};
            check(low <= b && b <= high, "a variable is outside its bounds");
            double s = 0;
            for (std::int32_t e = each.indptr[i]; e < each.indptr[i + 1]; ++e)
                s += static_cast<double>(each.values[e]) * z[each.indices[e]];
            const double h = static_cast<double>(is_relevant ? each.view.target_relevant[k]
                                                             : each.view.target_irrelevant[k]) -
                             2 * s;
            const bool shrunk = !(each.active[i] >> k & 1);
            // A shrunk variable is at a bound.
            if (shrunk)
                check(b == low || b == high, "a shrunk variable is strictly between its bounds");
            else at_most(std::max(b < high ? h : 0.0, b > low ? -h : 0.0), 2 * target_violation);
        }
        check((moved > 10) == (kUnconverged >> k & 1),
              "the labels that moved are not the unconverged ones");
    }
}

const Test one_at_a_time{
    "m3l single-label descent: active variables reach the tolerance, all others stay", [] {
        for (const bool constant : {true, false}) {
            Note note("constant ", constant);
            solve<double>(constant, 1e-6, 1e-9);
            solve<float>(constant, 1e-2, 1e-3);
        }
    }};

const Test pays{"m3l single-label descent: used only if few labels per row are active", [] {
                    Random random(4);
                    Case<float> each(random, true);
                    const Rows<float> rows(each.matrix);
                    std::fill(each.active.begin(), each.active.end(), Mask{0b11001});
                    check(single_label_descent_pays(rows, each.view),
                          "one unconverged label per row: must be used");
                    std::fill(each.active.begin(), each.active.end(), Mask{0b10011});
                    check(!single_label_descent_pays(rows, each.view),
                          "two unconverged labels per row: must not be used");
                    std::fill(each.active.begin() + kRows / 2, each.active.end(), Mask{0b01001});
                    check(!single_label_descent_pays(rows, each.view),
                          "rows without an unconverged label must not count");
                    each.view.coupled = true;
                    std::fill(each.active.begin(), each.active.end(), Mask{0b10000});
                    check(!single_label_descent_pays(rows, each.view),
                          "coupled labels: must not be used");
                }};

}  // namespace
}  // namespace tagalong::test::m3l_single_label_descent_test
