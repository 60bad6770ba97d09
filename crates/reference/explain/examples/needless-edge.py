# slipring run FILE
import slipring.language as pl
@pl.jit
def kernel(
    x: pl.Tensor[[8, 16], pl.FP32],
    scratch: pl.Out[pl.Tensor[[8, 16], pl.FP32]],
    out: pl.Out[pl.Tensor[[8, 16], pl.FP32]],
):
    for i in pl.range(2):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="first") as first:
            scratch[i * 4 : i * 4 + 4, :] = x[i * 4 : i * 4 + 4, :] + 1.0
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="second", deps=[first]):
        out[:] = pl.add(scratch, scratch)
