"""What type checkers say of mistakes: each line that says so is an error, and no other."""

import numpy as np

import slipring
import slipring.language as pl


@pl.jit
def double(x: pl.Tensor, out: pl.Out[pl.Tensor]) -> None:
    out[:, :] = pl.expp(x[:, :])  # wrong: no such word
    out[:, :] = pl.matmul(x[:, :], x[:, :], bogus=1)  # wrong: no such argument
    out[:, :] = pl.row_sum()  # wrong: an argument is missing


x = np.zeros((64, 64), np.float32)
run = double.run(x, x, platform=5)  # wrong: a platform has a name
run.fooo  # wrong: no such member
run.cycles.upper()  # wrong: cycles are a number
double.nothing(x)  # wrong: no such method
slipring.pack_scale(x, pl.MX_A_ZZ)  # wrong: no such function
slipring.queue.Machine(mode="loose")  # wrong: no such mode
slipring.queue.Machine().open(1)  # wrong: a tile has two coordinates
slipring.queue.run("").codez  # wrong: no such member
slipring.scale.sweep(double, {"TILE": [16]}, timeout="long")  # wrong: seconds are a number
slipring.pypto.RunConfig(platfrom="a5")  # wrong: no such field
