// The weights of all learners: feature-major, so that the K numbers of one feature lie
// together and scoring an example is a sum of contiguous rows.
//
// A row holds `planes` arrays of K numbers, each padded to whole cache lines: the dual vector
// theta, and what a geometry keeps beside it (running means, exponentials). It exists from the
// first update that touches its feature. Rows live in chunks, so that a new row never moves
// the others; new labels widen all rows, with spare room so that the cost is amortised.
//
// A store that is made for steps on few of many labels begins its rows sparse (SparseRows): they
// hold the labels they have touched, and become whole when a quarter of their blocks are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "aligned.hpp"
#include "feature_index.hpp"
#include "pages.hpp"
#include "sparse_rows.hpp"

namespace tagalong {

template <class T>
class WeightStore {
  public:
    explicit WeightStore(std::size_t planes, bool few_labels_a_step = false)
        : planes_(planes), few_(few_labels_a_step), sparse_(planes) {}

    std::size_t labels() const { return labels_; }
    std::size_t stride() const { return stride_; }
    // The part of a row that labels have: the rest is room for more.
    std::size_t used() const { return padded<T>(labels_); }
    std::size_t planes() const { return planes_; }
    std::size_t rows() const { return index_.size(); }
    const std::vector<std::int32_t>& features() const { return index_.ids(); }

    std::int32_t find(std::int32_t feature) const { return index_.find(feature); }
    std::int32_t insert(std::int32_t feature) {
        if ((index_.size() >> chunk_bits_) == chunks_.size()) chunks_.push_back(new_chunk());
        const std::int32_t number = index_.insert(feature);
        if (few_ && (labels_ >= kSparseFrom || !all_whole_)) begin(static_cast<std::size_t>(number));
        return number;
    }

    // Only whole rows have a pointer.
    bool all_whole() const { return all_whole_; }
    bool whole(std::int32_t number) const { return all_whole_ || whole_[static_cast<std::size_t>(number)]; }
    const SparseRows<T>& sparse() const { return sparse_; }
    // A number of a sparse row, to be written; the planes are kBlock apart. The row may be whole
    // after `settle`, which is to be called when all of a step is written.
    T* touch(std::int32_t number, std::size_t label) { return sparse_.touch(number, label); }
    void settle(std::int32_t number) {
        if (sparse_.blocks(number) * SparseRows<T>::kBlock * 4 > stride_) make_whole(number);
    }
    void make_whole(std::int32_t number) {
        if (whole(number)) return;
        whole_[static_cast<std::size_t>(number)] = true;
        sparse_.visit(number, [&](std::size_t label, const T* numbers) {
            for (std::size_t plane = 0; plane < planes_; ++plane)
                std::copy_n(numbers + plane * SparseRows<T>::kBlock, SparseRows<T>::kBlock, row(number, plane) + label);
        });
        sparse_.release(number);
    }

    // A plane of a row, `labels()` numbers, whichever way the row is kept; and back.
    void read(std::int32_t number, std::size_t plane, T* out) const {
        if (whole(number)) {
            std::copy_n(row(number, plane), labels_, out);
            return;
        }
        std::fill_n(out, labels_, T(0));
        sparse_.visit(number, [&](std::size_t label, const T* numbers) {
            const std::size_t count = std::min(SparseRows<T>::kBlock, labels_ - label);
            std::copy_n(numbers + plane * SparseRows<T>::kBlock, count, out + label);
        });
    }
    void write(std::int32_t number, std::size_t plane, const T* numbers) {
        for (std::size_t label = 0; label < labels_; ++label) {
            if (whole(number)) row(number, plane)[label] = numbers[label];
            else if (numbers[label] != 0) touch(number, label)[plane * SparseRows<T>::kBlock] = numbers[label];
        }
        if (!whole(number)) settle(number);
    }
    T value(std::int32_t number, std::size_t plane, std::size_t label) const {
        if (whole(number)) return row(number, plane)[label];
        const T* found = sparse_.find(number, label);
        return found ? found[plane * SparseRows<T>::kBlock] : T(0);
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
    std::size_t bytes() const {
        const std::size_t row_bytes = planes_ * stride_ * sizeof(T);
        if (all_whole_) return rows() * row_bytes;
        return static_cast<std::size_t>(std::count(whole_.begin(), whole_.end(), true)) * row_bytes + sparse_.bytes();
    }

  private:
    // Notes how a new row is kept. Nothing is noted before the first one that is sparse.
    void begin(std::size_t number) {
        sparse_.reach(number + 1);
        whole_.resize(number, true);
        whole_.push_back(labels_ < kSparseFrom);
        all_whole_ = all_whole_ && whole_.back();
    }

    // A chunk reserves addresses, not memory: pages come as rows are touched.
    static constexpr std::size_t kChunkBytes = std::size_t{32} << 20;
    static constexpr std::size_t kSmallBytes = std::size_t{2} << 20;

    std::size_t chunk_rows() const { return std::size_t{1} << chunk_bits_; }
    // With fewer labels, whole rows are quicker (measured: equal at about 2,000).
    static constexpr std::size_t kSparseFrom = 2048;

    ZeroedPages new_chunk() const {
        const std::size_t bytes = chunk_rows() * planes_ * stride_ * sizeof(T);
        // A huge page would hold dozens of rows that are kept elsewhere.
        if (few_ && labels_ >= kSparseFrom) return {bytes, bytes};
        return {bytes, chunks_.empty() ? kSmallBytes : 0};
    }
    T* chunk(std::int32_t number) const {
        return static_cast<T*>(chunks_[static_cast<std::size_t>(number) >> chunk_bits_].data());
    }
    std::size_t offset(std::int32_t number, std::size_t plane) const {
        const std::size_t within = static_cast<std::size_t>(number) & (chunk_rows() - 1);
        return (within * planes_ + plane) * stride_;
    }

    void widen(std::size_t stride) {
        WeightStore wider(planes_, few_);
        wider.labels_ = labels_;
        wider.stride_ = stride;
        wider.chunk_bits_ = 0;
        const std::size_t row_bytes = std::max<std::size_t>(1, planes_ * stride * sizeof(T));
        while (wider.chunk_rows() * 2 * row_bytes <= kChunkBytes) ++wider.chunk_bits_;
        for (std::size_t row = 0; row < rows(); ++row) {
            const auto number = static_cast<std::int32_t>(row);
            wider.insert(index_.ids()[row]);
            for (std::size_t plane = 0; plane < planes_ && stride_ > 0 && whole(number); ++plane)
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
    bool few_;
    bool all_whole_ = true;    // as long as no row has begun sparse
    std::vector<bool> whole_;  // per row, once one is sparse
    SparseRows<T> sparse_;
    FeatureIndex index_;
    std::vector<ZeroedPages> chunks_;
};

}  // namespace tagalong
