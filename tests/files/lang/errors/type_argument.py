# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
# error: type-argument a tensor in global memory is not laid out as `NZ`
def nz(x: pl.Tensor[[64, 64], pl.FP16, pl.NZ], out: pl.Out[pl.Tensor[[64, 64], pl.FP16]]):
    out[:] = x + 1.0


LAYOUT = pl.TensorLayout.DN


@pl.incore
# error: type-argument a tensor in global memory is not laid out as `DN`
def dn(x: pl.Tensor[[64, 64], pl.FP16, LAYOUT], out: pl.Out[pl.Tensor[[64, 64], pl.FP16, pl.ND]]):
    out[:] = x + 1.0


@pl.incore
# error: type-argument `"junk"` says nothing of a tensor
def junk(x: pl.Tensor[[64, 64], pl.FP16, "junk"], out: pl.Out[pl.Tensor[[64, 64], pl.FP16]]):
    out[:] = x + 1.0


@pl.incore
# error: type-argument a tensor in global memory is not laid out as `NZ`
def result(x: pl.Tensor[[8, 8], pl.FP16], out: pl.Out[pl.Tensor[[8, 8], pl.FP16]]) -> pl.Tensor[[8, 8], pl.FP16, pl.NZ]:
    out[:] = x + 1.0
    return out


@pl.incore
def strided(
    # error: type-argument `stride=[128, 1]` of `pl.TensorView` is not what this is
    x: pl.Tensor[[64, 64], pl.FP16, pl.TensorView(stride=[128, 1], layout=pl.TensorLayout.ND)],
    dense: pl.Tensor[[64, 64], pl.FP16, pl.TensorView(stride=[64, 1], layout=pl.TensorLayout.ND)],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP16]],
):
    out[:] = x + dense


@pl.incore
def memory(x: pl.Tensor[[64, 64], pl.FP16], out: pl.Out[pl.Tensor[[64, 64], pl.FP16]]):
    here: pl.Tile[[64, 64], pl.FP16, pl.Mem.Vec] = x + 1.0
    # error: annotation this is declared a tile in `mat`, and lies in `vec`
    there: pl.Tile[[64, 64], pl.FP16, pl.Mem.Mat] = here + 1.0
    out[:] = there
