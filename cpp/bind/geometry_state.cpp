#include "bind/geometry_state.hpp"

namespace tagalong::bind {

// Sums of squares of numbers below Relevances::kLargest, over any number of rounds.
static constexpr Range kSumOfSquares{.least = 0, .most = 1e300};

template <class T>
void write_entropic(const EntropicGeometry<T>& entropic, bool restarted, nb::dict& arrays,
                    nb::dict& numbers) {
    arrays["features"] = feature_array(entropic.store().features());
    arrays[kFirstPlane] = packed_weights(entropic.store(), 1);
    const auto& labels = entropic.label_state();
    arrays["Z"] = vector_array<double>(labels.size(), [&](std::size_t y) { return labels[y].Z; });
    arrays["shift"] =
        vector_array<double>(labels.size(), [&](std::size_t y) { return labels[y].shift; });
    arrays["updates"] =
        vector_array<std::int64_t>(labels.size(), [&](std::size_t y) { return labels[y].updates; });
    numbers["dimension"] = entropic.dimension();
    if (!restarted) return;
    const auto& base = entropic.base();
    arrays["base_Z"] =
        vector_array<double>(base.Z.size(), [&](std::size_t y) { return base.Z[y]; });
    arrays["base_shift"] =
        vector_array<double>(base.shift.size(), [&](std::size_t y) { return base.shift[y]; });
    numbers["base_dimension"] = base.dimension;
}

// Written only if relevances are learnt.
template <class T>
static void write_relevances(const LinearGeometry<T>& linear, nb::dict& arrays, nb::dict& numbers) {
    const Relevances& relevances = linear.relevances();
    if (!relevances.learnt()) return;
    const std::size_t rows = linear.store().rows();
    arrays["beta"] =
        vector_array<double>(rows, [&](std::size_t r) { return relevances.row(r).beta; });
    arrays["V"] = vector_array<double>(rows, [&](std::size_t r) { return relevances.row(r).V; });
    arrays["updates"] =
        vector_array<std::int64_t>(rows, [&](std::size_t r) { return relevances.row(r).updates; });
    numbers["updates"] = relevances.updates();
    numbers["share_squares"] = relevances.mean().squares;
    numbers["share_count"] = relevances.mean().count;
}

template <class T>
void write_geometry(const AnyGeometry<T>& geometry, bool restarted, nb::dict& arrays,
                    nb::dict& numbers) {
    if (const auto* entropic = std::get_if<EntropicGeometry<T>>(&geometry))
        return write_entropic(*entropic, restarted, arrays, numbers);
    const auto& linear = std::get<LinearGeometry<T>>(geometry);
    const WeightStore<T>& store = linear.store();
    std::vector<typename LinearGeometry<T>::Row> rows;
    for (std::size_t r = 0; r < store.rows(); ++r) rows.push_back(linear.row_state(r));
    arrays["features"] = feature_array(store.features());
    arrays[kFirstPlane] = packed_weights(store, store.planes());
    const auto& columns = store.columns().of_all_labels();
    if (store.sharing())
        arrays["columns"] =
            vector_array<std::int32_t>(columns.size(), [&](std::size_t y) { return columns[y]; });
    arrays["S"] = vector_array<double>(rows.size(), [&](std::size_t r) { return rows[r].S; });
    arrays["norm2"] =
        vector_array<double>(rows.size(), [&](std::size_t r) { return rows[r].norm2; });
    if (restarted)
        arrays["base2"] =
            vector_array<double>(rows.size(), [&](std::size_t r) { return rows[r].base2; });
    numbers["complexity"] = linear.complexity();
    numbers["largest_complexity"] = linear.largest_complexity();
    // 0 in most models, as in all models of older files
    if (linear.penalty() > 0) numbers["penalty"] = linear.penalty();
    write_relevances(linear, arrays, numbers);
}

template <class T>
void read_entropic(EntropicGeometry<T>& entropic, const SavedState& saved) {
    const std::size_t K = entropic.store().labels();
    const auto features = saved.features();
    const std::size_t rows = features.shape(0);
    SavedRows<T> theta(saved, rows, K, 1);
    const auto Z = saved.vector<double>("Z", K, kNotNegative);
    const auto shift = saved.vector<double>("shift", K);
    const auto updates = saved.vector<std::int64_t>("updates", K, kCount);
    std::int64_t dimension = entropic.dimension();  // of the declared features
    for (std::size_t r = 0; r < rows; ++r) dimension += features.data()[r] >= entropic.declared();
    if (saved.count("dimension") != dimension)
        SavedState::refuse("dimension", "does not fit 'features'");
    std::vector<typename EntropicGeometry<T>::Label> labels;
    for (std::size_t y = 0; y < K; ++y)
        labels.push_back({Z.data()[y], shift.data()[y], updates.data()[y]});
    entropic.restore_labels(dimension, std::move(labels));
    for (std::size_t r = 0; r < rows; ++r) {
        theta.next();
        entropic.restore_row(features.data()[r], theta.first());
    }
    if (!entropic.normalisers_agree()) SavedState::refuse("Z", "does not fit 'theta'");
    if (!saved.has_array("base_Z")) return;
    const auto base_Z = saved.vector<double>("base_Z", kNotNegative);
    if (base_Z.shape(0) > K) SavedState::refuse("base_Z", "has more entries than there are labels");
    const auto base_shift = saved.vector<double>("base_shift", base_Z.shape(0));
    const Range earlier{0, static_cast<double>(entropic.dimension())};
    entropic.restore_base({saved.count("base_dimension", earlier),
                           {base_Z.data(), base_Z.data() + base_Z.shape(0)},
                           {base_shift.data(), base_shift.data() + base_shift.shape(0)}});
}

// The relevances of the rows. Sets those numbers that are not per row.
template <class T>
static std::vector<Relevances::Row> read_relevances(LinearGeometry<T>& linear,
                                                    const VectorOf<std::int32_t>& features,
                                                    const SavedState& saved) {
    const std::size_t rows = features.shape(0);
    std::vector<Relevances::Row> out(rows);
    if (!linear.relevances().learnt()) return out;
    const auto updates = saved.count("updates");
    const auto beta = saved.vector<double>("beta", rows, {-Relevances::kMost, Relevances::kMost});
    const auto V = saved.vector<double>("V", rows, kSumOfSquares);
    const auto of_row =
        saved.vector<std::int64_t>("updates", rows, Range{0, static_cast<double>(updates)});
    for (std::size_t r = 0; r < rows; ++r) {
        out[r] = {beta.data()[r], V.data()[r], of_row.data()[r]};
        if (features.data()[r] < 0 && (out[r].beta != 0 || out[r].V != 0))
            SavedState::refuse("beta", "has a relevance of the constant feature");
    }
    linear.restore_relevances(updates, {saved.number("share_squares", kSumOfSquares),
                                        saved.number("share_count", kNotNegative)});
    return out;
}

template <class T>
void read_geometry(AnyGeometry<T>& geometry, const SavedState& saved) {
    if (auto* entropic = std::get_if<EntropicGeometry<T>>(&geometry))
        return read_entropic(*entropic, saved);
    auto& linear = std::get<LinearGeometry<T>>(geometry);
    const WeightStore<T>& store = linear.store();
    std::span<const std::int32_t> columns;
    VectorOf<std::int32_t> shared;
    if (saved.has_array("columns")) {
        shared = saved.vector<std::int32_t>("columns", store.labels());
        columns = {shared.data(), store.labels()};
    }
    if (!linear.restore_columns(columns))
        SavedState::refuse("columns", "does not assign a column to every label");
    const std::size_t K = store.width();
    const auto features = saved.features();
    const std::size_t rows = features.shape(0);
    const bool averaged = store.planes() > 1;
    SavedRows<T> planes(saved, rows, K, averaged ? 2 : 1);
    const auto S = saved.vector<double>("S", rows, Range{.least = 1});
    const auto norm2 = saved.vector<double>("norm2", rows, kNotNegative);
    const bool restarted = saved.has_array("base2");
    const auto base2 = restarted ? saved.vector<double>("base2", rows, kNotNegative) : norm2;
    const auto relevances = read_relevances(linear, features, saved);
    for (std::size_t r = 0; r < rows; ++r) {
        planes.next();
        linear.restore_row(features.data()[r],
                           {S.data()[r], norm2.data()[r], restarted ? base2.data()[r] : 0.0},
                           planes.first(), averaged ? planes.second() : nullptr, relevances[r]);
    }
    linear.restore_complexity(saved.number("complexity"),
                              saved.number("largest_complexity", kNotNegative));
    if (saved.has_number("penalty")) linear.restore_penalty(saved.number("penalty", kNotNegative));
}

template void write_entropic(const EntropicGeometry<float>&, bool, nb::dict&, nb::dict&);
template void write_geometry(const AnyGeometry<float>&, bool, nb::dict&, nb::dict&);
template void read_entropic(EntropicGeometry<float>&, const SavedState&);
template void read_geometry(AnyGeometry<float>&, const SavedState&);
template void write_entropic(const EntropicGeometry<double>&, bool, nb::dict&, nb::dict&);
template void write_geometry(const AnyGeometry<double>&, bool, nb::dict&, nb::dict&);
template void read_entropic(EntropicGeometry<double>&, const SavedState&);
template void read_geometry(AnyGeometry<double>&, const SavedState&);

}  // namespace tagalong::bind
