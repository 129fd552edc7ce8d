// Packed rows: every bit comes back, also of many rows, and damaged streams are noticed.
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/packed_rows.hpp"
#include "tests/check.hpp"
#include "tests/random.hpp"

namespace tagalong::test::packed_rows_test {
namespace {

template <class T>
struct Planes {
    std::size_t width;
    std::vector<std::vector<T>> first, second;
};

// Rows like those of a learner: sparse, some numbers repeated from the row above, and a second plane
// of multiples of the first.
template <class T>
Planes<T> random_planes(std::uint64_t seed, std::size_t rows, std::size_t width) {
    Random random(seed);
    const std::vector<T> special = {T(-0.0),
                                    std::numeric_limits<T>::denorm_min(),
                                    std::numeric_limits<T>::infinity(),
                                    std::numeric_limits<T>::quiet_NaN(),
                                    std::numeric_limits<T>::max(),
                                    std::numeric_limits<T>::lowest()};
    Planes<T> out{width, {}, {}};
    for (std::size_t r = 0; r < rows; ++r) {
        std::vector<T> first(width, T(0)), second(width, T(0));
        const int time = random.below(1000);
        for (std::size_t k = 0; k < width; ++k) {
            if (random.chance(0.5)) continue;
            first[k] = static_cast<T>(random.normal());
            if (r > 0 && random.chance(0.3)) first[k] = out.first[r - 1][k];
            if (random.chance(0.05)) first[k] = special[static_cast<std::size_t>(random.below(6))];
            second[k] = static_cast<T>(time + random.below(200)) * first[k];
            if (random.chance(0.2)) second[k] = static_cast<T>(random.normal());
        }
        if (width > 0 && random.chance(0.2)) second[0] = T(1);  // where plane 0 may be zero
        out.first.push_back(first);
        out.second.push_back(second);
    }
    return out;
}

template <class T>
PackedChunks packed(const Planes<T>& planes, std::size_t count) {
    RowPacker<T> packer(planes.width, count);
    for (std::size_t r = 0; r < planes.first.size(); ++r)
        packer.add(planes.first[r].data(), planes.second[r].data());
    return std::move(packer.streams());
}

PackedSpans spans_of(PackedChunks& chunks) {
    PackedSpans out;
    for (std::size_t s = 0; s < kPackedStreams; ++s)
        for (const auto& chunk : chunks[s].chunks()) out[s].emplace_back(chunk);
    return out;
}

template <class T>
void expect_restored(const Planes<T>& planes, std::size_t count) {
    PackedChunks chunks = packed(planes, count);
    const PackedSpans spans = spans_of(chunks);
    RowUnpacker<T> unpacker(planes.width, count, spans);
    for (std::size_t r = 0; r < planes.first.size(); ++r) {
        check(unpacker.read(), "a row is missing");
        for (std::size_t k = 0; k < planes.width; ++k) {
            same(NumberBits<T>::word(unpacker.first()[k]), NumberBits<T>::word(planes.first[r][k]));
            const T expected = count > 1 ? planes.second[r][k] : T(0);
            same(NumberBits<T>::word(unpacker.second()[k]), NumberBits<T>::word(expected));
        }
    }
    check(unpacker.complete(), "something is left");
    check(planes.width == 0 || !unpacker.read(), "there is a row too many");
}

const Test restored{"packed rows: all bits come back", [] {
                        for (const std::size_t width : {0u, 1u, 8u, 63u, 64u, 65u, 200u})
                            for (const std::size_t count : {1u, 2u}) {
                                expect_restored(random_planes<float>(width, 20, width), count);
                                expect_restored(random_planes<double>(width, 20, width), count);
                            }
                    }};

const Test chunks{"packed rows: streams of several chunks", [] {
                      const auto planes = random_planes<float>(7, 3000, 900);
                      PackedChunks streams = packed(planes, 2);
                      const auto fractions = static_cast<std::size_t>(PackedStream::fractions);
                      check(streams[fractions].chunks().size() > 1, "there is one chunk only");
                      for (auto& stream : streams)
                          for (const auto& chunk : stream.chunks())
                              at_most(chunk.size(), ByteChunks::kChunk);
                      expect_restored(planes, 2);
                  }};

const Test many_times{"packed rows: more rounds in a row than can be numbered", [] {
                          Planes<float> planes{400, {std::vector<float>(400, 3.0F)}, {{}}};
                          for (int k = 0; k < 400; ++k)
                              planes.second[0].push_back(3.0F * static_cast<float>(k));
                          expect_restored(planes, 2);
                      }};

// All changes of one byte, and all shorter streams. A sanitizer sees accesses out of range.
const Test damaged{"packed rows: damaged streams are read safely", [] {
                       const auto planes = random_planes<float>(3, 12, 20);
                       PackedChunks streams = packed(planes, 2);
                       const auto read_all = [&] {
                           const PackedSpans spans = spans_of(streams);
                           RowUnpacker<float> unpacker(planes.width, 2, spans);
                           for (std::size_t r = 0; r < planes.first.size(); ++r)
                               if (!unpacker.read()) return false;
                           return unpacker.complete();
                       };
                       check(read_all(), "the streams are sound");
                       for (auto& stream : streams) {
                           if (stream.chunks().empty()) continue;
                           auto& bytes = stream.chunks()[0];
                           for (std::uint8_t& byte : bytes)
                               for (const int flip : {1, 0x80, 0xff}) {
                                   byte = static_cast<std::uint8_t>(byte ^ flip);
                                   read_all();
                                   byte = static_cast<std::uint8_t>(byte ^ flip);
                               }
                           const std::uint8_t last = bytes.back();
                           bytes.pop_back();
                           check(!read_all(), "a shorter stream was accepted");
                           bytes.push_back(last);
                           bytes.push_back(last);
                           check(!read_all(), "a longer stream was accepted");
                           bytes.pop_back();
                       }
                   }};

}  // namespace
}  // namespace tagalong::test::packed_rows_test
