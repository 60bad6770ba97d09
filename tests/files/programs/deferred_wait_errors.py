# The scheduler waits in place of a task that does nothing else.
#
# platforms: a5, a2a3
# test: check %s
# exit: 2
import pypto.language as pl
import pypto.language.distributed as pld


@pl.jit
def more_on(y: pl.Out[pl.Tensor[[1, 8], pl.INT32]], signal: pld.DistributedTensor[[1, 1], pl.INT32]):
    with pl.at(level=pl.Level.CORE_GROUP):
        # error: deferred-wait the scheduler waits for a signal in place of a task that does nothing else, and this task does more
        pld.system.defer_wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        y = pl.store(pl.full([1, 8], pl.INT32, 1), [0, 0], y)
    return y


@pl.jit.host
def more(y: pl.Out[pl.Tensor[[2, 1, 8], pl.INT32]]):
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        more_on(y[r], pld.window(signal_buf, [1, 1], dtype=pl.INT32), device=r)
