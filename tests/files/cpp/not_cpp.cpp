// test: check %s --arch a2a3
// exit: 2

static void torn(float *v1) {
    // error: cpp-syntax this is not C++
    int64_t v2 = = 3;
}
