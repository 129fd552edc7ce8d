// The rows of one trial. A row has ascending features and no zeros. Rows that have this form in the
// caller's matrix are referenced there, with a separate sign. Other rows are copied into the block,
// multiplied by their signs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/entries.hpp"
#include "core/example.hpp"
#include "core/matrix.hpp"

namespace tagalong {

class RowBlock {
  public:
    std::size_t rows() const { return rows_.size(); }
    // Row j without its sign.
    RowView row(std::size_t j) const {
        const Row& row = rows_[j];
        const std::int32_t* feature = row.feature ? row.feature
                                      : row.value ? consecutive_.data()
                                                  : feature_.data() + row.from;
        return {{feature, row.count},
                {row.value ? row.value : value_.data() + row.from, row.count}};
    }
    // The factor of row j: the sign of a referenced row, 1 for a copied row.
    double sign(std::size_t j) const { return rows_[j].sign; }
    // Whether some rows have a separate sign.
    bool has_separate_signs() const { return separate_signs_; }

    void clear() {
        rows_.clear();
        entries_ = row_start_ = 0;
        separate_signs_ = false;
    }
    void add(std::int32_t feature, double value) {
        make_room(1);
        feature_[entries_] = feature;
        value_[entries_++] = value;
    }
    void end_row() {
        rows_.push_back({nullptr, nullptr, row_start_, entries_ - row_start_, 1.0});
        row_start_ = entries_;
    }

    void append(const RowView& x, double sign = 1) {
        make_room(x.size());
        std::copy(x.feature.begin(), x.feature.end(), feature_.data() + entries_);
        for (std::size_t i = 0; i < x.size(); ++i) value_[entries_ + i] = sign * x.value[i];
        entries_ += x.size();
        end_row();
    }

    // Appends a copy of row i of a matrix, multiplied by a sign. A sorted sparse row, the usual
    // case, is copied directly; others are sorted and merged first.
    void append(const Matrix& matrix, std::int64_t i, double sign) {
        const std::size_t count = matrix.entries(i);
        bool ready = false;
        if (matrix.sparse()) {
            make_room(count);
            matrix.visit_arrays(i, [&](const auto* columns, const auto* values, std::size_t n) {
                ready = kernels::copy_row(columns, values, sign, feature_.data() + entries_,
                                          value_.data() + entries_, n);
            });
        }
        if (ready) {
            entries_ += count;
            return end_row();
        }
        matrix.read(i, merged_);
        merged_.merge();
        append(merged_, sign);
    }

    // Appends the rows [from, end) of a matrix with one sign per row. They are referenced without a
    // copy if all of them are sorted and have the number types of this class; then the matrix must
    // outlive the use of the block. Otherwise they are copied.
    void append_references(const Matrix& matrix, std::int64_t from, std::int64_t end,
                           const double* signs) {
        const std::size_t before = rows_.size();
        bool ready = false;
        if (from < end)
            matrix.visit_arrays(from, [&](const auto* columns, const auto* values, std::size_t) {
                if constexpr (std::is_same_v<decltype(columns), const std::int32_t*> &&
                              std::is_same_v<decltype(values), const double*>)
                    ready = matrix.sparse()
                                ? reference_sparse(matrix, from, end, columns, values, signs)
                                : reference_dense(matrix, from, end, values, signs);
            });
        separate_signs_ |= ready;
        if (ready) return;
        rows_.resize(before);
        for (std::int64_t i = from; i < end; ++i) append(matrix, i, signs[i - from]);
    }

  private:
    struct Row {
        const std::int32_t* feature;  // null for a referenced dense row, features 0, 1, 2, ...
        const double* value;          // null for a copied row, which starts at `from`
        std::size_t from, count;
        double sign;
    };

    // References sparse rows. They are contiguous, so one pass checks all of them: the number of
    // descents of the columns must equal the number of descents at the starts of rows.
    bool reference_sparse(const Matrix& matrix, std::int64_t from, std::int64_t end,
                          const std::int32_t* columns, const double* values, const double* signs) {
        const std::int64_t origin = matrix.start(from);
        const auto count = static_cast<std::size_t>(matrix.start(end) - origin);
        if (!kernels::no_zeros(values, count)) return false;
        const std::size_t found = kernels::count_descents(columns, count);
        std::size_t at = 0, allowed = 0;
        for (std::int64_t i = from; i < end; ++i) {
            const auto next = static_cast<std::size_t>(matrix.start(i + 1) - origin);
            if (at > 0 && at < next) allowed += columns[at - 1] >= columns[at];
            rows_.push_back({columns + at, values + at, 0, next - at, signs[i - from]});
            at = next;
        }
        // Prefetch the entries that follow, probably the next block, while this one is learnt.
        const auto after =
            std::min(static_cast<std::size_t>(matrix.start(matrix.rows) - origin), 2 * count);
        for (std::size_t e = count; e < after; e += 8) __builtin_prefetch(values + e, 0, 2);
        for (std::size_t e = count; e < after; e += 16) __builtin_prefetch(columns + e, 0, 2);
        return found == allowed;
    }
    bool reference_dense(const Matrix& matrix, std::int64_t from, std::int64_t end,
                         const double* values, const double* signs) {
        const auto count = static_cast<std::size_t>(matrix.columns);
        for (std::int64_t i = from; i < end; ++i, values += matrix.row_stride) {
            if (!kernels::no_zeros(values, count)) return false;
            rows_.push_back({nullptr, values, 0, count, signs[i - from]});
        }
        for (std::size_t e = consecutive_.size(); e < count; ++e)
            consecutive_.push_back(static_cast<std::int32_t>(e));
        return true;
    }

    // Arrays never shrink, so that entries are not cleared again before they are written.
    void make_room(std::size_t more) {
        if (entries_ + more <= feature_.size()) return;
        feature_.resize(2 * (entries_ + more));
        value_.resize(2 * (entries_ + more));
    }

    std::vector<Row> rows_;
    bool separate_signs_ = false;
    std::size_t entries_ = 0, row_start_ = 0;  // entries of the copied rows; start of the last row
    std::vector<std::int32_t> feature_;
    std::vector<double> value_;
    std::vector<std::int32_t> consecutive_;  // 0, 1, 2, ...
    Example merged_;
};

}  // namespace tagalong
