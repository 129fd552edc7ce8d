// Which row of the weight store belongs to a feature: rows are numbered 0, 1, 2, ... in the order
// of insertion. Small ids, the usual case, are in a plain array; the others in an open-addressing
// hash table. The array covers ids up to a few times the number of rows, so memory follows the
// number of features inserted, whatever their ids.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tagalong {

class FeatureIndex {
  public:
    static constexpr std::int32_t kAbsent = -1;

    FeatureIndex() : table_(16), shift_(28) {}

    std::size_t size() const { return ids_.size(); }
    const std::vector<std::int32_t>& ids() const { return ids_; }

    std::int32_t find(std::int32_t id) const {
        if (static_cast<std::uint32_t>(id) < small_.size()) [[likely]]
            return small_[static_cast<std::uint32_t>(id)];
        return look_up(id);
    }

    // The row of a feature that must not be there yet.
    std::int32_t insert(std::int32_t id) {
        const auto row = static_cast<std::int32_t>(ids_.size());
        ids_.push_back(id);
        if (static_cast<std::uint32_t>(id) < small_.size()) {
            small_[static_cast<std::uint32_t>(id)] = row;
        } else {
            place({id, row});
            if (ids_.size() > covered_) cover();
        }
        return row;
    }

  private:
    struct Entry {
        std::int32_t id = 0;
        std::int32_t row = kAbsent;
    };

    [[gnu::noinline, gnu::pure]] std::int32_t look_up(std::int32_t id) const {
        for (std::size_t at = home(id);; at = (at + 1) & (table_.size() - 1)) {
            const Entry& entry = table_[at];
            if (entry.row == kAbsent || entry.id == id) return entry.row;
        }
    }

    // Fibonacci hashing: neighbouring ids, the usual case, land far apart.
    std::size_t home(std::int32_t id) const {
        return (static_cast<std::uint32_t>(id) * 2654435769u) >> shift_;
    }

    void place(Entry entry) {
        if (2 * (hashed_ + 1) > table_.size()) grow();
        std::size_t at = home(entry.id);
        while (table_[at].row != kAbsent) at = (at + 1) & (table_.size() - 1);
        table_[at] = entry;
        ++hashed_;
    }

    void grow() {
        std::vector<Entry> before(2 * table_.size());
        before.swap(table_);
        --shift_;
        hashed_ = 0;
        for (const Entry& entry : before)
            if (entry.row != kAbsent) place(entry);
    }

    // Widen the array to four ids a row; what it covers leaves the hash table.
    void cover() {
        covered_ = 2 * ids_.size();
        small_.assign(4 * covered_, kAbsent);
        std::fill(table_.begin(), table_.end(), Entry{});
        hashed_ = 0;
        for (std::size_t row = 0; row < ids_.size(); ++row) {
            const auto id = static_cast<std::uint32_t>(ids_[row]);
            if (id < small_.size()) small_[id] = static_cast<std::int32_t>(row);
            else place({ids_[row], static_cast<std::int32_t>(row)});
        }
    }

    std::vector<std::int32_t> small_;
    std::size_t covered_ = 0;   // rows at which the array is widened next
    std::vector<Entry> table_;  // at most half full
    std::size_t hashed_ = 0;
    std::vector<std::int32_t> ids_;
    int shift_;
};

}  // namespace tagalong
