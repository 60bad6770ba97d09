# Scopes of a function run in the order of the text; what one leaves in global memory the next reads.
# args: iota:f32[8x16] zeros:f32[8x16] zeros:f32[8x16]
# test: run %s --arch a5
# out[2]: f32 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 …
# test: run %s --arch a2a3
# out[1]: f32 1 2 3 4 5 6 7 8 9 10 …
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
    return scratch, out
