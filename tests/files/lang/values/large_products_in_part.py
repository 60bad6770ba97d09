# Products in steps over k whose operands are valid in part: rows that are known, and rows that the caller passes.
#
# platforms: a5, a2a3
# test: run %s --func five_rows --arg full:bf16[5x256]=1 --arg full:bf16[256x256]=2 --arg zeros:f32[16x256] --verify
# check: verify clean
# out[2]: f32 1280*512 2816*0
# test: run %s --func some_rows --arg full:bf16[16x256]=1 --arg full:bf16[256x256]=2 --arg 3:index --arg zeros:f32[16x256] --verify
# check: verify clean
# out[3]: f32 768*512 3328*0
import slipring.language as pl


@pl.jit
def five_rows(
    a: pl.Tensor[[5, 256], pl.BF16],
    w: pl.Tensor[[256, 256], pl.BF16],
    out: pl.InOut[pl.Tensor[[16, 256], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        a_tile = pl.slice(a, [16, 256], [0, 0], valid_shape=[5, 256])
        product = pl.matmul(a_tile, w[0:256, 0:256], b_trans=True, out_dtype=pl.FP32)
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            shard = pl.aiv_shard(product)
            out[lane * 8 : lane * 8 + 8, 0:256] = shard
    return out


@pl.jit
def some_rows(
    a: pl.Tensor[[16, 256], pl.BF16],
    w: pl.Tensor[[256, 256], pl.BF16],
    rows: pl.Scalar[pl.INDEX],
    out: pl.InOut[pl.Tensor[[16, 256], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        a_tile = pl.slice(a, [16, 256], [0, 0], valid_shape=[rows, 256])
        out[0:16, 0:256] = pl.matmul(a_tile, w, b_trans=True, out_dtype=pl.FP32)
    return out
