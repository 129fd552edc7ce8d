// The rows of a block as a CSR matrix, whose columns are the features of these rows, renumbered in
// the order of appearance. Covariances, which are dense anyway, are computed from dense copies of
// the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "blocks/row_block.hpp"

namespace tagalong {

class BlockMatrix {
  public:
    // Copies the listed rows of a block, multiplied by their signs.
    void load(const RowBlock& block, std::span<const std::size_t> rows) {
        std::size_t entries = 0;
        std::int32_t first = 0, last = 0;
        start_.assign(1, 0);
        for (const std::size_t j : rows) {
            const RowView row = block.row(j);
            start_.push_back(entries += row.size());
            if (row.size() == 0) continue;
            first = std::min(first, row.feature.front());
            last = std::max(last, row.feature.back());
        }
        column_.resize(entries);
        value_.resize(entries);
        // If the ids are not much larger than the number of entries, a table indexed by id holds
        // the numbers of the features; otherwise a hash table.
        if (first >= 0 && static_cast<std::size_t>(last) < 16 * entries) {
            if (places_.size() <= static_cast<std::size_t>(last))
                places_.resize(static_cast<std::size_t>(last) + 1, kNone);
            fill(block, rows,
                 [this](std::int32_t feature) -> std::int32_t& { return places_[feature]; });
            for (const std::int32_t feature : features_) places_[feature] = kNone;
        } else {
            make_room(entries);
            fill(block, rows,
                 [this](std::int32_t feature) -> std::int32_t& { return hashed(feature); });
        }
    }
    // Copies the listed rows of another matrix, with the same features.
    void select(const BlockMatrix& from, std::span<const std::size_t> rows) {
        features_ = from.features_;
        start_.assign(1, 0);
        column_.clear();
        value_.clear();
        for (const std::size_t j : rows) {
            column_.insert(column_.end(), from.column_.begin() + from.start_[j],
                           from.column_.begin() + from.start_[j + 1]);
            value_.insert(value_.end(), from.value_.begin() + from.start_[j],
                          from.value_.begin() + from.start_[j + 1]);
            start_.push_back(column_.size());
        }
    }

    std::size_t rows() const { return start_.size() - 1; }
    const std::vector<std::int32_t>& features() const { return features_; }

    // sum_i x_ji by_i
    double product(std::size_t j, const std::vector<double>& by) const {
        double sum = 0;
        for (std::size_t e = start_[j]; e < start_[j + 1]; ++e) sum += value_[e] * by[column_[e]];
        return sum;
    }
    // out_i += amount x_ji
    void add(std::size_t j, double amount, std::vector<double>& out) const {
        for (std::size_t e = start_[j]; e < start_[j + 1]; ++e)
            out[column_[e]] += amount * value_[e];
    }

    // The Gram matrix sum_i x_ji x_ki. Sparse rows are multiplied feature by feature.
    void products(std::vector<double>& out) {
        const std::size_t m = rows(), n = features_.size();
        out.assign(m * m, 0.0);
        if (4 * value_.size() > m * n) {
            fill_dense_rows();
            fill_products(
                out, [](std::size_t, std::size_t, double value) { return value; },
                [](std::size_t, double value) { return value; },
                [](std::size_t, std::size_t) { return 0.0; });
            return;
        }
        // Multiply each entry by the entries of earlier rows with the same feature. They form a
        // linked list: last_entry_ holds the last entry of a feature, previous_ the predecessor of
        // each entry.
        last_entry_.assign(n, kNone);
        previous_.resize(value_.size());
        repeated_.resize(value_.size() + 1);
        std::size_t repeated = 0;
        for (std::size_t j = 0; j < m; ++j) {
            double square = 0;
            for (std::size_t e = start_[j]; e < start_[j + 1]; ++e) {
                std::int32_t& last_entry = last_entry_[static_cast<std::size_t>(column_[e])];
                square += value_[e] * value_[e];
                previous_[e] = {last_entry, static_cast<std::uint32_t>(j)};
                repeated_[repeated] = e;
                repeated += last_entry != kNone;
                last_entry = static_cast<std::int32_t>(e);
            }
            out[j * m + j] = square;
        }
        for (std::size_t i = 0; i < repeated; ++i) {
            const std::size_t e = repeated_[i], j = previous_[e].row;
            for (std::int32_t at = previous_[e].entry; at != kNone; at = previous_[at].entry) {
                const std::size_t k = previous_[at].row;
                out[k * m + j] = out[j * m + k] += value_[e] * value_[at];
            }
        }
    }

    // The covariance matrix of the rows under a distribution over the features: `weights` for these
    // features, and the total weight `outside` for all other features, where the rows are 0. Values
    // are centred before multiplication to avoid cancellation.
    void covariance(const std::vector<double>& weights, double outside,
                    const std::vector<double>& mean, std::vector<double>& out) {
        fill_dense_rows();
        fill_products(
            out,
            [&](std::size_t j, std::size_t i, double value) {
                return weights[i] * (value - mean[j]);
            },
            [&](std::size_t k, double value) { return value - mean[k]; },
            [&](std::size_t j, std::size_t k) { return outside * mean[j] * mean[k]; });
    }

  private:
    // The hash table of feature numbers: open addressing, at most half full.
    void make_room(std::size_t entries) {
        bits_ = 4;
        while ((std::size_t{1} << bits_) < 2 * entries) ++bits_;
        numbers_.assign(std::size_t{1} << bits_, kNone);
    }
    std::int32_t& hashed(std::int32_t feature) {
        std::size_t at = static_cast<std::uint32_t>(feature) * 2654435769u >> (32 - bits_);
        const auto other = [&](std::int32_t found) {
            return found != kNone && features_[found] != feature;
        };
        while (other(numbers_[at])) at = (at + 1) & (numbers_.size() - 1);
        return numbers_[at];
    }

    // Fills columns and values. place(feature) is a reference to the number of a feature, kNone if
    // it is new.
    template <class Place>
    void fill(const RowBlock& block, std::span<const std::size_t> rows, Place&& place) {
        // Branch-free, because whether a feature is new is unpredictable.
        features_.resize(column_.size() + 1);
        std::int32_t count = 0;
        std::int32_t* column = column_.data();
        double* value = value_.data();
        for (const std::size_t j : rows) {
            const RowView row = block.row(j);
            const double sign = block.sign(j);
            for (std::size_t i = 0; i < row.size(); ++i) {
                const std::int32_t feature = row.feature[i];
                std::int32_t& number = place(feature);
                const std::int32_t fresh = number == kNone;
                features_[static_cast<std::size_t>(count)] = feature;  // overwritten unless new
                number ^= (number ^ count) & -fresh;
                count += fresh;
                *column++ = number;
                *value++ = sign * row.value[i];
            }
        }
        features_.resize(static_cast<std::size_t>(count));
    }

    void fill_dense_rows() {
        const std::size_t n = features_.size();
        dense_.assign(rows() * n, 0.0);
        for (std::size_t j = 0; j < rows(); ++j)
            for (std::size_t e = start_[j]; e < start_[j + 1]; ++e)
                dense_[j * n + column_[e]] = value_[e];
    }

    // out_jk = rest(j, k) + sum_i left(j, i, x_ji) right(k, x_ki)
    template <class Left, class Right, class Rest>
    void fill_products(std::vector<double>& out, Left&& left, Right&& right, Rest&& rest) {
        const std::size_t m = rows(), n = features_.size();
        out.assign(m * m, 0.0);
        scaled_.resize(n);
        for (std::size_t j = 0; j < m; ++j) {
            const double* a = dense_.data() + j * n;
            for (std::size_t i = 0; i < n; ++i) scaled_[i] = left(j, i, a[i]);
            for (std::size_t k = 0; k <= j; ++k) {
                const double* b = dense_.data() + k * n;
                double sum = 0;
#pragma omp simd reduction(+ : sum)
                for (std::size_t i = 0; i < n; ++i) sum += scaled_[i] * right(k, b[i]);
                out[j * m + k] = out[k * m + j] = sum + rest(j, k);
            }
        }
    }

    static constexpr std::int32_t kNone = -1;
    std::vector<std::int32_t> numbers_;
    std::vector<std::int32_t> places_;  // feature numbers by id; all kNone outside of load()
    int bits_ = 0;
    std::vector<std::int32_t> features_;
    std::vector<std::size_t> start_ = {0};
    std::vector<std::int32_t> column_;
    std::vector<double> value_;
    // Scratch.
    struct Previous {
        std::int32_t entry;  // the previous entry with the same feature
        std::uint32_t row;   // the row of this entry
    };
    std::vector<std::int32_t> last_entry_;
    std::vector<Previous> previous_;
    std::vector<std::size_t> repeated_;  // entries whose feature occurs in an earlier row
    std::vector<double> dense_, scaled_;
};

}  // namespace tagalong
