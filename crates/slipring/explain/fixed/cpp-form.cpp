// slipring check FILE
static void kernel(float *v1, int64_t v2) {
    const int64_t v3 = 1;
    for (int64_t i = v3; i < v2; i += v3) {
    }
}
