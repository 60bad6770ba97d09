"""A user's file: what type checkers pass without a word."""

from typing import Any

import numpy as np

import slipring
import slipring.language as pl
from slipring.testing import assert_agrees

TILE = 32
N = pl.dynamic("N")


@pl.inline
def halved(t: pl.Tile) -> pl.Tile:
    return t * 0.5


@pl.jit
def softmax(x: pl.Tensor, out: pl.Out[pl.Tensor]) -> None:
    for i in pl.range(0, x.shape[0], TILE):
        t = x[i : i + TILE, :]
        e = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
        out[i : i + TILE, :] = pl.row_expand_div(e, pl.row_sum(e))


@pl.jit
def scaled(
    x: pl.Tensor[[64, 2 * TILE], pl.FP32],
    s: pl.Scalar[pl.FP32],
    out: pl.InOut[pl.Tensor[[64, 64], pl.FP32]],
    rows: pl.constexpr = 16,
) -> None:
    t = x[:, :]
    y = 1.0 - t * s
    z = -y
    m = (z > 0.0) & ~(z >= 3.0)
    out[:, :] = pl.sel(m, z, 0.0) @ t.T
    out[:, :] += t % 2.0
    last = x[-1]
    t[t < 0.0] = 0.0
    assert s > 0.0, "a scale"
    pl.print("rows", rows, last)
    out[0:rows, :] = halved(t[0:rows, :]) * (s + 1.0) / 3.0


@pl.incore
def lanes(x: pl.Tensor[[N, 64], pl.FP32], out: pl.Out[pl.Tensor[[N, 64], pl.FP32]]) -> None:
    with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.cross_core_slot(slot_num=4)]):
        for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
            out[lane * 32 : lane * 32 + 32, :] = x[lane * 32 : lane * 32 + 32, :]


@pl.program
class Twice:
    @pl.function(type=pl.FunctionType.InCore)
    def part(self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        out[:, :] = pl.load(x, [0, 0], [64, 64])
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        out = self.part(x, out)
        return out


@pl.autotune([pl.Config({"rows": 16}), pl.Config({"rows": 32}, blocks=2)], key=["x"])
@pl.jit
def tuned(x: pl.Tensor, out: pl.Out[pl.Tensor], rows: pl.constexpr) -> None:
    for i in pl.range(0, x.shape[0], rows):
        out[i : i + rows, :] = x[i : i + rows, :] + 1.0


def main() -> None:
    x = np.zeros((64, 64), np.float32)
    y = np.zeros_like(x)
    softmax(x, y)
    softmax[2](x, y)
    run = softmax.run(x, y, platform="a2a3", check=["memory", "race"])
    print(run.cycles + 1, run.verdict.upper(), run.findings[:1], run.get("out"))
    print(softmax.prove(x, y)["verdict"], softmax.prove(x, y).text, softmax.rings(x, y, sweep=(1, 4)).text)
    softmax.reference(x, y)
    for row in softmax.benchmark(x, y):
        print(row["platform"], row["cycles"])
    assert_agrees(softmax, (x, y))
    slipring.sweep(softmax, {"TILE": [32]}, (x, y))
    try:
        slipring.open("kernel.pto")(x)
    except slipring.KernelError as error:
        print(error.findings)


def elsewhere(x: Any, y: Any) -> None:
    machine = slipring.queue.Machine("p150", seed=1, allow=["noc-alignment"])
    memory = machine.pin(4096)
    with machine.open(1, 2, addr=0) as window:
        window.write32(0x100, 7)
        window[4:8] = memory[0:4]
        print(window.read32(0x100) + window[0], machine.time.monotonic_ns(), machine.status()["actors"])
    print(slipring.queue.run("board p100\n", kernel_cycles=10).codes, slipring.queue.prove("board p100\n").verdict)

    table = slipring.scale.sweep(softmax, {"TILE": [16, 32]}, lambda point: (x, y), workers=2)
    print(table.best(), table.verdicts(), [row["cycles"] for row in table], table[0]["verdict"])
    slipring.pypto.install("a5")
    softmax(x, y, config=slipring.pypto.RunConfig(platform="a5", codegen_only=True))


if __name__ == "__main__":
    main()
