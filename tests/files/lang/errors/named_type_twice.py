# A name that is bound twice, or whose type is written with one that is, stands for no type.
# test: check %s
# exit: 2
# check: error[parameter]: this is not a type of a kernel's parameter `a`
# check: error[parameter]: this is not a type of a kernel's parameter `b`
# check: error[parameter]: this is not a type of a kernel's parameter `out`
import slipring.language as pl

N = 32
T = pl.Tensor[[N, 64], pl.FP32]
N = 64
U = pl.Tensor[[64, 64], pl.FP32]


def change():
    global U
    U = pl.Tensor[[32, 64], pl.FP32]


@pl.incore
def k(a: T, b: U, out: pl.Out[T]):
    out[:, :] = a[:, :] + b[0:32, :]
