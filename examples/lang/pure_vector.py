# Both Vector cores, no Cube core: a region without transfers makes them work on different rows.
import slipring.language as pl

ROWS, COLS = 64, 128
HALF = ROWS // 2


@pl.incore
def pure_vector(
    a: pl.Tensor[[ROWS, COLS], pl.FP32],
    b: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.NONE):
        row = lane * HALF
        b[row : row + HALF, :] = pl.exp(a[row : row + HALF, :])
