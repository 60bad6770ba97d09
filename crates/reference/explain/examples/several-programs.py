# slipring run FILE
import pypto.language as pl
def early(
):
    rank = pld.rank(pld.get_comm_ctx(data))
def early_on(
):
    return twice(y, data, signal)
@pl.jit.host
def stuck(y: pl.Out[pl.Tensor[[2, 1, 64], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
@pl.jit.host
def outside(y: pl.Out[pl.Tensor[[2, 1, 64], pl.FP32]]):
    data_buf = pld.alloc_window_buffer([1, 64], dtype=pl.FP32)
