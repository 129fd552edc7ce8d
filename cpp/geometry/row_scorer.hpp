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
    void score(const RowView& x, bool means, RowLookup<T>& at) const {
        if (!store_.all_whole()) {
            at.find(store_, x);
            score_mixed(x, 0, at, at.sums);
            if (means) score_mixed(x, 1, at, at.mean_sums);
            return;
        }
        const std::size_t count = point_at_rows(x, at);
        score_whole(count, at, at.sums);
        if (!means) return;
        for (std::size_t i = 0; i < count; ++i) at.rows[i] += store_.stride();
        score_whole(count, at, at.mean_sums);
    }

  private:
    // Looks up the existing rows and their multipliers; returns the number of rows.
    std::size_t point_at_rows(const RowView& x, RowLookup<T>& at) const {
        at.row.resize(x.size());
        at.multiplier.resize(x.size());
        at.rows.resize(x.size());
        std::int32_t* const found = at.row.data();
        T* const multiplier = at.multiplier.data();
        const T** const rows = at.rows.data();
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
        at.reach.clear();
        if (!store_.sharing()) return count;
        for (const std::int32_t row : at.row)
            if (row != FeatureIndex::kAbsent) at.reach.push_back(store_.reach(row));
        return count;
    }

    // Scores one plane of the rows in `at`.
    void score_whole(std::size_t count, RowLookup<T>& at, AlignedVector<T>& sums) const {
        const std::size_t n = store_.used();
        if (!store_.sharing()) {
            sums.resize(n);
            kernels::score_rows(sums.data(), at.rows.data(), at.multiplier.data(), count, n);
            return;
        }
        add_up_columns(count, at);
        sums.resize(padded<T>(store_.labels()));
        const auto& of_label = store_.columns().of_labels();
        for (std::size_t label = 0; label < of_label.size(); ++label)
            sums[label] = at.columns[static_cast<std::size_t>(of_label[label])];
    }

    // The scores per column, if labels share columns. A row may lack the latest columns; these have
    // the value of its shared column.
    void add_up_columns(std::size_t count, RowLookup<T>& at) const {
        const std::size_t n = store_.used();
        at.columns.assign(n, T(0));
        for (std::size_t i = 0; i < count;) {
            // Add runs of complete rows together and an incomplete row alone, in order.
            std::size_t next = i;
            while (next < count && at.reach[next] == store_.width()) ++next;
            const bool lacking = next == i;
            next += lacking;
            kernels::add_rows(at.columns.data(), at.rows.data() + i, at.multiplier.data() + i,
                              next - i, n);
            const T rest = at.multiplier[i] * at.rows[i][LabelColumns::kShared];
            for (std::size_t k = at.reach[i]; lacking && k < store_.width(); ++k)
                at.columns[k] += rest;
            i = next;
        }
    }

    // Scores one plane in the order of the features: runs of dense rows, then blocks of sparse
    // rows.
    void score_mixed(const RowView& x, std::size_t plane, RowLookup<T>& at,
                     AlignedVector<T>& sums) const {
        const std::size_t n = store_.used();
        sums.assign(n, T(0));
        at.rows.clear();
        at.multiplier.clear();
        at.blocks.clear();
        const auto add = [&] {
            kernels::add_rows(sums.data(), at.rows.data(), at.multiplier.data(), at.rows.size(), n);
            kernels::add_blocks(sums.data(), at.blocks.data(), at.blocks.size());
            at.rows.clear();
            at.multiplier.clear();
            at.blocks.clear();
        };
        for (std::size_t i = 0; i < x.size(); ++i) {
            const std::int32_t row = at.row[i];
            if (row == FeatureIndex::kAbsent) continue;
            const auto multiplier = static_cast<T>(x.value[i] * scales_.of(row));
            if (store_.whole(row)) {
                if (!at.blocks.empty()) add();
                at.rows.push_back(store_.row(row, plane));
                at.multiplier.push_back(multiplier);
            } else {
                // add() adds the pending dense rows before these blocks, so the order is kept.
                store_.sparse().visit(row, [&](std::size_t label, const T* numbers) {
                    at.blocks.push_back({numbers + plane * SparseRows<T>::kBlock, multiplier,
                                         static_cast<std::uint32_t>(label)});
                });
            }
        }
        add();
    }

    const WeightStore<T>& store_;
    const RowScales& scales_;
};

}  // namespace tagalong
