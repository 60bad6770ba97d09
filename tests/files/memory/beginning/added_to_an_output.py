# An atomic addition reads what it adds to: an output holds nothing that could be added to.
#
# args: full:f32[32x64]=1.5 zeros:f32[32x64]
# platforms: a5, a2a3
# test: run %s
# exit: 1
# check: init    findings
import slipring.language as pl


@pl.incore
def added(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    # error: uninitialised-read `pto.tstore` computes with uninitialised bytes, and stores the result: elements 0 to 2047 of buffer `out`
    pl.store(x[:, :], [0, 0], out, atomic=pl.AtomicType.Add)
