// The weights of all learners: feature-major, so that the K numbers of one feature lie
// together and scoring an example is a sum of contiguous rows.
//
// A row holds `planes` arrays of K numbers, each padded to whole cache lines: the dual vector
// theta, and what a geometry keeps beside it (running means, exponentials). It exists from the
// first update that touches its feature. Rows live in chunks, so that a new row never moves
// the others; new labels widen all rows, with spare room so that the cost is amortised.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "aligned.hpp"
#include "feature_index.hpp"
#include "pages.hpp"

namespace tagalong {

template <class T>
class WeightStore {
  public:
    explicit WeightStore(std::size_t planes) : planes_(planes) {}

    std::size_t labels() const { return labels_; }
    std::size_t stride() const { return stride_; }
    std::size_t planes() const { return planes_; }
    std::size_t rows() const { return index_.size(); }
    const std::vector<std::int32_t>& features() const { return index_.ids(); }

    std::int32_t find(std::int32_t feature) const { return index_.find(feature); }
    std::int32_t insert(std::int32_t feature) {
        if ((index_.size() >> chunk_bits_) == chunks_.size()) chunks_.push_back(new_chunk());
        return index_.insert(feature);
    }

    T* row(std::int32_t number, std::size_t plane = 0) {
        return chunk(number) + offset(number, plane);
    }
    const T* row(std::int32_t number, std::size_t plane = 0) const {
        return chunk(number) + offset(number, plane);
    }

    void add_labels(std::size_t count) {
        labels_ += count;
        if (labels_ <= stride_) return;
        // Exact for labels declared up front, half as much again once they trickle in.
        const std::size_t room = rows() == 0 ? labels_ : std::max(labels_, stride_ + stride_ / 2);
        widen(padded<T>(room));
    }

    // What the rows take; the index adds 16 to 40 bytes a row.
    std::size_t bytes() const { return rows() * planes_ * stride_ * sizeof(T); }

  private:
    // A chunk reserves addresses, not memory: pages come as rows are touched.
    static constexpr std::size_t kChunkBytes = std::size_t{32} << 20;
    static constexpr std::size_t kSmallBytes = std::size_t{2} << 20;

    std::size_t chunk_rows() const { return std::size_t{1} << chunk_bits_; }
    ZeroedPages new_chunk() const {
        return {chunk_rows() * planes_ * stride_ * sizeof(T), chunks_.empty() ? kSmallBytes : 0};
    }
    T* chunk(std::int32_t number) const {
        return static_cast<T*>(chunks_[static_cast<std::size_t>(number) >> chunk_bits_].data());
    }
    std::size_t offset(std::int32_t number, std::size_t plane) const {
        const std::size_t within = static_cast<std::size_t>(number) & (chunk_rows() - 1);
        return (within * planes_ + plane) * stride_;
    }

    void widen(std::size_t stride) {
        WeightStore wider(planes_);
        wider.stride_ = stride;
        wider.chunk_bits_ = 0;
        const std::size_t row_bytes = std::max<std::size_t>(1, planes_ * stride * sizeof(T));
        while (wider.chunk_rows() * 2 * row_bytes <= kChunkBytes) ++wider.chunk_bits_;
        for (std::size_t row = 0; row < rows(); ++row) {
            const auto number = static_cast<std::int32_t>(row);
            wider.insert(index_.ids()[row]);
            for (std::size_t plane = 0; plane < planes_ && stride_ > 0; ++plane)
                std::memcpy(wider.row(number, plane), this->row(number, plane), stride_ * sizeof(T));
        }
        stride_ = wider.stride_;
        chunk_bits_ = wider.chunk_bits_;
        chunks_ = std::move(wider.chunks_);
    }

    std::size_t planes_;
    std::size_t labels_ = 0;
    std::size_t stride_ = 0;
    int chunk_bits_ = 0;
    FeatureIndex index_;
    std::vector<ZeroedPages> chunks_;
};

}  // namespace tagalong
