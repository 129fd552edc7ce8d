// The scores of an example: sum_j x_j scale_j row_j over its features j, for theta (plane 0) and
// for the means (plane 1).
//
// Rows are added in the order of the features in every storage, so that the sums are bit-identical.
// There are three code paths: dense rows only, dense rows whose labels share columns, and a mixture
// of dense and sparse rows.
#pragma once

#include <cstdint>

#include "core/kernels.hpp"
#include "core/score_kernels.hpp"
#include "geometry/row_lookup.hpp"
#include "geometry/row_scales.hpp"

namespace tagalong {

template <class T>
class RowScorer {
  public:
    RowScorer(const WeightStore<T>& store, const RowScales& scales)
        : store_(store), scales_(scales) {}

    // Looks up the rows and scores the example with plane 0, and with plane 1 if `means`.
    void score(const RowView& x, bool means, RowLookup<T>& lookup) const {
        if (!store_.all_dense()) {
            lookup.find(store_, x);
            score_mixed(x, means, lookup);
            return;
        }
        const std::size_t count = find_rows(x, lookup);
        score_dense(count, lookup, lookup.sums);
        if (!means) return;
        for (std::size_t i = 0; i < count; ++i) lookup.rows[i] += store_.stride();
        score_dense(count, lookup, lookup.mean_sums);
    }

  private:
    // Looks up the existing rows and their multipliers; returns the number of rows.
    std::size_t find_rows(const RowView& x, RowLookup<T>& lookup) const {
        lookup.row.resize(x.size());
        lookup.multiplier.resize(x.size());
        lookup.rows.resize(x.size());
        std::int32_t* const found = lookup.row.data();
        T* const multiplier = lookup.multiplier.data();
        const T** const rows = lookup.rows.data();
        const double* const scales = scales_.data();
        std::size_t count = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::int32_t row = found[i] = store_.find(x.feature[i]);
            if (row == FeatureIndex::kAbsent) continue;
            multiplier[count] = static_cast<T>(scales ? x.value[i] * scales[row] : x.value[i]);
            rows[count] = store_.row(row);
            // kernels::score_rows prefetches all groups of rows but the first.
            for (std::size_t line = 0; count < 8 && line < 4; ++line)
                __builtin_prefetch(rows[count] + line * kLine<T>);
            ++count;
        }
        lookup.stored_columns.clear();
        if (!store_.sharing()) return count;
        for (const std::int32_t row : lookup.row)
            if (row != FeatureIndex::kAbsent)
                lookup.stored_columns.push_back(store_.stored_columns(row));
        return count;
    }

    // Scores one plane of the rows in `lookup`.
    void score_dense(std::size_t count, RowLookup<T>& lookup, AlignedVector<T>& sums) const {
        const std::size_t n = store_.padded_width();
        if (!store_.sharing()) {
            sums.resize(n);
            kernels::score_rows(sums.data(), lookup.rows.data(), lookup.multiplier.data(), count,
                                n);
            return;
        }
        add_up_columns(count, lookup);
        sums.resize(padded<T>(store_.labels()));
        const auto& of_label = store_.columns().of_all_labels();
        for (std::size_t label = 0; label < of_label.size(); ++label)
            sums[label] = lookup.columns[static_cast<std::size_t>(of_label[label])];
    }

    // The scores per column, if labels share columns. A row may lack the latest columns; these have
    // the value of its shared column.
    void add_up_columns(std::size_t count, RowLookup<T>& lookup) const {
        const std::size_t n = store_.padded_width();
        lookup.columns.assign(n, T(0));
        for (std::size_t i = 0; i < count;) {
            // Add runs of complete rows together and an incomplete row alone, in order.
            std::size_t next = i;
            while (next < count && lookup.stored_columns[next] == store_.width()) ++next;
            const bool lacking = next == i;
            next += lacking;
            kernels::add_rows(lookup.columns.data(), lookup.rows.data() + i,
                              lookup.multiplier.data() + i, next - i, n);
            const T rest = lookup.multiplier[i] * lookup.rows[i][LabelColumns::kShared];
            for (std::size_t k = lookup.stored_columns[i]; lacking && k < store_.width(); ++k)
                lookup.columns[k] += rest;
            i = next;
        }
    }

    // Scores in the order of the features: runs of dense rows, then blocks of sparse rows.
    void score_mixed(const RowView& x, bool means, RowLookup<T>& lookup) const {
        const std::size_t n = store_.padded_width();
        lookup.sums.assign(n, T(0));
        if (means) lookup.mean_sums.assign(n, T(0));
        lookup.rows.clear();
        lookup.multiplier.clear();
        lookup.blocks.clear();
        const auto add_plane = [&](AlignedVector<T>& sums, std::size_t plane) {
            kernels::add_rows(sums.data(), lookup.rows.data(), lookup.multiplier.data(),
                              lookup.rows.size(), n);
            kernels::add_blocks(sums.data(), lookup.blocks.data(), lookup.blocks.size(),
                                plane * SparseRows<T>::kBlock);
        };
        const auto add = [&] {
            add_plane(lookup.sums, 0);
            if (means) {
                for (const T*& row : lookup.rows) row += store_.stride();
                add_plane(lookup.mean_sums, 1);
            }
            lookup.rows.clear();
            lookup.multiplier.clear();
            lookup.blocks.clear();
        };
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::int32_t row = lookup.row[i];
            if (row == FeatureIndex::kAbsent) continue;
            const auto multiplier = static_cast<T>(x.value[i] * scales_.of(row));
            if (store_.is_dense(row)) {
                if (!lookup.blocks.empty()) add();
                lookup.rows.push_back(store_.row(row));
                lookup.multiplier.push_back(multiplier);
            } else {
                // add() adds the pending dense rows before these blocks, so the order is kept.
                store_.sparse().visit(row, [&](std::size_t label, const T* numbers) {
                    lookup.blocks.push_back(
                        {numbers, multiplier, static_cast<std::uint32_t>(label)});
                });
            }
        }
        add();
    }

    const WeightStore<T>& store_;
    const RowScales& scales_;
};

}  // namespace tagalong
