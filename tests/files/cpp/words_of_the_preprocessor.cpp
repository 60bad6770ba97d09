// test: check %s --arch a2a3
// exit: 2

#if defined(__DAV_VEC__) || defined(__DAV_CUBE__)
static void kernel(float *v1) {
    return;
}
#endif

// error: cpp-form a condition that is not known here is not read
#if VERSION > 3
#endif

// error: cpp-form a macro, `ROWS` is not read
#define ROWS 64
