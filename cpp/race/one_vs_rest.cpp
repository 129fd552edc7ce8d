#include "race/one_vs_rest.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/score_kernels.hpp"
#include "geometry/row_scorer.hpp"

namespace tagalong {

template <class T>
void OneVsRest<T>::score(const RowView& x, Scratch& scratch, T* out) const {
    RowScorer<T>(store_, scales_).score(x, false, scratch.lookup);
    std::copy_n(scratch.lookup.sums.data(), labels(), out);
}

template <class T>
void OneVsRest<T>::learn(const RowView& x, std::span<const int> relevant,
                         std::span<const int> unknown, double weight) {
    RowScorer<T>(store_, scales_).score(x, false, scratch_.lookup);
    learn_scored(x, scratch_, relevant, unknown, weight);
}

template <class T>
void OneVsRest<T>::learn_scored(const RowView& x, Scratch& scratch, std::span<const int> relevant,
                                std::span<const int> unknown, double weight) {
    RowLookup<T>& lookup = scratch.lookup;
    const double q = squared_norm(x, lookup);
    if (!(q > 0)) return;  // a step along x cannot change a score
    separate(relevant, lookup);
    separate(unknown, lookup);
    choose_step(lookup, relevant, unknown, 1 / (q + 1 / (2 * kC * weight)));
    if (!step_.empty()) apply_step(x, lookup);
}

// Gives labels separate columns. Their scores are that of the shared column.
template <class T>
void OneVsRest<T>::separate(std::span<const int> given, RowLookup<T>& lookup) {
    for (const int label : given) {
        if (store_.columns().of(static_cast<std::size_t>(label)) != LabelColumns::kShared) continue;
        store_.add_column(static_cast<std::size_t>(label));
        lookup.columns.resize(store_.padded_width());
        lookup.columns[store_.width() - 1] = lookup.columns[LabelColumns::kShared];
    }
}

template <class T>
double OneVsRest<T>::squared_norm(const RowView& x, const RowLookup<T>& lookup) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row = lookup.row[i];
        sum += x.value[i] * x.value[i] * (row == FeatureIndex::kAbsent ? 1.0 : scales_.of(row));
    }
    return sum;
}

// The coefficients per column: all columns learn the example as irrelevant, except those of the
// given labels.
template <class T>
void OneVsRest<T>::choose_step(const RowLookup<T>& lookup, std::span<const int> relevant,
                               std::span<const int> unknown, double factor) {
    const std::size_t width = store_.width();
    const T* const scores = lookup.columns.data();
    step_.clear(width);
    double* const alpha = step_.alpha.data();
    for (std::size_t c = 0; c < width; ++c)
        alpha[c] = -factor * std::max(0.0, 1 + kernels::to_finite_double(scores[c]));
    for (const int label : relevant) {
        const std::size_t c = store_.columns().of(static_cast<std::size_t>(label));
        alpha[c] = factor * std::max(0.0, 1 - kernels::to_finite_double(scores[c]));
    }
    for (const int label : unknown) alpha[store_.columns().of(static_cast<std::size_t>(label))] = 0;
    for (std::size_t c = 0; c < width; ++c)
        if (alpha[c] != 0) step_.touched.push_back(static_cast<int>(c));
}

template <class T>
void OneVsRest<T>::apply_step(const RowView& x, const RowLookup<T>& lookup) {
    update_.load(store_, step_, 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row =
            lookup.row[i] == FeatureIndex::kAbsent ? add_row(x.feature[i], 1) : lookup.row[i];
        store_.add_missing_columns(row);
        const auto value = static_cast<T>(x.value[i]);
        if (update_.whole_rows()) {
            if (i + 1 < x.size() && lookup.row[i + 1] != FeatureIndex::kAbsent)
                RowUpdate<T>::prefetch(store_, lookup.row[i + 1]);
            update_.template add_to_row<false>(store_, row, value);
        } else {
            update_.template add_to_numbers<false>(store_, row, value);
        }
        double& S = S_[static_cast<std::size_t>(row)];
        S += kRate * x.value[i] * x.value[i];
        scales_.update(row, S);
    }
}

template <class T>
std::int32_t OneVsRest<T>::add_row(std::int32_t feature, double S) {
    S_.push_back(S);
    scales_.add(S);
    return store_.insert(feature);
}

template <class T>
double OneVsRest<T>::contributions(const RowView& x, Scratch& scratch, int label,
                                   std::vector<double>& out) const {
    scratch.lookup.find(store_, x);
    out.clear();
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row = scratch.lookup.row[i];
        const bool known = row != FeatureIndex::kAbsent;
        out.push_back(
            known ? x.value[i] * scales_.of(row) *
                        static_cast<double>(store_.value(row, 0, static_cast<std::size_t>(label)))
                  : 0.0);
    }
    return 0;
}

template <class T>
double OneVsRest<T>::summed_contributions(const RowView& x, Scratch& scratch,
                                          std::vector<double>& out) const {
    scratch.lookup.find(store_, x);
    out.assign(x.size(), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t row = scratch.lookup.row[i];
        if (row == FeatureIndex::kAbsent) continue;
        const double factor = x.value[i] * scales_.of(row);
        double sum = 0;
        for (std::size_t label = 0; label < labels(); ++label)
            sum += factor * static_cast<double>(store_.value(row, 0, label));
        out[i] = sum;
    }
    return 0;
}

template <class T>
void OneVsRest<T>::rebuild(const Selection& selection) {
    OneVsRest out;
    out.add_labels(selection.labels());
    const auto column = [&](std::int32_t label) {
        return store_.columns().of(static_cast<std::size_t>(label));
    };
    // The parts of each new column that have columns of their own.
    std::vector<std::vector<std::size_t>> parts{{}};
    for (std::size_t label = 0; label < selection.labels(); ++label) {
        std::vector<std::size_t> own;
        for (const std::int32_t source : selection.sources(label))
            if (column(source) != LabelColumns::kShared) own.push_back(column(source));
        if (own.empty()) continue;
        out.store_.add_column(label);
        parts.push_back(std::move(own));
    }
    std::vector<T> before(store_.width()), after(parts.size());
    for (std::size_t r = 0; r < store_.rows(); ++r) {
        if (!selection.keeps(r)) continue;
        store_.read_columns(static_cast<std::int32_t>(r), 0, before.data());
        const T shared = before[LabelColumns::kShared];
        for (std::size_t c = 0; c < parts.size(); ++c) {
            after[c] = parts[c].empty() ? shared : before[parts[c].front()];
            for (std::size_t i = 1; i < parts[c].size(); ++i)
                after[c] += before[parts[c][i]] - shared;
        }
        out.restore_row(store_.features()[r], S_[r], after.data());
    }
    *this = std::move(out);
}

template <class T>
void OneVsRest<T>::drop_features(const std::function<bool(std::int32_t)>& dropped) {
    std::vector<char> kept;
    for (const std::int32_t feature : store_.features()) kept.push_back(!dropped(feature));
    rebuild(Selection::of_rows(std::move(kept), store_.rows(), labels()));
}

template class OneVsRest<float>;
template class OneVsRest<double>;

}  // namespace tagalong
