# An output holds nothing before the kernel wrote it.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def before(x: pl.Tensor[[2, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    # error: output-read `y` is read before the kernel writes it
    y[:] = y[:] + x


@pl.incore
def another_part(x: pl.Tensor[[2, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    y[0:1, :] = x[0:1, :]
    # error: output-read `y` is read before the kernel writes it
    y[1:2, :] = y[1:2, :] + y[0:1, :]


@pl.incore
def written(x: pl.Tensor[[2, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    y[:] = x
    y[:] = y[:] + x


@pl.incore
def in_a_loop(x: pl.Tensor[[2, 16], pl.FP32], y: pl.Out[pl.Tensor[[2, 16], pl.FP32]]):
    for i in pl.range(3):
        if i > 0:
            y[:] = y[:] + x
        else:
            y[:] = x
