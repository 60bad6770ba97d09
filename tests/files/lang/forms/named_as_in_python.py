# A function of the file that is called as one of Python's: it is called only where the condition holds, as Python does.
#
# args: 3:i32 iota:f32[4x8] zeros:f32[4x8]
# test: run %s --verify
# check: verify clean
# out[2]: f32 24 25 26 27 28 29 30 31 8*0 8*0 8*0
# test: run %s --verify --arg 9:i32 --arg iota:f32[4x8] --arg zeros:f32[4x8]
# check: verify clean
# out[2]: f32 16 17 18 19 20 21 22 23 8*7 8*0 8*0
import slipring.language as L


@L.inline
def int(out: L.Out[L.Tensor[[4, 8], L.FP32]]):
    L.store(L.full([1, 8], dtype=L.FP32, value=7.0), [1, 0], out)
    return 2


@L.incore
def named_as_in_python(
    n: L.Scalar[L.INT32],
    x: L.Tensor[[4, 8], L.FP32],
    out: L.InOut[L.Tensor[[4, 8], L.FP32]],
):
    row = int(out) if n > 5 else 3
    L.store(L.load(x, [row, 0], [1, 8]), [0, 0], out)
    return out
