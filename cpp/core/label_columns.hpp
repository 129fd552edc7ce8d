// Map from labels to columns of the weight rows, where labels with equal weights share one column.
//
// Labels declared before the first item start with equal weights. If the coefficients of a step
// depend on the scores only, all labels that have never been relevant receive equal steps and keep
// equal weights. They share column 0. When a step differs for one of them, that label gets a
// separate column, which starts as a copy of the shared column. Labels added later may share it too,
// if they are to start with the weights of the labels that have never been relevant.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tagalong {

class LabelColumns {
  public:
    static constexpr std::int32_t kShared = 0;

    bool sharing() const { return sharing_; }
    std::size_t of(std::size_t label) const {
        return static_cast<std::size_t>(column_of_label_[label]);
    }
    // The column of each label; empty if labels do not share columns.
    const std::vector<std::int32_t>& of_all_labels() const { return column_of_label_; }
    // The number of columns, including the shared one.
    std::size_t count() const { return count_; }
    // The number of labels in the shared column.
    std::size_t shared_labels() const { return column_of_label_.size() + 1 - count_; }

    void share(std::size_t labels) {
        sharing_ = true;
        count_ = 1;
        column_of_label_.assign(labels, kShared);
    }
    // Adds labels to the shared column.
    void add_labels(std::size_t count) {
        column_of_label_.resize(column_of_label_.size() + count, kShared);
    }
    void stop() {
        sharing_ = false;
        column_of_label_.clear();
        count_ = 1;
    }
    void add_column(std::size_t label) {
        column_of_label_[label] = static_cast<std::int32_t>(count_++);
    }

    // Restores the columns of a saved model. Returns false if they are invalid: the columns other
    // than the shared one must be 1, 2, 3, ... in some order, each for one label.
    bool restore(std::span<const std::int32_t> columns) {
        std::vector<bool> taken(columns.size() + 1);
        std::size_t own = 0;
        for (const std::int32_t column : columns) {
            if (column == kShared) continue;
            if (column < 0 || static_cast<std::size_t>(column) >= taken.size() ||
                taken[static_cast<std::size_t>(column)])
                return false;
            taken[static_cast<std::size_t>(column)] = true;
            ++own;
        }
        for (std::size_t column = 1; column <= own; ++column)
            if (!taken[column]) return false;
        sharing_ = true;
        count_ = own + 1;
        column_of_label_.assign(columns.begin(), columns.end());
        return true;
    }

  private:
    bool sharing_ = false;
    std::size_t count_ = 1;
    std::vector<std::int32_t> column_of_label_;
};

}  // namespace tagalong
