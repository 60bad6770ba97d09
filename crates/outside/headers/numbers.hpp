// Numbers and words of the tile library, for a recording: kernels compile against these headers on this machine, and what they call is
// written down instead of done.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

// The words of the device compiler say nothing here: memory is told by types, and all is for the device.
#define __aicore__
#define AICORE
#define __gm__
#define __global__
#define __ubuf__
#define __cbuf__
#define __ca__
#define __cb__
#define __cc__
#define __fbuf__
#define __in__
#define __out__
#define __tf__
#define PTO_INTERNAL inline
#define PTO_INST inline

using GM_ADDR = uint8_t *;

namespace slipring {

/// A float of fewer bits: a kernel computes with it as a float, which is enough for the constants that it passes on.
template <int Exponent, int Mantissa>
struct SmallFloat {
    std::conditional_t<(Exponent + Mantissa > 8), uint16_t, uint8_t> bits = 0;

    SmallFloat() = default;
    template <class N>
        requires std::is_arithmetic_v<N>
    SmallFloat(N value) {
        int exponent;
        const float number = static_cast<float>(value), sign = std::signbit(number) ? 1 : 0;
        const int bias = (1 << (Exponent - 1)) - 1, whole = (1 << Exponent) - 1;
        const float fraction = std::frexp(std::fabs(number), &exponent);
        long own = 0;
        if (std::isnan(number)) {
            own = (long(whole) << Mantissa) | (1L << (Mantissa - 1));
        } else if (std::isinf(number)) {
            own = long(whole) << Mantissa;
        } else if (number != 0) {
            const int least = 1 - bias, at = exponent - 1 < least ? least : exponent - 1;
            // To the nearest, ties to even, as the default environment rounds.
            const long steps = std::lrint(std::ldexp(fraction, exponent - at + Mantissa));
            own = steps + (at > least ? long(at - least) << Mantissa : 0);
            if (own >= long(whole) << Mantissa) own = long(whole) << Mantissa;
        }
        bits = static_cast<decltype(bits)>(own | (long(sign) << (Exponent + Mantissa)));
    }
    operator float() const {
        const int bias = (1 << (Exponent - 1)) - 1, whole = (1 << Exponent) - 1;
        const int exponent = (bits >> Mantissa) & whole, mantissa = bits & ((1 << Mantissa) - 1);
        const float sign = (bits >> (Exponent + Mantissa)) & 1 ? -1.0f : 1.0f;
        if (exponent == whole) return mantissa ? NAN : sign * INFINITY;
        if (exponent == 0) return sign * std::ldexp(float(mantissa), 1 - bias - Mantissa);
        return sign * std::ldexp(float(mantissa + (1 << Mantissa)), exponent - bias - Mantissa);
    }
};

/// A type of which a kernel has no values, only memory.
template <int Kind>
struct Opaque {
    uint8_t bits;
};

}  // namespace slipring

using half = slipring::SmallFloat<5, 10>;
using bfloat16_t = slipring::SmallFloat<8, 7>;
using float16_t = half;
using float32_t = float;
using float8_e4m3_t = slipring::Opaque<0>;
using float8_e5m2_t = slipring::Opaque<1>;
using float8_e8m0_t = slipring::Opaque<2>;
using hifloat8_t = slipring::Opaque<3>;
using float4_e2m1x2_t = slipring::Opaque<4>;
using float4_e1m2x2_t = slipring::Opaque<5>;

namespace slipring {

/// True if two types of numbers are one: integers are told by their size and sign alone.
template <class A, class B>
constexpr bool alike = std::is_same_v<A, B> || (std::is_integral_v<A> && std::is_integral_v<B> && !std::is_same_v<A, bool> &&
                                                !std::is_same_v<B, bool> && sizeof(A) == sizeof(B) &&
                                                std::is_signed_v<A> == std::is_signed_v<B>);

/// The name of a type of elements, as kernels write it. The list is made of the types that the reader of C++ knows.
template <class T>
constexpr const char *name_of() {
    using N = std::remove_cv_t<T>;
#define SLIPRING_ELEM(NAME) \
    if constexpr (alike<N, NAME>) return #NAME;
#include "elements.hpp"
#undef SLIPRING_ELEM
    return nullptr;
}

/// The name of a member of an enumeration, as the compiler spells it in the name of this function.
template <auto Member>
constexpr std::string_view spelled() {
    std::string_view text = __PRETTY_FUNCTION__;
    const auto from = text.find("Member = ") + 9;
    const auto end = text.find_first_of(";]", from);
    return text.substr(from, end - from);
}

/// The same for a value that is known only now: members have small numbers.
template <class E, int From = 0>
std::string word_of(E value) {
    if constexpr (From >= 64) {
        return {};
    } else {
        if (static_cast<long long>(value) == From) return std::string(spelled<static_cast<E>(From)>());
        return word_of<E, From + 1>(value);
    }
}

}  // namespace slipring

#define SLIPRING_WORDS(NAME, ...) enum class NAME { __VA_ARGS__ };

namespace pto {

SLIPRING_WORDS(TileType, Vec, Mat, Left, Right, Acc, Bias, Scaling, ScaleLeft, ScaleRight)
SLIPRING_WORDS(BLayout, RowMajor, ColMajor)
SLIPRING_WORDS(SLayout, NoneBox, RowMajor, ColMajor)
enum class PadValue : uint64_t { Null, Zero, Max, Min, CustomBase = 1ull << 32 };
SLIPRING_WORDS(CompactMode, Null, Normal, RowPlusOne, RowAlignedPadding)
SLIPRING_WORDS(TileLayoutCustom, ND, DN, NZ, ZN, ZZ, NONE)
SLIPRING_WORDS(Layout, ND, DN, NZ)
SLIPRING_WORDS(CmpMode, EQ, NE, LT, LE, GT, GE)
SLIPRING_WORDS(RoundMode, CAST_NONE, CAST_RINT, CAST_ROUND, CAST_FLOOR, CAST_CEIL, CAST_TRUNC, CAST_ODD)
SLIPRING_WORDS(MaskPattern, P0101 = 1, P1010, P0001, P0010, P0100, P1000, P1111)
SLIPRING_WORDS(ReluPreMode, NoRelu, NormalRelu)
SLIPRING_WORDS(AtomicType, AtomicNone, AtomicAdd)
SLIPRING_WORDS(SaturationMode, ON, OFF)
SLIPRING_WORDS(AccToVecMode, SingleModeVec0, SingleModeVec1, DualModeSplitM, DualModeSplitN)
SLIPRING_WORDS(STPhase, Unspecified, Partial = 2, Final)
SLIPRING_WORDS(AccPhase, Unspecified, Partial = 2, Final)
SLIPRING_WORDS(GatherOOB, Undefined, Clamp, Wrap, Zero)
SLIPRING_WORDS(GatherAxis, GATHER_ROW, GATHER_COL)
SLIPRING_WORDS(ScatterAxis, SCATTER_ROW, SCATTER_COL)
SLIPRING_WORDS(ScatterOOB, Undefined, Skip, Clamp, Wrap)
SLIPRING_WORDS(ScatterAtomicOp, None, Add, Max, Min)
SLIPRING_WORDS(ScatterConflict, Last, Default)
SLIPRING_WORDS(Coalesce, Row, Elem)
SLIPRING_WORDS(DivAlgorithm, DEFAULT, HIGH_PRECISION)
SLIPRING_WORDS(ExpAlgorithm, DEFAULT, HIGH_PRECISION)
SLIPRING_WORDS(LogAlgorithm, DEFAULT, HIGH_PRECISION)
SLIPRING_WORDS(SqrtAlgorithm, DEFAULT, HIGH_PRECISION)
SLIPRING_WORDS(RsqrtAlgorithm, DEFAULT, HIGH_PRECISION)
SLIPRING_WORDS(RecipAlgorithm, DEFAULT, HIGH_PRECISION)
SLIPRING_WORDS(PowAlgorithm, DEFAULT, HIGH_PRECISION)
SLIPRING_WORDS(FmodAlgorithm, DEFAULT, HIGH_PRECISION)
SLIPRING_WORDS(FmodSAlgorithm, DEFAULT, HIGH_PRECISION)
SLIPRING_WORDS(RemAlgorithm, DEFAULT, HIGH_PRECISION)
SLIPRING_WORDS(RemSAlgorithm, DEFAULT, HIGH_PRECISION)

/// Names of the library itself, with and without the name of the enumeration.
enum TileSplitAxis : uint8_t { TILE_NO_SPLIT, TILE_UP_DOWN, TILE_LEFT_RIGHT, TILE_UP_DOWN_ODD, TILE_LEFT_RIGHT_ODD };

struct Direction {
    enum Bits : uint8_t { DIR_C2V = 1, DIR_V2C = 2, DIR_BOTH = 3, DIR_C2V_GM = 5, DIR_V2C_GM = 6 };
};

constexpr int DYNAMIC = -1;

}  // namespace pto

enum pipe_t : int { PIPE_S, PIPE_V, PIPE_M, PIPE_MTE1, PIPE_MTE2, PIPE_MTE3, PIPE_FIX, PIPE_ALL };
enum event_t : int { EVENT_ID0, EVENT_ID1, EVENT_ID2, EVENT_ID3, EVENT_ID4, EVENT_ID5, EVENT_ID6, EVENT_ID7 };
enum cache_line_t : int { SINGLE_CACHE_LINE, ENTIRE_DATA_CACHE };
enum dcci_dst_t : int { CACHELINE_ALL, CACHELINE_UB, CACHELINE_OUT, CACHELINE_ATOMIC };
enum mem_dsb_t : int { DSB_ALL, DSB_DDR, DSB_UB, DSB_SEQ };
