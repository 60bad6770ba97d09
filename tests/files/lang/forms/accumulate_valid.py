# Accumulators of which a part counts: products of valid rows begin them in one arm, and are added to them in the other; two in one
# loop; operands of bytes, which are padded to more rows than the accumulator has. What does not count is not written.
#
# x is iota, w full of 2: element (m, n) of the product is 2 * (32 * 32 m + 496).
#
# platforms: a5, a2a3
# test: run %s --func rows --verify --arg iota:f16[32x32] --arg full:f16[16x32]=2 --arg 21:i32 --arg full:f32[32x16]=-1 --arg full:f32[32x16]=-1
# exit: 0
# check-not: output-unwritten
# check: verify clean
# out[3]: f32 16*992 16*3040 16*5088 16*7136 16*9184 16*11232 16*13280 16*15328 16*17376 16*19424 16*21472 16*23520 16*25568 16*27616 16*29664 16*31712 16*33760 16*35808 16*37856 16*39904 16*41952 176*-1
# out[4]: f32 16*992 16*3040 16*5088 16*7136 16*9184 16*11232 16*13280 16*15328 16*17376 16*19424 16*21472 16*23520 16*25568 16*27616 16*29664 16*31712 16*33760 16*35808 16*37856 16*39904 16*41952 176*-1
# test: run %s --func bytes --verify --arg full:i8[16x64]=3 --arg full:i8[32x64]=2 --arg full:i32[16x32]=-1
# exit: 0
# check-not: output-unwritten
# check: verify clean
# out[2]: i32 256*384 256*-1
# test: run %s --func whole --verify --arg iota:f16[32x32] --arg full:f16[16x32]=2 --arg full:f32[32x16]=-1
# exit: 0
# check-not: warning
# check: verify clean
# out[2]: f32 16*992 16*3040 16*5088 16*7136 16*9184 16*11232 16*13280 16*15328 16*17376 16*19424 16*21472 16*23520 16*25568 16*27616 16*29664 16*31712 16*33760 16*35808 16*37856 16*39904 16*41952 16*44000 16*46048 16*48096 16*50144 16*52192 16*54240 16*56288 16*58336 16*60384 16*62432 16*64480
import slipring.language as pl


@pl.jit
def rows(
    x: pl.Tensor[[32, 32], pl.FP16],
    w: pl.Tensor[[16, 32], pl.FP16],
    n: pl.Scalar[pl.INT32],
    y: pl.Out[pl.Tensor[[32, 16], pl.FP32]],
    z: pl.Out[pl.Tensor[[32, 16], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        for m in pl.range(0, 32, 16):
            first = pl.create_tensor([16, 16], dtype=pl.FP32)
            second = pl.create_tensor([16, 16], dtype=pl.FP32)
            for k in pl.pipeline(0, 32, 16, stage=2):
                a = pl.slice(x, [16, 16], [m, k], valid_shape=[pl.min(16, n - m), 16])
                b = w[:, k : k + 16]
                if k == 0:
                    first = pl.matmul(a, b, b_trans=True, out_dtype=pl.FP32)
                    second = pl.matmul(a, b, b_trans=True, out_dtype=pl.FP32)
                else:
                    first = pl.matmul_acc(first, a, b, b_trans=True)
                    second = pl.matmul_acc(second, a, b, b_trans=True)
            y[m : m + 16, :] = first
            z[m : m + 16, :] = second


@pl.jit
def bytes(x: pl.Tensor[[16, 64], pl.INT8], w: pl.Tensor[[32, 64], pl.INT8], y: pl.Out[pl.Tensor[[16, 32], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        acc = pl.create_tensor([16, 32], dtype=pl.INT32)
        for k in pl.range(0, 64, 32):
            a = pl.slice(x, [16, 32], [0, k], valid_shape=[8, 32])
            if k == 0:
                acc = pl.matmul(a, w[:, k : k + 32], b_trans=True, out_dtype=pl.INT32)
            else:
                acc = pl.matmul_acc(acc, a, w[:, k : k + 32], b_trans=True)
        y[:, :] = acc


@pl.jit
def whole(x: pl.Tensor[[32, 32], pl.FP16], w: pl.Tensor[[16, 32], pl.FP16], y: pl.Out[pl.Tensor[[32, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for m in pl.range(0, 32, 16):
            acc = pl.create_tensor([16, 16], dtype=pl.FP32)
            for k in pl.range(0, 32, 16):
                if k == 0:
                    acc = pl.matmul(x[m : m + 16, k : k + 16], w[:, k : k + 16], b_trans=True, out_dtype=pl.FP32)
                else:
                    acc = pl.matmul_acc(acc, x[m : m + 16, k : k + 16], w[:, k : k + 16], b_trans=True)
            y[m : m + 16, :] = acc
