# A tensor that is looked at in another shape, and parts of it, to read from and to write to.
#
# platforms: a5, a2a3
# args: iota:f32[2x4x8x16] zeros:f32[64x16] zeros:f32[2x4x8x16]
# test: run %s --verify
# check: verify clean
# check-not: warning
# out[1]: hash 2526077e3b7d0ee4
# out[2]: hash 7defc783ac46fec5
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[2, 4, 8, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[64, 16], pl.FP32]],
    z: pl.Out[pl.Tensor[[2, 4, 8, 16], pl.FP32]],
):
    lines = pl.tensor.view(x, [64, 16])
    for i in pl.range(0, 64, 16):
        y = pl.store(pl.load(lines, [i, 0], [16, 16]) + 1.0, [i, 0], y)
    wide = pl.reshape(x, [32, 32])
    target = pl.reshape(z, [32, 32])
    for i in pl.range(0, 32, 8):
        target[i : i + 8, :] = wide[i : i + 8, :] * 2.0
