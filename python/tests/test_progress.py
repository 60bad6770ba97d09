"""Long runs show that they live, on terminals, and take it away again."""

import os
import subprocess
import sys

import pytest

from slipring._progress import Progress

LONG = """
import numpy as np, slipring, slipring.language as pl

@pl.jit
def long(x: pl.Tensor, n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor]):
    for i in pl.range(n):
        out[:] = pl.add(x[:, :], x[:, :])

x = np.ones((16, 64), np.float32)
from slipring import _runs
{before}
try:
    long.run(x, 1 << 40, np.zeros_like(x))
except KeyboardInterrupt:
    print("over")
"""
ON_A_TERMINAL = """
class Once(_runs.Progress):
    def __call__(self, *facts):
        super().__call__(*facts)
        raise KeyboardInterrupt
_runs.Progress = Once
"""


def test_on_a_terminal(tmp_path):
    pty = pytest.importorskip("pty")
    script = tmp_path / "long.py"
    script.write_text(LONG.format(before="import sys; sys.modules['tqdm.auto'] = None\n" + ON_A_TERMINAL))
    main, other = pty.openpty()
    run = subprocess.run([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=other, timeout=120)
    os.close(other)
    seen = os.read(main, 1 << 16).decode()
    os.close(main)
    assert run.stdout == b"over\n", seen
    line, gone = seen.split("\r")[1:3]
    assert line.startswith("long: cycle ") and line.endswith("0 of 1 blocks over") and gone.strip() == ""


def test_nothing_where_nobody_looks(capfd):
    with Progress("k") as progress:
        progress(10, 0, 2)
        progress(20, 1, 2)
    assert capfd.readouterr() == ("", "")


def test_by_tqdm(monkeypatch):
    bars = pytest.importorskip("tqdm.auto")
    made = []

    class Bar(bars.tqdm):
        def __init__(self, *args, **options):
            super().__init__(*args, file=open(os.devnull, "w"), **options)
            made.append(self)

    monkeypatch.setattr(bars, "tqdm", Bar)
    monkeypatch.setitem(sys.modules, "ipykernel", pytest)
    with Progress("k") as progress:
        progress(10, 1, 2)
        assert made[0].n == 1 and made[0].total == 2 and "cycle 10" in made[0].desc
    assert made[0].disable
