# A lane's tile that the Cube core reads without a gather.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def of_a_load(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        half = pl.load(a, [lane * 32, 0], [32, 64])
        twice = half + half
    # error: implicit-gather a lane's tile is used on the Cube core without a gather
    y[:] = pl.matmul(twice, a)


@pl.incore
def of_whole_tiles(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        twice = a + a
    # error: implicit-gather a lane's tile is used on the Cube core without a gather
    y[:] = pl.matmul(twice, a)
