// Memory aligned to the cache line, so that a vector load never straddles two lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace tagalong {

inline constexpr std::size_t kCacheLine = 64;
// Numbers of type T per cache line.
template <class T>
inline constexpr std::size_t kLine = kCacheLine / sizeof(T);

template <class T>
struct AlignedAllocator {
    using value_type = T;

    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) {}

    T* allocate(std::size_t count) {
        return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{kCacheLine}));
    }
    void deallocate(T* pointer, std::size_t) {
        ::operator delete(pointer, std::align_val_t{kCacheLine});
    }
    bool operator==(const AlignedAllocator&) const = default;
};

template <class T>
using AlignedVector = std::vector<T, AlignedAllocator<T>>;

// The length of a row for this many labels: padded to a whole number of cache lines.
template <class T>
constexpr std::size_t padded(std::size_t labels) {
    return (labels + kLine<T> - 1) / kLine<T> * kLine<T>;
}

}  // namespace tagalong
