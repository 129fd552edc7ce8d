// Rows of the kernel matrix in single precision, shared by all labels. Rows that are missing are
// computed several at a time; the ones not used for longest make room. Products of a few rows with each
// other need no whole rows.
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

// Where products come from.
struct Products {
    // Rows of the kernel matrix, each to where it says.
    std::function<void(std::span<const std::int32_t> rows, std::span<float* const> out)> rows;
    // Products of some rows with each other, row by row.
    std::function<void(std::span<const std::int32_t> rows, float* out)> among;
    bool concurrent = false;  // whether several threads may ask at a time
};

class KernelCache {
  public:
    static constexpr std::size_t kAtOnce = 64;  // rows in a block
    static constexpr std::size_t kFewest = 8;   // rows that fit, however little memory there is

    KernelCache(std::size_t rows, std::size_t bytes, Products products)
        : rows_(rows), products_(std::move(products)), slot_of_(rows, -1) {
        const std::size_t fit = bytes / (sizeof(float) * std::max<std::size_t>(1, rows));
        slots_ = std::min(rows, std::max(kFewest, fit));
        at_once_ = std::max<std::size_t>(1, std::min(kAtOnce, slots_ / 4));
        memory_.resize(slots_ * rows);
        row_in_.assign(slots_, -1);
        used_.assign(slots_, 0);
    }

    // Whether the whole matrix fits.
    bool whole() const { return slots_ == rows_; }
    std::size_t slots() const { return slots_; }
    std::size_t at_once() const { return at_once_; }
    bool has(std::size_t row) const { return slot_of_[row] >= 0; }

    // Computes every row. Then `ready` may be called from several threads. False if stop() was true
    // before that: then `ready` must not be called.
    template <class Stop>
    bool fill(int threads, Stop&& stop) {
        const std::size_t blocks = (rows_ + kAtOnce - 1) / kAtOnce;
        for (std::size_t i = 0; i < rows_; ++i)
            row_in_[i] = slot_of_[i] = static_cast<std::int32_t>(i);
        std::atomic<bool> stopped{false};
        for_each_of(blocks, products_.concurrent ? threads : 1, [&](std::size_t block) {
            if (stopped || (stopped = stop())) return;
            std::vector<std::int32_t> wanted;
            std::vector<float*> to;
            for (std::size_t i = block * kAtOnce; i < std::min(rows_, (block + 1) * kAtOnce); ++i) {
                wanted.push_back(static_cast<std::int32_t>(i));
                to.push_back(memory_.data() + i * rows_);
            }
            products_.rows(wanted, to);
        });
        return !stopped;
    }
    const float* ready(std::size_t row) const {
        return memory_.data() + static_cast<std::size_t>(slot_of_[row]) * rows_;
    }

    // A row, which stays where it is for at least three more calls. Others that will be wanted are
    // computed along with it.
    const float* row(std::size_t row, std::span<const std::int32_t> wanted_soon = {}) {
        if (!has(row)) {
            wanted_.assign(1, static_cast<std::int32_t>(row));
            for (const std::int32_t other : wanted_soon)
                if (wanted_.size() < at_once_ && !has(static_cast<std::size_t>(other)) &&
                    other != wanted_[0])
                    wanted_.push_back(other);
            load(wanted_);
        }
        used_[static_cast<std::size_t>(slot_of_[row])] = ++clock_;
        return ready(row);
    }

    // The products of some rows with each other, row by row: those of rows that are here, and what is
    // left. For `whole` caches from several threads.
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
            const float* row = ready(static_cast<std::size_t>(rows[k]));
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
        to_.clear();
        for (const std::int32_t row : wanted) {
            const auto oldest = std::min_element(used_.begin(), used_.end());
            const auto slot = static_cast<std::size_t>(oldest - used_.begin());
            leave(slot);
            used_[slot] = ++clock_;
            row_in_[slot] = row;
            to_.push_back(memory_.data() + slot * rows_);
        }
        products_.rows(wanted, to_);
        for (const float* to : to_) {
            const auto slot = static_cast<std::size_t>(to - memory_.data()) / rows_;
            slot_of_[static_cast<std::size_t>(row_in_[slot])] = static_cast<std::int32_t>(slot);
        }
    }
    void leave(std::size_t slot) {
        if (row_in_[slot] >= 0) slot_of_[static_cast<std::size_t>(row_in_[slot])] = -1;
    }

    std::size_t rows_, slots_ = 0, at_once_ = 1;
    Products products_;
    AlignedVector<float> memory_;
    std::vector<std::int32_t> slot_of_, row_in_, wanted_;
    std::vector<float*> to_;
    std::vector<std::uint64_t> used_;
    std::uint64_t clock_ = 0;
};

}  // namespace tagalong::m3l
