# Operands of which only a part is valid: rows and columns that a number of the run says, the inner extent, and a product that is
# added to.
#
# platforms: a5, a2a3
# args: iota:f16[16x16] iota:f16[16x16] 9:index zeros:f32[16x16] zeros:f32[16x16] zeros:f32[16x16] zeros:f32[16x16]
# test: run %s --verify
# check: verify clean
# out[3]: hash 0585d08f4d097042
# out[4]: hash 517c1379d0707a35
# out[5]: hash da69b0bd4a778281
# out[6]: hash 4218687326e577ad
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16, 16], pl.FP16],
    b: pl.Tensor[[16, 16], pl.FP16],
    n: pl.Scalar[pl.INDEX],
    rows: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
    inner: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    cols: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
    sums: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
):
    some = pl.load(a, [0, 0], [16, 16], valid_shape=[pl.min(n, 16), 16], target_memory=pl.Mem.Mat)
    rows = pl.store(pl.matmul(some, b), [0, 0], rows)
    columns = pl.slice(a, [16, 16], [0, 0], valid_shape=[16, n])
    inner[:] = pl.matmul(columns, pl.slice(b, [16, 16], [0, 0], valid_shape=[n, 16]))
    wide = pl.load(b, [0, 0], [16, 16], [n, 16], target_memory=pl.Mem.Mat)
    cols = pl.store(pl.matmul(a, wide, b_trans=True), [0, 0], cols)
    acc = pl.matmul(some, b)
    acc = pl.matmul_acc(acc, some, b)
    sums = pl.store(acc, [0, 0], sums)
