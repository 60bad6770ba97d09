# Arguments that an op, a loop or a scope does not take.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def too_many(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.exp` takes 1 arguments in order, 2 are given
    y[:] = pl.exp(x, x)


@pl.incore
def unknown_name(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.matmul` has no argument `b_transposed`
    y[:] = pl.matmul(x, x, b_transposed=True)


@pl.incore
def twice(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP16]]):
    # error: argument `target_type` is given twice
    y[:] = pl.cast(x, pl.FP16, target_type=pl.FP16)


@pl.incore
def missing(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.load` needs `offsets`
    y[:] = pl.load(x)


@pl.incore
def no_truth_value(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `b_trans` of `pl.matmul` is True or False, not the number 2
    y[:] = pl.matmul(x, x, b_trans=2)


@pl.incore
def no_type(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP16]]):
    # error: argument `target_type` of `pl.cast` is a type such as `pl.FP32`, not the string "half"
    y[:] = pl.cast(x, "half")


@pl.incore
def no_shape(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `shapes` of `pl.load` is a list of positive constant integers, not the number -64
    y[:] = pl.load(x, [0, 0], [64, -64])


@pl.incore
def rounding(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP16]]):
    # error: argument `mode` of `pl.cast` is not `up`
    y[:] = pl.cast(x, pl.FP16, mode="up")


@pl.incore
def loop_name(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument a loop has no argument `chunk`
    for i in pl.range(4, chunk=2):
        y[i * 16 : i * 16 + 16, :] = x[i * 16 : i * 16 + 16, :]


@pl.incore
def loop_end(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument a loop takes an end, a start and an end, or these and a step
    for i in pl.range():
        y[:] = x


@pl.incore
def scope_name(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.at` has no argument `speed`
    with pl.at(level=pl.Level.CORE_GROUP, speed=11):
        y[:] = x


@pl.incore
def no_blocks(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument 0 blocks
    for block in pl.spmd(0):
        y[:] = x


@pl.incore
def slots(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `pl.cross_core_slot` does not take the string "four" here
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.cross_core_slot(slot_num="four")]):
        y[:] = x


@pl.jit
def too_deep(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument a ring has 1 to 8 slots, not 100
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.cross_core_slot(slot_num=100)]):
        y[:] = pl.exp(x)


@pl.incore
def pattern(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 32], pl.FP32]]):
    # error: argument there is no pattern 9
    y[:] = pl.gather(x, mask_pattern=9)


@pl.incore
def axis(x: pl.Tensor[[64, 64], pl.FP32], i: pl.Tensor[[64, 64], pl.INT32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: argument `dim` of `pl.gather` is -1, the last one, not the number 0
    y[:] = pl.gather(x, dim=0, index=i)


@pl.incore
def comparison_of_a_gather(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 8], pl.INT32]]):
    # error: argument `cmp_mode` of `pl.gather` is "eq" or "gt", which the instruction has, not the string "lt"
    found, count = pl.gather(x, kvalue=1.0, cmp_mode="lt", out_cols=8)
    y[:] = found


@pl.incore
def phases(a: pl.Tensor[[1, 16], pl.FP16], b: pl.Tensor[[16, 16], pl.FP16], y: pl.Out[pl.Tensor[[1, 16], pl.FP32]]):
    # error: argument there is no phase `last`
    y[:] = pl.gemv(a, b, acc_phase="last")


@pl.incore
def flat(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    # error: argument `flat_layout` of a tile in `vec`
    t = pl.create_tile([16, 16], dtype=pl.FP32, flat_layout=True)
    y[:] = x


@pl.incore
def turned(x: pl.Tensor[[16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    # error: unsupported `transpose` of a new tile cannot be compiled yet
    t = pl.create_tile([16, 16], dtype=pl.FP32, target_memory=pl.Mem.Mat, transpose=True)
    y[:] = x
