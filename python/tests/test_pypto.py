"""Scripts that import the public modules run unchanged."""

import subprocess
import sys

SCRIPT = """
import sys
import numpy as np
import pypto.language as pl
from pypto.runtime import RunConfig


@pl.jit
def added(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        tile = pl.add(pl.load(a, [0, 0], [32, 64]), pl.load(b, [0, 0], [32, 64]))
        pl.store(tile, [0, 0], c)
    return c


a, b, c = np.full((32, 64), 2, np.float32), np.full((32, 64), 3, np.float32), np.zeros((32, 64), np.float32)
back = added(a, b, c, config=RunConfig(platform=sys.argv[1]))
assert back is c and (c == 5).all()
print("OK", sys.argv[1])
"""


def call(tmp_path, *arguments):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, "-m", "slipring.pypto", str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_script(tmp_path):
    for platform in ["a2a3sim", "a5sim"]:
        assert call(tmp_path, platform).stdout == f"OK {platform}\n"


def test_an_unknown_platform(tmp_path):
    assert "no platform `a7`" in call(tmp_path, "a7").stderr


def test_nothing_is_installed_unasked():
    code = "import slipring.language, sys; assert 'pypto' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
