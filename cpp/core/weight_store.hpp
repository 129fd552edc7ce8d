// The weights of the learners in feature-major order: the K numbers of one feature are contiguous,
// and scoring an example is a sum of contiguous rows.
//
// A row consists of `planes` arrays of K numbers, each padded to whole cache lines: the dual vector
// theta, and the second array of some geometries (running means, exponentials). The first update of
// a feature creates its row. Rows are allocated in chunks, so that a new row never moves the
// others. New labels widen all rows, with spare columns so that the cost is amortised.
//
// With many labels, the storage depends on the kind of steps:
// - Steps on few labels or on a working set: a row starts sparse (SparseRows), stores only the
//   blocks of updated labels, and becomes dense when a quarter (working set: half) of its blocks
//   are stored.
// - Steps that depend on scores only: labels with equal weights share a column (LabelColumns). When
//   a label gets a separate column, only rows that are updated add it; in all other rows a missing
//   column has the value of the shared one.
// - Steps with a common start: as before, with any number of labels, and labels added later share
//   the column too. It exists even while it has no labels, and the caller updates it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/aligned.hpp"
#include "core/feature_index.hpp"
#include "core/label_columns.hpp"
#include "core/row_chunks.hpp"
#include "core/sparse_rows.hpp"

namespace tagalong {

// The steps that the update rule takes: on a pair of labels, on a working set of labels, or with
// coefficients that depend on the scores only, so that labels with equal scores get equal
// coefficients. With common_start, labels have the weights of column 0 until the caller gives them
// a separate column.
enum class StepPattern { any, few_labels, working_set, by_score, common_start };

template <class T>
class WeightStore {
  public:
    explicit WeightStore(std::size_t planes, StepPattern steps = StepPattern::any)
        : steps_(steps), sparse_(planes), chunks_(planes) {
        if (steps != StepPattern::common_start) return;
        columns_.share(0);
        make_room(1);
    }

    StepPattern steps() const { return steps_; }
    // Whether new rows are sparse.
    bool mostly_sparse() const { return may_be_sparse() && labels_ >= kManyLabels; }
    std::size_t labels() const { return labels_; }
    const LabelColumns& columns() const { return columns_; }
    bool sharing() const { return columns_.sharing(); }
    // Numbers per plane of a row: one per label, or one per column if labels share columns.
    std::size_t width() const { return sharing() ? columns_.count() : labels_; }
    std::size_t stride() const { return chunks_.stride(); }
    // The width padded to whole cache lines; the rest of a row is spare.
    std::size_t padded_width() const { return padded<T>(width()); }
    std::size_t planes() const { return chunks_.planes(); }
    std::size_t rows() const { return index_.size(); }
    const std::vector<std::int32_t>& features() const { return index_.ids(); }

    std::int32_t find(std::int32_t feature) const { return index_.find(feature); }
    std::int32_t insert(std::int32_t feature) {
        chunks_.add_row(index_.size(), mostly_sparse());
        const std::int32_t number = index_.insert(feature);
        if (sharing()) stored_columns_.push_back(static_cast<std::uint32_t>(width()));
        if (may_be_sparse() && (labels_ >= kManyLabels || !all_dense_))
            record_storage(static_cast<std::size_t>(number));
        return number;
    }

    // Whether all rows are dense, and whether a given row is dense. Only dense rows may be accessed
    // by row().
    bool all_dense() const { return all_dense_; }
    bool is_dense(std::int32_t number) const {
        return all_dense_ || dense_[static_cast<std::size_t>(number)];
    }
    const SparseRows<T>& sparse() const { return sparse_; }
    // A weight of a sparse row, for writing; its planes are kBlock apart. Call `make_dense_if_full`
    // after the last write of a step: it makes the row dense if too many of its blocks are stored.
    T* find_or_insert(std::int32_t number, std::size_t label) {
        return sparse_.find_or_insert(number, label);
    }
    // The same for ascending blocks of labels: writes the address of each block.
    void find_or_insert_blocks(std::int32_t number, std::span<const std::uint32_t> blocks,
                               T** out) {
        sparse_.find_or_insert_blocks(number, blocks, out);
    }
    void make_dense_if_full(std::int32_t number) {
        const std::size_t share = steps_ == StepPattern::working_set ? 2 : 4;
        if (sparse_.blocks(number) * SparseRows<T>::kBlock * share > stride()) make_dense(number);
    }
    void make_dense(std::int32_t number) {
        if (is_dense(number)) return;
        dense_[static_cast<std::size_t>(number)] = true;
        sparse_.visit(number, [&](std::size_t label, const T* numbers) {
            for (std::size_t plane = 0; plane < planes(); ++plane)
                std::copy_n(numbers + plane * SparseRows<T>::kBlock, SparseRows<T>::kBlock,
                            row(number, plane) + label);
        });
        sparse_.release(number);
    }

    // Reads and writes one plane of a row, `labels()` numbers, in any storage. Writing requires
    // that no labels share columns.
    void read(std::int32_t number, std::size_t plane, T* out) const {
        if (sharing()) {
            for (std::size_t label = 0; label < labels_; ++label)
                out[label] = value(number, plane, label);
            return;
        }
        if (is_dense(number)) {
            std::copy_n(row(number, plane), labels_, out);
            return;
        }
        std::fill_n(out, labels_, T(0));
        sparse_.visit(number, [&](std::size_t label, const T* numbers) {
            const std::size_t count = std::min(SparseRows<T>::kBlock, labels_ - label);
            std::copy_n(numbers + plane * SparseRows<T>::kBlock, count, out + label);
        });
    }
    void write(std::int32_t number, std::size_t plane, const T* numbers) {
        for (std::size_t label = 0; label < labels_; ++label) {
            if (is_dense(number)) row(number, plane)[label] = numbers[label];
            else if (numbers[label] != 0)
                find_or_insert(number, label)[plane * SparseRows<T>::kBlock] = numbers[label];
        }
        if (!is_dense(number)) make_dense_if_full(number);
    }
    // Like read(), for `width()` numbers: one per column if labels share columns.
    void read_columns(std::int32_t number, std::size_t plane, T* out) const {
        if (!sharing()) return read(number, plane, out);
        const T* const numbers = row(number, plane);
        std::fill(std::copy_n(numbers, stored_columns(number), out), out + width(),
                  numbers[LabelColumns::kShared]);
    }
    void write_columns(std::int32_t number, std::size_t plane, const T* numbers) {
        if (sharing()) std::copy_n(numbers, width(), row(number, plane));
        else write(number, plane, numbers);
    }
    T value(std::int32_t number, std::size_t plane, std::size_t label) const {
        if (sharing())
            return row(number,
                       plane)[columns_.of(label) < stored_columns(number) ? columns_.of(label) : 0];
        if (is_dense(number)) return row(number, plane)[label];
        const T* found = sparse_.find(number, label);
        return found ? found[plane * SparseRows<T>::kBlock] : T(0);
    }

    T* row(std::int32_t number, std::size_t plane = 0) { return chunks_.row(number, plane); }
    const T* row(std::int32_t number, std::size_t plane = 0) const {
        return chunks_.row(number, plane);
    }

    void add_labels(std::size_t count) {
        if (count == 0) return;
        if (steps_ == StepPattern::common_start) {
            labels_ += count;
            columns_.add_labels(count);
            return;
        }
        if (steps_ == StepPattern::by_score && rows() == 0 && labels_ + count >= kManyLabels) {
            labels_ += count;
            columns_.share(labels_);
            make_room(1);
            return;
        }
        if (sharing()) stop_sharing();  // later labels start with other weights
        labels_ += count;
        make_room(labels_);
    }

    // Gives a label that shares column 0 a separate column.
    void add_column(std::size_t label) {
        columns_.add_column(label);
        make_room(columns_.count());
    }
    // The number of columns that a row stores; missing ones have the value of the shared column.
    std::size_t stored_columns(std::int32_t number) const {
        return stored_columns_[static_cast<std::size_t>(number)];
    }
    // Adds the missing columns of a row.
    void add_missing_columns(std::int32_t number) {
        if (!sharing() || stored_columns(number) == width()) return;
        for (std::size_t plane = 0; plane < planes(); ++plane) {
            T* const numbers = row(number, plane);
            std::fill(numbers + stored_columns(number), numbers + width(),
                      numbers[LabelColumns::kShared]);
        }
        stored_columns_[static_cast<std::size_t>(number)] = static_cast<std::uint32_t>(width());
    }
    // Restores the columns of a saved model; an empty span stops sharing. Requires a store without
    // rows. Returns false if the columns are invalid.
    bool restore_columns(std::span<const std::int32_t> columns) {
        if (columns.empty() && steps_ != StepPattern::common_start) {
            columns_.stop();
            make_room(labels_);
            return true;
        }
        if (columns.size() != labels_ || !columns_.restore(columns)) return false;
        make_room(columns_.count());
        return true;
    }

    // The memory of the rows; the index adds 16 to 40 bytes per row.
    std::size_t bytes() const {
        const std::size_t row_bytes = chunks_.row_bytes();
        if (all_dense_) return rows() * row_bytes;
        return static_cast<std::size_t>(std::count(dense_.begin(), dense_.end(), true)) *
                   row_bytes +
               sparse_.bytes();
    }

  private:
    // Records whether a new row is dense. Before the first sparse row nothing is recorded.
    void record_storage(std::size_t number) {
        sparse_.ensure_rows(number + 1);
        dense_.resize(number, true);
        dense_.push_back(labels_ < kManyLabels);
        all_dense_ = all_dense_ && dense_.back();
    }

    // With fewer labels, dense rows are faster (measured: break-even with sparse rows at about
    // 2,000).
    static constexpr std::size_t kManyLabels = 2048;
    bool may_be_sparse() const {
        return steps_ == StepPattern::few_labels || steps_ == StepPattern::working_set;
    }

    // Makes room for `columns` columns. Before the first row the stride is exact; afterwards it
    // grows by at least half, so that the cost of adding columns one by one is amortised.
    void make_room(std::size_t columns) {
        if (columns <= stride()) return;
        widen(padded<T>(rows() == 0 ? columns : std::max(columns, stride() + stride() / 2)));
    }

    // Gives every label a separate column.
    void stop_sharing() {
        RowChunks<T> separate(planes(), padded<T>(labels_));
        for (std::size_t row = 0; row < rows(); ++row) {
            const auto number = static_cast<std::int32_t>(row);
            separate.add_row(row, mostly_sparse());
            for (std::size_t plane = 0; plane < planes(); ++plane)
                read(number, plane, separate.row(number, plane));
        }
        chunks_ = std::move(separate);
        columns_.stop();
        stored_columns_.clear();
    }

    void widen(std::size_t stride) {
        RowChunks<T> wider(planes(), stride);
        for (std::size_t row = 0; row < rows(); ++row) {
            const auto number = static_cast<std::int32_t>(row);
            wider.add_row(row, mostly_sparse());
            for (std::size_t plane = 0;
                 plane < planes() && chunks_.stride() > 0 && is_dense(number); ++plane)
                std::memcpy(wider.row(number, plane), this->row(number, plane),
                            chunks_.stride() * sizeof(T));
        }
        chunks_ = std::move(wider);
    }

    std::size_t labels_ = 0;
    StepPattern steps_;
    bool all_dense_ = true;    // false once a row has started sparse
    std::vector<bool> dense_;  // per row; empty until a row is sparse
    SparseRows<T> sparse_;
    LabelColumns columns_;
    std::vector<std::uint32_t> stored_columns_;  // per row, while labels share columns
    FeatureIndex index_;
    RowChunks<T> chunks_;
};

}  // namespace tagalong
