# What a kernel's loops, scopes and words are told and what would have no effect, or two.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def no_stages(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: loop `pl.pipeline` does not say how many iterations overlap
    for i in pl.pipeline(2):
        y[i, :] = x[i, :] + 1.0


@pl.incore
def stages_of_a_range(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: loop `pl.range` has no stages: its iterations do not overlap
    for i in pl.range(2, stage=2):
        y[i, :] = x[i, :] + 1.0


@pl.incore
def stages_of_what_is_written_out(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: loop `pl.unroll` has no stages: its iterations do not overlap
    for i in pl.unroll(2, stage=2):
        y[i, :] = x[i, :] + 1.0


@pl.incore
def filled_with_nothing(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: argument `pl.PadValue.null` fills nothing
    y[:] = pl.fillpad(pl.load(x, [0, 0], [2, 8]), pl.PadValue.null)


@pl.incore
def filled_with_a_text(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: argument `pad_value` of `pl.fillpad` is a member of `pl.PadValue`
    y[:] = pl.fillpad(pl.load(x, [0, 0], [2, 8]), pad_value="zero")


@pl.incore
def tagged_twice(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: argument `pl.dump_tag` takes 1 arguments in order, 2 are given
    # error: scope `pl.dump_tag` names a tensor for the tasks that are started after it: a kernel starts none
    pl.dump_tag(x, y)
    y[:] = x + 1.0


@pl.function
def blocks_twice(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    # error: argument `core_num` is given twice
    for i in pl.spmd(4, core_num=4):
        y[i, :] = x[i, :] + 1.0


@pl.function
def no_name(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: argument `name_hint` is a string, the name of a function
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="two words"):
        y[:] = x + 1.0


@pl.function
def listed_twice(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    # error: no-dep `x` occurs twice in `no_dep_args`
    with pl.at(level=pl.Level.CORE_GROUP, no_dep_args=[x, x]):
        y[:] = x + 1.0


@pl.function(strict_ssa=True)
def again(x: pl.Tensor[[2, 8], pl.FP32], y: pl.Out[pl.Tensor[[2, 8], pl.FP32]]):
    t = x + 1.0
    # error: redefinition `t` is assigned again in a function with `strict_ssa`
    t = t + 1.0
    # error: redefinition a part is assigned to in a function with `strict_ssa`
    y[:] = t
