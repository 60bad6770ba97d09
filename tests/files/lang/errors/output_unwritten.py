# An output that is never written is an error, whether the kernel returns a tile of its own or nothing at all.
# test: check %s --arch a5
# exit: 2
import pypto.language as pl


@pl.incore
# error: output-lost `y` is an output that is never written, and the kernel returns a tile
def lost(x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]) -> pl.Tensor[[8, 8], pl.FP32]:
    out: pl.Tensor[[8, 8], pl.FP32] = pl.add(x, 1.0)
    return out


@pl.incore
# error: output-unwritten `z` is an output, and the kernel never writes it
def unwritten(x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]], z: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    y[:] = pl.add(x, 1.0)
