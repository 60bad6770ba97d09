// test: check %s --arch a2a3
// exit: 2

static void unread(float *v1, int64_t v2) {
    const int64_t v3 = 0;
    // error: cpp-form a statement of this form is not read
    do {
    } while (v2 < v3);
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
        // error: cpp-form `v7` becomes another tile inside of a branch or loop, which is not read
        TASSIGN(v7, v8);
    }
    Tile<TileType::Vec, float, 8, 64, BLayout::RowMajor, -1, 64> v12 = Tile<TileType::Vec, float, 8, 64, BLayout::RowMajor, -1, 64>(v2);
    bool v13 = v2 < v3;
    if (v13) {
        // error: cpp-form `v7` becomes another tile inside of a branch or loop, which is not read
        TRESHAPE(v7, v7);
        // error: cpp-form `v12` has no address here, and is used after this branch or loop, which is not read
        v12.SetValidShape(v3, v3);
    }
    // error: cpp-form this reads memory only if it is reached, which is not read
    bool v14 = v13 && v1[v2] < v1[v3];
    // error: cpp-form this divides by what is not a number here only if it is reached, which is not read
    int64_t v15 = v13 ? v2 / v3 : v3;
    // Halves are always there.
    int64_t v16 = v13 ? v2 / 2 : v3;
    // error: cpp-form a second declaration of `v16` is not read
    int64_t v16 = v3;
    {
        // error: cpp-form a second declaration of `v3` is not read
        int64_t v3 = v2;
    }
    // error: cpp-form a second declaration of `v2` is not read
    for (int64_t v2 = v3; v2 < v8; v2 += v3) {
    }
    // error: cpp-form an argument of this form is not read
    TMRGSORT<Tile<TileType::Vec, float, 8, 64>, maybe>(v7, v7, v2);
    // error: cpp-form a call of this form is not read
    dcci(v1, SINGLE_CACHE_LINE, CACHELINE_UB);
    // error: cpp-form `TCVT` takes no `RoundMode::CAST_SIDEWAYS` that is known here
    TCVT(v7, v7, RoundMode::CAST_SIDEWAYS);
}

// error: cpp-form a function with a result ends with `return` and a value
static int32_t answer(int64_t v1) {
    return;
}
