# What is evaluated only where a condition of the run holds, and the message of a claim, change no list.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], n: pl.Scalar[pl.INT32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    numbers = [1, 2, 3, 4]
    # error: value-kind this list cannot be changed here
    both = n > 7 and numbers.pop() > 0
    # error: value-kind this list cannot be changed here
    either = n < 7 or numbers.pop() > 0
    # error: value-kind this list cannot be changed here
    chosen = numbers.pop() if n > 7 else 1
    # error: value-kind this list cannot be changed here
    between = 0 < n < numbers.pop()
    # error: value-kind this message changes a list
    assert n < 9, f"{numbers.pop()}"
    y[:, :] = x[:, :] + len(numbers)
