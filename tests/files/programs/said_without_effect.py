# What tasks are told and what would have no effect.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def plus(x: pl.Tensor[[16, 64], pl.FP32], y: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    y[:] = x + 1.0
    return y


@pl.program
class Dumped:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[16, 64], pl.FP32],
        b: pl.Tensor[[16, 64], pl.FP32],
        o: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ):
        with pl.manual_scope():
            # error: submit `dumps=` lists what is no tensor among this kernel's arguments
            o, _ = pl.submit(plus, a, o, dumps=[b])
        return o


@pl.program
class Tagged:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        # error: argument `pl.dump_tag` takes a tensor
        pl.dump_tag(plus)
        o = plus(a, o)
        return o


@pl.program
class Together:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        with pl.manual_scope():
            # error: argument `sync_start` is True or False
            o, _ = pl.spmd_submit(plus, a, o, core_num=1, sync_start=1)
        return o


@pl.program
class Early:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        with pl.manual_scope():
            # error: argument `allow_early_resolve` is True or False
            o, _ = pl.submit(plus, a, o, allow_early_resolve=1)
        return o


@pl.program
class Joined:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        with pl.manual_scope():
            # error: argument `pl.task_dummy` joins tasks, and is told none
            barrier = pl.system.task_dummy()
            o, _ = pl.submit(plus, a, o, deps=[barrier])
        return o


@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        with pl.manual_scope():
            # error: no-dep `a` occurs twice in `no_dep_args`
            o, _ = pl.submit(plus, a, o, no_dep_args=[a, a])
        return o
