// Constants and helpers of the tile library that kernels use in their own code (its headers `constants.hpp`, `pto_tile.hpp`, `utils.hpp`).
#pragma once

#include "numbers.hpp"

// What the device compiler has as a word; the other modes of the fixpipe are not recorded.
enum QuantMode_t : int { NoQuant = 0 };

namespace pto {

constexpr int REPEAT_BYTE = 256, REPEAT_MAX = 255, REPEAT_STRIDE_MAX = 255;
constexpr uint64_t BLOCK_MAX_PER_REPEAT = 8, MASK_LEN = 64;
constexpr int BLOCK_BYTE_SIZE = 32, BLOCK_LEN = 16, CUBE_BLOCK_SIZE = 512, C0_SIZE_BYTE = 32, FIXP_BURST_UNIT_LEN = 64;
constexpr int FRACTAL_NZ_ROW = 16, FRACTAL_ZZ_ROW = 16, ACC_C0_SIZE = 16, MX_COL_LEN = 2, MX_ROW_LEN = 16, MX_BLOCK_SIZE = 32;
constexpr uint32_t B4_C0_SIZE = 64, SHIFT_BLOCK_LEN = 4, SHIFT_BLOCK_BYTE = 5, SHIFT_FRACTAL_BYTE = 9;
constexpr uint32_t TMP_UB_SIZE = 8 * 1024, TMP_UB_OFFSET = 184 * 1024;

namespace TileConfig {
constexpr int alignedSize = 32, fixedRowSize = 16, fixedColSize = 16, fixedMxRowSize = 16, fixedMxColSize = 2;
constexpr int fractalABSize = 512, fractalCSize = 1024, fractalMxSize = 32;
}  // namespace TileConfig

namespace GlobalTensorDim {
constexpr int DIM_0 = 0, DIM_1 = 1, DIM_2 = 2, DIM_3 = 3, DIM_4 = 4, TOTAL_DIM = 5;
}  // namespace GlobalTensorDim

template <class T, class... Types>
constexpr bool isSupportType = (std::is_same_v<T, Types> || ...);

constexpr int32_t CeilDivision(int32_t a, int32_t b) { return b == 0 ? 0 : (a + b - 1) / b; }
constexpr uint32_t CeilAlignment(uint32_t a, uint32_t b) { return b == 0 ? 0 : (a + b - 1) / b * b; }

/// The layout of a type of tiles, in one word.
template <class Tile>
constexpr TileLayoutCustom GetTileLayoutCustom() {
    constexpr bool rows = Tile::isRowMajor, boxes = Tile::SFractalSize == TileConfig::fractalABSize;
    if constexpr (Tile::SFractal == SLayout::NoneBox) return rows ? TileLayoutCustom::ND : TileLayoutCustom::DN;
    else if constexpr (!boxes) return TileLayoutCustom::NONE;
    else if constexpr (rows) return Tile::SFractal == SLayout::ColMajor ? TileLayoutCustom::ZN : TileLayoutCustom::ZZ;
    else return Tile::SFractal == SLayout::RowMajor ? TileLayoutCustom::NZ : TileLayoutCustom::NONE;
}

/// A padding that is a number of the author's: its bits are those of the element.
template <class N>
constexpr PadValue custom_padding(N bits) {
    return static_cast<PadValue>(static_cast<uint64_t>(PadValue::CustomBase) | static_cast<uint64_t>(bits));
}
constexpr PadValue PadValueCustom(float value) { return custom_padding(__builtin_bit_cast(uint32_t, value)); }
constexpr PadValue PadValueCustom(int32_t value) { return custom_padding(static_cast<uint32_t>(value)); }
constexpr PadValue PadValueCustom(uint32_t value) { return custom_padding(value); }
constexpr PadValue PadValueCustom(int16_t value) { return custom_padding(static_cast<uint16_t>(value)); }
constexpr PadValue PadValueCustom(int8_t value) { return custom_padding(static_cast<uint8_t>(value)); }
constexpr PadValue PadValueCustom(uint8_t value) { return custom_padding(value); }
constexpr PadValue PadValueCustom(half value) { return custom_padding(value.bits); }
constexpr PadValue PadValueCustom(bfloat16_t value) { return custom_padding(value.bits); }
constexpr PadValue PadValueCustom16(uint16_t bits) { return custom_padding(bits); }
template <auto V>
constexpr PadValue PadCustom = [] {
    if constexpr (std::is_floating_point_v<decltype(V)>) return PadValueCustom(static_cast<float>(V));
    else return custom_padding(static_cast<uint32_t>(V));
}();
constexpr bool isCustomPadValue(PadValue value) { return value >= PadValue::CustomBase; }
constexpr uint32_t getCustomPadBits(PadValue value) { return static_cast<uint32_t>(value); }

}  // namespace pto
