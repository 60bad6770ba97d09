# Runs beside profiles, whose times are in a clock of their own: 0.06 us are 99 cycles of 1650 MHz. Instructions that overlap count
# once; steps of synchronisation and rows that are no pipes are counted as left out. Of tasks the mean stands beside the run.
#
# args: rand:f32[16x64],seed=1 zeros:f32[16x64]
# test: timeline %s --arch a5 --against ../../tests/files/profile/trace.json
# check: double on a5 beside a profile of instructions by pipe
# check: cycles 310 248 1.25
# check: AIV MTE2 133 99 1.34
# check: AIV MTE3 101 83 1.22
# check: AIV V 70 66 1.06
# check: cycles of the run are an estimate
# check: 2 events of the profile are not pipe operations
# test: timeline %s --arch a5 --against ../../tests/files/profile/chip_swimlane_records.json
# check: cycles 310 2310 0.13
# check: a task of AIV 310 495 0.63
# test: timeline %s --arch a5 --against ../../tests/files/profile/merged_swimlane.json
# check: double on a5 beside a profile of tasks by core
# check: cycles 310 330 0.94
# check: a task of AIV 310 330 0.94
# check: 2 events of the profile are not pipe operations
# test: timeline %s --arch a5 --against ../../tests/files/profile/PipeUtilization.csv
# check: double on a5 beside a profile of busy time by block
# check: cycles 310 400 0.78
# check: AIV MTE2 133 100 1.33
# check: AIV S - 40 -
# check: AIV V 70 80 0.88
# test: timeline %s --arch a5 --against ../../tests/files/profile/op_summary.csv
# exit: 2
# check: is not a profile: it is a summary by op, whose busy times are means over the cores
# test: timeline %s --arch a5 --against ../../tests/files/profile/nanoseconds.json
# check: cycles 310 165000 0.00
# check: the two differ by more than a hundred times: is it a profile of this launch, in microseconds?
# test: calibrate %s --arch a5 --from ../../tests/files/profile/nanoseconds.json -o -
# exit: 2
# check: busy cycles in the profile and 133 in the run; is it a profile of this launch?
# test: timeline %s --arch a5 --against ../../tests/files/profile/empty.csv
# exit: 2
# check: is not a profile: it is empty
# test: timeline %s --arch a5 --against ../../tests/files/profile/cut.json
# exit: 2
# check: is not a profile: it is not JSON: EOF while parsing
# test: timeline %s --arch a5 --against ../../tests/files/profile/pmu.csv
# check: cycles 310 210 1.48
# check: AIV MTE2 133 90 1.48
# check: AIV V 70 20 3.50
# test: timeline %s --arch a5 --against ../../tests/files/profile/pmu.csv --json
# check: "form": "counters"
# test: timeline %s --arch a5 --against ../../tests/files/profile/trace.json --trace -
# check: core0.veccore0
# test: calibrate %s --arch a5 --from ../../tests/files/profile/pmu.csv -o -
# check: # `a5` of slipring, brought to a profile of `double` by `slipring calibrate`: a factor for each pipe.
# check: # AIV MTE2 x 0.67
# check: # AIV MTE3 x 0.7
# check: # AIV V x 0.2
# check: # No published point supports these: cycles are estimates.
# test: calibrate %s --arch a5 --from ../../tests/files/profile/chip_swimlane_records.json -o -
# exit: 2
# check: a profile of tasks does not say how busy pipes were
# test: calibrate %s --arch a5 --from ../../tests/files/profile/pmu.csv -o %s
# exit: 2
# check: -o
# test: timeline %s --arch a5 --against %s
# exit: 2
# check: is not a profile: it has no column `core_type`
import slipring.language as pl


@pl.jit
def double(x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:] = x[:, :] * 2.0
