# Tiles of a loop in a region live within an iteration: the chain needs as many bytes as the same one without the loop.
#
# args: full:f32[128x128]=0 zeros:f32[128x128]
# test: run %s --arch a5 --verify
# check: verify clean
# out[1]: f32 16384*15
# test: run %s --arch a2a3 --verify
# check: verify clean
# out[1]: f32 16384*15
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[128, 128], pl.FP32], y: pl.Out[pl.Tensor[[128, 128], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        for i in pl.range(lane * 64, lane * 64 + 64, 32):
            a = pl.add(x[i : i + 32, :], 1.0)
            b = pl.add(a, 1.0)
            c = pl.add(b, 1.0)
            d = pl.add(c, 1.0)
            e = pl.add(d, 1.0)
            g = pl.add(e, 1.0)
            h = pl.add(g, 1.0)
            k = pl.add(h, 1.0)
            l = pl.add(k, 1.0)
            m = pl.add(l, 1.0)
            n = pl.add(m, 1.0)
            o = pl.add(n, 1.0)
            p = pl.add(o, 1.0)
            q = pl.add(p, 1.0)
            y[i : i + 32, :] = pl.add(q, 1.0)
