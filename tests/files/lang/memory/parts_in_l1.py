# Parts of tiles in L1 are operands of products: at constant places, at those of a loop, transposed.
#
# platforms: a5, a2a3
# args: iota:f16[16x32] iota:f16[32x16] zeros:f32[16x16] zeros:f32[16x16] zeros:f32[16x16]
# test: run %s --verify
# check: verify clean
# out[2]: hash 006ac8e4dc49590c
# out[3]: hash 006ac8e4dc49590c
# out[4]: hash 2376969e5d9f6303
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16, 32], pl.FP16],
    b: pl.Tensor[[32, 16], pl.FP16],
    once: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    turns: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
    other: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    left = pl.load(a, [0, 0], [16, 32], target_memory=pl.Mem.Mat)
    right = pl.load(b, [0, 0], [32, 16], target_memory=pl.Mem.Mat)
    acc = pl.matmul(pl.slice(left, [16, 16], [0, 0]), right[0:16, :])
    acc = pl.matmul_acc(acc, left[:, 16:32], pl.tile.slice(right, [16, 16], [16, 0]))
    once = pl.store(acc, [0, 0], once)
    sums = pl.create_tile([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Acc)
    for k in pl.range(0, 32, 16):
        sums = pl.matmul_acc(sums, left[:, k : k + 16], right[k : k + 16, :], init_cond=k == 0)
    turns = pl.store(sums, [0, 0], turns)
    other = pl.store(pl.matmul(left[:, 16:32], right[16:32, :], b_trans=True), [0, 0], other)
