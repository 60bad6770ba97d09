# A reciprocal on A2/A3 needs a tile of its own: 64 KiB beside 64 KiB, where the memory has room for both.
# args: full:f32[64x256]=4.0 zeros:f32[64x256]
# test: run %s --arch a2a3 --verify
# out[1]: f32 16384*0.25
# test: build %s --arch a2a3
# check: %5 = arith.constant 0 : i64
# check: %x = pto.alloc_tile addr = %5
# check: %6 = arith.constant 65536 : i64
# check: %y = pto.alloc_tile addr = %6
# check: pto.trecip ins(%x :
import slipring.language as pl


@pl.jit
def kernel(a: pl.Tensor[[64, 256], pl.FP32], c: pl.Out[pl.Tensor[[64, 256], pl.FP32]]):
    x = pl.load(a, [0, 0], [64, 256])
    y = pl.recip(x)
    pl.store(y, [0, 0], c)
