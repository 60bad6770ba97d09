# args: rand:f32[16x16],seed=1 zeros:f32[16x16] zeros:f32[16x16]
import slipring.language as pl


@pl.jit
def main(x: pl.Tensor[[16, 16], pl.FP32], w: pl.InOut[pl.Tensor[[16, 16], pl.FP32]], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="fill"):
        w[:] = pl.mul(x, 2.0)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="product", no_dep_args=[w]):
        out[:] = pl.matmul(x, w)
    return out
