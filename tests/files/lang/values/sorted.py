# Elements sorted with their numbers: blocks of 32, runs of one list merged, lists merged.
#
# args: iota:f32[1x128] iota:u32[1x128] zeros:f32[1x128] zeros:u32[1x128] zeros:f32[1x64] zeros:f32[1x128] zeros:f16[2x32]
# platforms: a5, a2a3
# test: run %s --verify
# check: verify clean
# out[2]: f32 127 126 125 124 123 122 121 120 119 118 117 116 115 114 113 112 111 110 109 108 107 106 105 104 103 102 101 100 99 98 97 96 95 94 93 92 91 90 89 88 87 86 85 84 83 82 81 80 79 78 77 76 75 74 73 72 71 70 69 68 67 66 65 64 63 62 61 60 59 58 57 56 55 54 53 52 51 50 49 48 47 46 45 44 43 42 41 40 39 38 37 36 35 34 33 32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0
# out[3]: ui32 83 38 121 76 31 114 69 24 107 62 17 100 55 10 93 48 3 86 41 124 79 34 117 72 27 110 65 20 103 58 13 96 51 6 89 44 127 82 37 120 75 30 113 68 23 106 61 16 99 54 9 92 47 2 85 40 123 78 33 116 71 26 109 64 19 102 57 12 95 50 5 88 43 126 81 36 119 74 29 112 67 22 105 60 15 98 53 8 91 46 1 84 39 122 77 32 115 70 25 108 63 18 101 56 11 94 49 4 87 42 125 80 35 118 73 28 111 66 21 104 59 14 97 52 7 90 45 0
# out[4]: f32 126 123 120 118 117 115 114 112 111 109 106 103 100 98 97 95 94 92 89 86 83 81 80 78 77 75 74 72 69 66 63 61 60 58 57 55 52 49 46 44 43 41 40 38 37 35 32 29 27 26 24 23 21 20 18 15 12 9 7 6 4 3 1 0
# out[5]: f32 127 126 125 124 123 122 121 120 119 118 117 116 115 114 113 112 111 110 109 108 107 106 105 104 103 102 101 100 99 98 97 96 95 94 93 92 91 90 89 88 87 86 85 84 83 82 81 80 79 78 77 76 75 74 73 72 71 70 69 68 67 66 65 64 63 62 61 60 59 58 57 56 55 54 53 52 51 50 49 48 47 46 45 44 43 42 41 40 39 38 37 36 35 34 33 32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0
# out[6]: f16 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0 63 62 61 60 59 58 57 56 55 54 53 52 51 50 49 48 47 46 45 44 43 42 41 40 39 38 37 36 35 34 33 32
import pypto.language as pl


@pl.jit
def f(
    x: pl.Tensor[[1, 128], pl.FP32],
    numbers: pl.Tensor[[1, 128], pl.UINT32],
    values: pl.Out[pl.Tensor[[1, 128], pl.FP32]],
    places: pl.Out[pl.Tensor[[1, 128], pl.UINT32]],
    two: pl.Out[pl.Tensor[[1, 64], pl.FP32]],
    four: pl.Out[pl.Tensor[[1, 128], pl.FP32]],
    short: pl.Out[pl.Tensor[[2, 32], pl.FP16]],
):
    with pl.at(level=pl.Level.CORE_GROUP):
        # 37 has no factor in common with 128: each number comes once.
        keys = pl.fmod(pl.mul(x, 37.0), 128.0)
        blocks = pl.sort32(keys, numbers)
        merged = pl.mrgsort(blocks, block_len=64)
        values[:] = pl.tile.gather_mask(merged, pl.tile.MaskPattern.P0101)
        places[:] = pl.gather(merged, mask_pattern=pl.tile.MaskPattern.P1010, output_dtype=pl.UINT32)
        a, b, c, d = blocks[:, 0:64], blocks[:, 64:128], blocks[:, 128:192], blocks[:, 192:256]
        tmp = pl.create_tile([1, 128], dtype=pl.FP32)
        pair = pl.tile.mrgsort(a, b, tmp=tmp)
        two[:] = pl.gather(pair, mask_pattern=1)
        all_of_them = pl.mrgsort(a, b, c, d)
        four[:] = pl.gather(all_of_them, mask_pattern=1)
        # Two rows with one row of numbers; a record has four elements of 16 bits.
        rows = pl.cast(pl.reshape(x[:, 0:64], [2, 32]), pl.FP16)
        records = pl.sort32(rows, numbers[:, 0:32])
        short[:] = pl.gather(records, mask_pattern=pl.tile.MaskPattern.P0001)
    return values, places, two, four, short
