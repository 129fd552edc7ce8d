#include "partial/kernel_covariance.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/clones.hpp"
#include "partial/memory_limit.hpp"

namespace tagalong {
namespace {

TAGALONG_CLONES double product(const double* a, const double* b, std::size_t n) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
    return sum;
}

std::size_t triangle_size(std::size_t n) { return n * (n + 1) / 2; }

}  // namespace

template <class T>
void KernelCovariance<T>::load_example(const Example& x, Scratch& scratch) const {
    scratch.x.assign(index_.size(), 0.0);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::int32_t at = index_.find(x.feature[i]);
        if (at != FeatureIndex::kAbsent) scratch.x[static_cast<std::size_t>(at)] = x.value[i];
    }
    const double square = sum_of_squares(x.value);
    scratch.products.resize(rows_.size());
    for (std::size_t r = 0; r < rows_.size(); ++r) {
        double sum = 0;
        for (auto i = static_cast<std::size_t>(rows_.starts[r]);
             i < static_cast<std::size_t>(rows_.starts[r + 1]); ++i)
            sum += rows_.values[i] * scratch.x[static_cast<std::size_t>(rows_.places[i])];
        if (kernel_.kind == Kernel::Kind::gaussian)
            sum = std::exp(-kernel_.gamma * std::max(0.0, square + rows_.squares[r] - 2 * sum));
        scratch.products[r] = sum;
    }
    scratch.square = kernel_.kind == Kernel::Kind::gaussian ? 1 : square;
}

// Returns x.A^-1 x, and leaves l in scratch.forward.
template <class T>
double KernelCovariance<T>::variance(const Label& label, Scratch& scratch) const {
    const std::size_t n = label.updates.size();
    scratch.forward.resize(n);
    double* l = scratch.forward.data();
    const double* row = label.factor.data();
    for (std::size_t j = 0; j < n; row += ++j) {
        const auto at =
            static_cast<std::size_t>(label.rows[static_cast<std::size_t>(label.updates[j])]);
        l[j] = (label.roots[j] * scratch.products[at] - product(row, l, j)) / row[j];
    }
    return std::max(0.0, scratch.square - product(l, l, n));
}

template <class T>
void KernelCovariance<T>::compute_margins(Scratch& scratch, std::vector<T>& out) const {
    out.assign(labels(), T(0));
    for (std::size_t i = 0; i < labels(); ++i) {
        const Label& label = labels_[i];
        double sum = 0;
        for (std::size_t j = 0; j < label.rows.size(); ++j)
            sum += label.parts[j] * scratch.products[static_cast<std::size_t>(label.rows[j])];
        out[i] = static_cast<T>(sum);
    }
}

template <class T>
void KernelCovariance<T>::compute_variances(Scratch& scratch, std::vector<double>& out) const {
    out.resize(labels());
    for (std::size_t i = 0; i < labels(); ++i) out[i] = variance(labels_[i], scratch);
}

template <class T>
void KernelCovariance<T>::prepare(const Example& x, const Scratch&,
                                  std::span<const std::int32_t> labels) {
    double extra_bytes = static_cast<double>(x.size() * 12);
    for (const std::int32_t label : labels) {
        const std::size_t n = labels_[static_cast<std::size_t>(label)].updates.size();
        extra_bytes += static_cast<double>((n + 1) * sizeof(double));
    }
    check_memory(static_cast<double>(bytes()) + extra_bytes, memory_limit_,
                 "the rows that labels were updated with");
    load_example(x, current_);
    x_ = x;
    row_ = -1;
}

template <class T>
double KernelCovariance<T>::select_label(std::int32_t label) {
    label_ = &labels_[static_cast<std::size_t>(label)];
    variance_ = variance(*label_, current_);
    determinant_ratio_ = 1;
    // Back substitution: F' backward_ = l.
    backward_ = current_.forward;
    for (std::size_t j = backward_.size(); j-- > 0;) {
        const double* row = label_->factor.data() + triangle_size(j);
        backward_[j] /= row[j];
        for (std::size_t i = 0; i < j; ++i) backward_[i] -= backward_[j] * row[i];
    }
    return variance_;
}

// The index of the current row among the stored rows; stores it if necessary.
template <class T>
std::int32_t KernelCovariance<T>::store_row() {
    if (row_ >= 0) return row_;
    row_ = static_cast<std::int32_t>(rows_.size());
    for (std::size_t i = 0; i < x_.size(); ++i) {
        std::int32_t at = index_.find(x_.feature[i]);
        if (at == FeatureIndex::kAbsent) at = index_.insert(x_.feature[i]);
        rows_.places.push_back(at);
        rows_.values.push_back(x_.value[i]);
    }
    rows_.starts.push_back(static_cast<std::int64_t>(rows_.values.size()));
    rows_.squares.push_back(sum_of_squares(x_.value));
    return row_;
}

template <class T>
void KernelCovariance<T>::move_weights(double amount) {
    Label& label = *label_;
    const std::int32_t row = store_row();
    if (label.rows.empty() || label.rows.back() != row) {
        label.rows.push_back(row);
        label.parts.push_back(0);
    }
    label.parts.back() += amount;
    // Only the updates before this row: backward_ was computed without it.
    for (std::size_t j = 0; j < backward_.size(); ++j)
        label.parts[static_cast<std::size_t>(label.updates[j])] -=
            amount * backward_[j] * label.roots[j];
}

template <class T>
double KernelCovariance<T>::add_outer_product(double weight) {
    Label& label = *label_;
    move_weights(0);  // adds the row to the label's rows
    const double root = std::sqrt(weight);
    for (const double value : current_.forward) label.factor.push_back(root * value);
    determinant_ratio_ = 1 + weight * variance_;
    label.factor.push_back(std::sqrt(determinant_ratio_));
    label.updates.push_back(static_cast<std::int32_t>(label.rows.size()) - 1);
    label.roots.push_back(root);
    return std::log(determinant_ratio_);
}

template <class T>
std::vector<double> KernelCovariance<T>::weights(std::size_t label) const {
    std::vector<double> out(index_.size(), 0.0);
    const Label& found = labels_[label];
    for (std::size_t j = 0; j < found.rows.size(); ++j) {
        const auto r = static_cast<std::size_t>(found.rows[j]);
        for (auto i = static_cast<std::size_t>(rows_.starts[r]);
             i < static_cast<std::size_t>(rows_.starts[r + 1]); ++i)
            out[static_cast<std::size_t>(rows_.places[i])] += found.parts[j] * rows_.values[i];
    }
    return out;
}

template <class T>
std::size_t KernelCovariance<T>::bytes() const {
    std::size_t total = rows_.values.size() * 12 + rows_.size() * 16;
    for (const Label& label : labels_)
        total += label.factor.size() * 8 + label.rows.size() * 12 + label.updates.size() * 12;
    return total;
}

template <class T>
bool KernelCovariance<T>::restore(std::span<const std::int32_t> features, Rows rows) {
    for (const std::int32_t id : features) index_.insert(id);
    const std::size_t count = rows.size();
    if (rows.starts.size() != count + 1 || rows.places.size() != rows.values.size() ||
        rows.starts[0] != 0 || rows.starts[count] != static_cast<std::int64_t>(rows.values.size()))
        return false;
    for (std::size_t r = 0; r < count; ++r)
        if (rows.starts[r] > rows.starts[r + 1]) return false;
    for (std::size_t r = 0; r < count; ++r) {
        double square = 0;
        for (auto i = static_cast<std::size_t>(rows.starts[r]);
             i < static_cast<std::size_t>(rows.starts[r + 1]); ++i)
            square += rows.values[i] * rows.values[i];
        if (!(std::abs(square - rows.squares[r]) <= 1e-9 * square)) return false;
    }
    for (const std::int32_t position : rows.places)
        if (position < 0 || static_cast<std::size_t>(position) >= index_.size()) return false;
    rows_ = std::move(rows);
    return true;
}

template <class T>
bool KernelCovariance<T>::restore_label(std::size_t label, Label state) {
    const std::size_t n = state.updates.size();
    if (state.parts.size() != state.rows.size() || state.roots.size() != n ||
        state.factor.size() != triangle_size(n))
        return false;
    for (const std::int32_t row : state.rows)
        if (row < 0 || static_cast<std::size_t>(row) >= rows_.size()) return false;
    for (const std::int32_t at : state.updates)
        if (at < 0 || static_cast<std::size_t>(at) >= state.rows.size()) return false;
    // F F' = I + G, so every diagonal entry of F is at least 1.
    for (std::size_t j = 0; j < n; ++j)
        if (!(state.factor[triangle_size(j) + j] >= 1 - 1e-9)) return false;
    labels_[label] = std::move(state);
    return true;
}

template class KernelCovariance<float>;
template class KernelCovariance<double>;

}  // namespace tagalong
