# What means something of every file: slots of rings, the division by the compiler, blocks, the platform. A constant of the
# file goes before a word.
# test: tune %s --vary slot_num=1..3 --vary split=UP_DOWN,LEFT_RIGHT --vary arch=a5,a2a3
# check: 12 points of slot_num x split x arch, 12 clean
# check: checked, and the same bytes as the sequential semantics
# test: tune %s --vary blocks=1,2 --arch a5
# check: 2 points of blocks
# check: best: blocks=1:
# test: tune %s --vary split=UP,DOWN --arch a5
# exit: 2
# check: refused: `split` is `UP_DOWN`, `LEFT_RIGHT` or `NONE`, not `UP`
# test: tune %s --vary arch=a6
# exit: 2
# check: refused: unknown platform `a6`
# test: tune %s --vary slot_num=0,100
# exit: 2
# check: refused: a ring has from 1 to 64 slots, not `0`
import slipring.language as pl

N = 64


@pl.jit
def product(
    a: pl.Tensor[[N, N], pl.FP16], b: pl.Tensor[[N, N], pl.FP16], y: pl.Out[pl.Tensor[[N, N], pl.FP32]]
):
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
        y[:] = pl.matmul(a, b) * 2.0
