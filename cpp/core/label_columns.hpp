// Which column of the rows a label has, where many labels have had the same steps.
//
// Labels that are declared before the first item begin alike, and as long as a label is never
// relevant, a step that goes by scores treats it as it treats all others of which that is true. Such
// labels share the first column. One that a step treats otherwise gets a column of its own, which
// begins as a copy of the shared one: after the same steps it has the same numbers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tagalong {

class LabelColumns {
  public:
    static constexpr std::int32_t kShared = 0;

    bool sharing() const { return sharing_; }
    std::size_t of(std::size_t label) const { return static_cast<std::size_t>(of_label_[label]); }
    // Per label, while sharing.
    const std::vector<std::int32_t>& of_labels() const { return of_label_; }
    // How many columns there are, the shared one included.
    std::size_t count() const { return count_; }
    // How many labels the shared one stands for.
    std::size_t sharers() const { return of_label_.size() + 1 - count_; }

    void share(std::size_t labels) {
        sharing_ = true;
        count_ = 1;
        of_label_.assign(labels, kShared);
    }
    void stop() {
        sharing_ = false;
        of_label_.clear();
        count_ = 1;
    }
    void separate(std::size_t label) { of_label_[label] = static_cast<std::int32_t>(count_++); }

    // As they were once; false if columns other than the shared one are not 1, 2, 3, ... in some order.
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
        of_label_.assign(columns.begin(), columns.end());
        return true;
    }

  private:
    bool sharing_ = false;
    std::size_t count_ = 1;
    std::vector<std::int32_t> of_label_;
};

}  // namespace tagalong
