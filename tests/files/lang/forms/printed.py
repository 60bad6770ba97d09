# What is printed comes in the order of the program, with label, core, block and iteration, in full.
#
# args: iota:f32[2x4] zeros:f32[2x4] 7:i32
# platforms: a5, a2a3
# test: run %s
# check: begin (AIV0, block 0)
# check: n is 7 (AIV0, block 0)
# check: iteration: 0 (AIV0, block 0, i = 0)
# check: row: f32[1, 4] (AIV0, block 0, i = 0)
# check: 0 0.1 0.2 0.3
# check: iteration: 1 (AIV0, block 0, i = 1)
# check: row: f32[1, 4] (AIV0, block 0, i = 1)
# check: 0.4 0.5 0.6 0.7
# check: large: f32[1, 4] (AIV0, block 0, i = 1)
# check: 1 1 1 1
# check: (2, 4) (AIV0, block 0)
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[2, 4], pl.FP32], y: pl.Out[pl.Tensor[[2, 4], pl.FP32]], n: pl.Scalar[pl.INT32]):
    pl.print("begin")
    print("n is", n)
    for i in pl.range(2):
        pl.print(i, label="iteration")
        t = x[i : i + 1, :] / 10.0
        pl.print(t, label="row")
        y[i : i + 1, :] = t
        if i == 1:
            pl.print("large:", t > 0.1)
    pl.print(x.shape)
