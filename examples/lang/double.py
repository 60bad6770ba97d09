import slipring.language as pl


@pl.incore
def double(
    a: pl.Tensor[[64, 64], pl.FP16],
    b: pl.Tensor[[64, 64], pl.FP16],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    product = pl.matmul(a, b)                                # the Cube core
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):  # each Vector core, half of the rows
        out[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(product) * 2.0
