# A task waits for one that reads what it writes: neither can start. And a wait for what is never submitted.
#
# args: rand:f32[16x16] zeros:f32[16x16]
# platforms: a5, a2a3
# test: run %s --func circle
# exit: 1
# check: tasks findings
# check: error[task-deadlock]: 2 tasks wait for each other: none of them can start
# check: `first` waits for `second`: `deps=` says so
# check: `second` waits for `first`: it reads what that writes, `middle`
# test: graph %s --func circle
# exit: 1
# check: error[task-deadlock]: 2 tasks wait for each other
# test: run %s --func nobody
# exit: 1
# check: error[task-deadlock]: `only` waits for `missing`, which is never submitted
import pypto.language as pl


@pl.jit
def circle(x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    middle = pl.create_tensor([16, 16], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="first", deps=[second]):
        middle[:] = pl.add(x, x)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="second") as second:
        out[:] = pl.add(middle, middle)
    return out


@pl.jit
def nobody(x: pl.Tensor[[16, 16], pl.FP32], out: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="head"):
        out[:] = pl.add(x, x)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="only", deps=[missing]):
        out[:] = pl.add(x, 1.0)
    return out
