// Memory for rows of numbers in chunks of 32 MB, so that adding rows never moves existing ones. A
// chunk reserves address space; the operating system allocates its pages when rows are first used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/pages.hpp"

namespace tagalong {

template <class T>
class RowChunks {
  public:
    // Each row has `planes` arrays of `stride` numbers, initially zero.
    explicit RowChunks(std::size_t planes, std::size_t stride = 0)
        : planes_(planes), stride_(stride) {
        while (stride > 0 && chunk_rows() * 2 * planes * stride * sizeof(T) <= kChunkBytes)
            ++chunk_bits_;
    }

    std::size_t planes() const { return planes_; }
    std::size_t stride() const { return stride_; }
    std::size_t row_bytes() const { return planes_ * stride_ * sizeof(T); }

    // Adds row `number`; rows must be added in order. If most rows stay untouched, small pages are
    // used: a huge page would hold dozens of rows and allocate memory for all of them.
    void add_row(std::size_t number, bool mostly_untouched) {
        if ((number >> chunk_bits_) != chunks_.size()) return;
        const std::size_t bytes = chunk_rows() * row_bytes();
        const std::size_t on_small_pages =
            mostly_untouched ? bytes : (chunks_.empty() ? kSmallBytes : 0);
        chunks_.push_back({bytes, on_small_pages});
    }

    T* row(std::int32_t number, std::size_t plane) const {
        T* const chunk =
            static_cast<T*>(chunks_[static_cast<std::size_t>(number) >> chunk_bits_].data());
        const std::size_t within = static_cast<std::size_t>(number) & (chunk_rows() - 1);
        return chunk + (within * planes_ + plane) * stride_;
    }

  private:
    static constexpr std::size_t kChunkBytes = std::size_t{32} << 20;
    static constexpr std::size_t kSmallBytes = std::size_t{2} << 20;

    std::size_t chunk_rows() const { return std::size_t{1} << chunk_bits_; }

    std::size_t planes_;
    std::size_t stride_;
    int chunk_bits_ = 0;
    std::vector<ZeroedPages> chunks_;
};

}  // namespace tagalong
