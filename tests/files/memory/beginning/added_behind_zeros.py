# The public way to add to an output: it is filled with zeros first. What is passed for an `InOut` is there from the start.
#
# args: full:f32[32x64]=1.5 full:f32[32x64]=9 full:f32[32x64]=1
# platforms: a5, a2a3
# test: run %s --verify --strict
# check: init    clean
# out[1]: f32 2048*3
# out[2]: f32 2048*2.5
import slipring.language as pl


@pl.incore
def added(
    x: pl.Tensor[[32, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    both: pl.InOut[pl.Tensor[[32, 64], pl.FP32]],
):
    t = x[:, :]
    out[:, :] = pl.full([32, 64], dtype=pl.FP32, value=0.0)
    for _ in pl.range(2):
        pl.store(t, [0, 0], out, atomic=pl.AtomicType.Add)
    both[:, :] = both[:, :] + t
