# Parameters without a type that a kernel can have.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
# error: parameter parameter `x` has no type
def untyped(x, y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x


@pl.incore
# error: parameter this is not a type of a kernel's parameter `x`
def host_type(x: float, y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    y[:] = x


@pl.incore
# error: empty-tensor an extent of 0
def empty(x: pl.Tensor[[64, 0], pl.FP32]):
    pass


@pl.incore
# error: parameter a tensor has 1 to 5 dimensions
def too_many_dimensions(x: pl.Tensor[[2, 2, 2, 2, 2, 2], pl.FP32]):
    pass


@pl.incore
# error: parameter a tensor's type has a shape and an element type: `pl.Tensor[[64, 64], pl.FP32]`
def no_elements(x: pl.Tensor[[64, 64]]):
    pass


@pl.incore
# error: parameter elements have a type such as `pl.FP32`, this is the number 4
def no_type(x: pl.Tensor[[64, 64], 4]):
    pass


@pl.incore
# error: parameter extents must be constant integers, but this is the string "N"
def no_extent(x: pl.Tensor[[64, "N"], pl.FP32]):
    pass


@pl.incore
# error: parameter parameter `x` has no type
# error: parameter this is not a type of a kernel's parameter `y`
# error: parameter this is not a type of a kernel's parameter `z`
def several(x, y: int, z: pl.Scalar[64]):
    pass
