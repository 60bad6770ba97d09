# Host code that calls itself without end is not followed, whatever calls itself; in functions that nothing calls it is of no account.
#
# test: check %s
# exit: 2
import slipring.language as pl

CHAIN = ()
for i in range(50000):
    CHAIN = (CHAIN,)
CHAIN = 1.0
NODES = {}
for i in range(20000):
    NODES = {"next": NODES}


def down(n):
    return n and 1 + down(n - 1)


class Inside:
    tile = 8

    def __init__(self, more):
        if more:
            self.inside = Inside(more)


def not_called():
    return (lambda f: f(f))(lambda f: f(f))


DEEP = down(300)
# error: host-depth goes too deep
WRONG = (lambda f: f(f))(lambda f: f(f))
TILE = Inside(True).inside.tile


@pl.incore
def k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:, :] = a[:, :] + DEEP
