// A least-recently-used cache of rows of the kernel matrix in single precision, shared by all
// labels. Missing rows are computed in batches. The products of a few rows with each other do not
// require whole rows.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/aligned.hpp"
#include "m3l/threads.hpp"

namespace tagalong::m3l {

// The functions that compute entries of the kernel matrix.
struct Products {
    // Computes rows of the kernel matrix; row k goes to out[k].
    std::function<void(std::span<const std::int32_t> rows, std::span<float* const> out)> rows;
    // Computes the products of some rows with each other, row-major.
    std::function<void(std::span<const std::int32_t> rows, float* out)> among;
    bool concurrent = false;  // whether several threads may call at the same time
};

class KernelCache {
  public:
    static constexpr std::size_t kBatchRows = 64;  // most rows that are computed together
    static constexpr std::size_t kMinRows = 8;     // capacity, even if `bytes` is smaller

    KernelCache(std::size_t rows, std::size_t bytes, Products products)
        : rows_(rows), products_(std::move(products)), slot_of_(rows, -1) {
        const std::size_t fit = bytes / (sizeof(float) * std::max<std::size_t>(1, rows));
        slots_ = std::min(rows, std::max(kMinRows, fit));
        batch_rows_ = std::max<std::size_t>(1, std::min(kBatchRows, slots_ / 4));
        memory_.resize(slots_ * rows);
        row_in_.assign(slots_, -1);
        last_use_.assign(slots_, 0);
    }

    // Whether the cache has room for the whole matrix.
    bool fits_all_rows() const { return slots_ == rows_; }
    std::size_t slots() const { return slots_; }
    std::size_t batch_rows() const { return batch_rows_; }
    bool has(std::size_t row) const { return slot_of_[row] >= 0; }

    // Computes every row, after which several threads may call `cached_row`. Returns false if
    // stop() became true before the end; then `cached_row` must not be called.
    template <class Stop>
    bool compute_all(int threads, Stop&& stop) {
        const std::size_t blocks = (rows_ + kBatchRows - 1) / kBatchRows;
        for (std::size_t i = 0; i < rows_; ++i)
            row_in_[i] = slot_of_[i] = static_cast<std::int32_t>(i);
        std::atomic<bool> stopped{false};
        for_each_of(blocks, products_.concurrent ? threads : 1, [&](std::size_t block) {
            if (!stopped && stop()) stopped = true;
            if (stopped) return;
            std::vector<std::int32_t> wanted;
            std::vector<float*> destinations;
            for (std::size_t i = block * kBatchRows; i < std::min(rows_, (block + 1) * kBatchRows);
                 ++i) {
                wanted.push_back(static_cast<std::int32_t>(i));
                destinations.push_back(memory_.data() + i * rows_);
            }
            products_.rows(wanted, destinations);
        });
        return !stopped;
    }
    const float* cached_row(std::size_t row) const {
        return memory_.data() + static_cast<std::size_t>(slot_of_[row]) * rows_;
    }

    // Returns a row. The pointer stays valid for at least three more calls. If the row is missing,
    // rows of `wanted_soon` that are missing too are computed with it.
    const float* row(std::size_t row, std::span<const std::int32_t> wanted_soon = {}) {
        if (!has(row)) {
            wanted_.assign(1, static_cast<std::int32_t>(row));
            for (const std::int32_t other : wanted_soon)
                if (wanted_.size() < batch_rows_ && !has(static_cast<std::size_t>(other)) &&
                    other != wanted_[0])
                    wanted_.push_back(other);
            load(wanted_);
        }
        last_use_[static_cast<std::size_t>(slot_of_[row])] = ++clock_;
        return cached_row(row);
    }

    // Computes the products of some rows with each other, row-major, from cached rows where
    // possible. Several threads may call it once compute_all() has returned true.
    void among(std::span<const std::int32_t> rows, float* out) const {
        const std::size_t count = rows.size();
        std::vector<std::int32_t> missing;
        std::vector<std::size_t> at;
        for (std::size_t k = 0; k < count; ++k) {
            if (!has(static_cast<std::size_t>(rows[k]))) {
                missing.push_back(rows[k]);
                at.push_back(k);
                continue;
            }
            const float* row = cached_row(static_cast<std::size_t>(rows[k]));
            for (std::size_t j = 0; j < count; ++j) out[k * count + j] = row[rows[j]];
        }
        if (missing.empty()) return;
        for (const std::size_t k : at)
            for (std::size_t j = 0; j < count; ++j) out[k * count + j] = out[j * count + k];
        std::vector<float> found(missing.size() * missing.size());
        products_.among(missing, found.data());
        for (std::size_t k = 0; k < at.size(); ++k)
            for (std::size_t j = 0; j < at.size(); ++j)
                out[at[k] * count + at[j]] = found[k * at.size() + j];
    }

  private:
    void load(std::span<const std::int32_t> wanted) {
        destinations_.clear();
        for (const std::int32_t row : wanted) {
            const auto oldest = std::min_element(last_use_.begin(), last_use_.end());
            const auto slot = static_cast<std::size_t>(oldest - last_use_.begin());
            evict(slot);
            last_use_[slot] = ++clock_;
            row_in_[slot] = row;
            destinations_.push_back(memory_.data() + slot * rows_);
        }
        products_.rows(wanted, destinations_);
        for (const float* destination : destinations_) {
            const auto slot = static_cast<std::size_t>(destination - memory_.data()) / rows_;
            slot_of_[static_cast<std::size_t>(row_in_[slot])] = static_cast<std::int32_t>(slot);
        }
    }
    void evict(std::size_t slot) {
        if (row_in_[slot] >= 0) slot_of_[static_cast<std::size_t>(row_in_[slot])] = -1;
    }

    std::size_t rows_, slots_ = 0, batch_rows_ = 1;
    Products products_;
    AlignedVector<float> memory_;
    std::vector<std::int32_t> slot_of_, row_in_, wanted_;
    std::vector<float*> destinations_;
    std::vector<std::uint64_t> last_use_;
    std::uint64_t clock_ = 0;
};

}  // namespace tagalong::m3l
