# Bytes that nobody wrote may be copied and dropped, as in tiles: where copies of them come into a result a warning says so,
# and nothing is said of what is loaded and never used.
#
# args: full:f32[16x64]=1.5 4:i32 zeros:f32[16x64] zeros:f32[16x64]
# platforms: a5, a2a3
# test: run %s
# check-not: of buffer `out`
# check: init    warnings
# check: warning[uninitialised-output]: `pto.tstore` stores uninitialised bytes: elements 256 to 1023 of buffer `copied` are uninitialised
# out[2]: f32 1024*1.5
# out[3]: f32 256*1.5 …
# test: run %s --strict
# exit: 1
# check: error[uninitialised-output]
import slipring.language as pl


@pl.incore
def dropped(
    x: pl.Tensor[[16, 64], pl.FP32],
    n: pl.Scalar[pl.INT32],
    out: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    copied: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
):
    own = pl.create_tensor([16, 64], dtype=pl.FP32)
    for i in pl.range(n):
        own[i : i + 1, :] = x[i : i + 1, :]
    pl.load(own, [0, 0], [16, 64])
    part = pl.load(own, [0, 0], [16, 64])
    t = pl.load(x, [0, 0], [16, 64])
    pl.store(t, [0, 0], out)
    pl.store(part, [0, 0], copied)
