# Constants are what Python makes of them, or refused: numbers that do not fit their type, and arithmetic without a result.
#
# test: check %s
# exit: 2
# test: build %s
# exit: 2
import slipring.language as pl


@pl.incore
def types(
    x: pl.Tensor[[1, 32], pl.INT32],
    b: pl.Tensor[[1, 32], pl.INT8],
    h: pl.Tensor[[1, 32], pl.FP16],
    m: pl.Tensor[[1, 32], pl.FP32],
    n: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[1, 32], pl.INT32]],
    u: pl.Out[pl.Tensor[[4], pl.UINT8]],
):
    # error: constant 4294967297 does not fit into INT32, which holds -2147483648 to 2147483647
    y[:] = x + 4294967297
    # error: constant 128 does not fit into INT8, which holds -128 to 127
    c = b + 128
    # error: constant -1 does not fit into UINT8, which holds 0 to 255
    u[0] = -1
    # error: constant 256 does not fit into UINT8
    pl.write(u, [1], 256)
    # error: constant 65520.0 does not fit into FP16, whose numbers end at 65504.0
    d = h * 65520.0
    # error: constant 100000 does not fit into FP16
    e = pl.full([1, 32], pl.FP16, 100000)
    # error: constant 1e39 does not fit into FP32, whose numbers end at 3.4028235e38
    f = m * 1e39
    # error: constant 5000000000 does not fit into INT32
    g = pl.full([1, 32], pl.INT32, 5000000000)
    # error: constant 3000000000 does not fit into INT32
    i = n + 3000000000
    # error: constant 300 does not fit into INT8
    j = pl.const(300, pl.INT8)
    # error: constant -1e39 does not fit into FP32
    k = pl.maximum(m, -1e39)


@pl.incore
def folded(x: pl.Tensor[[1, 32], pl.INT32], y: pl.Out[pl.Tensor[[1, 32], pl.INT32]]):
    # error: constant does not fit into 64 bits, from -9223372036854775808 to 9223372036854775807
    a = 1 << 63
    # error: constant does not fit into 64 bits
    b = 1 << 100000000000
    # error: constant a shift by -1
    c = 1 << -1
    # error: constant does not fit into 64 bits
    d = 9**9**9
    # error: constant does not fit into 64 bits
    e = int(1e30)
    # error: constant a power of a negative number that is not a real number
    f = (-8.0) ** 0.5
    # error: constant does not fit into a float of 64 bits
    g = 1e999
    # error: constant the result is not a finite number
    h = 1e308 * 10
    # error: constant division by zero
    i = 1 // 0
    # error: constant division by zero
    j = 1.5 % 0.0
    # error: constant division by zero
    k = 0 ** -1
    # error: constant does not fit into 64 bits
    l = 9223372036854775807 + 1
    # error: constant does not fit into 64 bits
    m = -(-9223372036854775808)
    # error: constant does not fit into 64 bits
    o = 9223372036854775808
    y[:] = x
