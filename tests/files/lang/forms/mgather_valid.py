# Rows gathered into L1 of which only the first count: the indices after them may be any.
# platforms: a5, a2a3
# test: run %s --arg full:f16[64x32]=2 --arg iota:i32[1x16] --arg full:f16[32x16]=1 --arg zeros:f32[16x16]
# out[3]: f32 128*64 128*0
import pypto.language as pl


@pl.jit.incore
def kernel(
    table: pl.Tensor[[64, 32], pl.FP16],
    idx: pl.Tensor[[1, 16], pl.INT32],
    b: pl.Tensor[[32, 16], pl.FP16],
    out: pl.InOut[pl.Tensor[[16, 16], pl.FP32]],
):
    i = pl.load(idx, [0, 0], [1, 16])
    # Those after the eighth lie far outside.
    far = pl.mul(pl.maximum(i, 7), 1000)
    which = pl.add(pl.mul(pl.minimum(i, 7), 1), pl.sub(far, 7000))
    g = pl.mgather(table, which, coalesce="row", target_memory=pl.Mem.Mat, valid_shape=[8, 32])
    out = pl.store(pl.matmul(g, b), [0, 0], out)
