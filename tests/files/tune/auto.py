# Edits of the source that leave the same bytes: a larger tile and a loop that is written out here; as a patch with what each
# gains. What is wrong as it is written is not made faster.
# test: tune %s --auto --arch a5
# check: 2148 cycles (estimate) unchanged; 20 edits tried
# check: `TILE` is 32 instead of 16
# check: every iteration of the loop is unrolled
# check: the same bytes as before and as the sequential semantics; `prove`: proved
# check: -ROWS, TILE = 64, 16
# check: +ROWS, TILE = 64, 32
# check: +    for i in pl.unroll(0, ROWS, TILE):
# test: tune %s --auto --arch a5 --arg zeros:4 --arg zeros:4 --arg zeros:4
# exit: 2
# check: must be clean before it can be made faster:
# test: tune %s --auto --vary TILE=8,16
# exit: 2
# check: cannot be used with
# test: tune %s
# exit: 2
# check: --vary <NAME=VALUES>
import slipring.language as pl

ROWS, TILE = 64, 16


@pl.incore
def add(
    a: pl.Tensor[[ROWS, 128], pl.FP32],
    b: pl.Tensor[[ROWS, 128], pl.FP32],
    c: pl.Out[pl.Tensor[[ROWS, 128], pl.FP32]],
):
    for i in pl.range(0, ROWS, TILE):
        c[i : i + TILE, :] = a[i : i + TILE, :] + b[i : i + TILE, :]
