// Damaged streams of packed rows. Whatever can be unpacked has the same bits after it has been
// packed and unpacked again.
#include "core/packed_rows.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "fuzz/input.hpp"

namespace {

using namespace tagalong;

constexpr int kMostRows = 16;

template <class T>
void attack(fuzz::Input& input) {
    const std::size_t width = 1 + input.below_or_equal(99), planes = 1 + input.below_or_equal(1);
    PackedSpans spans;
    for (auto& chunks : spans)
        for (std::uint32_t left = input.below_or_equal(3); left > 0; --left) {
            const std::string_view bytes = input.text();
            chunks.push_back({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
        }
    RowUnpacker<T> unpacker(width, planes, spans);
    RowPacker<T> packer(width, planes);
    std::vector<std::vector<T>> rows;
    while (rows.size() < 2 * kMostRows && unpacker.read()) {
        packer.add(unpacker.first(), unpacker.second());
        rows.emplace_back(unpacker.first(), unpacker.first() + width);
        rows.emplace_back(unpacker.second(), unpacker.second() + width);
    }
    unpacker.complete();

    PackedChunks packed = std::move(packer.streams());
    PackedSpans again;
    for (std::size_t i = 0; i < kPackedStreams; ++i)
        for (const auto& chunk : packed[i].chunks()) again[i].emplace_back(chunk);
    RowUnpacker<T> second(width, planes, again);
    const auto same = [&](const T* numbers, const std::vector<T>& row) {
        return std::memcmp(numbers, row.data(), width * sizeof(T)) == 0;
    };
    for (std::size_t i = 0; i < rows.size(); i += 2) {
        if (!second.read() || !same(second.first(), rows[i])) std::abort();
        if (planes > 1 && !same(second.second(), rows[i + 1])) std::abort();
    }
    if (!second.complete()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input(data, size);
    if (input.byte() % 2) attack<float>(input);
    else attack<double>(input);
    return 0;
}
