// slipring check FILE
static void kernel(float *v1, int64_t v2) {
    const int64_t v3 = 1;
    if (v2 == v3) {
    }
}
