# What kernels of the language cannot say, each refused where it stands.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def dynamic_extent(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unsupported extents that are known only at run time
    n = pl.dynamic("n")
    out[:, :] = a[:, :]


@pl.incore
def loop_word(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unsupported `pl.while_` cannot be compiled yet
    pl.while_(4, 0)
    out[:, :] = a[:, :]


@pl.incore
def memory_without_a_shape(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unsupported `pl.alloc` cannot be compiled yet
    x = pl.alloc(4096)
    out[:, :] = a[:, :]


@pl.incore
def signals_by_hand(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unsupported `pl.sync_set` cannot be compiled yet
    pl.sync_set(0)
    out[:, :] = a[:, :]


@pl.incore
def submitted(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: unsupported `pl.submit` is for the host
    out, task = pl.submit(a)
    out[:, :] = a[:, :]
