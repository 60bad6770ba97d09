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


@pl.jit
def equal_on(y: pl.Out[pl.Tensor[[1, 8], pl.INT32]], signal: pld.DistributedTensor[[1, 1], pl.INT32]):
    with pl.at(level=pl.Level.CORE_GROUP) as wait:
        # error: argument the scheduler waits for at least a number
        pld.system.defer_wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Eq)
    with pl.at(level=pl.Level.CORE_GROUP, deps=[wait]):
        y = pl.store(pl.full([1, 8], pl.INT32, 1), [0, 0], y)
    return y


@pl.jit.host
def equal(y: pl.Out[pl.Tensor[[2, 1, 8], pl.INT32]]):
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        equal_on(y[r], pld.window(signal_buf, [1, 1], dtype=pl.INT32), device=r)


@pl.jit.incore
def alone(y: pl.Out[pl.Tensor[[1, 8], pl.INT32]], signal: pld.DistributedTensor[[1, 1], pl.INT32]):
    # error: deferred-wait this stands in a function of its own here
    pld.system.defer_wait(signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
    y = pl.store(pl.full([1, 8], pl.INT32, 1), [0, 0], y)
    return y


@pl.jit
def alone_on(y: pl.Out[pl.Tensor[[1, 8], pl.INT32]], signal: pld.DistributedTensor[[1, 1], pl.INT32]):
    return alone(y, signal)


@pl.jit.host
def of_a_function(y: pl.Out[pl.Tensor[[2, 1, 8], pl.INT32]]):
    signal_buf = pld.alloc_window_buffer([1, 1], dtype=pl.INT32)
    for r in pl.range(2):
        alone_on(y[r], pld.window(signal_buf, [1, 1], dtype=pl.INT32), device=r)
