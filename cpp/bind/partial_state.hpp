// Certificate, weights and state of a PartialRanker. The covariances are stored as arrays.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind/geometry_state.hpp"
#include "bind/learner_bind.hpp"
#include "partial/partial_ranker.hpp"

namespace tagalong::bind {

// Concatenates one array per label.
template <class V, class Label, class Of>
void write_parts(const std::vector<Label>& labels, const char* name, Of&& of, nb::dict& arrays) {
    std::size_t count = 0;
    for (const Label& label : labels) count += of(label).second;
    Owned<V> out({count});
    V* at = out.data;
    for (const Label& label : labels) {
        const auto [data, size] = of(label);
        at = std::copy_n(data, size, at);
    }
    arrays[name] = out.array;
}

// Reads such an array part by part.
template <class V>
class Parts {
  public:
    Parts(const SavedState& saved, const char* name, const Range& range = {})
        : name_(name), array_(saved.vector<V>(name, range)), at_(array_.data()) {}

    const V* take(std::size_t count) {
        if (count > left()) SavedState::refuse(name_, "is too short");
        return std::exchange(at_, at_ + count);
    }
    std::vector<V> take_vector(std::size_t count) {
        const V* from = take(count);
        return {from, from + count};
    }
    // Throws InputError unless all of the array was read.
    void check_end() const {
        if (left() > 0) SavedState::refuse(name_, "is too long");
    }

  private:
    std::size_t left() const {
        return static_cast<std::size_t>(array_.data() + array_.shape(0) - at_);
    }

    const char* name_;
    VectorOf<V> array_;
    const V* at_;
};

template <class V>
NumPy<V> copied(const std::vector<V>& values) {
    return vector_array<V>(values.size(), [&](std::size_t i) { return values[i]; });
}

// The weights, (features, K).
template <class T>
NumPy<T> weight_array(const PartialRanker<T>& self) {
    const std::size_t K = self.labels(), rows = self.features().size();
    Owned<T> out({rows, K});
    std::visit(
        [&](const auto& found) {
            for (std::size_t k = 0; k < K; ++k) {
                if constexpr (requires { found.weight(k, k); }) {
                    for (std::size_t r = 0; r < rows; ++r)
                        out.data[r * K + k] = static_cast<T>(found.weight(k, r));
                } else {
                    const std::vector<double> weights = found.weights(k);
                    for (std::size_t r = 0; r < rows; ++r)
                        out.data[r * K + k] = static_cast<T>(weights[r]);
                }
            }
        },
        self.covariance());
    return out.array;
}

template <class T>
void write_covariance(const PartialRanker<T>& self, const FullCovariance<T>& found,
                      nb::dict& arrays) {
    using Label = typename FullCovariance<T>::Label;
    const auto& labels = found.state();
    arrays["theta"] = weight_array(self);
    arrays["sides"] = vector_array<std::int64_t>(labels.size(), [&](std::size_t k) {
        return static_cast<std::int64_t>(labels[k].inverse.side());
    });
    arrays["tolerated"] =
        vector_array<double>(labels.size(), [&](std::size_t k) { return labels[k].tolerated; });
    write_parts<T>(
        labels, "inverse",
        [](const Label& label) { return std::pair(label.inverse.data(), label.inverse.size()); },
        arrays);
    write_parts<double>(
        labels, "matrix",
        [](const Label& label) { return std::pair(label.matrix.data(), label.matrix.size()); },
        arrays);
}

template <class T>
void read_covariance(PartialRanker<T>& self, FullCovariance<T>& found, const SavedState& saved) {
    const std::size_t K = self.labels();
    const auto features = saved.features();
    const std::size_t rows = features.shape(0);
    const auto theta = saved.plane<T>("theta", rows, K, kWeight);
    const auto sides = saved.vector<std::int64_t>("sides", K, kCount);
    const auto tolerated = saved.vector<double>("tolerated", K, kNotNegative);
    found.restore_features({features.data(), rows});
    Parts<T> inverse(saved, "inverse");
    Parts<double> matrix(saved, "matrix");
    for (std::size_t k = 0; k < K; ++k) {
        const auto n = static_cast<std::size_t>(sides.data()[k]);
        if (n == 0) continue;
        if (n % 8 != 0 || n > (rows + 7) / 8 * 8)
            SavedState::refuse("sides", "must have multiples of 8 up to the number of features");
        const T* inverse_numbers = inverse.take(SymmetricTiles<T>::numbers(n));
        const double* matrix_numbers = matrix.take(SymmetricTiles<double>::numbers(n));
        auto& label = found.restore_label(k, n);
        std::copy_n(inverse_numbers, label.inverse.size(), label.inverse.data());
        std::copy_n(matrix_numbers, label.matrix.size(), label.matrix.data());
        label.updates = self.updates()[k];
        label.tolerated = tolerated.data()[k];
        for (std::size_t r = 0; r < std::min(rows, n); ++r)
            label.weights[r] = theta.data()[r * K + k];
        if (!found.is_sound(label))
            SavedState::refuse("matrix", "or 'inverse' has impossible entries");
    }
    inverse.check_end();
    matrix.check_end();
}

template <class T>
void write_covariance(const PartialRanker<T>&, const DiagonalCovariance<T>& found,
                      nb::dict& arrays) {
    const auto part = [&](T WeightAndInverse<T>::* number) {
        const auto& store = found.store();
        Owned<T> out({store.rows(), store.labels()});
        T* next = out.data;
        for (std::size_t r = 0; r < store.rows(); ++r)
            for (std::size_t k = 0; k < store.labels(); ++k)
                *next++ = store.row(static_cast<std::int32_t>(r))[k].*number;
        return out.array;
    };
    arrays["theta"] = part(&WeightAndInverse<T>::weight);
    arrays["inverses"] = part(&WeightAndInverse<T>::inverse);
}

template <class T>
void read_covariance(PartialRanker<T>& self, DiagonalCovariance<T>& found,
                     const SavedState& saved) {
    const std::size_t K = self.labels();
    const auto features = saved.features();
    const auto theta = saved.plane<T>("theta", features.shape(0), K, kWeight);
    const auto inverses = saved.plane<T>("inverses", features.shape(0), K, Range{0, 1});
    auto& store = found.store();
    for (std::size_t r = 0; r < features.shape(0); ++r) {
        WeightAndInverse<T>* row = store.row(found.insert(features.data()[r]));
        for (std::size_t k = 0; k < K; ++k)
            row[k] = {theta.data()[r * K + k], inverses.data()[r * K + k]};
    }
}

template <class T>
void write_covariance(const PartialRanker<T>&, const KernelCovariance<T>& found, nb::dict& arrays) {
    using Label = typename KernelCovariance<T>::Label;
    const auto& rows = found.rows();
    const auto& labels = found.state();
    arrays["row_starts"] = copied(rows.starts);
    arrays["row_places"] = copied(rows.places);
    arrays["row_values"] = copied(rows.values);
    arrays["row_squares"] = copied(rows.squares);
    arrays["part_counts"] = vector_array<std::int64_t>(labels.size(), [&](std::size_t k) {
        return static_cast<std::int64_t>(labels[k].rows.size());
    });
    const auto all = [](const auto& vector) { return std::pair(vector.data(), vector.size()); };
    write_parts<std::int32_t>(
        labels, "part_rows", [&](const Label& label) { return all(label.rows); }, arrays);
    write_parts<double>(
        labels, "parts", [&](const Label& label) { return all(label.parts); }, arrays);
    write_parts<std::int32_t>(
        labels, "update_rows", [&](const Label& label) { return all(label.updates); }, arrays);
    write_parts<double>(
        labels, "roots", [&](const Label& label) { return all(label.roots); }, arrays);
    write_parts<double>(
        labels, "factor", [&](const Label& label) { return all(label.factor); }, arrays);
}

template <class T>
void read_covariance(PartialRanker<T>& self, KernelCovariance<T>& found, const SavedState& saved) {
    const std::size_t K = self.labels();
    const auto whole = [&]<class V>(const char* name, V, const Range& range = {}) {
        const auto array = saved.vector<V>(name, range);
        return std::vector<V>(array.data(), array.data() + array.shape(0));
    };
    const auto features = saved.features();
    typename KernelCovariance<T>::Rows rows;
    rows.starts = whole("row_starts", std::int64_t{}, kCount);
    rows.places = whole("row_places", std::int32_t{});
    rows.values = whole("row_values", double{}, kWeight);
    rows.squares = whole("row_squares", double{}, kNotNegative);
    const auto counts = saved.vector<std::int64_t>("part_counts", K, kCount);
    Parts<std::int32_t> part_rows(saved, "part_rows"), update_rows(saved, "update_rows");
    Parts<double> parts(saved, "parts"), roots(saved, "roots", kNotNegative),
        factor(saved, "factor");
    bool good = found.restore({features.data(), features.shape(0)}, std::move(rows));
    for (std::size_t k = 0; k < K && good; ++k) {
        const auto count = static_cast<std::size_t>(counts.data()[k]);
        const auto updates = static_cast<std::size_t>(self.updates()[k]);
        if (updates > count) SavedState::refuse("updates", "exceeds 'part_counts'");
        typename KernelCovariance<T>::Label label;
        label.rows = part_rows.take_vector(count);
        label.parts = parts.take_vector(count);
        label.updates = update_rows.take_vector(updates);
        label.roots = roots.take_vector(updates);
        label.factor = factor.take_vector(updates * (updates + 1) / 2);
        good = found.restore_label(k, std::move(label));
    }
    if (!good) throw InputError("model state: the arrays of rows do not fit together");
    part_rows.check_end();
    update_rows.check_end();
    factor.check_end();
}

struct PartialCertificate {
    std::int64_t rounds = 0, shown = 0;
    double regret = 0, ranking_regret = 0, cutoff = 0;
    bool ranks = false;                            // whether every list has as many labels as slots
    std::optional<std::int64_t> refactorisations;  // of full covariances
};

template <class T>
PartialCertificate certificate_of(const PartialRanker<T>& self) {
    const auto& account = self.totals();
    PartialCertificate out{.rounds = account.rounds,
                           .shown = account.shown,
                           .regret = account.regret,
                           .ranking_regret = account.ranking_regret,
                           .cutoff = self.cutoff(),
                           .ranks = self.chooser().ranks(),
                           .refactorisations = {}};
    if (const auto* full = std::get_if<FullCovariance<T>>(&self.covariance()))
        out.refactorisations = full->refactorisations();
    return out;
}

template <class T>
FeatureWeights weights_of(const PartialRanker<T>& self) {
    const auto unseen = vector_array<T>(self.labels(), [](std::size_t) { return T(0); });
    return {copied(self.features()), NumPy<>(weight_array(self)), NumPy<>(unseen)};
}

template <class T>
std::size_t bytes_of(const PartialRanker<T>& self) {
    return self.bytes();
}

template <class T>
void write_state(const PartialRanker<T>& self, nb::dict& arrays, nb::dict& numbers) {
    arrays["features"] = copied(self.features());
    arrays["information"] = copied(self.information());
    arrays["updates"] = copied(self.updates());
    std::visit([&](const auto& found) { write_covariance(self, found, arrays); },
               self.covariance());
    const auto& account = self.totals();
    numbers["labels"] = self.labels();
    numbers["rounds"] = account.rounds;
    numbers["shown"] = account.shown;
    numbers["regret"] = account.regret;
    if (!std::isnan(account.ranking_regret)) numbers["ranking_regret"] = account.ranking_regret;
}

template <class T>
void read_state(PartialRanker<T>& self, const SavedState& saved) {
    const auto K = static_cast<std::size_t>(saved.count("labels"));
    const auto information = saved.vector<double>("information", K, kNotNegative);
    const auto updates = saved.vector<std::int64_t>("updates", K, kCount);
    if (self.labels() != 0) throw InputError("model state can only be restored into a new model");
    self.add_labels(K);
    const double ranking_regret = saved.has_number("ranking_regret")
                                      ? saved.number("ranking_regret", kNotNegative)
                                      : std::numeric_limits<double>::quiet_NaN();
    self.restore({saved.count("rounds"), saved.count("shown"), saved.number("regret", kNotNegative),
                  ranking_regret},
                 {information.data(), information.data() + K},
                 {updates.data(), updates.data() + K});
    std::visit([&](auto& found) { read_covariance(self, found, saved); }, self.covariance());
}

}  // namespace tagalong::bind
