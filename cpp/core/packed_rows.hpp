// A lossless packed form of the rows of a weight store, for model files: one or two planes of
// numbers per row, restored to the bit.
//
// Most numbers of a row are zero if steps move few labels, so a bit mask says which numbers are
// stored. A label that was moved once by the feature, in round t, has u = t * theta in the second
// plane, rounded once: then t is stored instead of u, and the few t of a row are numbered. Features
// that occurred first in the same example are in adjacent rows and often have equal numbers: then
// nothing is stored but a flag. Exponents are separate from the other bits, because they compress
// well and the others do not.
//
// The streams of bytes:
//     mask         per row one bit per column, set if a plane has bits other than 0
//     codes        per set bit one byte: see Code
//     times        per new t of a row, 4 bytes
//     exponents    per stored number of plane 0, the upper byte without the sign
//     fractions    per stored number of plane 0, the other bytes, which end with the sign
//     exponents1, fractions1    the same for plane 1
// All numbers are little-endian.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace tagalong {

static_assert(std::endian::native == std::endian::little, "streams are stored as they are");

enum class PackedStream { mask, codes, times, exponents, fractions, exponents1, fractions1 };
inline constexpr std::size_t kPackedStreams = 7;
inline constexpr std::array kPackedStreamNames = {
    "mask", "codes", "times", "exponents", "fractions", "exponents1", "fractions1"};

// Bytes in chunks of bounded size, so that a long stream never has to move.
class ByteChunks {
  public:
    // Divisible by the sizes of all items, 1, 3, 4 and 7: no item is in two chunks.
    static constexpr std::size_t kChunk = std::size_t{84} * 12483;

    void push(const void* bytes, std::size_t count) {
        if (chunks_.empty() || chunks_.back().size() + count > kChunk) chunks_.emplace_back();
        const auto* const first = static_cast<const std::uint8_t*>(bytes);
        chunks_.back().insert(chunks_.back().end(), first, first + count);
    }
    void push(std::uint8_t byte) { push(&byte, 1); }
    std::vector<std::vector<std::uint8_t>>& chunks() { return chunks_; }

  private:
    std::vector<std::vector<std::uint8_t>> chunks_;
};

using PackedChunks = std::array<ByteChunks, kPackedStreams>;
// The chunks of each stream, in memory of somebody else.
using PackedSpans = std::array<std::vector<std::span<const std::uint8_t>>, kPackedStreams>;

// The meaning of a code, one per set bit. The lower bits are about plane 1: the number of the
// t in the list of the row, which is a new one if the list is not longer, or kZero or kStored.
struct Code {
    static constexpr std::uint8_t kAsAbove = 0x80;  // plane 0: the number of the row above
    static constexpr std::uint8_t kZero = 0x7e;     // plane 1: 0
    static constexpr std::uint8_t kStored = 0x7f;   // plane 1: stored
    static constexpr std::size_t kMostTimes = 0x7e;
};

// The bits of a number, with the sign last, divided into an upper byte and the rest.
template <class T>
struct NumberBits {
    using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    static constexpr std::size_t kRest = sizeof(T) - 1;

    static Word word(T number) { return std::bit_cast<Word>(number); }
    static Word product(std::uint32_t time, Word theta) {
        return word(static_cast<T>(time) * std::bit_cast<T>(theta));
    }
    static void push(Word bits, ByteChunks& upper, ByteChunks& rest) {
        const Word rotated = std::rotl(bits, 1);
        upper.push(static_cast<std::uint8_t>(rotated >> 8 * kRest));
        rest.push(&rotated, kRest);
    }
    static Word join(std::uint8_t upper, const std::uint8_t* rest) {
        Word rotated = 0;
        std::memcpy(&rotated, rest, kRest);
        return std::rotr(static_cast<Word>(rotated | static_cast<Word>(upper) << 8 * kRest), 1);
    }
};

template <class T>
class RowPacker {
  public:
    RowPacker(std::size_t width, std::size_t planes)
        : planes_(planes), above_(width), mask_((width + 7) / 8) {}

    // Adds a row; `second` is ignored if there is one plane.
    void add(const T* first, const T* second) {
        using Bits = NumberBits<T>;
        std::fill(mask_.begin(), mask_.end(), 0);
        times_.clear();
        for (std::size_t k = 0; k < above_.size(); ++k) {
            const Word own = Bits::word(first[k]);
            const Word other = planes_ > 1 ? Bits::word(second[k]) : Word(0);
            const Word before = std::exchange(above_[k], own);
            if (own == 0 && other == 0) continue;
            mask_[k / 8] = static_cast<std::uint8_t>(mask_[k / 8] | 1u << k % 8);
            std::uint8_t code = 0;
            if (own == before) code = Code::kAsAbove;
            else Bits::push(own, stream(PackedStream::exponents), stream(PackedStream::fractions));
            if (planes_ > 1) code = static_cast<std::uint8_t>(code | second_code(own, other));
            stream(PackedStream::codes).push(code);
        }
        for (const std::uint8_t byte : mask_) stream(PackedStream::mask).push(byte);
    }
    PackedChunks& streams() { return streams_; }

  private:
    using Word = typename NumberBits<T>::Word;

    ByteChunks& stream(PackedStream name) { return streams_[static_cast<std::size_t>(name)]; }

    std::uint8_t second_code(Word own, Word other) {
        if (other == 0) return Code::kZero;
        const double time = std::round(static_cast<double>(std::bit_cast<T>(other)) /
                                       static_cast<double>(std::bit_cast<T>(own)));
        if (time >= 0 && time < 4294967296.0) {
            const auto whole = static_cast<std::uint32_t>(time);
            if (NumberBits<T>::product(whole, own) == other) {
                std::size_t place = 0;
                while (place < times_.size() && times_[place] != whole) ++place;
                if (place < Code::kMostTimes) {
                    if (place == times_.size()) {
                        times_.push_back(whole);
                        stream(PackedStream::times).push(&whole, sizeof whole);
                    }
                    return static_cast<std::uint8_t>(place);
                }
            }
        }
        NumberBits<T>::push(other, stream(PackedStream::exponents1),
                            stream(PackedStream::fractions1));
        return Code::kStored;
    }

    std::size_t planes_;
    PackedChunks streams_;
    std::vector<Word> above_;
    std::vector<std::uint8_t> mask_;
    std::vector<std::uint32_t> times_;
};

// Reads items from the chunks of a stream, one after the other.
class ChunkReader {
  public:
    explicit ChunkReader(const std::vector<std::span<const std::uint8_t>>& chunks)
        : chunk_(chunks.data()), end_(chunks.data() + chunks.size()) {}

    // The next `count` bytes, or null if they are not in one chunk.
    const std::uint8_t* take(std::size_t count) {
        while (left_.empty() && chunk_ != end_) left_ = *chunk_++;
        if (left_.size() < count) return nullptr;
        const std::uint8_t* const found = left_.data();
        left_ = left_.subspan(count);
        return found;
    }
    bool at_end() {
        while (left_.empty() && chunk_ != end_) left_ = *chunk_++;
        return left_.empty();
    }

  private:
    const std::span<const std::uint8_t>* chunk_;
    const std::span<const std::uint8_t>* end_;
    std::span<const std::uint8_t> left_;
};

// Unpacks rows in order. The streams may be damaged or forged: then read() or complete() is false.
template <class T>
class RowUnpacker {
  public:
    // The spans must outlive the unpacker.
    RowUnpacker(std::size_t width, std::size_t planes, const PackedSpans& spans)
        : width_(width), planes_(planes), readers_(readers(spans)), first_(width), second_(width) {}

    // Unpacks the next row; false if it is not in the streams.
    bool read() {
        constexpr std::size_t kWord = 8;
        times_.clear();
        for (std::size_t begin = 0; begin < width_; begin += 8 * kWord) {
            const std::size_t count = std::min(8 * kWord, width_ - begin);
            std::uint64_t bits = 0;
            for (std::size_t byte = 0; byte < (count + 7) / 8; ++byte) {
                const std::uint8_t* const found = reader(PackedStream::mask).take(1);
                if (!found) return false;
                bits |= static_cast<std::uint64_t>(*found) << 8 * byte;
            }
            if (count < 64 && bits >> count != 0) return false;
            std::size_t next = begin;
            for (; bits != 0; bits &= bits - 1) {
                const std::size_t k = begin + static_cast<std::size_t>(std::countr_zero(bits));
                for (; next < k; ++next) first_[next] = second_[next] = 0;
                if (!read_number(k)) return false;
                next = k + 1;
            }
            for (; next < begin + count; ++next) first_[next] = second_[next] = 0;
        }
        return true;
    }
    // Whether nothing is left. To be called after the last row.
    bool complete() {
        for (ChunkReader& each : readers_)
            if (!each.at_end()) return false;
        return true;
    }
    const T* first() const { return first_.data(); }
    const T* second() const { return second_.data(); }

  private:
    using Bits = NumberBits<T>;
    using Word = typename Bits::Word;

    template <std::size_t... I>
    static std::array<ChunkReader, kPackedStreams> readers(const PackedSpans& spans,
                                                           std::index_sequence<I...>) {
        return {ChunkReader(spans[I])...};
    }
    static std::array<ChunkReader, kPackedStreams> readers(const PackedSpans& spans) {
        return readers(spans, std::make_index_sequence<kPackedStreams>());
    }
    ChunkReader& reader(PackedStream name) { return readers_[static_cast<std::size_t>(name)]; }

    bool take(PackedStream upper, PackedStream rest, Word& out) {
        const std::uint8_t* const top = reader(upper).take(1);
        const std::uint8_t* const low = reader(rest).take(Bits::kRest);
        if (!top || !low) return false;
        out = Bits::join(*top, low);
        return true;
    }
    bool read_number(std::size_t k) {
        const std::uint8_t* const code = reader(PackedStream::codes).take(1);
        if (!code) return false;
        Word own = Bits::word(first_[k]), other = 0;  // as above, as long as it is not replaced
        if (!(*code & Code::kAsAbove) &&
            !take(PackedStream::exponents, PackedStream::fractions, own))
            return false;
        if (planes_ > 1) {
            if (!read_second(*code & 0x7f, own, other)) return false;
        } else if (*code & 0x7f) return false;
        first_[k] = std::bit_cast<T>(own);
        second_[k] = std::bit_cast<T>(other);
        return true;
    }
    bool read_second(std::uint8_t code, Word own, Word& out) {
        if (code == Code::kZero) return true;
        if (code == Code::kStored)
            return take(PackedStream::exponents1, PackedStream::fractions1, out);
        if (code > times_.size()) return false;
        if (code == times_.size()) {
            const std::uint8_t* const found = reader(PackedStream::times).take(4);
            if (!found) return false;
            std::uint32_t time = 0;
            std::memcpy(&time, found, sizeof time);
            times_.push_back(time);
        }
        out = Bits::product(times_[code], own);
        return true;
    }

    std::size_t width_, planes_;
    std::array<ChunkReader, kPackedStreams> readers_;
    std::vector<T> first_, second_;
    std::vector<std::uint32_t> times_;
};

}  // namespace tagalong
