# A tile of three dimensions at an index is a matrix; the products of two lists are declared as they are.
#
# platforms: a5, a2a3
# args: iota:f16[2x16x16] full:f16[2x16x16]=1 zeros:f16[16x16] zeros:f32[2x16x16]
# test: run %s --verify
# check: verify clean
# out[2]: f16 512 514 516 518 520 522 524 526 528 530 532 534 536 538 540 542 544 …
# out[3]: f32 16*120 16*376 …
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[2, 16, 16], pl.FP16],
    b: pl.Tensor[[2, 16, 16], pl.FP16],
    y: pl.Out[pl.Tensor[[16, 16], pl.FP16]],
    z: pl.Out[pl.Tensor[[2, 16, 16], pl.FP32]],
):
    t: pl.Tile[[2, 16, 16], pl.FP16] = pl.load(a, [0, 0, 0], [2, 16, 16])
    second: pl.Tile[[16, 16], pl.FP16] = t[1]
    y = pl.store(pl.add(second, second), [0, 0], y)
    products: pl.Tensor[[2, 16, 16], pl.FP32] = pl.matmul(a, b)
    z[:] = products
