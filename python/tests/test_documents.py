"""What the documents show is what happens."""

import pathlib
import re
import subprocess
import sys

import pytest

from slipring._slipring import words

pytestmark = pytest.mark.once

KERNELS = pathlib.Path("docs/kernels.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", KERNELS, re.DOTALL)


def test_the_readmes_example(tmp_path):
    text = pathlib.Path("README.md").read_text().split("## From Python\n", 1)[1]
    script = text.split("```python\n", 1)[1].split("```", 1)[0]
    shown = text.split("prints\n\n```\n", 1)[1].split("```", 1)[0]
    path = tmp_path / "example.py"
    path.write_text(script)
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert run.stdout == shown, run.stderr


def test_the_calls_of_scale(tmp_path):
    text = pathlib.Path("docs/scale.md").read_text()
    calls = text.split("```python\n")[1:]
    assert len(calls) == 3
    for number, call in enumerate(calls):
        shown = call.split("prints\n\n```\n", 1)[1].split("```", 1)[0]
        path = tmp_path / f"{number}.py"
        path.write_text(call.split("```", 1)[0])
        run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
        assert run.stdout == shown, run.stderr


@pytest.mark.parametrize("at", range(len(BLOCKS)))
def test_the_chapters_of_kernels(at, tmp_path):
    path = tmp_path / f"chapter{at}.py"
    path.write_text(BLOCKS[at])
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr


# What stands in the last column of the table of spellings, as a kernel that is run; `…` stands for anything.
SPELLED = """
import numpy as np
import slipring.language as pl


@pl.jit
def every(x: pl.Tensor, ids: pl.Tensor, y: pl.Out[pl.Tensor], z: pl.InOut[pl.Tensor], TILE: pl.constexpr = 64) -> None:
    m, n, i = 16, 16, 0
    a, b = x[0:16, :], x[16:32, :]
    out = y
    t = x[i : i + n, :]
    out[i : i + n, :] = t
    pl.store(t, [i, 0], out)
    acc = pl.matmul(a, b)
    acc = pl.matmul_acc(acc, a, b)
    out[:, :] = a @ b + a @ b.T + acc
    c = pl.program_id(0) + pl.get_block_idx() + pl.num_programs(0) >= 0
    assert c
    pl.device_assert(c, "…")
    m_ = t > 0.0
    t = pl.load(x, [0, 0], [16, 16], clamp=True) + pl.full([m, n], pl.FP32, 0.0)
    u = pl.broadcast_to(x[0:1, :], [m, n]) + pl.transpose(t) + t.T + x[ids] + pl.mgather(x, ids)
    v = pl.cast(pl.arange(0, [1, n], pl.INT32), pl.FP32) + pl.cast(pl.cast(t[0:1, :], pl.FP16), pl.FP32)
    w = pl.sel(m_, t, u) + (t if m_ else u) + pl.row_sum(t) + pl.col_max(t) + v
    rows = pl.arange(0, 16)[:, None]
    f = pl.sigmoid(t) + pl.silu(t) + pl.tanh(t) + pl.clamp(t, -1.0, 1.0) + pl.zeros([16, 16], pl.FP32) + pl.ones_like(t)
    f = f + pl.zeros_like(t) + pl.square(t) + pl.cast(x[0:16, :].to(pl.FP16), pl.FP32)
    pl.print("x", x[0:1, :], rows)
    for k in pl.unroll(n):
        pass
    pl.store(w, [0, 0], z, atomic=pl.AtomicType.Add)


@pl.autotune([pl.Config({"TILE": 16})], key=["x"])
@pl.jit
def tuned(x: pl.Tensor, out: pl.Out[pl.Tensor], TILE: pl.constexpr) -> None:
    out[0:TILE, :] = x[0:TILE, :]


@pl.incore
def blocks(x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> None:
    for block in pl.spmd(4):
        out[block * 16 : block * 16 + 16, :] = x[block * 16 : block * 16 + 16, :]


x = np.random.default_rng(0).standard_normal((32, 16)).astype(np.float32)
ids = np.arange(16, dtype=np.int32)
given = x, ids, np.zeros((16, 16), np.float32), np.zeros((16, 16), np.float32)
for platform in ("a5", "a2a3"):
    every.run(*given, platform=platform).check()
kernel = every
kernel[1](*given)
own = [array.copy() for array in given]
own[3][:] = 0
kernel.reference(*own)
mine = [array.copy() for array in given]
mine[3][:] = 0
kernel(*mine)
np.testing.assert_allclose(mine[3], own[3], rtol=1e-4, atol=1e-4)
tuned(np.ones((16, 64), np.float32), np.zeros((16, 64), np.float32))
wide = np.ones((64, 64), np.float32)
blocks(wide, np.zeros_like(wide))
"""


def test_the_table_of_spellings(tmp_path):
    rows = re.findall(r"^\|.*\| ([^|]*) \|$", KERNELS, re.MULTILINE)[2:]
    assert len(rows) > 20
    text = re.sub(r"\s", "", re.sub(r"\bm_\b", "m", SPELLED))
    for row in rows:
        for spelling in re.findall(r"`([^`]*)`", row):
            # Operands have other names in the kernel.
            call = re.sub(r"\s", "", spelling).split("…")[0]
            head = re.match(r"@?[A-Za-z_.]*[A-Za-z_]", call)
            known = call in text or (head and "." in head.group() and head.group() in text) or call.rstrip(":") in text
            known = known or call == "aifmelseb" and "tifmelseu" in text or call.startswith("kernel[") and "kernel[1](" in text
            known = known or call.endswith(".T") and "t.T" in text or call.endswith("[:,None]") and "[:,None]" in text
            known = known or call.startswith("x.") and call[1:] in text
            assert known, f"`{spelling}` is not tried"
    path = tmp_path / "spelled.py"
    path.write_text(SPELLED)
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr


def test_the_reference_of_structural_words():
    text = pathlib.Path("docs/language.md").read_text()
    section = text.split("## Names that are not ops\n", 1)[1].split("\n## ", 1)[0]
    rows = "".join(f"| {forms(name, form)} | {doc} |\n" for name, form, doc in words())
    assert rows in section, f"write it anew:\n{rows}"


def forms(name, form):
    return ", ".join(f"`pl.{name}{way.strip()}`" for way in form.split("|"))
