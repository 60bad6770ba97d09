# A grid over constants: what does not fit is refused with its reason, what leaves a tensor has findings, and of the clean
# points the fastest is compared with the sequential semantics.
# test: tune %s --vary TILE=8,32,128,256,48 --vary TWICE=true,false --arch a5
# check: constants.py: 10 points of TILE x TWICE, 6 clean, 2 with findings, 2 refused
# check: cycles
# check: the unchanged file
# check: best: TILE=32 TWICE=false: 2068 cycles (estimate), -3.7 % compared with the unchanged file; checked, and the same bytes
# check-not: internal
# test: tune %s --vary TILE=8,32 --arch a2a3
# check: best: TILE=32:
# test: tune %s --vary NOTHING=1,2
# exit: 2
# check: error: the file has no constant `NOTHING`, and the kernel no numeric parameter of that name
# test: tune %s --vary TILE=8,16 --set TILE=32
# exit: 2
# check: error: `TILE` varies, and `--set` gives it one value
# test: tune %s --vary TILE=1..100000 --vary TWICE=1..100000
# exit: 2
# check: error: a grid has at most 100000 points
# test: tune %s --vary slot_num=1..2
# exit: 2
# check: refused: the kernel has no ring whose `slot_num` could vary
# test: tune %s --vary TILE=48
# exit: 1
# check: 1 point of TILE, 1 with findings
# check: findings: memory-bounds
# check: error: no point is clean
# test: tune %s --vary clusters=1,2
# exit: 2
# check: refused: `clusters` is for programs, and this is a kernel: vary `blocks`
# test: tune %s --vary TILE=8 --vary TILE=9
# exit: 2
# check: error: `TILE` varies twice
# test: tune %s --vary TILE=4..1
# exit: 2
# check: a range is ascending
import slipring.language as pl

TILE, TWICE = 64, True


@pl.jit
def scale(x: pl.Tensor[[128, 128], pl.FP32], out: pl.Out[pl.Tensor[[128, 128], pl.FP32]]):
    pl.func_attr({"exact_slices": True})
    for at in pl.range(0, 128, TILE):
        part = x[at : at + TILE, :] * 2.0
        if TWICE:
            part = part * 2.0
        out[at : at + TILE, :] = part
