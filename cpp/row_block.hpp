// The rows of one trial, one after the other, so that a block is a few arrays whatever its rows.
// A row has ascending features without zeros; its sign is part of its values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "example.hpp"
#include "kernels.hpp"
#include "matrix.hpp"

namespace tagalong {

class RowBlock {
  public:
    std::size_t rows() const { return start_.size() - 1; }
    std::size_t entries() const { return entries_; }
    std::span<const std::int32_t> features() const { return {feature_.data(), entries_}; }
    std::size_t start(std::size_t j) const { return start_[j]; }
    RowView row(std::size_t j) const {
        const std::size_t from = start_[j], count = start_[j + 1] - from;
        return {{feature_.data() + from, count}, {value_.data() + from, count}};
    }

    void clear() {
        start_.resize(1);
        entries_ = 0;
    }
    void add(std::int32_t feature, double value) {
        make_room(1);
        feature_[entries_] = feature;
        value_[entries_++] = value;
    }
    void end_row() { start_.push_back(entries_); }

    void append(const RowView& x) {
        make_room(x.size());
        std::copy(x.feature.begin(), x.feature.end(), feature_.data() + entries_);
        std::copy(x.value.begin(), x.value.end(), value_.data() + entries_);
        entries_ += x.size();
        end_row();
    }

    // Row i of a matrix times a sign. A sparse row in order, the usual one, is copied; others are merged.
    void append(const Matrix& matrix, std::int64_t i, double sign) {
        const std::size_t count = matrix.entries(i);
        bool ready = false;
        if (matrix.sparse()) {
            make_room(count);
            matrix.visit_arrays(i, [&](const auto* columns, const auto* values, std::size_t n) {
                ready = kernels::copy_row(columns, values, sign, feature_.data() + entries_, value_.data() + entries_, n);
            });
        }
        if (ready) {
            entries_ += count;
            return end_row();
        }
        matrix.read(i, unordered_);
        unordered_.merge();
        for (double& value : unordered_.value) value *= sign;
        append(unordered_);
    }

  private:
    // Arrays only grow, so that their numbers need not be cleared before they are written.
    void make_room(std::size_t more) {
        if (entries_ + more <= feature_.size()) return;
        feature_.resize(2 * (entries_ + more));
        value_.resize(2 * (entries_ + more));
    }

    std::vector<std::size_t> start_ = {0};
    std::size_t entries_ = 0;
    std::vector<std::int32_t> feature_;
    std::vector<double> value_;
    Example unordered_;
};

}  // namespace tagalong
