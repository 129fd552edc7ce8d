// Names of features, stored in one buffer in the order of appearance, up to a memory limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/feature_index.hpp"

namespace tagalong {

class Names {
  public:
    // The memory limit in bytes; 0 stores no names.
    explicit Names(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    std::size_t size() const { return ends_.size(); }
    std::size_t bytes() const { return bytes_.size() + ends_.size() * kOverheadBytes; }
    const std::string& text() const { return bytes_; }
    const std::vector<std::uint32_t>& ends() const { return ends_; }
    const std::vector<std::int32_t>& ids() const { return index_.ids(); }

    // Whether a feature has no name yet and the limit may allow one.
    bool can_add(std::int32_t id) const {
        return bytes() + kOverheadBytes <= most_bytes_ && index_.find(id) == FeatureIndex::kAbsent;
    }

    // Stores the first name of a feature; later names of the same hash bucket are ignored.
    void add(std::int32_t id, std::string_view name) {
        if (bytes() + kOverheadBytes + name.size() > most_bytes_ ||
            index_.find(id) != FeatureIndex::kAbsent)
            return;
        index_.insert(id);
        bytes_ += name;
        ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    }

    // Removes the names of these features.
    void forget(const std::unordered_set<std::int32_t>& ids) {
        Names kept(most_bytes_);
        for (const std::int32_t id : index_.ids())
            if (!ids.contains(id)) kept.add(id, find(id));
        *this = std::move(kept);
    }

    // The name of a feature; empty if unknown.
    std::string_view find(std::int32_t id) const {
        const std::int32_t row = index_.find(id);
        if (row == FeatureIndex::kAbsent) return {};
        const std::uint32_t begin = row == 0 ? 0 : ends_[row - 1];
        return std::string_view(bytes_).substr(begin, ends_[row] - begin);
    }

  private:
    // The memory of a name apart from its text: its end, and its entries in the index.
    static constexpr std::size_t kOverheadBytes = sizeof(std::uint32_t) + 24;

    std::size_t most_bytes_;
    std::string bytes_;
    std::vector<std::uint32_t> ends_;
    FeatureIndex index_;
};

}  // namespace tagalong
