# Windows that reach over the end of a tensor, of which only what lies inside is touched: by a number of the run, by `clamp`.
#
# platforms: a5, a2a3
# args: iota:f32[70x16] zeros:f32[70x16] zeros:f32[70x16]
# test: run %s --verify
# check: verify clean
# out[1]: hash 07f81c7e67fe4fb9
# out[2]: hash 07f81c7e67fe4fb9
import slipring.language as pl

ROWS, BLOCK = 70, 32


@pl.incore
def f(
    x: pl.Tensor[[ROWS, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[ROWS, 16], pl.FP32]],
    z: pl.Out[pl.Tensor[[ROWS, 16], pl.FP32]],
):
    for i in pl.range((ROWS + BLOCK - 1) // BLOCK):
        first = i * BLOCK
        rows = pl.min(BLOCK, ROWS - first)
        t = pl.load(x, [first, 0], [BLOCK, 16], valid_shape=[rows, 16])
        y = pl.store(pl.mul(t, 3.0), [first, 0], y)
        u = pl.load(x, [first, 0], [BLOCK, 16], clamp=True)
        z = pl.store(pl.mul(u, 3.0), [first, 0], z)
