// The contents of a model file: arrays and numbers by name. A file may have been damaged or forged,
// so every access checks what it returns: type and length, that all numbers are finite and in
// range.
#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <unordered_set>

#include "bind/arrays.hpp"

namespace tagalong::bind {

// The numbers from least to most, both included. NaN is in no range.
struct Range {
    double least = std::numeric_limits<double>::lowest();
    double most = std::numeric_limits<double>::max();

    bool contains(double value) const { return value >= least && value <= most; }
};
inline constexpr Range kNotNegative{.least = 0};
inline constexpr Range kPositive{.least = std::numeric_limits<double>::min()};
// Weights. Those of a learner are far smaller, and the squares of these do not overflow.
inline constexpr Range kWeight{.least = -1e154, .most = 1e154};
// Counts of rounds and the like. Below 2^53 they are exact as floating-point numbers too.
inline constexpr Range kCount{.least = 0, .most = 9007199254740992.0};

// A plane of numbers, (rows, columns).
template <class V>
using PlaneOf = nb::ndarray<nb::numpy, const V, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

class SavedState {
  public:
    SavedState(nb::dict arrays, nb::dict numbers)
        : arrays_(std::move(arrays)), numbers_(std::move(numbers)) {}

    // The part of the contents whose names start with a prefix, under names without it.
    SavedState under(const std::string& prefix) const {
        SavedState out = *this;
        out.prefix_ += prefix;
        return out;
    }
    // The name in the file.
    std::string name_of(const char* name) const { return prefix_ + name; }

    bool has_array(const char* name) const { return arrays_.contains(name_of(name).c_str()); }
    bool has_number(const char* name) const { return numbers_.contains(name_of(name).c_str()); }

    // An object that is stored instead of an array; null if there is none of this type.
    template <class Object>
    const Object* find(const char* name) const {
        const std::string whole = name_of(name);
        if (!arrays_.contains(whole.c_str())) return nullptr;
        const Object* found = nullptr;
        return nb::try_cast<const Object*>(arrays_[whole.c_str()], found, false) ? found : nullptr;
    }

    // An array of any length, or of the given one.
    template <class V>
    VectorOf<V> vector(const char* name, const Range& range = {}) const {
        auto array = cast<VectorOf<V>>(arrays_, name_of(name), kVector, false);
        check_range(array.data(), array.shape(0), range, name_of(name));
        return array;
    }
    template <class V>
    VectorOf<V> vector(const char* name, std::size_t length, const Range& range = {}) const {
        auto array = vector<V>(name, range);
        if (array.shape(0) != length)
            refuse(name_of(name), "has " + std::to_string(array.shape(0)) + " entries instead of " +
                                      std::to_string(length));
        return array;
    }
    template <class V>
    PlaneOf<V> plane(const char* name, std::size_t rows, std::size_t columns,
                     const Range& range = {}) const {
        auto array = cast<PlaneOf<V>>(arrays_, name_of(name), kPlane, false);
        if (array.shape(0) != rows || array.shape(1) != columns)
            refuse(name_of(name), "has the shape (" + std::to_string(array.shape(0)) + ", " +
                                      std::to_string(array.shape(1)) + ") instead of (" +
                                      std::to_string(rows) + ", " + std::to_string(columns) + ")");
        check_range(array.data(), rows * columns, range, name_of(name));
        return array;
    }
    // The numbers of features: distinct, and not below -1, the constant feature.
    VectorOf<std::int32_t> features(const char* name = "features") const {
        auto array = vector<std::int32_t>(name, Range{.least = -1});
        std::unordered_set<std::int32_t> seen;
        seen.reserve(array.shape(0));
        for (std::size_t i = 0; i < array.shape(0); ++i)
            if (!seen.insert(array.data()[i]).second)
                refuse(name_of(name), "has feature " + std::to_string(array.data()[i]) + " twice");
        return array;
    }

    double number(const char* name, const Range& range = {}) const {
        const auto value = cast<double>(numbers_, name_of(name), "a number");
        check_range(&value, 1, range, name_of(name));
        return value;
    }
    std::int64_t count(const char* name, const Range& range = kCount) const {
        const auto value = cast<std::int64_t>(numbers_, name_of(name), "a whole number");
        check_range(&value, 1, range, name_of(name));
        return value;
    }
    template <class V>
    V get(const char* name, const char* description) const {
        return cast<V>(numbers_, name_of(name), description);
    }
    // The fields of a struct of counts, each stored under its name.
    template <class Counts>
    void read_fields(Counts& counts) const {
        Counts::fields(counts, [&](const char* name, auto& value) {
            using Value = std::remove_reference_t<decltype(value)>;
            if constexpr (std::is_same_v<Value, bool>) value = get<bool>(name, "true or false");
            else if constexpr (std::is_integral_v<Value>) value = count(name);
            else value = number(name);
        });
    }

    [[noreturn]] static void refuse(const std::string& name, const std::string& problem) {
        throw InputError("model state: '" + name + "' " + problem);
    }

    template <class V>
    static void check_range(const V* values, std::size_t count, const Range& range,
                            const std::string& name) {
        for (std::size_t i = 0; i < count; ++i)
            if (!range.contains(static_cast<double>(values[i])))
                refuse(name, "has the number " + format_number(static_cast<double>(values[i])) +
                                 ", which is outside its range");
    }

  private:
    static constexpr auto* kVector = "a one-dimensional array of the type that was saved";
    static constexpr auto* kPlane = "a two-dimensional array of the type that was saved";

    // Without `convert`, an array of another type is refused instead of converted.
    template <class V>
    static V cast(const nb::dict& from, const std::string& name, const char* description,
                  bool convert = true) {
        if (!from.contains(name.c_str())) refuse(name, "is missing");
        V out;
        if (!nb::try_cast<V>(from[name.c_str()], out, convert))
            refuse(name, std::string("must be ") + description);
        return out;
    }

    nb::dict arrays_, numbers_;
    std::string prefix_;
};

}  // namespace tagalong::bind
