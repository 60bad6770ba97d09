# What a scope is told has an effect, or is an error.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.jit
def no_number(x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]):
    # error: argument `pl.cross_core_slot` does not say how many slots
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.cross_core_slot()]):
        y[:] = pl.add(x, x)


@pl.jit
def twice(x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]):
    # error: argument the number of slots is given twice
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.cross_core_slot(slot_num=4), pl.cross_core_slot(slot_num=8)]):
        y[:] = pl.add(x, x)


@pl.jit
def role(x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]):
    # error: scope a scope at `pl.Level.CORE_GROUP` is a kernel and has no role
    with pl.at(level=pl.Level.CORE_GROUP, role=pl.Role.SubWorker):
        y[:] = pl.add(x, x)


@pl.jit
def no_level(x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]):
    # error: scope `pl.at` does not say where its body runs
    with pl.at(name_hint="add"):
        y[:] = pl.add(x, x)


@pl.jit
def hint(x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]):
    # error: argument `name_hint` is a string
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=3):
        y[:] = pl.add(x, x)


@pl.jit
def early(x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]):
    # error: argument `allow_early_resolve` is True or False
    with pl.at(level=pl.Level.CORE_GROUP, allow_early_resolve=1):
        y[:] = pl.add(x, x)


@pl.jit
def ghost(x: pl.Tensor[[64], pl.FP32], y: pl.Out[pl.Tensor[[64], pl.FP32]]):
    # error: undefined-name `nobody` is not defined
    with pl.at(level=pl.Level.CORE_GROUP, no_dep_args=[x, nobody]):
        y[:] = pl.add(x, x)
