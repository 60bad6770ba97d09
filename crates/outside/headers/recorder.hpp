// What a core of one block calls, written down as straight C++: every tile by its type and address, every view of global memory by its
// buffer and distance.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "constants.hpp"

namespace slipring {

/// A buffer of global memory.
struct Buffer {
    const char *name;
    uint8_t *bytes;
    uint64_t size;
    /// The type of its elements in the recording, and their size.
    std::string elem;
    uint64_t elem_size;
};

/// Where in the author's files a call stands.
struct Place {
    const char *file;
    unsigned line;
};

/// Ends a recording: what cannot be written down.
[[noreturn]] void refuse(const std::string &why);

/// A recording of one core.
struct Recording {
    std::string text;
    /// A line for each pipe: type, buffer, distance in its elements, where slots land on either side, and its place.
    std::string pipes;
    unsigned pipe_count = 0;
    std::map<std::string, std::string> names;
    unsigned made = 0;
    Place at{"", 0};
    Place shown{"", 0};
    std::vector<Buffer> *buffers = nullptr;
    /// A byte for each buffer that an operation of a pipe writes; shared with the process that started this one.
    uint8_t *written = nullptr;
    int block = 0, blocks = 1, lane = 0, lanes = 1;
    uint64_t most = 0;
    /// What the next line needs to be declared.
    std::string declared;

    std::string fresh(const char *of) { return of + std::to_string(++made); }

    void say(const std::string &line) {
        if (at.line != 0 && (at.line != shown.line || std::strcmp(at.file, shown.file) != 0)) {
            text += "#line " + std::to_string(at.line) + " \"" + at.file + "\"\n";
            shown = at;
        }
        text += "        " + declared + line + "\n";
        declared.clear();
        // Each line counts as one of the author's file: the next one is at the same place again.
        shown.line += 1;
        if (text.size() > most) refuse("it does more than a recording has room for");
    }

    /// The name of what such a declaration makes, which is written once.
    std::string once(const char *of, const std::string &key, auto &&declare) {
        auto [found, is_new] = names.try_emplace(key);
        if (is_new) {
            found->second = fresh(of);
            declare(found->second);
        }
        return found->second;
    }
};

inline Recording recording;

/// An address of global memory in the recording: a buffer and a distance.
inline std::string pointer(const void *address, const char *elem, uint64_t elem_size, bool writes = false) {
    if (address == nullptr) return "(__gm__ void *)nullptr";
    const auto *byte = static_cast<const uint8_t *>(address);
    size_t n = 0;
    for (const Buffer &buffer : *recording.buffers) {
        // One past the end is an address of it, too.
        if (byte >= buffer.bytes && byte <= buffer.bytes + buffer.size) {
            const uint64_t distance = byte - buffer.bytes;
            if (writes) recording.written[n] = 1;
            std::string from = buffer.name;
            if (elem != nullptr && buffer.elem != elem) from = "((__gm__ " + std::string(elem) + " *)" + from + ")";
            const uint64_t size = elem == nullptr ? buffer.elem_size : elem_size;
            if (distance % size != 0) refuse("an address in `" + from + "` lies between its elements");
            if (distance == 0) return from;
            return from + " + " + std::to_string(distance / size);
        }
        n += 1;
    }
    refuse("a pointer is none of the buffers of this launch: each pointer parameter is given a buffer by `--arg`");
}

/// A number in the recording.
template <class N>
std::string number(N value) {
    using T = std::remove_cv_t<N>;
    if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16_t>) {
        return "static_cast<" + std::string(name_of<T>()) + ">(" + number(static_cast<float>(value)) + ")";
    } else if constexpr (std::is_floating_point_v<T>) {
        const float own = static_cast<float>(value);
        if (std::isnan(own)) return "__builtin_nanf(\"\")";
        if (std::isinf(own)) return own < 0 ? "-__builtin_inff()" : "__builtin_inff()";
        char digits[40];
        std::snprintf(digits, sizeof digits, "%.9g", own);
        std::string text = digits;
        if (text.find_first_of(".e") == std::string::npos) text += ".0";
        return text + "f";
    } else {
        const std::string type = "(" + std::string(name_of<T>()) + ")";
        // No literal has this value: a sign is an operator.
        if constexpr (std::is_same_v<T, bool>) return type + (value ? "1" : "0");
        else if constexpr (std::is_unsigned_v<T>) return type + std::to_string(value) + "u";
        else if (value == std::numeric_limits<T>::min()) return type + "(" + std::to_string(value + 1) + " - 1)";
        else return type + std::to_string(value);
    }
}

}  // namespace slipring

namespace pto {

/// Extents of a tensor, or distances: those that are -1 are given when it is made.
template <int64_t... N>
struct Extents {
    static constexpr size_t COUNT = sizeof...(N);
    static constexpr int64_t of_type[COUNT] = {N...};
    int64_t own[COUNT] = {(N < 0 ? 1 : N)...};

    Extents() = default;
    template <class... G>
        requires(sizeof...(G) > 0 && (std::is_convertible_v<G, int64_t> && ...))
    Extents(G... given) {
        const int64_t all[] = {static_cast<int64_t>(given)...};
        size_t open = 0, next = 0;
        for (int64_t n : of_type) open += n < 0;
        if (sizeof...(G) != COUNT && sizeof...(G) != open) slipring::refuse("a shape gets another count of extents");
        for (size_t i = 0; i < COUNT; ++i) {
            const int64_t value = sizeof...(G) == COUNT ? all[i] : of_type[i] < 0 ? all[next++] : of_type[i];
            if (of_type[i] < 0) own[i] = value;
        }
    }

    std::string list() const {
        std::string text;
        for (int64_t n : own) text += (text.empty() ? "" : ", ") + std::to_string(n);
        return text;
    }
};

template <int64_t A = DYNAMIC, int64_t B = DYNAMIC, int64_t C = DYNAMIC, int64_t D = DYNAMIC, int64_t E = DYNAMIC>
struct Shape : Extents<A, B, C, D, E> {
    using Extents<A, B, C, D, E>::Extents;
    static constexpr int64_t staticShape[5] = {A, B, C, D, E};
};

template <int64_t A = DYNAMIC, int64_t B = DYNAMIC, int64_t C = DYNAMIC, int64_t D = DYNAMIC, int64_t E = DYNAMIC>
struct Stride : Extents<A, B, C, D, E> {
    using Extents<A, B, C, D, E>::Extents;
    static constexpr int64_t staticStride[5] = {A, B, C, D, E};
};

// Without template arguments every extent is given, as in the library.
template <class... G>
Shape(G...) -> Shape<>;
template <class... G>
Stride(G...) -> Stride<>;

namespace shapes {
/// Elements of 32 bytes: a row of a box.
template <class T>
constexpr int64_t BOX = 32 / sizeof(T);
constexpr int64_t product(int64_t a, int64_t b) { return a < 0 || b < 0 ? -1 : a * b; }
constexpr int64_t part(int64_t a, int64_t b) { return a < 0 ? -1 : a / b; }

template <class T, int64_t R, int64_t C, Layout L>
struct Of {
    using Tile = Shape<1, 1, 1, R, C>;
    using Whole = std::conditional_t<
        L == Layout::DN, Stride<product(R, C), product(R, C), product(R, C), 1, R>,
        Stride<product(R, C), product(R, C), product(R, C), C, 1>>;
    static Tile tile(int64_t r, int64_t c) { return Tile(1, 1, 1, r, c); }
    static Whole whole(int64_t r, int64_t c) {
        return L == Layout::DN ? Whole(r * c, r * c, r * c, 1, r) : Whole(r * c, r * c, r * c, c, 1);
    }
};

template <class T, int64_t R, int64_t C>
struct Of<T, R, C, Layout::NZ> {
    using Tile = Shape<1, part(C, BOX<T>), part(R, 16), 16, BOX<T>>;
    using Whole = Stride<product(R, C), product(R, BOX<T>), 16 * BOX<T>, BOX<T>, 1>;
    static Tile tile(int64_t r, int64_t c) { return Tile(1, c / BOX<T>, r / 16, 16, BOX<T>); }
    static Whole whole(int64_t r, int64_t c) { return Whole(r * c, r * BOX<T>, 16 * BOX<T>, BOX<T>, 1); }
};

/// Sizes that are made of rows and columns, too.
template <class Own, auto Of>
struct Sized : Own {
    using Own::Own;
    Sized() = default;
    Sized(int64_t r, int64_t c) : Own(Of(r, c)) {}
};
}  // namespace shapes

/// The shape of a part of a matrix in memory, and the distances of the whole matrix.
template <class T, int64_t R = DYNAMIC, int64_t C = DYNAMIC, Layout L = Layout::ND>
using TileShape2D = shapes::Sized<typename shapes::Of<T, R, C, L>::Tile, shapes::Of<T, R, C, L>::tile>;
template <class T, int64_t R = DYNAMIC, int64_t C = DYNAMIC, Layout L = Layout::ND>
using BaseShape2D = shapes::Sized<typename shapes::Of<T, R, C, L>::Whole, shapes::Of<T, R, C, L>::whole>;

/// A view of global memory.
template <class T, class Shape_, class Stride_, Layout L = Layout::ND>
struct GlobalTensor {
    using DType = T;
    using RawDType = std::remove_cv_t<T>;
    using Shape = Shape_;
    using Stride = Stride_;
    static constexpr Layout layout = L;
    RawDType *address = nullptr;
    Shape_ shape;
    Stride_ stride;

    GlobalTensor() = default;
    GlobalTensor(const volatile T *address, const Shape_ &shape = {}, const Stride_ &stride = {})
        : address(const_cast<RawDType *>(address)), shape(shape), stride(stride) {}
    RawDType *data() const { return address; }
    int64_t GetShape(int n) const { return shape.own[n]; }
    int64_t GetStride(int n) const { return stride.own[n]; }

    std::string recorded(bool writes) const {
        const std::string elem = slipring::name_of<RawDType>();
        const std::string ty = "GlobalTensor<" + elem + ", pto::Shape<" + shape.list() + ">, pto::Stride<" + stride.list() +
                               ">, pto::" + std::string(slipring::spelled<L>().substr(5)) + ">";
        const std::string from = slipring::pointer(address, elem.c_str(), sizeof(RawDType), writes);
        return slipring::recording.once("g", ty + from, [&](const std::string &own) {
            slipring::recording.declared += ty + " " + own + " = " + ty + "(" + from + "); ";
        });
    }
};

/// What `data()` of a tile is: an address of local memory, which nothing here reads.
template <class T>
struct LocalAddress {
    uint64_t address;
    LocalAddress operator+(int64_t n) const { return {address + n * sizeof(T)}; }
    operator uint64_t() const { return address; }
    template <class P>
        requires std::is_pointer_v<P>
    explicit operator P() const {
        slipring::refuse("it reads or writes local memory by a pointer");
    }
};

/// A tile.
template <
    TileType Loc_, class T, int R, int C, BLayout B = BLayout::RowMajor, int VR = R, int VC = C,
    SLayout S = SLayout::NoneBox, int F = 512, PadValue P = PadValue::Null, CompactMode K = CompactMode::Null>
struct Tile {
    using DType = T;
    using TileDType = LocalAddress<T>;
    static constexpr TileType Loc = Loc_;
    static constexpr int Rows = R, Cols = C, ValidRow = VR, ValidCol = VC, Numel = R * C;
    static constexpr int RowStride = B == BLayout::RowMajor ? C : 1, ColStride = B == BLayout::RowMajor ? 1 : R;
    static constexpr bool isRowMajor = B == BLayout::RowMajor, isBoxedLayout = S != SLayout::NoneBox;
    static constexpr bool isInnerRowMajor = S == SLayout::RowMajor, isInnerColMajor = S == SLayout::ColMajor;
    static constexpr BLayout BFractal = B;
    static constexpr SLayout SFractal = S;
    static constexpr int SFractalSize = F;
    static constexpr PadValue PadVal = P;
    static constexpr CompactMode Compact = K;

    int64_t rows = VR < 0 ? R : VR, cols = VC < 0 ? C : VC;
    uint64_t address = 0;
    bool placed = false;
    /// The name of what a pipe gave, or of another tile under another type.
    std::string own;

    Tile() = default;
    explicit Tile(int64_t n) {
        static_assert((VR < 0) != (VC < 0), "one extent is open");
        (VR < 0 ? rows : cols) = n;
    }
    Tile(int64_t r, int64_t c) {
        if (VR < 0) rows = r;
        if (VC < 0) cols = c;
    }
    int64_t GetValidRow() const { return rows; }
    int64_t GetValidCol() const { return cols; }
    void SetValidShape(int64_t r, int64_t c) {
        if (!own.empty() && (r != rows || c != cols)) slipring::refuse("a tile from a pipe gets another valid shape");
        rows = r, cols = c;
    }
    void SetValidRow(int64_t r) { SetValidShape(r, cols); }
    void SetValidCol(int64_t c) { SetValidShape(rows, c); }
    TileDType data() const { return {address}; }
    T GetValue(int64_t) const { slipring::refuse("it reads an element of a tile, which is known only when it runs"); }
    void SetValue(int64_t index, T value) const {
        slipring::recording.say(recorded() + ".SetValue(" + slipring::number(index) + ", " + slipring::number(value) + ");");
    }

    /// Whether its length along k is that of its valid shape, for products of f32 on A2/A3.
    bool k_aligned = false;
    bool GetKAligned() const { return k_aligned; }
    void SetKAligned(bool aligned) {
#if defined(PTO_NPU_ARCH_A2A3)
        if (aligned && std::is_same_v<T, float>) slipring::refuse("it aligns a product of f32 along k (`SetKAligned`), which is not modelled");
#endif
        k_aligned = aligned;
    }

    std::string type() const {
        if (P > PadValue::Min) slipring::refuse("a tile is padded with a number of its own (`PadValueCustom`), which is not modelled");
        if (K == CompactMode::RowAlignedPadding) slipring::refuse("a tile is compact as `CompactMode::RowAlignedPadding` says, which is not modelled");
        auto word = [](std::string_view text) { return std::string(text.substr(5)); };
        return "Tile<" + word(slipring::spelled<Loc_>()) + ", " + slipring::name_of<T>() + ", " + std::to_string(R) + ", " +
               std::to_string(C) + ", " + word(slipring::spelled<B>()) + ", " + std::to_string(rows) + ", " +
               std::to_string(cols) + ", " + word(slipring::spelled<S>()) + ", " + std::to_string(F) + ", " +
               word(slipring::spelled<P>()) + ", " + word(slipring::spelled<K>()) + ">";
    }
    std::string recorded() const {
        if (!own.empty()) return own;
        if (!placed) slipring::refuse("a tile has no address: `TASSIGN` gives it one");
        const std::string ty = type();
        return slipring::recording.once("t", ty + std::to_string(address), [&](const std::string &name) {
            slipring::recording.declared += ty + " " + name + "; TASSIGN(" + name + ", " + std::to_string(address) + "); ";
        });
    }
    /// A name for what is to come in this tile.
    std::string renamed() {
        own = slipring::recording.fresh("t");
        slipring::recording.declared += type() + " " + own + "; ";
        return own;
    }
};

template <class T, int R, int C, int VR = R, int VC = C>
using TileRight = Tile<TileType::Right, T, R, C, BLayout::RowMajor, VR, VC, SLayout::ColMajor, 512>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileAcc = Tile<TileType::Acc, T, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 1024>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileLeft = Tile<TileType::Left, T, R, C, SLIPRING_LEFT, VR, VC, SLayout::RowMajor, 512>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileRightCompact =
    Tile<TileType::Right, T, R, C, BLayout::RowMajor, VR, VC, SLayout::ColMajor, 512, PadValue::Null, CompactMode::Normal>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileAccCompact =
    Tile<TileType::Acc, T, R, C, BLayout::ColMajor, VR, VC, SLayout::RowMajor, 1024, PadValue::Null, CompactMode::Normal>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileLeftCompact =
    Tile<TileType::Left, T, R, C, SLIPRING_LEFT, VR, VC, SLayout::RowMajor, 512, PadValue::Null, CompactMode::Normal>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileLeftScale = Tile<TileType::ScaleLeft, T, R, C, BLayout::RowMajor, VR, VC, SLayout::RowMajor, 32>;
template <class T, int R, int C, int VR = R, int VC = C>
using TileRightScale = Tile<TileType::ScaleRight, T, R, C, BLayout::ColMajor, VR, VC, SLayout::ColMajor, 32>;

/// How many elements a merge took of each source: known only when it runs.
struct MrgSortExecutedNumList {
    struct Count {
        operator uint16_t() const { slipring::refuse("it reads how many elements a merge took, which is known only when it runs"); }
    };
    Count mrgSortList0, mrgSortList1, mrgSortList2, mrgSortList3;
    std::string recorded() const { return "MrgSortExecutedNumList()"; }
};

/// A pipe between the Cube and the Vector cores.
template <uint8_t Flag, uint8_t Dir, uint32_t Bytes, uint32_t Slots, uint32_t Local = 2, bool Whole = false>
struct TPipe {
    std::string own;
    static std::string type() {
        const char *word = Dir == 1 ? "DIR_C2V" : Dir == 2 ? "DIR_V2C" : Dir == 3 ? "DIR_BOTH" : Dir == 5 ? "DIR_C2V_GM" : "DIR_V2C_GM";
        return "TPipe<" + std::to_string(Flag) + ", Direction::" + word + ", " + std::to_string(Bytes) + ", " +
               std::to_string(Slots) + ", " + std::to_string(Local) + ", " + (Whole ? "true" : "false") + ">";
    }
    template <class M>
    TPipe(M *memory, uint64_t c2v, uint64_t v2c) {
        slipring::Recording &to = slipring::recording;
        own = "p" + std::to_string(to.pipe_count++);
        const std::string from = slipring::pointer(memory, nullptr, 1, true);
        const auto at = from.find(" + ");
        const std::string distance = at == std::string::npos ? "0" : from.substr(at + 3);
        to.pipes += type() + "|" + from.substr(0, at) + "|" + distance + "|" + std::to_string(c2v) + "|" + std::to_string(v2c) +
                    "|" + to.at.file + "|" + std::to_string(to.at.line) + "\n";
    }
    TPipe(std::nullptr_t, uint64_t c2v, uint64_t v2c) : TPipe(static_cast<void *>(nullptr), c2v, v2c) {}
};

}  // namespace pto
