# A tile of L1 on the Vector cores: it goes through a tensor of the kernel's own, which nobody passes.
#
# test: run %s --arch a2a3 --arg iota:f16[32x32] --arg full:f16[32x16]=1 --arg full:f16[16x16]=2 --arg zeros:f16[32x32] --verify
# check: verify clean
# out[3]: f16 0.5 1.5 2.5 3.5 4.5 5.5 6.5 7.5 8.5 9.5 10.5 11.5 12.5 13.5 14.5 15.5 16*32.5 32.5 33.5 …
import pypto.language as pl


@pl.jit
def f(
    x: pl.Tensor[[32, 32], pl.FP16],
    a: pl.Tensor[[32, 16], pl.FP16],
    b: pl.Tensor[[16, 16], pl.FP16],
    y: pl.Out[pl.Tensor[[32, 32], pl.FP16]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        whole = pl.load(x, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat)
        product = pl.matmul(pl.load(a, [0, 0], [32, 16], target_memory=pl.MemorySpace.Mat), b)
        result = pl.tile.assemble(whole, product, [0, 16])
        pl.store(pl.add(pl.move(result, target_memory=pl.MemorySpace.Vec), 0.5), [0, 0], y)
    return y
