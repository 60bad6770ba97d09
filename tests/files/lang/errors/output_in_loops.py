# Outputs of which loops write a part: iterations that are known are looked at one by one.
#
# test: check %s
# check: warning[output-in-part]: `y[3:4, 0:8]` of this output is never written
# check: warning[output-in-part]: parts of `z[1:8, 0:8]` of this output are never written
# check: warning[output-in-part]: `corner[0:2, 8:16]` of this output is never written
# check-not: `all
import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[1, 8], pl.FP32],
    n: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    z: pl.Out[pl.Tensor[[8, 8], pl.FP32]],
    corner: pl.Out[pl.Tensor[[2, 16], pl.FP32]],
    all_rows: pl.Out[pl.Tensor[[6, 8], pl.FP32]],
    all_open: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    all_staged: pl.Out[pl.Tensor[[5, 8], pl.FP32]],
):
    for i in range(3):
        y[i : i + 1, :] = x
    for j in pl.range(0, 8, 2):
        z[j : j + 1, :] = x
    for k in pl.range(2):
        for c in pl.range(1):
            corner[k : k + 1, c * 8 : c * 8 + 8] = x
    for a in pl.range(2):
        for b in pl.range(a * 3, a * 3 + 3):
            all_rows[b : b + 1, :] = x
    for o in pl.range(n):
        all_open[o : o + 1, :] = x
    for s in pl.pipeline(5, stage=2):
        all_staged[s : s + 1, :] = x
