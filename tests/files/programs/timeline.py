# The timeline of a whole program: tasks on their clusters, the pipes of their kernels below; cycles by line.
# test: run %s --clusters 2 --timeline --lines
# check: 4 tasks with 2 edges on 2 clusters
# check: cluster 0 tasks
# check: cluster 0 AIV0 V
# check: cluster 1 tasks
# check: lines (cycles of all cores and blocks; bytes moved)
# check: half[:] = pl.exp(a[r : r + 32, :])
# test: report %s -o /dev/null
import slipring.language as pl


@pl.jit
def both(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    middle = pl.create_tensor([64, 64], dtype=pl.FP32)
    for r in pl.parallel(0, 64, 32):
        half, part = middle[r : r + 32, :], out[r : r + 32, :]
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="exp"):
            half[:] = pl.exp(a[r : r + 32, :])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="add"):
            part[:] = pl.add(half[:, :], 1.0)
    return out
