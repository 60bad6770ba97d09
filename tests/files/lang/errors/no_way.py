# Ways between memories that the cores do not have.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def load(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: no-way a tile is not loaded into `left`
    y[:] = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Left)


@pl.incore
def back(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
    # error: no-way a tile cannot get from `mat` to `vec`
    y[:] = pl.exp(t)


@pl.incore
def store(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    t = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
    # error: no-way a tile in `left` cannot be stored
    y[:] = pl.move(t, pl.Mem.Left)
