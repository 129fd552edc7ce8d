// The rows of an example in a weight store: looked up once per round, used for scoring and
// updating.
#pragma once

#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "core/example.hpp"
#include "core/kernels.hpp"
#include "core/weight_store.hpp"

namespace tagalong {

template <class T>
struct RowLookup {
    std::vector<std::int32_t> row;  // per feature of the example; kAbsent if it has no row
    // Input of the scoring kernels: pointers and multipliers of the features that have rows.
    std::vector<const T*> rows;
    std::vector<T> multiplier;
    std::vector<kernels::Block<T>> blocks;    // blocks of the sparse rows
    std::vector<std::size_t> stored_columns;  // stored columns per row, if labels share columns
    AlignedVector<T> columns;                 // scores per column, if labels share columns
    AlignedVector<T> sums;       // scores per label with plane 0 (entropic geometry: plane 1)
    AlignedVector<T> mean_sums;  // scores per label with the plane of means

    // The number of features with a row, without the constant feature.
    std::int32_t known(const RowView& x) const {
        std::int32_t count = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            count += row[i] != FeatureIndex::kAbsent && x.feature[i] >= 0;
        return count;
    }

    void find(const WeightStore<T>& store, const RowView& x) {
        row.resize(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) row[i] = store.find(x.feature[i]);
    }
};

}  // namespace tagalong
