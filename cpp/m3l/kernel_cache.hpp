// Rows of the kernel matrix in single precision, shared by all labels. Rows that are missing are
// computed several at a time; the ones not used for longest make room.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "aligned.hpp"

namespace tagalong::m3l {

// Computes rows of the kernel matrix, one after the other, into the memory given.
using ComputeRows = std::function<void(std::span<const std::int32_t> rows, float* out)>;

class KernelCache {
  public:
    static constexpr std::size_t kAtOnce = 64;  // rows in a block
    static constexpr std::size_t kFewest = 8;   // rows that fit, however little memory there is

    KernelCache(std::size_t rows, std::size_t bytes, ComputeRows compute)
        : rows_(rows), compute_(std::move(compute)), slot_of_(rows, -1) {
        const std::size_t fit = bytes / (sizeof(float) * std::max<std::size_t>(1, rows));
        slots_ = std::min(rows, std::max(kFewest, fit));
        at_once_ = std::max<std::size_t>(1, std::min(kAtOnce, slots_ / 4));
        memory_.resize(slots_ * rows);
        row_in_.assign(slots_, -1);
        used_.assign(slots_, 0);
        fresh_.resize(at_once_ * rows);
    }

    // Whether the whole matrix fits.
    bool whole() const { return slots_ == rows_; }
    std::size_t slots() const { return slots_; }
    std::size_t at_once() const { return at_once_; }
    bool has(std::size_t row) const { return slot_of_[row] >= 0; }

    // Computes every row. Then `ready` may be called from several threads. False if stop() was true
    // before that: then `ready` must not be called.
    template <class Stop>
    bool fill(Stop&& stop) {
        std::vector<std::int32_t> wanted;
        for (std::size_t i = 0; i < rows_; ++i) {
            if (wanted.empty() && stop()) return false;
            if (!has(i)) wanted.push_back(static_cast<std::int32_t>(i));
            if (wanted.size() == at_once_ || (i + 1 == rows_ && !wanted.empty())) {
                load(wanted);
                wanted.clear();
            }
        }
        return true;
    }
    void fill() {
        fill([] { return false; });
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
                if (wanted_.size() < at_once_ && !has(static_cast<std::size_t>(other)) && other != wanted_[0])
                    wanted_.push_back(other);
            load(wanted_);
        }
        used_[static_cast<std::size_t>(slot_of_[row])] = ++clock_;
        return ready(row);
    }

  private:
    void load(std::span<const std::int32_t> wanted) {
        compute_(wanted, fresh_.data());
        for (std::size_t k = 0; k < wanted.size(); ++k) {
            const auto oldest = std::min_element(used_.begin(), used_.end());
            const auto slot = static_cast<std::size_t>(oldest - used_.begin());
            if (row_in_[slot] >= 0) slot_of_[static_cast<std::size_t>(row_in_[slot])] = -1;
            row_in_[slot] = wanted[k];
            slot_of_[static_cast<std::size_t>(wanted[k])] = static_cast<std::int32_t>(slot);
            used_[slot] = ++clock_;
            std::copy_n(fresh_.data() + k * rows_, rows_, memory_.data() + slot * rows_);
        }
    }

    std::size_t rows_, slots_ = 0, at_once_ = 1;
    ComputeRows compute_;
    AlignedVector<float> memory_, fresh_;
    std::vector<std::int32_t> slot_of_, row_in_, wanted_;
    std::vector<std::uint64_t> used_;
    std::uint64_t clock_ = 0;
};

}  // namespace tagalong::m3l
