// slipring check FILE
static void kernel(float *v1) {
    int64_t v2 = = 3;
}
