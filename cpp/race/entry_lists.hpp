// Sparse counts per label: many short lists in one array, sorted by label, each with the sum of its
// counts. A list that is full moves to a place of twice the size, and its old place is used again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tagalong {

struct LabelCount {
    double count = 0;
    std::int32_t label = 0;
};

class EntryLists {
  public:
    std::size_t size() const { return lists_.size(); }
    std::span<const LabelCount> operator[](std::size_t list) const {
        return {entries_.data() + lists_[list].begin, lists_[list].size};
    }
    double sum(std::size_t list) const { return lists_[list].sum; }
    void add_list() { lists_.emplace_back(); }
    // Replaces a sum by one with other rounding errors, as a saved model has it.
    void restore_sum(std::size_t list, double sum) { lists_[list].sum = sum; }
    void prefetch_list(std::size_t list) const { __builtin_prefetch(&lists_[list]); }
    void prefetch_entries(std::size_t list) const {
        constexpr std::size_t kPerLine = 64 / sizeof(LabelCount);
        const List& found = lists_[list];
        for (std::size_t i = 0; i < found.size; i += kPerLine)
            __builtin_prefetch(entries_.data() + found.begin + i);
    }

    // The count of a label in a list; 0 if it has none.
    double find(std::size_t list, std::int32_t label) const {
        const auto entries = (*this)[list];
        const std::size_t at = place(entries, label);
        return at < entries.size() && entries[at].label == label ? entries[at].count : 0.0;
    }
    // Adds to the count of a label, which may be new.
    void add(std::size_t list, std::int32_t label, double amount) {
        const auto entries = (*this)[list];
        const std::size_t at = place(entries, label);
        if (at == entries.size() || entries[at].label != label) insert(list, at, label);
        entries_[lists_[list].begin + at].count += amount;
        lists_[list].sum += amount;
    }

    // The places for entries, used or free.
    std::size_t places() const { return entries_.size(); }
    // Without the free places, which a loaded model lacks.
    std::size_t bytes() const { return used_ * sizeof(LabelCount) + lists_.size() * sizeof(List); }

  private:
    struct List {
        std::size_t begin = 0;
        std::uint32_t size = 0;
        std::uint32_t room = 0;  // 0 or a power of two
        double sum = 0;
    };

    // The first place in a sorted list whose label is not smaller.
    static std::size_t place(std::span<const LabelCount> entries, std::int32_t label) {
        const auto before = [](const LabelCount& entry, std::int32_t other) {
            return entry.label < other;
        };
        return static_cast<std::size_t>(
            std::lower_bound(entries.begin(), entries.end(), label, before) - entries.begin());
    }
    void insert(std::size_t number, std::size_t at, std::int32_t label) {
        List& list = lists_[number];
        if (list.size == list.room) make_room(list);
        const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(list.begin);
        std::copy_backward(first + static_cast<std::ptrdiff_t>(at), first + list.size,
                           first + list.size + 1);
        first[static_cast<std::ptrdiff_t>(at)] = {0, label};
        ++list.size;
        ++used_;
    }
    void make_room(List& list) {
        const std::uint32_t room = std::max(1u, 2 * list.room);
        std::vector<std::size_t>& free = free_[std::bit_width(room)];
        std::size_t begin = entries_.size();
        if (free.empty()) {
            entries_.resize(begin + room);
        } else {
            begin = free.back();
            free.pop_back();
        }
        std::copy_n(entries_.begin() + static_cast<std::ptrdiff_t>(list.begin), list.size,
                    entries_.begin() + static_cast<std::ptrdiff_t>(begin));
        if (list.room > 0) free_[std::bit_width(list.room)].push_back(list.begin);
        list.begin = begin;
        list.room = room;
    }

    std::vector<LabelCount> entries_;
    std::size_t used_ = 0;  // by all lists
    std::vector<List> lists_;
    std::vector<std::size_t> free_[33];  // the free places, by the bit width of their size
};

}  // namespace tagalong
