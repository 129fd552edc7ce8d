// Numbers for names, 0, 1, 2, ... in the order of appearance. Names are known by their keys
// alone: of a name that need not be shown nothing else is kept.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tagalong {

class Vocabulary {
  public:
    std::size_t size() const { return keys_.size(); }
    const std::vector<std::uint64_t>& keys() const { return keys_; }
    // What the table takes, about.
    std::size_t bytes() const { return keys_.size() * (sizeof(std::uint64_t) + 40); }

    // -1 for a key without a number.
    std::int32_t find(std::uint64_t key) const {
        const auto found = numbers_.find(key);
        return found == numbers_.end() ? -1 : found->second;
    }
    std::int32_t add(std::uint64_t key) {
        const auto [place, is_new] = numbers_.try_emplace(key, static_cast<std::int32_t>(keys_.size()));
        if (is_new) keys_.push_back(key);
        return place->second;
    }

  private:
    // Keys are hashes already.
    struct AsItIs {
        std::size_t operator()(std::uint64_t key) const { return key; }
    };
    std::unordered_map<std::uint64_t, std::int32_t, AsItIs> numbers_;
    std::vector<std::uint64_t> keys_;
};

}  // namespace tagalong
