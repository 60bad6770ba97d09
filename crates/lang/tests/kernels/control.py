import slipring.language as pl

def make(scale=3):
    N = 4
    @pl.inline
    def twice(x, k):
        y = pl.mul(x, k)
        return pl.add(y, y)

    @pl.jit
    def k(a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        x = pl.load(a, [0, 0], [16, 64])
        z = pl.full([16, 64], pl.FP32, 0.0)
        n = 0
        for i, (s, m) in pl.range(N, init_values=(z, n)):
            if i > 1:
                t = pl.yield_(pl.add(s, x))
            else:
                t = pl.yield_(pl.sub(s, x))
            s2, m2 = pl.yield_(pl.add(t, 1.0), m + i)
        r = twice(s2, scale)
        if m2 == 6:
            o[:] = r
        return pl.add(r, x)
    return k
