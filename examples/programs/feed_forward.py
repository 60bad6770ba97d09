# A feed-forward step as a whole program: two products and what lies between them, on bands of 32 rows that do not wait for
# each other. `slipring run` shows the tasks, `slipring graph` what orders them.
#
# args: rand:f32[128x64] rand:f32[64x128] rand:f32[128x64] zeros:f32[128x64]
import slipring.language as pl

ROWS = 32


@pl.jit.incore
def product(x: pl.Tensor, w: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:] = pl.matmul(x[:, :], w[:, :], out_dtype=pl.FP32)
    return out


@pl.jit
def feed_forward(
    x: pl.Tensor[[128, 64], pl.FP32],
    up: pl.Tensor[[64, 128], pl.FP32],
    down: pl.Tensor[[128, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[128, 64], pl.FP32]],
):
    wide = pl.create_tensor([128, 128], dtype=pl.FP32)
    for r in pl.parallel(0, 128, ROWS):
        band = product(x[r : r + ROWS, :], up, wide[r : r + ROWS, :])
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="relu"):
            band[:] = pl.maximum(band[:, :], 0.0)
        product(band, down, out[r : r + ROWS, :])
    return out
