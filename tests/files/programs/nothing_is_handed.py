# A call of a function that returns nothing gives nothing: where that is passed on, the error says who was passed it.
#
# platforms: a5, a2a3
# test: check %s
# exit: 2
# check: `x` of `second` is None here
# check: help: a call returns what its function returns: end the function with `return out`
import slipring.language as pl


@pl.jit.incore
def first(x: pl.Tensor[[8, 8], pl.FP32], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    out[:] = pl.exp(x)


@pl.jit.incore
def second(x: pl.Tensor[[8, 8], pl.FP32], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    # error: subscript None has no parts
    out[:] = pl.exp(x[:, :])
    return out


@pl.jit
def f(x: pl.Tensor[[8, 8], pl.FP32], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    middle = pl.create_tensor([8, 8], dtype=pl.FP32)
    middle = first(x, middle)
    return second(middle, out)
