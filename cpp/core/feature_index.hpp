// Map from feature ids to row numbers of the weight store. Rows are numbered 0, 1, 2, ... in the
// order of insertion. An array indexed by id holds the small ids, the usual case; an
// open-addressing hash table holds the others. The array covers ids up to a small multiple of the
// number of rows, so memory is proportional to the number of features, whatever their ids.
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
        if (static_cast<std::uint32_t>(id) < by_id_.size()) [[likely]]
            return by_id_[static_cast<std::uint32_t>(id)];
        return find_hashed(id);
    }

    // Inserts a feature that must be absent, and returns its row.
    std::int32_t insert(std::int32_t id) {
        const auto row = static_cast<std::int32_t>(ids_.size());
        ids_.push_back(id);
        if (static_cast<std::uint32_t>(id) < by_id_.size()) {
            by_id_[static_cast<std::uint32_t>(id)] = row;
        } else {
            insert_hashed({id, row});
            if (ids_.size() > widen_above_) widen();
        }
        return row;
    }

  private:
    struct Entry {
        std::int32_t id = 0;
        std::int32_t row = kAbsent;
    };

    [[gnu::noinline, gnu::pure]] std::int32_t find_hashed(std::int32_t id) const {
        for (std::size_t at = home_slot(id);; at = (at + 1) & (table_.size() - 1)) {
            const Entry& entry = table_[at];
            if (entry.row == kAbsent || entry.id == id) return entry.row;
        }
    }

    // The first slot to probe. Fibonacci hashing spreads neighbouring ids, the usual case.
    std::size_t home_slot(std::int32_t id) const {
        return (static_cast<std::uint32_t>(id) * 2654435769u) >> shift_;
    }

    void insert_hashed(Entry entry) {
        if (2 * (hashed_ + 1) > table_.size()) grow();
        std::size_t at = home_slot(entry.id);
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
            if (entry.row != kAbsent) insert_hashed(entry);
    }

    // Widens the array to eight ids per present row, which is enough for twice as many rows at four
    // ids per row. Ids that it covers move from the hash table to the array.
    void widen() {
        widen_above_ = 2 * ids_.size();
        by_id_.assign(4 * widen_above_, kAbsent);
        std::fill(table_.begin(), table_.end(), Entry{});
        hashed_ = 0;
        for (std::size_t row = 0; row < ids_.size(); ++row) {
            const auto id = static_cast<std::uint32_t>(ids_[row]);
            if (id < by_id_.size()) by_id_[id] = static_cast<std::int32_t>(row);
            else insert_hashed({ids_[row], static_cast<std::int32_t>(row)});
        }
    }

    std::vector<std::int32_t> by_id_;
    std::size_t widen_above_ = 0;  // number of rows beyond which the array is widened
    std::vector<Entry> table_;     // at most half full
    std::size_t hashed_ = 0;
    std::vector<std::int32_t> ids_;
    int shift_;
};

}  // namespace tagalong
