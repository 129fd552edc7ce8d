// The class-dependent features phi(x, r) of one example for all labels r, in feature-major order:
// the values of one feature are contiguous for all labels. They come from FolderAffinity, or from
// the caller as a matrix with one row per label.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "blocks/row_block.hpp"
#include "core/example.hpp"
#include "core/matrix.hpp"

namespace tagalong {

template <class T>
struct LabelBlock {
    std::size_t labels = 0;
    std::vector<std::int32_t> features;  // ascending
    std::vector<T> values;               // (features, labels)

    void clear(std::size_t label_count) {
        labels = label_count;
        features.clear();
        values.clear();
    }
    T* add(std::int32_t feature) {
        features.push_back(feature);
        values.resize(values.size() + labels, T(0));
        return values.data() + values.size() - labels;
    }
    const T* row(std::size_t i) const { return values.data() + i * labels; }
    // The number of features that are not zero for every label.
    std::int32_t known() const {
        std::int32_t count = 0;
        for (std::size_t i = 0; i < features.size(); ++i)
            count += std::any_of(row(i), row(i) + labels, [](T value) { return value != 0; });
        return count;
    }
    std::size_t bytes() const {
        return features.capacity() * sizeof(std::int32_t) + values.capacity() * sizeof(T);
    }

    // Reads a validated matrix with one row per label and one column per feature of phi. Columns
    // without non-zero values are skipped.
    void load(const Matrix& rows) {
        clear(static_cast<std::size_t>(rows.rows));
        Example phi;
        const auto read = [&](std::size_t r) {
            rows.read(static_cast<std::int64_t>(r), phi);
            phi.merge();
        };
        std::vector<char> used(rows.sparse() ? 0 : static_cast<std::size_t>(rows.columns), 0);
        for (std::size_t r = 0; r < labels; ++r) {
            read(r);
            if (rows.sparse())
                features.insert(features.end(), phi.feature.begin(), phi.feature.end());
            else
                for (const std::int32_t feature : phi.feature)
                    used[static_cast<std::size_t>(feature)] = 1;
        }
        for (std::size_t j = 0; j < used.size(); ++j)
            if (used[j]) features.push_back(static_cast<std::int32_t>(j));
        if (rows.sparse()) std::sort(features.begin(), features.end());
        features.erase(std::unique(features.begin(), features.end()), features.end());
        features.shrink_to_fit();
        values.assign(features.size() * labels, T(0));
        for (std::size_t r = 0; r < labels; ++r) {
            read(r);
            auto at = features.begin();
            for (std::size_t i = 0; i < phi.size(); ++i) {
                at = std::lower_bound(at, features.end(), phi.feature[i]);
                values[static_cast<std::size_t>(at - features.begin()) * labels + r] =
                    static_cast<T>(phi.value[i]);
            }
        }
    }

    // Appends phi(x, r) - phi(x, s) to `out` as a row.
    void difference(std::size_t r, std::size_t s, RowBlock& out) const {
        for (std::size_t i = 0; i < features.size(); ++i) {
            const double value = static_cast<double>(row(i)[r]) - static_cast<double>(row(i)[s]);
            if (value != 0) out.add(features[i], value);
        }
        out.end_row();
    }
};

}  // namespace tagalong
