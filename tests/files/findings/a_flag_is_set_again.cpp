// test: run %s --arch a2a3 --arg full:f32[128]=1 --arg zeros:f32[128]
// exit: 1
//
// What the assembler's flags come to in a loop of a public decoder (`hc_post`): one event id serves two loads of an
// iteration, and the first load of the next iteration waits for nothing. MTE2 may set the flag again before the vector
// unit has waited for the second load.

static __aicore__ void twice(__gm__ float *v1, __gm__ float *v2) {
    const int64_t v3 = 0;
    const int64_t v4 = 1;
    const int64_t v5 = 4;
    const int64_t v6 = 128;
    const int64_t v7 = 256;
#if defined(__DAV_VEC__)
    Tile<TileType::Vec, float, 1, 64> v8;
    TASSIGN(v8, v3);
    Tile<TileType::Vec, float, 1, 64> v9;
    TASSIGN(v9, v7);
    pto::Shape<1, 1, 1, 1, 64> v10 = pto::Shape<1, 1, 1, 1, 64>();
    pto::Stride<64, 64, 64, 64, 1> v11 = pto::Stride<64, 64, 64, 64, 1>();
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 64>, pto::Stride<64, 64, 64, 64, 1>, pto::Layout::ND> v12 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 64>, pto::Stride<64, 64, 64, 64, 1>, pto::Layout::ND>(v1, v10, v11);
    GlobalTensor<float, pto::Shape<1, 1, 1, 1, 64>, pto::Stride<64, 64, 64, 64, 1>, pto::Layout::ND> v13 =
        GlobalTensor<float, pto::Shape<1, 1, 1, 1, 64>, pto::Stride<64, 64, 64, 64, 1>, pto::Layout::ND>(v2, v10, v11);
    set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    for (int64_t i14 = v3; i14 < v5; i14 += v4) {
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        TLOAD(v8, v12);
        // error: flag-may-overflow flag MTE2→V id 0 of AIV0 may be set again
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TMULS(v8, v8, 2.0f);
        pipe_barrier(PIPE_V);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
        set_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID1);
        TLOAD(v9, v12);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        TADD(v9, v9, v9);
    }
    wait_flag(PIPE_V, PIPE_MTE2, EVENT_ID0);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(v13, v9);
#endif
    pipe_barrier(PIPE_ALL);
}
