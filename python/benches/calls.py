"""What a call costs over the run itself, and what the import of the package takes, beside numpy's: `python python/benches/calls.py`."""

import subprocess
import sys
import time

import numpy as np

import slipring.language as pl
from slipring._runs import passed


@pl.jit
def double(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:] = pl.add(x[:, :], x[:, :])


def best(f, times=200):
    """The median of some calls, in microseconds."""
    f()
    took = []
    for _ in range(times):
        start = time.perf_counter()
        f()
        took.append(time.perf_counter() - start)
    return sorted(took)[len(took) // 2] * 1e6


def importing(what):
    """Milliseconds of an import in a new process, without the start of Python: the best of five."""
    code = f"import time; t = time.perf_counter(); {what}; print(time.perf_counter() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)) * 1e3


def main():
    x = np.ones((16, 64), np.float32)
    y = np.zeros_like(x)
    double(x, y)
    arguments = double._bind((x, y), {})
    kernel, parameters = double._compile(arguments, None)
    values = passed(parameters, arguments)[0]
    call, run = best(lambda: double(x, y)), best(lambda: kernel.run(values, {}, False))
    rows = [
        ("call of a compiled kernel, 16x64 f32", call, "us"),
        ("  of that the run", run, "us"),
        ("  over the run", call - run, "us"),
        ("numpy.add of the same", best(lambda: np.add(x, x, out=y)), "us"),
        ("import slipring, slipring.language", importing("import slipring, slipring.language"), "ms"),
        ("import numpy", importing("import numpy"), "ms"),
    ]
    for name, value, unit in rows:
        print(f"{name:40} {value:9.1f} {unit}")


if __name__ == "__main__":
    main()
