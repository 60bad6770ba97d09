// Calls of the tile library and of the device, as they are recorded. The list of operations is made from the declarations of the ops.
#pragma once

#include "recorder.hpp"

namespace slipring {

/// An argument of a call as it is written; `writes` for what the call writes.
template <class A>
std::string argument(const A &value, bool writes) {
    if constexpr (requires { value.recorded(writes); }) {
        return value.recorded(writes);
    } else if constexpr (requires { value.recorded(); }) {
        return value.recorded();
    } else if constexpr (std::is_enum_v<A>) {
        return word_of(value);
    } else if constexpr (std::is_same_v<A, bool>) {
        return value ? "true" : "false";
    } else if constexpr (requires { value->recorded(); }) {
        return "&" + value->recorded();
    } else if constexpr (std::is_pointer_v<A>) {
        using Element = std::remove_pointer_t<A>;
        return pointer(value, name_of<Element>(), sizeof(Element), writes);
    } else {
        static_assert(name_of<A>() != nullptr, "slipring: an argument of this type is not recorded");
        return number(value);
    }
}

/// A call: the words between angle brackets, then its arguments, of which it writes the first so many.
template <auto... Words, class... Args>
void call(const char *name, int writes, const Args &...args) {
    std::string words, list;
    ((words += (words.empty() ? "" : ", ") + std::string(spelled<Words>())), ...);
    int n = 0;
    ((list += (n == 0 ? "" : ", ") + argument(args, n < writes), n += 1), ...);
    recording.say(std::string(name) + (words.empty() ? "" : "<" + words + ">") + "(" + list + ");");
}

#define SLIPRING_EACH(NAME, FIXED, WRITES)                                  \
    template <FIXED auto... Words, class... Args>                           \
    void NAME(const Args &...args) const {                                  \
        call<Words...>(#NAME, WRITES, args...);                             \
    }
#define SLIPRING_TYPES_1 class,
#define SLIPRING_TYPES_2 class, class,
#define SLIPRING_TYPES_3 class, class, class,
#define SLIPRING_TYPES_4 class, class, class, class,
#define SLIPRING_TYPES_5 class, class, class, class, class,
#define SLIPRING_TYPES_6 class, class, class, class, class, class,
#define SLIPRING_OP(NAME, WRITES)                   \
    SLIPRING_EACH(NAME, , WRITES)                   \
    SLIPRING_EACH(NAME, SLIPRING_TYPES_1, WRITES)   \
    SLIPRING_EACH(NAME, SLIPRING_TYPES_2, WRITES)   \
    SLIPRING_EACH(NAME, SLIPRING_TYPES_3, WRITES)   \
    SLIPRING_EACH(NAME, SLIPRING_TYPES_4, WRITES)   \
    SLIPRING_EACH(NAME, SLIPRING_TYPES_5, WRITES)   \
    SLIPRING_EACH(NAME, SLIPRING_TYPES_6, WRITES)

/// The calls of one place.
struct Calls {
#include "ops.hpp"

    template <class T>
        requires requires(T &tile) { tile.placed; }
    void TASSIGN(T &tile, uint64_t address) const {
        tile.address = address;
        tile.placed = true;
        tile.own.clear();
    }
    template <class G, class P>
        requires requires(G &view, P *pointer) { view.address = pointer; }
    void TASSIGN(G &view, P *pointer) const {
        view.address = pointer;
    }
    template <class D, class S>
    void TRESHAPE(D &dst, S &src) const {
        const std::string from = src.recorded();
        recording.say("TRESHAPE(" + dst.renamed() + ", " + from + ");");
        dst.address = src.address;
    }
    template <class Pipe, class Tile, pto::TileSplitAxis Split>
    void TPUSH(Pipe &pipe, Tile &tile) const {
        const std::string own = tile.recorded();
        recording.say("TPUSH<" + ends<Pipe, Split>(tile.type() + ", ") + ">(" + pipe.own + ", " + own + ");");
    }
    template <class Pipe, class Tile, pto::TileSplitAxis Split>
    void TPOP(Pipe &pipe, Tile &tile) const {
        const std::string own = tile.renamed();
        recording.say("TPOP<" + ends<Pipe, Split>(tile.type() + ", ") + ">(" + pipe.own + ", " + own + ");");
    }
    template <class Pipe, pto::TileSplitAxis Split>
    void TFREE(Pipe &pipe) const {
        recording.say("TFREE<" + ends<Pipe, Split>("") + ">(" + pipe.own + ");");
    }

  private:
    template <class Pipe, pto::TileSplitAxis Split>
    static std::string ends(const std::string &tile) {
        const std::string_view axis = spelled<Split>();
        const std::string word = "TileSplitAxis::" + std::string(axis.substr(axis.rfind(':') + 1));
        if (Split > pto::TILE_LEFT_RIGHT) refuse("it divides a tile of an odd number of rows or columns (`" + word + "`), which is not modelled");
        return Pipe::type() + ", " + tile + word;
    }
};

inline std::string event(int64_t id) {
    if (id < 0 || id > 7) refuse("an event is one of EVENT_ID0 to EVENT_ID7");
    return "EVENT_ID" + std::to_string(id);
}

inline Place here(const char *file = __builtin_FILE(), unsigned line = __builtin_LINE()) { return {file, line}; }

inline void signal(const char *name, pipe_t from, pipe_t to, int64_t id, Place at) {
    recording.at = at;
    recording.say(std::string(name) + "(" + word_of(from) + ", " + word_of(to) + ", " + event(id) + ");");
}

}  // namespace slipring

/// The calls of a place of the author's file.
inline slipring::Calls slipring_at(const char *file, unsigned line) {
    slipring::recording.at = {file, line};
    return {};
}
namespace pto {
using ::slipring_at;
}

inline void set_flag(pipe_t from, pipe_t to, int64_t id, slipring::Place at = slipring::here()) {
    slipring::signal("set_flag", from, to, id, at);
}
inline void wait_flag(pipe_t from, pipe_t to, int64_t id, slipring::Place at = slipring::here()) {
    slipring::signal("wait_flag", from, to, id, at);
}
inline void pipe_barrier(pipe_t pipe, slipring::Place at = slipring::here()) {
    slipring::recording.at = at;
    slipring::recording.say("pipe_barrier(" + slipring::word_of(pipe) + ");");
}
/// `lines` is 0 for the line of the address, 1 for the whole cache; kernels may have words of their own for it.
inline void dcci(const volatile void *address, int lines, int = 0, slipring::Place at = slipring::here()) {
    slipring::recording.at = at;
    const std::string line = address == nullptr ? "0" : slipring::pointer(const_cast<const void *>(address), nullptr, 1);
    slipring::recording.say("dcci(" + line + ", " + slipring::word_of(static_cast<cache_line_t>(lines)) + ");");
}
// Everything sees what the scalar unit stored in the order in which it did; all lanes count.
inline void dsb(int) {}
inline void set_mask_norm() {}
inline void set_vector_mask(uint64_t low, uint64_t high) {
    if (~low != 0 || ~high != 0) slipring::refuse("it sets a mask of vectors");
}
namespace pto {
template <class T>
void SetFullVecMaskByDType() {
    set_vector_mask(-1, -1);
}
template <class T>
void SetContMaskByDType(unsigned) {
    slipring::refuse("it sets a mask of vectors");
}
inline void SetContinuousMask(unsigned) { slipring::refuse("it sets a mask of vectors"); }
inline void SetVectorCount(uint64_t) { slipring::refuse("it sets a mask of vectors"); }

/// One pipe waits for another one.
template <pipe_t From, pipe_t To>
void PtoSetWaitFlag(event_t set = EVENT_ID0, event_t wait = EVENT_ID0, slipring::Place at = slipring::here()) {
    set_flag(From, To, set, at);
    wait_flag(From, To, wait, at);
}
}  // namespace pto
inline int64_t get_sys_cnt() { slipring::refuse("it reads the clock"); }
inline void set_ffts_base_addr(uint64_t) {}
inline int64_t get_block_idx() { return slipring::recording.block; }
inline int64_t get_block_num() { return slipring::recording.blocks; }
inline int64_t get_subblockid() { return slipring::recording.lane; }
inline int64_t get_subblockdim() { return slipring::recording.lanes; }
/// What the device compiler has as names.
inline struct {
    operator int64_t() const { return get_block_idx(); }
} block_idx;
inline struct {
    operator int64_t() const { return get_block_num(); }
} block_num;
namespace AscendC {
inline int64_t GetBlockNum() { return get_block_num(); }
inline int64_t GetBlockIdx() { return get_block_idx(); }
inline int64_t GetSubBlockIdx() { return get_subblockid(); }
}  // namespace AscendC

namespace slipring {
/// `kernel<<<blocks, memory, stream>>>(…)` of a host function: it enters the kernel on this core.
struct HostLaunch {
    int64_t blocks;
    template <class... Rest>
    explicit HostLaunch(int64_t blocks, Rest &&...) : blocks(blocks) {}
    template <class... A>
    struct Bound {
        int64_t blocks;
        std::tuple<A...> args;
    };
    template <class... A>
    Bound<std::decay_t<A>...> operator()(A &&...args) const {
        return {blocks, {args...}};
    }
};
template <class... P, class... A>
void operator*(void (*kernel)(P...), const HostLaunch::Bound<A...> &launch) {
    if (launch.blocks != recording.blocks) {
        refuse("the host launches " + std::to_string(launch.blocks) + " blocks: record as many, with `--blocks`");
    }
    std::apply([&](const A &...args) { kernel((P)(args)...); }, launch.args);
}
}  // namespace slipring

#include "words.hpp"
