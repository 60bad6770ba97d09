// test: check %s --arch a2a3
// exit: 2
//
// What is compiled for one kind of core are whole statements of a function's body, or whole functions.

static void inside(float *v1, int64_t v2) {
    const int64_t v3 = 0;
    // error: cpp-form a part of this is for one kind of core only, which is not read
    if (v2 < v3) {
#if defined(__DAV_VEC__)
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
#endif
    }
}

static void both(float *v1, int64_t v2) {
#if defined(__DAV_VEC__)
#if defined(__DAV_CUBE__)
    // error: cpp-form this is for both kinds of core at once, which none is
    const int64_t v3 = 0;
#endif
#endif
}

// error: cpp-form a part of this is for one kind of core only, which is not read
static void head(
#if defined(__DAV_VEC__)
    float *v1,
#endif
    int64_t v2) {
}
