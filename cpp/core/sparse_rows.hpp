// Block-sparse rows of weights, for rows in which updates have changed few labels.
//
// The labels are divided into blocks of one cache line. A row stores one line for each block that
// has ever been written, and a bitmap of the stored blocks; all other blocks are zero. With ten
// thousand labels and updates of two labels per round, this takes a hundredth of the memory of
// dense rows, and scoring skips the zero blocks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/aligned.hpp"
#include "core/pages.hpp"

namespace tagalong {

template <class T>
class SparseRows {
  public:
    static constexpr std::size_t kBlock = kLine<T>;  // labels per block

    explicit SparseRows(std::size_t planes) : planes_(planes) {}

    std::size_t rows() const { return rows_.size(); }
    // Adds zero rows until there are at least `count`.
    void ensure_rows(std::size_t count) { rows_.resize(std::max(rows_.size(), count)); }
    // The number of stored blocks of a row.
    std::size_t blocks(std::int32_t row) const { return rows_[row].lines.size(); }

    // The weight of a label in plane 0; null if its block is not stored, so that the weight is
    // zero. The weights in the following planes are at distances of kBlock.
    const T* find(std::int32_t row, std::size_t label) const {
        const Row& found = rows_[row];
        const std::size_t block = label / kBlock;
        if (!found.has(block)) return nullptr;
        return line(found.lines[found.rank(block)]) + label % kBlock;
    }
    // Like find(), but adds a zero block if the block is not stored.
    T* find_or_insert(std::int32_t row, std::size_t label) {
        Row& found = rows_[row];
        const std::size_t block = label / kBlock;
        if (found.present.size() <= block / 64) found.present.resize(block / 64 + 1, 0);
        const std::size_t rank = found.rank(block);
        if (!found.has(block)) {
            found.lines.insert(found.lines.begin() + static_cast<std::ptrdiff_t>(rank), new_line());
            found.present[block / 64] |= std::uint64_t{1} << block % 64;
        }
        return line(found.lines[rank]) + label % kBlock;
    }

    // Calls visit(first label, numbers) for each stored block in the order of the labels.
    template <class Visit>
    void visit(std::int32_t row, Visit&& visit) const {
        const Row& found = rows_[row];
        auto at = found.lines.begin();
        for (std::size_t word = 0; word < found.present.size(); ++word)
            for (std::uint64_t bits = found.present[word]; bits != 0; bits &= bits - 1)
                visit((word * 64 + static_cast<std::size_t>(std::countr_zero(bits))) * kBlock,
                      static_cast<const T*>(line(*at++)));
    }

    // Frees the blocks of a row, which is stored elsewhere from now on.
    void release(std::int32_t row) {
        Row& found = rows_[row];
        free_.insert(free_.end(), found.lines.begin(), found.lines.end());
        found = {};
    }

    // The memory of the lines and of the lists of lines.
    std::size_t bytes() const {
        const std::size_t used = allocated_ - free_.size();
        return used * (planes_ * kCacheLine + sizeof(std::uint32_t)) + rows_.size() * sizeof(Row);
    }

  private:
    struct Row {
        std::vector<std::uint64_t> present;  // bitmap: one bit per block
        std::vector<std::uint32_t> lines;    // line numbers of the stored blocks, in block order

        bool has(std::size_t block) const {
            return block / 64 < present.size() && (present[block / 64] >> block % 64 & 1) != 0;
        }
        // The number of stored blocks before this one.
        std::size_t rank(std::size_t block) const {
            std::size_t count = 0;
            for (std::size_t word = 0; word < block / 64; ++word)
                count += static_cast<std::size_t>(std::popcount(present[word]));
            const std::uint64_t before = (std::uint64_t{1} << block % 64) - 1;
            return count + static_cast<std::size_t>(std::popcount(present[block / 64] & before));
        }
    };

    // Lines are allocated in chunks that never move (compare RowChunks).
    static constexpr int kChunkBits = 16;
    std::size_t chunk_lines() const { return std::size_t{1} << kChunkBits; }
    T* line(std::uint32_t number) const {
        return static_cast<T*>(chunks_[number >> kChunkBits].data()) +
               (number & (chunk_lines() - 1)) * planes_ * kBlock;
    }
    std::uint32_t new_line() {
        if (!free_.empty()) {
            const std::uint32_t number = free_.back();
            free_.pop_back();
            std::fill_n(line(number), planes_ * kBlock, T(0));
            return number;
        }
        if (allocated_ >> kChunkBits == chunks_.size()) {
            const std::size_t bytes = chunk_lines() * planes_ * kCacheLine;
            chunks_.emplace_back(bytes, chunks_.empty() ? bytes : 0);
        }
        return static_cast<std::uint32_t>(allocated_++);
    }

    std::size_t planes_;
    std::vector<Row> rows_;
    std::size_t allocated_ = 0;  // lines allocated so far, including those in free_
    std::vector<std::uint32_t> free_;
    std::vector<ZeroedPages> chunks_;
};

}  // namespace tagalong
