# Tensors of `pl.INDEX`: 64 bits each, read as offsets and written back.
# platforms: a5, a2a3
# test: run %s --arg iota:f32[8x16] --arg iota:i64[4] --arg zeros:f32[8x16] --arg zeros:i64[2]
# out[2]: f32 32*0 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 80*0
# out[3]: i64 3 0
import pypto.language as pl


@pl.jit.incore
def kernel(
    x: pl.Tensor[[8, 16], pl.FP32],
    n: pl.Tensor[[4], pl.INDEX],
    out: pl.InOut[pl.Tensor[[8, 16], pl.FP32]],
    m: pl.InOut[pl.Tensor[[2], pl.INDEX]],
):
    row = pl.read(n, [2])
    out[row : row + 1, :] = x[0:1, :] * 2.0
    pl.write(m, [0], row + 1)
