# Elements by index, by pattern, in blocks; triangles of which a part counts.
#
# args: iota:f32[4x16] iota:i32[4x8] zeros:f32[4x4x8] zeros:f32[2x4x16] zeros:f32[2x8]
# platforms: a5, a2a3
# test: run %s --func indices --verify
# check: verify clean
# out[2]: f32 0 1 2 3 4 5 6 7 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 56 57 58 59 60 61 62 63 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62 1 3 5 7 9 11 13 15 17 19 21 23 25 27 29 31 33 35 37 39 41 43 45 47 49 51 53 55 57 59 61 63
# out[3]: f32 100 101 102 103 104 105 106 107 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 124 125 126 127 128 129 130 131 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127 128 129 130 131 32*0
# out[4]: f32 40 41 42 43 44 45 46 47 8 9 10 11 12 13 14 15
# test: run %s --func triangle --arg zeros:i32[8x8] --arg zeros:i32[8x8] --verify
# check: verify clean
# out[0]: i32 2*1 6*0 3*1 5*0 4*1 4*0 5*1 3*0 6*1 2*0 7*1 0 16*1
# out[1]: i32 2*1 6*0 3*1 5*0 4*1 4*0 5*1 35*0
import pypto.language as pl


@pl.jit
def indices(
    x: pl.Tensor[[4, 16], pl.FP32],
    n: pl.Tensor[[4, 8], pl.INT32],
    y: pl.Out[pl.Tensor[[4, 4, 8], pl.FP32]],
    z: pl.Out[pl.Tensor[[2, 4, 16], pl.FP32]],
    blocks: pl.Out[pl.Tensor[[2, 8], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.load(x, [0, 0], [4, 16])
        at = pl.load(n, [0, 0], [4, 8])
        inside = at % 16
        y[0] = pl.gather(x, dim=-1, index=inside)
        tmp = pl.create_tile([4, 8], dtype=pl.INT32)
        y[1] = pl.tile.gather(t, at, tmp)
        y[2] = pl.gather(x, mask_pattern=pl.tile.MaskPattern.P0101)
        y[3] = pl.tile.gather_mask(t, 2)
        values = pl.add(pl.cast(at, pl.FP32), 100.0)
        z[0] = pl.scatter(x, -1, inside, values)
        board = pl.create_tile([4, 16], dtype=pl.FP32)
        board = pl.tile.scatter(board, values, at)
        z[1] = board
        # The first and the last offset of each row: one block of eight floats each.
        first = pl.full([1, 8], pl.INT32, 160)
        last = pl.full([1, 8], pl.INT32, 32)
        blocks[0:1, :] = pl.gatherb(t, first)[:, 0:8]
        blocks[1:2, :] = pl.gatherb(t, last)[:, 0:8]
    return y, z, blocks


@pl.jit
def triangle(whole: pl.Out[pl.Tensor[[8, 8], pl.INT32]], part: pl.InOut[pl.Tensor[[8, 8], pl.INT32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        whole[:] = pl.tri(1, [8, 8])
        half = pl.tri(1, [8, 8], valid_shape=[4, 8])
        pl.store(half, [0, 0], part)
    return whole, part
