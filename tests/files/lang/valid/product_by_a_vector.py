# Products of a matrix and a tensor of one dimension, on either side: one dimension.
#
# platforms: a5, a2a3
# test: run %s --func right --arg iota:f32[16x32] --arg full:f32[32]=1 --arg zeros:f32[16] --verify
# out[2]: f32 496 1520 2544 3568 4592 5616 6640 7664 8688 9712 10736 11760 12784 13808 14832 15856
# test: run %s --func transposed --arg iota:f32[16x32] --arg full:f32[16]=1 --arg zeros:f32[32] --verify
# out[2]: f32 3840 3856 3872 3888 …
# test: run %s --func left --arg iota:f32[16x32] --arg full:f32[16]=1 --arg zeros:f32[32] --verify
# out[2]: f32 3840 3856 3872 3888 …
import slipring.language as pl

X = pl.Tensor[[16, 32], pl.FP32]


@pl.incore
def right(x: X, v: pl.Tensor[[32], pl.FP32], y: pl.Out[pl.Tensor[[16], pl.FP32]]):
    y[:] = pl.matmul(x, v)


@pl.incore
def transposed(x: X, v: pl.Tensor[[16], pl.FP32], y: pl.Out[pl.Tensor[[32], pl.FP32]]):
    y[:] = pl.matmul(x, v, a_trans=True)


@pl.incore
def left(x: X, v: pl.Tensor[[16], pl.FP32], y: pl.Out[pl.Tensor[[32], pl.FP32]]):
    y[:] = pl.matmul(v, x)
