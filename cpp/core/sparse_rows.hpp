// Rows of weights of which few labels have been touched: they hold those labels only.
//
// The labels are cut into blocks of a cache line. A row has a line for every block in which a
// number was ever written, and a bit for every block that says whether it has one; what has no
// line is zero. With ten thousand labels and two of them moved a round, that is a hundredth of
// the memory of whole rows, and scoring passes over the zeros without looking at them.
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
    static constexpr std::size_t kBlock = kLine<T>;  // labels

    explicit SparseRows(std::size_t planes) : planes_(planes) {}

    std::size_t rows() const { return rows_.size(); }
    // There are at least so many; new ones are zero.
    void reach(std::size_t count) { rows_.resize(std::max(rows_.size(), count)); }
    // How many blocks of a row have a line.
    std::size_t blocks(std::int32_t row) const { return rows_[row].lines.size(); }

    // A label's number in plane 0, null where it is zero for want of a line. The numbers of the
    // other planes follow at distances of kBlock.
    const T* find(std::int32_t row, std::size_t label) const {
        const Row& found = rows_[row];
        const std::size_t block = label / kBlock;
        if (!found.has(block)) return nullptr;
        return line(found.lines[found.rank(block)]) + label % kBlock;
    }
    // The same, with a line made where there is none.
    T* touch(std::int32_t row, std::size_t label) {
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

    // visit(first label, numbers) for the blocks that have a line, in the order of the labels.
    template <class Visit>
    void visit(std::int32_t row, Visit&& visit) const {
        const Row& found = rows_[row];
        auto at = found.lines.begin();
        for (std::size_t word = 0; word < found.present.size(); ++word)
            for (std::uint64_t bits = found.present[word]; bits != 0; bits &= bits - 1)
                visit((word * 64 + static_cast<std::size_t>(std::countr_zero(bits))) * kBlock,
                      static_cast<const T*>(line(*at++)));
    }

    // The row is kept elsewhere from now on.
    void release(std::int32_t row) {
        Row& found = rows_[row];
        free_.insert(free_.end(), found.lines.begin(), found.lines.end());
        found = {};
    }

    // What lines and their lists take.
    std::size_t bytes() const {
        const std::size_t used = made_ - free_.size();
        return used * (planes_ * kCacheLine + sizeof(std::uint32_t)) + rows_.size() * sizeof(Row);
    }

  private:
    struct Row {
        std::vector<std::uint64_t> present;  // a bit a block
        std::vector<std::uint32_t> lines;    // of the blocks present, in their order

        bool has(std::size_t block) const {
            return block / 64 < present.size() && (present[block / 64] >> block % 64 & 1) != 0;
        }
        // How many of the blocks before this one are present.
        std::size_t rank(std::size_t block) const {
            std::size_t count = 0;
            for (std::size_t word = 0; word < block / 64; ++word)
                count += static_cast<std::size_t>(std::popcount(present[word]));
            const std::uint64_t before = (std::uint64_t{1} << block % 64) - 1;
            return count + static_cast<std::size_t>(std::popcount(present[block / 64] & before));
        }
    };

    // Lines live in chunks that never move, as rows do.
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
        if (made_ >> kChunkBits == chunks_.size()) {
            const std::size_t bytes = chunk_lines() * planes_ * kCacheLine;
            chunks_.emplace_back(bytes, chunks_.empty() ? bytes : 0);
        }
        return static_cast<std::uint32_t>(made_++);
    }

    std::size_t planes_;
    std::vector<Row> rows_;
    std::size_t made_ = 0;  // lines
    std::vector<std::uint32_t> free_;
    std::vector<ZeroedPages> chunks_;
};

}  // namespace tagalong
