// exp and log in plain arithmetic, so that loops over labels vectorise without -ffast-math.
// Both are accurate to a few units in the last place; the tests compare them with libm.
#pragma once

#include <bit>
#include <cstdint>

#include "core/clones.hpp"

namespace tagalong {

// Adding this to |k| < 2^51 leaves the integer k in the low bits of the double.
inline constexpr double kRoundToInteger = 6755399441055744.0;  // 1.5 * 2^52
inline constexpr double kLn2High = 6.93145751953125e-1;
inline constexpr double kLn2Low = 1.42860682030941723212e-6;

// e^x for -700 <= x <= 700. Returns 0 for smaller x, where the weight is negligible, and e^700 for
// larger x.
TAGALONG_INLINE double vector_exp(double x) {
    const double clamped = x < -700.0 ? -700.0 : (x > 700.0 ? 700.0 : x);
    const double shifted = clamped * 1.4426950408889634 + kRoundToInteger;
    const double k = shifted - kRoundToInteger;
    const double r = (clamped - k * kLn2High) - k * kLn2Low;  // |r| <= ln 2 / 2
    // 1 + r + r^2 (1/2! + r/3! + ... + r^11/13!), evaluated in pairs (Estrin's scheme) because
    // Horner's scheme is one long chain of dependent operations.
    const double r2 = r * r, r4 = r2 * r2;
    const double a0 = 1.0 / 2 + r * (1.0 / 6), a1 = 1.0 / 24 + r * (1.0 / 120);
    const double a2 = 1.0 / 720 + r * (1.0 / 5040), a3 = 1.0 / 40320 + r * (1.0 / 362880);
    const double a4 = 1.0 / 3628800 + r * (1.0 / 39916800),
                 a5 = 1.0 / 479001600 + r * (1.0 / 6227020800.0);
    const double rest = (a0 + a1 * r2) + r4 * ((a2 + a3 * r2) + r4 * (a4 + a5 * r2));
    const double p = 1.0 + (r + r2 * rest);
    const auto exponent = (std::bit_cast<std::uint64_t>(shifted) + 1023u) << 52;
    const double result = p * std::bit_cast<double>(exponent);
    return x < -700.0 ? 0.0 : result;
}

// e^x in single precision for -87 <= x <= 88. Returns 0 for smaller x and e^88 for larger x.
TAGALONG_INLINE float vector_exp(float x) {
    constexpr float round_to_integer = 12582912.0f;  // 1.5 * 2^23
    const float clamped = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
    const float shifted = clamped * 1.44269504f + round_to_integer;
    const float k = shifted - round_to_integer;
    const float r = (clamped - k * 0.693359375f) + k * 2.12194440e-4f;
    float p = 1.0f / 5040.0f;
    p = p * r + 1.0f / 720.0f;
    p = p * r + 1.0f / 120.0f;
    p = p * r + 1.0f / 24.0f;
    p = p * r + 1.0f / 6.0f;
    p = p * r + 0.5f;
    p = p * r + 1.0f;
    p = p * r + 1.0f;
    const auto exponent = (std::bit_cast<std::uint32_t>(shifted) + 127u) << 23;
    const float result = p * std::bit_cast<float>(exponent);
    return x < -87.0f ? 0.0f : result;
}

// ln x for normal positive x.
TAGALONG_INLINE double vector_log(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    // x = 2^k m with the mantissa m in [sqrt(1/2), sqrt(2)): take the exponent relative to
    // sqrt(1/2).
    const std::uint64_t offset = bits - 0x3FE6A09E667F3BCDull;
    const auto exponent_bits = offset & 0xFFF0000000000000ull;
    const double m = std::bit_cast<double>(bits - exponent_bits);
    // The exponent is a signed 12-bit number in the top bits. Convert it to double without a 64-bit
    // integer conversion, which AVX2 lacks.
    const std::uint64_t biased = (exponent_bits >> 52) ^ 0x800u;
    const double k =
        std::bit_cast<double>(biased | 0x4330000000000000ull) - (4503599627370496.0 + 2048.0);
    const double s = (m - 1.0) / (m + 1.0);  // |s| <= 0.1716
    const double z = s * s;
    // 1/3 + z/5 + ... + z^9/21, evaluated in pairs
    const double z2 = z * z, z4 = z2 * z2;
    const double a0 = 1.0 / 3 + z * (1.0 / 5), a1 = 1.0 / 7 + z * (1.0 / 9),
                 a2 = 1.0 / 11 + z * (1.0 / 13);
    const double a3 = 1.0 / 15 + z * (1.0 / 17), a4 = 1.0 / 19 + z * (1.0 / 21);
    const double p = (a0 + a1 * z2) + z4 * ((a2 + a3 * z2) + z4 * a4);
    const double log_m = 2.0 * s + 2.0 * s * z * p;
    return k * kLn2High + (k * kLn2Low + log_m);
}

}  // namespace tagalong
