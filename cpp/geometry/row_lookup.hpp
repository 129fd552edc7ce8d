// An example's rows in a weight store: found once a round, used for scoring and for the update.
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
    std::vector<std::int32_t> row;  // per feature of the example; kAbsent without weights
    // What scoring reads, for the features that have weights: pointers and multipliers.
    std::vector<const T*> rows;
    std::vector<T> multiplier;
    std::vector<kernels::Block<T>> blocks;  // of the rows that are sparse
    std::vector<std::size_t> reach;  // of the rows that are scored, where labels share columns
    AlignedVector<T> columns;        // scores of those
    AlignedVector<T> sums;           // plane 0 (or the plane that is scored), per label
    AlignedVector<T> mean_sums;      // the plane of running means

    void find(const WeightStore<T>& store, const RowView& x) {
        row.resize(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) row[i] = store.find(x.feature[i]);
    }
};

}  // namespace tagalong
