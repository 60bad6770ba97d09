// test: check %s --arch a2a3
// exit: 2

static void unread(float *v1, int64_t v2) {
    const int64_t v3 = 0;
    // error: cpp-form a statement of this form is not read
    while (v2 < v3) {
    }
    // error: cpp-form `v4` is not declared
    int64_t v5 = v4 + v3;
    // What has no value because of an error is not told again.
    int64_t v6 = v5 + v3;
    // error: cpp-form `TSOMETHING` is not a function that is known here
    TSOMETHING(v1, v2);
    Tile<TileType::Vec, float, 8, 64> v7;
    // error: cpp-form the tile `v7` has no address here
    TADD(v7, v7, v7);
    uint64_t v8 = (uint64_t)v3;
    TASSIGN(v7, v8);
    // error: cpp-form `TADD` of these arguments is not read
    TADD(v7, v7, v2);
    // error: cpp-form a number of this form is not read
    double v9 = 1.5;
    // error: cpp-form an event of this form is not read
    set_flag(PIPE_MTE2, PIPE_V, v2);
    int64_t v10;
    // error: cpp-form `v10` has no value here
    int64_t v11 = v10 + v3;
    for (int64_t i = v3; i < v2; i += v3) {
        // error: cpp-form `v7` gets another address inside of a branch or loop, which is not read
        TASSIGN(v7, v8);
    }
    // error: cpp-form `TCVT` takes no `RoundMode::CAST_SIDEWAYS` that is known here
    TCVT(v7, v7, RoundMode::CAST_SIDEWAYS);
}
