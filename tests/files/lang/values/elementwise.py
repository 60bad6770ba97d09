# Functions of one element, and operations on bits, by their names.
#
# args: full:f32[1x8]=-4 zeros:f32[10x8] iota:i32[1x8] zeros:i32[9x8]
# test: run %s --arch a5 --verify
# check: verify clean
# out[1]: f32 8*4 8*4 8*2 8*0.5 8*0.25 8*0 8*1 8*0 8*-1 8*-4
# out[3]: i32 0 1 2 3 0 1 2 3  4 5 6 7 4 5 6 7  0 2 4 6 8 10 12 14  0 0 1 1 2 2 3 3  -1 -2 -3 -4 -5 -6 -7 -8  0 1 2 3 4 4 4 4  3 3 3 3 4 5 6 7  0 1 0 1 0 1 0 1  0 1 2 3 4 5 6 7
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[1, 8], pl.FP32],
    b: pl.Out[pl.Tensor[[10, 8], pl.FP32]],
    n: pl.Tensor[[1, 8], pl.INT32],
    m: pl.Out[pl.Tensor[[9, 8], pl.INT32]],
):
    x = pl.neg(a)
    b[0:1, :] = x
    b[1:2, :] = pl.abs(a)
    b[2:3, :] = pl.sqrt(x)
    b[3:4, :] = pl.rsqrt(x)
    b[4:5, :] = pl.recip(x)
    b[5:6, :] = pl.relu(a)
    b[6:7, :] = pl.exp(pl.relu(a))
    b[7:8, :] = pl.log(pl.exp(pl.relu(a)))
    b[8:9, :] = pl.fmod(a, 3.0)
    b[9:10, :] = pl.minimum(pl.maximum(a, -10.0), x)
    k = pl.load(n, [0, 0], [1, 8])
    m[0:1, :] = pl.and_(k, 3)
    m[1:2, :] = k | 4
    m[2:3, :] = k << 1
    m[3:4, :] = pl.shr(k, 1)
    m[4:5, :] = pl.not_(k)
    m[5:6, :] = pl.minimum(k, 4)
    m[6:7, :] = pl.maximums(k, 3)
    m[7:8, :] = pl.and_(k, pl.full([1, 8], pl.INT32, 1))
    m[8:9, :] = pl.ci(0, [1, 8])
