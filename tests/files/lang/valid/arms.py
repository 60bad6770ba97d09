# Both arms of a branch make a tile of which as much is valid, on the Vector core and on the Cube core.
#
# platforms: a5, a2a3
# args: iota:f16[16x16] iota:f16[16x16] 5:index 1:i32 zeros:f16[16x16] zeros:f32[16x16]
# test: run %s --verify
# check: verify clean
# out[4]: hash ebf23285f38b91ff
# out[5]: hash 6a37dd9dc80d8467
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16, 16], pl.FP16],
    b: pl.Tensor[[16, 16], pl.FP16],
    n: pl.Scalar[pl.INDEX],
    flag: pl.Scalar[pl.INT32],
    y: pl.InOut[pl.Tensor[[16, 16], pl.FP16]],
    z: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
):
    some = pl.load(a, [0, 0], [16, 16], valid_shape=[n, 16])
    if flag == 0:
        t = pl.neg(some)
    else:
        t = pl.add(some, some)
    y = pl.store(t, [0, 0], y)
    rows = pl.load(a, [0, 0], [16, 16], valid_shape=[n, 16], target_memory=pl.Mem.Mat)
    if flag == 0:
        c = pl.matmul(rows, b)
    else:
        c = pl.matmul(rows, b, b_trans=True)
    z = pl.store(c * 2.0, [0, 0], z)
