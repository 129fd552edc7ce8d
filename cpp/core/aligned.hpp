// Memory aligned to the cache line, so that a vector load never straddles two lines.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace tagalong {

inline constexpr std::size_t kCacheLine = 64;
// How many numbers that is.
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

// The number of labels a row of T is padded to: whole cache lines.
template <class T>
constexpr std::size_t padded(std::size_t labels) {
    return (labels + kLine<T> - 1) / kLine<T> * kLine<T>;
}

}  // namespace tagalong
