# Members that are not there.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def of_a_tensor(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: attribute a tensor [64, 64] FP32 has no member `width`
    y[:] = pl.full([64, x.width], pl.FP32, 0.0)


@pl.incore
def of_the_memories(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: attribute `pl.Mem` has no member `Nowhere`
    y[:] = pl.load(x, [0, 0], [64, 64], target_memory=pl.Mem.Nowhere)
