"""Calls of kernels: arrays in and out, errors that say both sides."""

import math
import types
import warnings

import ml_dtypes
import numpy as np
import pytest

import slipring
import slipring.language as pl


@pl.jit
def softmax(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = x[:, :]
        e = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
        out[:] = pl.row_expand_div(e, pl.row_sum(e))


@pl.jit
def double(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:] = pl.add(x[:, :], x[:, :])


def numbers(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def test_softmax(platform):
    x = numbers(64, 256)
    y = np.empty_like(x)
    run = softmax.run(x, y, platform=platform, verify=True)
    wanted = np.exp(x - x.max(1, keepdims=True))
    wanted /= wanted.sum(1, keepdims=True)
    np.testing.assert_allclose(y, wanted, rtol=1e-5)
    assert run.verdict == "clean" and run.cycles > 0 and not run.findings
    assert run.platform == platform
    assert {check["tool"] for check in run.checks} >= {"memory", "sync", "race", "init", "verify"}
    ops = [event[3] for event in run.timeline]
    assert any("exp" in op for op in ops) and all(event[4] <= event[5] for event in run.timeline)
    assert any(memory["buffers"] for memory in run.memory_map)


def test_shapes_of_the_call_decide():
    for shape in [(16, 64), (32, 128)]:
        x = numbers(*shape)
        y = np.empty_like(x)
        assert double(x, y) is None
        np.testing.assert_array_equal(y, x + x)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.int16])
def test_types(dtype):
    x = (numbers(16, 64) * 8).astype(dtype)
    y = np.zeros_like(x)
    double(x, y)
    np.testing.assert_array_equal(y, (x + x).astype(dtype))


def test_arrays_of_any_layout():
    whole = numbers(64, 128)
    x = whole[::2, ::2]
    y = np.zeros((64, 128), np.float32)
    double(x, y[::2, ::2])
    np.testing.assert_array_equal(y[::2, ::2], x + x)
    assert not y[1::2].any() and not y[:, 1::2].any()
    turned = np.asfortranarray(numbers(16, 64))
    y = np.zeros((16, 64), np.float32, order="F")
    double(turned, y)
    np.testing.assert_array_equal(y, turned + turned)


class Capsule:
    """An array of another library."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack():
    x, y = numbers(16, 64), np.zeros((16, 64), np.float32)
    double(Capsule(x), y)
    np.testing.assert_array_equal(y, x + x)


def test_numbers_for_scalars():
    @pl.jit
    def scale(x: pl.Tensor[[16, 64], pl.FP32], by: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:] = pl.mul(x[:, :], by)

    x, y = numbers(16, 64), np.zeros((16, 64), np.float32)
    for by in [3.0, 3, np.float32(3), np.array(3.0, np.float32)]:
        y[:] = 0
        scale(x, by, y)
        np.testing.assert_array_equal(y, 3 * x)
    with pytest.raises(TypeError, match="by"):
        scale(x, "three", y)


def test_closures_and_constants():
    def make(rows, factor):
        @pl.jit
        def scaled(x: pl.Tensor[[rows, 64], pl.FP32], out: pl.Out[pl.Tensor[[rows, 64], pl.FP32]]):
            out[:] = pl.mul(x[:, :], factor)

        return scaled

    x = numbers(16, 64)
    for factor in [2.0, 0.5]:
        y = np.zeros_like(x)
        make(16, factor)(x, y)
        np.testing.assert_array_equal(y, x * np.float32(factor))


def test_members_of_modules_instances_and_dicts():
    sizes = types.SimpleNamespace(cols=64, of=types.SimpleNamespace(rows=8))
    table = {"factor": 2.0}

    @pl.jit
    def scaled(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        for i in pl.range(0, 16, sizes.of.rows):
            t = pl.load(x, [i, 0], [sizes.of.rows, sizes.cols])
            out = pl.store(pl.add(pl.mul(t, table["factor"] * math.sqrt(4.0)), math.pi), [i, 0], out)
        return out

    x = numbers(16, 64)
    y = np.zeros_like(x)
    scaled(x, y)
    np.testing.assert_array_equal(y, x * 4 + np.float32(math.pi))
    table["factor"] = 3.0
    scaled(x, y)
    np.testing.assert_array_equal(y, x * 6 + np.float32(math.pi))


def test_the_value_of_a_name_at_the_call_counts():
    factor = 2.0

    @pl.jit
    def scaled(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[:] = pl.mul(x[:, :], factor)

    x = numbers(16, 64)
    y = np.zeros_like(x)
    scaled(x, y)
    np.testing.assert_array_equal(y, x * 2)
    factor = 4.0
    scaled(x, y)
    np.testing.assert_array_equal(y, x * 4)


def test_methods_and_parts():
    @pl.inline
    def twice(t):
        return pl.add(t, t)

    class Kernels:
        @pl.jit
        def four(self, x: pl.Tensor, out: pl.Out[pl.Tensor]):
            out[:] = twice(twice(x[:, :]))

    x = numbers(16, 64)
    y = np.zeros_like(x)
    Kernels().four(x, y)
    np.testing.assert_array_equal(y, 4 * x)


def test_a_kernel_returns_arrays():
    @pl.jit
    def doubled(x: pl.Tensor[[16, 64], pl.FP32]) -> pl.Tensor[[16, 64], pl.FP32]:
        return pl.add(x[:, :], x[:, :])

    x = numbers(16, 64)
    np.testing.assert_array_equal(doubled(x), x + x)


def test_mismatches_say_both():
    @pl.jit
    def fixed(x: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:] = x[:, :]

    x = numbers(16, 64)
    with pytest.raises(TypeError, match=r"f32\[32x32\].*f32\[16x64\]"):
        fixed(numbers(32, 32), x)
    with pytest.raises(TypeError, match=r"f16.*f32\[16x64\]"):
        fixed(x.astype(np.float16), x)
    with pytest.raises(TypeError, match="float64.*astype"):
        fixed(x.astype(np.float64), x)
    with pytest.raises(TypeError, match="missing: out"):
        fixed(x)
    with pytest.raises(TypeError, match="no parameter `other`"):
        fixed(x, other=x)
    frozen = np.zeros_like(x)
    frozen.flags.writeable = False
    with pytest.raises(TypeError, match="read-only"):
        fixed(x, frozen)
    with pytest.raises(TypeError, match="`None` was passed for `x`, which is a tensor: pass an array"):
        double(None, x)


def test_errors_have_the_authors_place():
    @pl.jit
    def wrong(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        t = x[:, :]
        out[:] = pl.expp(t)  # here

    lines = open(__file__).read().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if text.endswith("# here"))
    x = numbers(16, 64)
    with pytest.raises(slipring.KernelError) as raised:
        wrong(x, x)
    error = raised.value
    assert error.filename == __file__ and error.lineno == line
    assert f"{__file__}:{line}" in str(error) and "pl.expp(t)" in str(error) and "did you mean" in str(error)
    assert error.findings[0]["severity"] == "error"


def test_a_run_with_findings_leaves_outputs():
    @pl.jit
    def outside(x: pl.Tensor[[16, 64], pl.FP32], at: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:] = pl.load(x, [at, 0], [16, 64])

    x, y = numbers(16, 64), np.full((16, 64), 7, np.float32)
    run = outside.run(x, 8, y)
    assert run.verdict == "findings" and run.findings[0]["code"] == "memory-bounds"
    assert (y == 7).all()
    with pytest.raises(slipring.KernelError, match="memory-bounds"):
        outside(x, 8, y)
    assert (y == 7).all()
    outside(x, 0, y)
    np.testing.assert_array_equal(x, y)


def test_words_outside_of_kernels():
    with pytest.raises(TypeError, match="in a kernel"):
        pl.exp(3)


def test_files():
    kernel = slipring.open("examples/matmul_to_vector.pto", platform="a5")
    assert [parameter[0] for parameter in kernel.parameters]


def test_no_warning_for_a_clean_run():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = numbers(16, 64)
        double(x, np.zeros_like(x))


def test_floats_of_4_bits_are_packed_in_pairs():
    from slipring._arrays import element_of, extents, flat_bytes, of_bytes

    x = np.array([[0, 0.5, -1, 6], [1.5, 2, 3, -4]], ml_dtypes.float4_e2m1fn)
    assert element_of(x, "x") == "f4E2M1x2" and extents(x, "x") == [2, 2]
    packed = flat_bytes(x)
    assert packed.tolist() == [0x10, 0x7A, 0x43, 0xE5]
    assert (of_bytes(packed.tobytes(), x.dtype, x.shape) == x).all()
    with pytest.raises(TypeError, match="in pairs"):
        extents(x[:, :3], "x")


WEIGHTS = [1.0] * 5000


@pl.jit
def weighted(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:, :] = x[:, :] * WEIGHTS[3]


def test_a_long_list_is_looked_at_again_where_it_changes():
    from slipring._source import keyed, plain

    x = np.ones((8, 64), np.float32)
    out = np.zeros_like(x)
    weighted(x, out)
    assert (out == 1).all() and keyed(plain(WEIGHTS)) == keyed(plain(WEIGHTS))
    WEIGHTS[3] = 2.0
    weighted(x, out)
    assert (out == 2).all()
    before = keyed(plain(WEIGHTS))
    WEIGHTS[3] = 2
    assert keyed(plain(WEIGHTS)) != before


@pl.jit
def filled(x: pl.Tensor[[1], pl.FP32], out: pl.Out[pl.Tensor[[1, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.full([1, 64], dtype=pl.FP32, value=0.0) + pl.read(x, [0])


@pl.jit
def filled_by_any(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = pl.full([1, 64], dtype=pl.FP32, value=0.0) + pl.read(x, [0])


@pytest.mark.parametrize("value", [np.float32(3), np.array(3, np.float32)], ids=["scalar", "0-d"])
def test_a_scalar_of_numpy_is_a_tensor_of_one_element(value):
    for kernel in (filled, filled_by_any):
        out = np.empty((1, 64), np.float32)
        kernel(value, out)
        assert (out == 3).all()


@pytest.mark.parametrize("value", [[[1.0]], "text", {}, 2.0], ids=lambda value: type(value).__name__)
def test_what_is_no_array_is_named(value):
    with pytest.raises(TypeError, match=f"`x` is a tensor, and a {type(value).__name__} is given: pass an array for it"):
        double(value, np.empty((16, 64), np.float32))


@pl.jit
def times(x: pl.Tensor, out: pl.Out[pl.Tensor], N: pl.constexpr = 1):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = x[:, :] * N


def test_a_constant_beyond_64_bits():
    x = numbers(16, 64)
    with pytest.raises(TypeError, match=f"a whole number of a kernel has 64 bits, and {2**70} is beyond them"):
        times(x, np.empty_like(x), N=2**70)
