#pragma once
#include "runtime.hpp"

/// Which block of its task a core has.
struct LocalContext {
    int32_t block_idx, block_num;
};
/// Which Vector core of its cluster it is.
struct GlobalContext {
    int32_t sub_block_id;
};
constexpr int32_t SPMD_LOCAL_CONTEXT_INDEX = 48, SPMD_GLOBAL_CONTEXT_INDEX = 49;

inline int32_t get_block_idx(int64_t *args) { return reinterpret_cast<LocalContext *>(args[48])->block_idx; }
inline int32_t get_block_num(int64_t *args) { return reinterpret_cast<LocalContext *>(args[48])->block_num; }
inline int32_t get_sub_block_id(int64_t *args) { return reinterpret_cast<GlobalContext *>(args[49])->sub_block_id; }
