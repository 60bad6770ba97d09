# Valid extents of three dimensions: all of them, and some rows of one matrix, which is taken out of its list.
#
# platforms: a5, a2a3
# args: iota:f32[2x16x16] 5:index zeros:f32[2x16x16] zeros:f32[16x16]
# test: run %s --verify
# check: verify clean
# out[2]: hash 9030ab9bfa1b5764
# out[3]: hash 0608913e6e0f3365
import math

import slipring.language as pl


@pl.incore
def f(
    x: pl.Tensor[[2, 16, 16], pl.FP32],
    n: pl.Scalar[pl.INDEX],
    y: pl.Out[pl.Tensor[[2, 16, 16], pl.FP32]],
    z: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    t = pl.load(x, [0, 0, 0], [2, 16, 16], [2, 16, 16])
    y = pl.store(pl.add(t, 1.0), [0, 0, 0], y)
    part = pl.slice(x, [1, 16, 16], [1, 0, 0], valid_shape=[1, n, 16], drop_dims=[0], pad_value=-math.inf)
    z[:] = pl.fillpad(part, 0)
