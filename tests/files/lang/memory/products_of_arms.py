# One arm begins an accumulator, the other adds to the one that the loop carries: both leave it in the same place.
#
# platforms: a5, a2a3
# args: iota:f16[16x32] iota:f16[32x16] zeros:f32[16x16]
# test: run %s --verify
# check: verify clean
# out[2]: hash 006ac8e4dc49590c
import slipring.language as pl


@pl.incore
def f(
    a: pl.Tensor[[16, 32], pl.FP16],
    b: pl.Tensor[[32, 16], pl.FP16],
    out: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    first = pl.create_tile([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Acc)
    for k, (before,) in pl.range(0, 32, 16, init_values=(first,)):
        left = pl.load(a, [0, k], [16, 16], target_memory=pl.Mem.Mat)
        right = pl.load(b, [k, 0], [16, 16], target_memory=pl.Mem.Mat)
        if k == 0:
            begun = pl.matmul(left, right)
            both = pl.yield_(begun)
        else:
            added = pl.matmul_acc(before, left, right)
            both = pl.yield_(added)
        acc = pl.yield_(both)
    out = pl.store(acc, [0, 0], out)
