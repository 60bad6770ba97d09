# What the scalar unit writes stays in its cache on A2/A3 until the file writes the lines back: all, or the one in which a window
# begins.
#
# platforms: a5, a2a3
# args: 5:i32 rand:f32[64x128] zeros:f32[64x128]
# test: run %s --func all_lines --interpretation scalar-cache --verify
# check: race clean
# test: run %s --func one_line --interpretation scalar-cache --verify
# check: race clean
# test: run %s --func forgotten --interpretation scalar-cache
# exit: 1 with stale-scalar
import slipring.language as pl


@pl.incore
def all_lines(n: pl.Scalar[pl.INT32], x: pl.Tensor[[64, 128], pl.FP32], out: pl.InOut[pl.Tensor[[64, 128], pl.FP32]]):
    pl.write(out, [n, 3], 9.0)
    pl.system.cacheinvalid()
    pl.system.fence()
    t = pl.load(out, [0, 0], [64, 128])
    pl.store(t * 2.0, [0, 0], out)


@pl.incore
def one_line(n: pl.Scalar[pl.INT32], x: pl.Tensor[[64, 128], pl.FP32], out: pl.InOut[pl.Tensor[[64, 128], pl.FP32]]):
    pl.write(out, [n, 3], 9.0)
    pl.system.cacheinvalid(out, [1, 16], [n, 0])
    t = pl.load(out, [0, 0], [64, 128])
    pl.store(t * 2.0, [0, 0], out)


@pl.incore
def forgotten(n: pl.Scalar[pl.INT32], x: pl.Tensor[[64, 128], pl.FP32], out: pl.InOut[pl.Tensor[[64, 128], pl.FP32]]):
    pl.write(out, [n, 3], 9.0)
    t = pl.load(out, [0, 0], [64, 128])
    pl.store(t * 2.0, [0, 0], out)
