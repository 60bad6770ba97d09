# A tensor that is made with a number in it is filled once, before the kernel runs.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], out: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    for i in pl.range(4):
        # error: loop a tensor is filled once, and this loop makes it in each iteration
        sum = pl.create_tensor([1, 8], dtype=pl.FP32, init_value=0.0)
        sum = pl.store(pl.add(pl.load(sum, [0, 0], [1, 8]), pl.load(x, [i, 0], [1, 8])), [0, 0], sum)
        out = pl.store(pl.load(sum, [0, 0], [1, 8]), [i, 0], out)
