# An access outside of a tensor is described by its slice in whole programs as well.
#
# args: iota:f32[4x24] 10:i32 zeros:f32[2x16]
# platforms: a5, a2a3
# test: run %s --func main
# exit: 1 with memory-bounds
# check: error[memory-bounds]: `x[0:2, 10:26]` is outside of `x[4, 24]`; j = 10
# check: note: in task `taken`
import slipring.language as pl


@pl.jit.incore
def taken(x: pl.Tensor[[4, 24], pl.FP32], j: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    return pl.store(pl.load(x, [0, j], [2, 16]), [0, 0], y)


@pl.jit.incore
def doubled(x: pl.Tensor[[2, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    return pl.store(pl.add(pl.load(x, [0, 0], [2, 16]), 1.0), [0, 0], y)


@pl.jit
def main(x: pl.Tensor[[4, 24], pl.FP32], j: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    a = pl.create_tensor([2, 16], dtype=pl.FP32)
    a, first = pl.submit(taken, x, j, a)
    y, last = pl.submit(doubled, a, y)
    return y
