// Block-sparse rows of weights, for rows in which updates have changed few labels.
//
// The labels are divided into blocks of four. A row stores the numbers of each block that has ever
// been written, and a bitmap of the stored blocks; all other blocks are zero. With ten thousand
// labels and updates of two labels per round, this takes a hundredth of the memory of dense rows,
// and scoring skips the zero blocks. Larger blocks are faster per number, but the labels of an
// update are scattered, and most numbers of a large block stay zero.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels.hpp"
#include "core/pages.hpp"

namespace tagalong {

template <class T>
class SparseRows {
  public:
    static constexpr std::size_t kBlock = kernels::kBlock;  // labels per block

    explicit SparseRows(std::size_t planes) : planes_(planes) {}

    std::size_t rows() const { return rows_.size(); }
    // Adds zero rows until there are at least `count`.
    void ensure_rows(std::size_t count) { rows_.resize(std::max(rows_.size(), count)); }
    // The number of stored blocks of a row.
    std::size_t blocks(std::int32_t row) const { return rows_[row].blocks.size(); }

    // The weight of a label in plane 0; null if its block is not stored, so that the weight is
    // zero. The weights in the following planes are at distances of kBlock.
    const T* find(std::int32_t row, std::size_t label) const {
        const Row& found = rows_[row];
        const std::size_t block = label / kBlock;
        if (!found.has(block)) return nullptr;
        return block_at(found.blocks[found.rank(block)]) + label % kBlock;
    }
    // Like find(), but adds a zero block if the block is not stored.
    T* find_or_insert(std::int32_t row, std::size_t label) {
        Row& found = rows_[row];
        const std::size_t block = label / kBlock;
        if (found.present.size() <= block / 64) found.present.resize(block / 64 + 1, 0);
        const std::size_t rank = found.rank(block);
        if (!found.has(block)) {
            found.blocks.insert(found.blocks.begin() + static_cast<std::ptrdiff_t>(rank),
                                new_block());
            found.present[block / 64] |= std::uint64_t{1} << block % 64;
        }
        return block_at(found.blocks[rank]) + label % kBlock;
    }

    // The same for ascending blocks: writes the address of the first number of each of them.
    void find_or_insert_blocks(std::int32_t row, std::span<const std::uint32_t> blocks, T** out) {
        if (blocks.empty()) return;
        Row& found = rows_[row];
        const std::size_t words = blocks.back() / 64 + 1;
        if (found.present.size() < words) found.present.resize(words, 0);
        std::size_t word = 0, before = 0;  // the number of stored blocks in earlier words
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const std::size_t block = blocks[i];
            for (; word < block / 64; ++word)
                before += static_cast<std::size_t>(std::popcount(found.present[word]));
            const std::uint64_t bit = std::uint64_t{1} << block % 64;
            const std::size_t rank =
                before + static_cast<std::size_t>(std::popcount(found.present[word] & (bit - 1)));
            if ((found.present[word] & bit) == 0) {
                found.blocks.insert(found.blocks.begin() + static_cast<std::ptrdiff_t>(rank),
                                    new_block());
                found.present[word] |= bit;
            }
            out[i] = block_at(found.blocks[rank]);
        }
    }

    // Calls visit(first label, numbers) for each stored block in the order of the labels.
    template <class Visit>
    void visit(std::int32_t row, Visit&& visit) const {
        const Row& found = rows_[row];
        auto at = found.blocks.begin();
        for (std::size_t word = 0; word < found.present.size(); ++word)
            for (std::uint64_t bits = found.present[word]; bits != 0; bits &= bits - 1)
                visit((word * 64 + static_cast<std::size_t>(std::countr_zero(bits))) * kBlock,
                      static_cast<const T*>(block_at(*at++)));
    }

    // Frees the blocks of a row, which is stored elsewhere from now on.
    void release(std::int32_t row) {
        Row& found = rows_[row];
        free_.insert(free_.end(), found.blocks.begin(), found.blocks.end());
        found = {};
    }

    // The memory of the blocks, of the lists of blocks and of the bitmaps.
    std::size_t bytes() const {
        const std::size_t used = allocated_ - free_.size();
        std::size_t words = 0;
        for (const Row& row : rows_) words += row.present.size();
        return used * (planes_ * kBlock * sizeof(T) + sizeof(std::uint32_t)) +
               words * sizeof(std::uint64_t) + rows_.size() * sizeof(Row);
    }

  private:
    struct Row {
        std::vector<std::uint64_t> present;  // bitmap: one bit per block
        std::vector<std::uint32_t> blocks;   // numbers of the stored blocks, in order of the labels

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

    // Blocks are allocated in chunks that never move (compare RowChunks).
    static constexpr int kChunkBits = 16;
    std::size_t chunk_blocks() const { return std::size_t{1} << kChunkBits; }
    T* block_at(std::uint32_t number) const {
        return static_cast<T*>(chunks_[number >> kChunkBits].data()) +
               (number & (chunk_blocks() - 1)) * planes_ * kBlock;
    }
    std::uint32_t new_block() {
        if (!free_.empty()) {
            const std::uint32_t number = free_.back();
            free_.pop_back();
            std::fill_n(block_at(number), planes_ * kBlock, T(0));
            return number;
        }
        if (allocated_ >> kChunkBits == chunks_.size()) {
            const std::size_t bytes = chunk_blocks() * planes_ * kBlock * sizeof(T);
            chunks_.emplace_back(bytes, chunks_.empty() ? bytes : 0);
        }
        return static_cast<std::uint32_t>(allocated_++);
    }

    std::size_t planes_;
    std::vector<Row> rows_;
    std::size_t allocated_ = 0;  // blocks allocated so far, including those in free_
    std::vector<std::uint32_t> free_;
    std::vector<ZeroedPages> chunks_;
};

}  // namespace tagalong
