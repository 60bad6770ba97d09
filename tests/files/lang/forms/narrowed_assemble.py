# A tile of which only a part is valid, put into a larger one: what does not count stays.
# platforms: a5, a2a3
# test: run %s --arg full:f32[8x64]=3 --arg 2:index --arg zeros:f32[8x64] --arg zeros:f32[8x64]
# out[2]: f32 128*1 128*3 256*1
# out[3]: f32 128*1 128*3 256*1
import pypto.language as pl


@pl.jit.incore
def kernel(
    x: pl.Tensor[[8, 64], pl.FP32],
    n: pl.Scalar[pl.INDEX],
    out: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
    other: pl.Out[pl.Tensor[[8, 64], pl.FP32]],
):
    known = pl.load(x, [0, 0], [4, 64], valid_shape=[2, 64])
    out[:] = pl.assemble(pl.full([8, 64], pl.FP32, 1.0), known, [2, 0])
    run = pl.load(x, [0, 0], [4, 64], valid_shape=[n, 64])
    other[:] = pl.assemble(pl.full([8, 64], pl.FP32, 1.0), run, [2, 0])
