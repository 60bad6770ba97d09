// test: check %s
// exit: 2

static __aicore__ void casts(__gm__ half *a, float b) {
    // error: cpp-form the type `half` is not read here
    a[0] = b + (half)-b;
    // error: cpp-form the type `half` is not read here
    a[1] = (half)*b;
    return;
}
