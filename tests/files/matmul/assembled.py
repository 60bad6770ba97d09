# Products that are put into a tile of L1, and what is moved on from there to UB. FP32 goes by way of global memory: A2/A3 have no
# other way into L1, and A5 none from L1 to UB. What a tile of L1 was loaded from is loaded anew.
#
# platforms: a5, a2a3
# test: run %s --func assembled --verify --arg iota:f32[32x32] --arg full:f16[32x16]=1 --arg full:f16[16x16]=2 --arg zeros:f32[32x32]
# check: verify clean
# out[3]: f32 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16*32 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 16*32 …
# test: run %s --func twice --verify --arg iota:f32[32x32] --arg full:f16[16x16]=1 --arg zeros:f32[32x32] --arg zeros:f32[32x32]
# check: verify clean
# out[2]: f32 16*16 16*16 16*16 16*16 16*16 16*16 16*16 16*16 16*16 16*16 16*16 16*16 16*16 16*16 16*16 16*16 …
# out[3]: f32 0 1 2 3 4 5 …
# test: run %s --func changed --verify --arch a2a3 --arg iota:f16[32x32] --arg full:f16[16x16]=1 --arg zeros:f16[32x32]
# check: verify clean
# out[2]: f16 16*16 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 16*16 …
import pypto.language as pl


@pl.jit
def assembled(
    x: pl.Tensor[[32, 32], pl.FP32], a: pl.Tensor[[32, 16], pl.FP16], b: pl.Tensor[[16, 16], pl.FP16],
    y: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        whole = pl.load(x, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat)
        product = pl.matmul(pl.load(a, [0, 0], [32, 16], target_memory=pl.Mem.Mat), pl.load(b, [0, 0], [16, 16], target_memory=pl.Mem.Mat))
        result = pl.tile.assemble(whole, product, [0, 16])
        pl.store(pl.move(result, target_memory=pl.MemorySpace.Vec), [0, 0], y)
    return y


@pl.jit
def twice(
    x: pl.Tensor[[32, 32], pl.FP32], a: pl.Tensor[[16, 16], pl.FP16],
    y: pl.Out[pl.Tensor[[32, 32], pl.FP32]], z: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        whole = pl.load(x, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat)
        again = pl.move(whole, target_memory=pl.Mem.Vec)
        product = pl.matmul(a, a)
        for i in pl.unroll(2):
            for j in pl.unroll(2):
                whole = pl.tile.assemble(whole, product, [i * 16, j * 16])
        pl.store(pl.move(whole, target_memory=pl.Mem.Vec), [0, 0], y)
        pl.store(again, [0, 0], z)
    return y, z


@pl.jit
def changed(
    x: pl.Tensor[[32, 32], pl.FP16], a: pl.Tensor[[16, 16], pl.FP16], y: pl.Out[pl.Tensor[[32, 32], pl.FP16]]
):
    with pl.at(level=pl.Level.CORE_GROUP):
        whole = pl.load(x, [0, 0], [32, 32], target_memory=pl.MemorySpace.Mat)
        for i in pl.range(2):
            whole = pl.tile.assemble(whole, pl.matmul(a, a), [i * 16, 0])
        pl.store(pl.move(whole, target_memory=pl.Mem.Vec), [0, 0], y)
    return y
