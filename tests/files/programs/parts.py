# What an orchestration does with tensors itself: transposed, flat and sliced views, parts that are put together, tuples of tensors,
# helpers with defaults and names, several tensors given back.
#
# platforms: a5, a2a3
# test: run %s --func parts --verify --arg iota:f32[32x64] --arg zeros:f32[64x32] --arg zeros:f32[32x64] --arg zeros:f32[16x16]
# exit: 0
# check: verify clean
# out[1]: f32 0 128 256 384 512 640 768 896 1024 1152 1280 1408 1536 1664 1792 1920 2048 2176 2304 2432 2560 2688 2816 2944 3072 3200 3328 3456 3584 3712 3840 3968 2 130 …
# out[2]: f32 0 3 6 9 12 …
# out[3]: f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 128 130 …
import pypto.language as pl


@pl.jit.incore
def scaled(x: pl.Tensor, out: pl.Out[pl.Tensor], factor: pl.Scalar[pl.FP32]):
    out = pl.store(pl.mul(pl.load(x, [0, 0], x.shape), factor), [0, 0], out)
    return out


@pl.jit.inline
def both(pair, outs, factor=2.0):
    first = scaled(pair[0], outs[0], factor)
    second = scaled(pair[1], out=outs[1], factor=factor + 1.0)
    return first, second


@pl.jit
def parts(
    x: pl.Tensor[[32, 64], pl.FP32],
    turned: pl.Out[pl.Tensor[[64, 32], pl.FP32]],
    flat: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    corner: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    flat_x = pl.reshape(x, [64, 32])
    flat_out = pl.tensor.view(flat, [64, 32])
    columns = pl.transpose(turned, 0, 1)
    columns, flat_out = both((x, flat_x), [columns, flat_out])
    corner_x = pl.slice(x, [16, 16], [0, 0])
    corner[0:16, 0:16] = scaled(corner_x, pl.create_tensor([16, 16], dtype=pl.FP32), 2.0)
    return turned, flat, corner
