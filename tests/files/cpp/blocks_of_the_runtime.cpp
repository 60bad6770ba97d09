// test: run %s --arch a2a3 --blocks 4 --arg zeros:i32[8]
// check: race clean
// out[0]: i32 4 0 5 0 6 0 7 0
//
// The runtime of the public compiler calls a function that unpacks arguments. What it fills in for each block comes from
// the launch here: it is not among the arguments.

static __aicore__ void own(__gm__ int32_t *v1, int32_t v2, int32_t v3) {
#if defined(__DAV_CUBE__)
    int64_t v4 = (int64_t)v2;
    (v1)[(int64_t)((uint64_t)v4 * (uint64_t)2)] = (int32_t)((uint32_t)v2 + (uint32_t)v3);
#endif
    return;
}

extern "C" __aicore__ __attribute__((always_inline)) void kernel_entry(__gm__ int64_t *args) {
    int32_t block = get_block_idx(args);
    int32_t blocks = get_block_num(args);
    __gm__ ChipTensor *out_tensor = reinterpret_cast<__gm__ ChipTensor *>(args[0]);
    __gm__ int32_t *out = reinterpret_cast<__gm__ int32_t *>(out_tensor->buffer.addr) + out_tensor->start_offset;
    own(out, block, blocks);
}
