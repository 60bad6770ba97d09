"""Words of the language on special values: what a run gives is what the reference gives, which was written against the manuals."""

import numpy as np
import pytest

import slipring.language as pl
from slipring.testing import difference

FLOATS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-42, 3.4e38, -3.4e38, 1.0, -1.5, 2.5, 65504.0, 1e-8, 7.0, -7.0]
WHOLE = {np.int32: [0, 1, -1, 2**31 - 1, -(2**31), 7, -7, 100], np.int16: [0, 1, -1, 2**15 - 1, -(2**15), 7, -7, 100]}


def pairs(dtype):
    """Every value with every other one."""
    with np.errstate(all="ignore"):
        each = np.array(FLOATS if dtype in (np.float32, np.float16) else WHOLE[dtype]).astype(dtype)
    a, b = np.meshgrid(each, each)
    return np.ascontiguousarray(a), np.ascontiguousarray(b)


@pl.jit
def arithmetic(a: pl.Tensor, b: pl.Tensor, s: pl.Out[pl.Tensor], d: pl.Out[pl.Tensor], m: pl.Out[pl.Tensor]):
    s[:, :] = a[:, :] + b[:, :]
    d[:, :] = a[:, :] - b[:, :]
    m[:, :] = a[:, :] * b[:, :]


@pl.jit
def ordered(a: pl.Tensor, b: pl.Tensor, most: pl.Out[pl.Tensor], least: pl.Out[pl.Tensor], chosen: pl.Out[pl.Tensor]):
    most[:, :] = pl.maximum(a[:, :], b[:, :])
    least[:, :] = pl.minimum(a[:, :], b[:, :])
    chosen[:, :] = pl.sel(a[:, :] < b[:, :], a[:, :], b[:, :])


@pl.jit
def single(a: pl.Tensor, b: pl.Tensor, n: pl.Out[pl.Tensor], r: pl.Out[pl.Tensor], x: pl.Out[pl.Tensor]):
    n[:, :] = -a[:, :]
    r[:, :] = pl.relu(a[:, :])
    x[:, :] = a[:, :] + b[:, :] - b[:, :]


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.int16])
@pytest.mark.parametrize("kernel", [arithmetic, ordered, single], ids=lambda kernel: kernel.__name__)
def test_a_run_is_the_reference(kernel, dtype, platform):
    if kernel is single and np.dtype(dtype).kind == "i":
        pytest.skip("numbers without a sign bit of their own are compared by the others")
    if (kernel, dtype, platform) == (ordered, np.int16, "a2a3"):
        pytest.skip("the vector unit of A2/A3 compares no 16-bit integers")
    a, b = pairs(dtype)
    run = [np.zeros_like(a) for _ in range(3)]
    wanted = [np.zeros_like(a) for _ in range(3)]
    kernel.run(a, b, *run, platform=platform).check()
    kernel.reference(a, b, *wanted)
    for name, one, other in zip(kernel.parameter_names[2:], run, wanted):
        assert difference(one, other, 0, 0) is None, (name, difference(one, other, 0, 0))


def test_operators_are_no_raw_errors():
    @pl.jit
    def every(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        for i in pl.range(0, x.shape[0], 16):
            t = x[i : i + 16, :]
            u = 1.0 - t / 2.0 + 3.0 / (t + 4.0)
            mask = (t > 0.5) & ~(t >= 0.9)
            u = pl.sel(mask, u, 0.0) - pl.row_mean(t)
            out[i : i + 16, :] = u

    x = np.random.default_rng(0).random((48, 64), np.float32)
    run, wanted = np.zeros_like(x), np.zeros_like(x)
    every.run(x, run).check()
    every.reference(x, wanted)
    np.testing.assert_allclose(run, wanted, rtol=1e-5, atol=1e-6)
