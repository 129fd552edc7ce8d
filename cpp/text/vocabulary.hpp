// Map from the keys of names (hash.hpp) to the numbers 0, 1, 2, ... in the order of appearance. The
// names themselves are not stored.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tagalong {

class Vocabulary {
  public:
    std::size_t size() const { return keys_.size(); }
    const std::vector<std::uint64_t>& keys() const { return keys_; }
    std::size_t bytes() const {
        return keys_.size() * sizeof(std::uint64_t) + table_.size() * sizeof(std::int32_t);
    }
    void clear() {
        keys_.clear();
        std::fill(table_.begin(), table_.end(), kFree);
    }

    // The number of a key; -1 if it has none.
    std::int32_t find(std::uint64_t key) const {
        return table_.empty() ? kFree : table_[place(key)];
    }

    // The number of a key; assigns the next number to a new key.
    std::int32_t add(std::uint64_t key) {
        if (2 * (keys_.size() + 1) > table_.size()) grow();
        std::int32_t& number = table_[place(key)];
        if (number == kFree) {
            number = static_cast<std::int32_t>(keys_.size());
            keys_.push_back(key);
        }
        return number;
    }

  private:
    static constexpr std::int32_t kFree = -1;

    // The slot of a key, or the free slot for it. Keys are hashes, so their low bits select the
    // first slot to probe.
    std::size_t place(std::uint64_t key) const {
        std::size_t at = key & (table_.size() - 1);
        while (table_[at] != kFree && keys_[table_[at]] != key) at = (at + 1) & (table_.size() - 1);
        return at;
    }

    void grow() {
        table_.assign(std::max<std::size_t>(16, 2 * table_.size()), kFree);
        for (std::size_t i = 0; i < keys_.size(); ++i)
            table_[place(keys_[i])] = static_cast<std::int32_t>(i);
    }

    std::vector<std::int32_t> table_;  // open addressing, at most half full
    std::vector<std::uint64_t> keys_;
};

}  // namespace tagalong
