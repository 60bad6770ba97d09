# A result of which the kernel writes a part is no proof.
#
# test: prove %s --arch a5
# exit: 3
# check: doubtful: part on a5
# check: because `output-in-part`: `out[16:32, 0:64]` of this output is never written
# test: prove %s --arch a5 --strict
# exit: 1
# check: violated: part on a5
import slipring.language as pl


@pl.incore
def part(x: pl.Tensor[[32, 64], pl.FP32], out: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    out[0:16, :] = x[0:16, :]
