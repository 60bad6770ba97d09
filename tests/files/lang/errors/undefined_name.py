# Names that stand for nothing, and why.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def misspelt(scores: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: undefined-name `score` is not defined
    y[:] = pl.exp(score)


@pl.incore
def in_one_arm(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    if n > 0:
        e = pl.exp(x)
    # error: undefined-name `e` is not defined
    y[:] = e


@pl.incore
def in_an_arm_of_a_loop(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.range(4):
        if i == 3:
            e = pl.exp(x)
    # error: undefined-name `e` is not defined
    y[:] = e


@pl.incore
def of_a_lane(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        row = lane * 32
    # error: undefined-name `row` is not defined
    y[row : row + 32, :] = x[row : row + 32, :]


@pl.incore
def in_the_other_arm(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INT32]):
    if n > 0:
        first = pl.exp(x)
        y[:] = first
    else:
        # error: undefined-name `first` is not defined
        y[:] = first
