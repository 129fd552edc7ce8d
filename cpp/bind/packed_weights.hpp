// Rows of weights in the packed form of model files, as a Python object.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bind/arrays.hpp"
#include "bind/saved_state.hpp"
#include "core/packed_rows.hpp"
#include "core/weight_store.hpp"

namespace tagalong::bind {

// One or two planes of (rows, width) numbers. Without being unpacked they take about as much memory
// as in a file.
struct PackedWeights {
    std::size_t rows = 0, width = 0, planes = 1;
    bool doubles = false;
    std::array<std::vector<VectorOf<std::uint8_t>>, kPackedStreams> streams;

    PackedSpans spans() const {
        PackedSpans out;
        for (std::size_t s = 0; s < kPackedStreams; ++s)
            for (const auto& chunk : streams[s]) out[s].emplace_back(chunk.data(), chunk.shape(0));
        return out;
    }
    template <class T>
    bool has_type() const {
        return doubles == std::is_same_v<T, double>;
    }
};

// The streams of a packer.
template <class T>
PackedWeights finished(RowPacker<T>& packer, std::size_t rows, std::size_t width,
                       std::size_t planes) {
    PackedWeights out{rows, width, planes, std::is_same_v<T, double>, {}};
    for (std::size_t s = 0; s < kPackedStreams; ++s)
        for (auto& chunk : packer.streams()[s].chunks()) {
            chunk.shrink_to_fit();
            const std::size_t size = chunk.size();
            out.streams[s].emplace_back(nb::cast<VectorOf<std::uint8_t>>(nb::cast(
                adopted_as<std::uint8_t>(std::move(chunk), std::vector<std::size_t>{size}))));
        }
    return out;
}

// The first plane of a store, or both.
template <class T>
PackedWeights packed_weights(const WeightStore<T>& store, std::size_t planes) {
    RowPacker<T> packer(store.width(), planes);
    std::vector<T> first(store.width()), second(store.width());
    for (std::size_t r = 0; r < store.rows(); ++r) {
        store.read_columns(static_cast<std::int32_t>(r), 0, first.data());
        if (planes > 1) store.read_columns(static_cast<std::int32_t>(r), 1, second.data());
        packer.add(first.data(), second.data());
    }
    return finished(packer, store.rows(), store.width(), planes);
}

// The names of the planes as plain arrays. Packed, both have the first one.
inline constexpr auto* kFirstPlane = "theta";
inline constexpr auto* kSecondPlane = "means";

// The rows of one or two planes of a model file, in order, packed or as plain arrays. All numbers
// are weights.
template <class T>
class SavedRows {
  public:
    SavedRows(const SavedState& saved, std::size_t rows, std::size_t width, std::size_t planes)
        : name_(saved.name_of(kFirstPlane)), rows_(rows), width_(width) {
        if (const auto* packed = saved.find<PackedWeights>(kFirstPlane)) {
            if (!packed->has_type<T>() || packed->rows != rows || packed->width != width ||
                packed->planes != planes)
                SavedState::refuse(name_, "has another type or shape than the model");
            spans_ = std::make_unique<PackedSpans>(packed->spans());
            unpacker_ = std::make_unique<RowUnpacker<T>>(width, planes, *spans_);
            if (rows == 0 && !unpacker_->complete())
                SavedState::refuse(name_, "has numbers, but no rows");
            return;
        }
        first_ = saved.plane<T>(kFirstPlane, rows, width, kWeight);
        second_ = planes > 1 ? saved.plane<T>(kSecondPlane, rows, width, kWeight) : first_;
    }

    // Goes to the next row. Its numbers are valid until the next call.
    void next() {
        ++row_;
        if (!unpacker_) return;
        if (!unpacker_->read() || (row_ == rows_ && !unpacker_->complete()))
            SavedState::refuse(name_, "cannot be unpacked");
        SavedState::check_range(unpacker_->first(), width_, kWeight, name_);
        SavedState::check_range(unpacker_->second(), width_, kWeight, name_);
    }
    const T* first() const {
        return unpacker_ ? unpacker_->first() : first_.data() + (row_ - 1) * width_;
    }
    const T* second() const {
        return unpacker_ ? unpacker_->second() : second_.data() + (row_ - 1) * width_;
    }

  private:
    std::string name_;
    std::size_t rows_, width_;
    std::size_t row_ = 0;  // from 1
    PlaneOf<T> first_, second_;
    std::unique_ptr<PackedSpans> spans_;
    std::unique_ptr<RowUnpacker<T>> unpacker_;
};

}  // namespace tagalong::bind
