# A `@pl.jit` that calls one inline function, which starts several kernels: a whole program, as if it started them itself. Extents that
# are bound to tensors are numbers there, also of tensors whose types do not name them.
#
# platforms: a5, a2a3
# test: run %s --arg n=3:i32 --arg x=iota:f32[64x64] --arg y=zeros:f32[64x64] --verify
# exit: 0
# check: 2 tasks with 1 edge
# check: tasks clean
# check: verify clean
# out[2]: f32 1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 41 43 45 47 49 51 53 55 57 59 61 63 65 67 69 71 73 75 77 79 81 83 85 87 89 91 93 95 97 99 101 103 105 107 109 111 113 115 117 119 121 123 125 127 …
# test: check %s
# exit: 2
# check: error[parameter]: this condition is not known when the tasks are submitted
# check-not: scopes
import slipring.language as pl

ROWS = pl.dynamic("ROWS")


@pl.jit.inline
def part(x: pl.Tensor, n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor]):
    x.bind_dynamic(0, ROWS)
    y.bind_dynamic(0, ROWS)
    doubled = pl.create_tensor([ROWS, 64], dtype=pl.FP32, init_value=0)
    blocks = pl.cast(n, pl.INDEX)
    if blocks > ROWS // 16:
        blocks = ROWS // 16
    for b in pl.spmd(blocks, name_hint="first"):
        doubled[b * 16 : b * 16 + 16, :] = pl.mul(x[b * 16 : b * 16 + 16, :], 2.0)
    for b in pl.spmd(2, name_hint="second"):
        y[b * 32 : b * 32 + 32, :] = pl.add(doubled[b * 32 : b * 32 + 32, :], 1.0)


@pl.jit
def whole(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    part(x, n, y)
    return y
