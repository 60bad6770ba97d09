# Options that say how one kernel is run are refused for a whole program, not left without effect.
# test: run %s --schedule delays.txt
# exit: 2
# check: error: `--schedule` is for a kernel, and this is a whole program: run the kernel alone with `--func`
# test: run %s --gm-slack 64
# exit: 2
# check: error: `--gm-slack` is for a kernel, and this is a whole program
# test: run %s --time-only
# exit: 2
# check: error: `--time-only` is for a kernel, and this is a whole program
# test: run %s --advice
# exit: 2
# check: error: `--advice` is for a kernel, and this is a whole program
# test: run %s --stats
# exit: 2
# check: error: `--stats` is for a kernel, and this is a whole program
# test: run %s --blocks 2
# exit: 2
# check: error: `--blocks` is for a kernel, and this is a whole program
# test: run %s --arg full:f32[64x64]=1.5 --arg zeros:f32[64x64]
# out[1]: f32 6 …
import slipring.language as pl


@pl.jit
def twice(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    middle = pl.create_tensor([64, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="first"):
        middle[:] = pl.add(a, a)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="second"):
        out[:] = pl.add(middle, middle)
    return out
