"""The reference and the compiled kernel agree: two meanings that share nothing."""

import importlib.util
import os
import pathlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import slipring.language as pl
from slipring.reference._tiles import NotKnown
from slipring.testing import assert_agrees


def numbers(*shape, dtype=np.float32, seed=0, scale=1.0):
    return (np.random.default_rng(seed).standard_normal(shape) * scale).astype(dtype)


@pl.jit
def softmax(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = x[:, :]
        e = pl.exp(pl.row_expand_sub(t, pl.row_max(t)))
        out[:] = pl.row_expand_div(e, pl.row_sum(e))


def test_softmax():
    x = numbers(64, 256)
    y = np.zeros_like(x)
    assert_agrees(softmax, (x, y))
    assert not y.any()
    softmax.reference(x, y)
    wanted = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, wanted / wanted.sum(1, keepdims=True), rtol=1e-5)


def test_a_wrong_kernel_is_told():
    @pl.jit
    def stored(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        out[:] = pl.add(x[:, :], x[:, :])

    reference = type(stored).reference

    def off(self, *args, **options):
        reference(self, *args, **options)
        args[1][3, 5] += 1

    stored.reference = off.__get__(stored)
    x = numbers(16, 64)
    with pytest.raises(AssertionError, match=r"`out` on a5 and the reference: 1 of 1024 elements differ\n  first at \[3, 5\]"):
        assert_agrees(stored, (x, np.zeros_like(x)))


def test_loops_and_windows():
    @pl.jit
    def sums(x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        total = pl.load(x, [0, 0], [16, 64])
        for i in pl.range(1, 4):
            total = pl.add(total, x[i * 16 : i * 16 + 16, :])
        out[:] = total

    assert_agrees(sums, (numbers(64, 64), np.zeros((16, 64), np.float32)))


def test_products():
    @pl.jit
    def linear(
        a: pl.Tensor[[32, 64], pl.FP16],
        b: pl.Tensor[[64, 32], pl.FP16],
        out: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ):
        with pl.at(level=pl.Level.CORE_GROUP):
            out[:] = pl.matmul(a[:, :], b[:, :], out_dtype=pl.FP32)

    arguments = (numbers(32, 64, dtype=np.float16), numbers(64, 32, dtype=np.float16, seed=1), np.zeros((32, 32), np.float32))
    assert_agrees(linear, arguments)


def test_what_the_reference_does_not_know_has_a_name():
    @pl.jit
    def meeting(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        pl.system.syncall()
        out[:] = x[:, :]

    x = numbers(16, 64)
    with pytest.raises(NotKnown, match="pl.syncall"):
        meeting.reference(x, x.copy(), blocks=2)


def test_inputs_are_not_written():
    @pl.jit
    def wrong(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        x[:] = out[:, :]

    x = numbers(16, 64)
    with pytest.raises(TypeError, match="`x` is an input"):
        wrong.reference(x, x.copy())


def test_numbers_can_be_printed(capsys):
    @pl.jit
    def doubled(x: pl.Tensor, out: pl.Out[pl.Tensor]):
        t = pl.add(x[:, :], x[:, :])
        print("a tile", t.shape)
        out[:] = t

    x = numbers(16, 64)
    doubled.reference(x, x.copy())
    assert capsys.readouterr().out == "a tile (16, 64)\n"


UNARY = ["exp", "neg", "abs", "relu"]
BINARY = ["add", "sub", "mul", "maximum", "minimum"]
REDUCE = ["row_sum", "row_max", "row_min"]
EXPAND = ["row_expand_sub", "row_expand_mul", "row_expand_add", "row_expand_max"]


@st.composite
def programs(draw):
    """A kernel of some ops on tiles, as text."""
    lines, names = ["a = x[:, :]", "b = y[:, :]"], ["a", "b"]
    for at in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(["unary", "binary", "number", "rows"]))
        name, source = f"t{at}", draw(st.sampled_from(names))
        if kind == "unary":
            call = f"pl.{draw(st.sampled_from(UNARY))}({source})"
            if "exp(" in call:
                call = f"pl.exp(pl.minimum({source}, 2.0))"
        elif kind == "binary":
            call = f"pl.{draw(st.sampled_from(BINARY))}({source}, {draw(st.sampled_from(names))})"
        elif kind == "number":
            call = f"pl.{draw(st.sampled_from(BINARY))}({source}, {draw(st.sampled_from([0.5, 1.5, -2.0]))})"
        else:
            value = f"pl.{draw(st.sampled_from(REDUCE))}({draw(st.sampled_from(names))})"
            call = f"pl.{draw(st.sampled_from(EXPAND))}({source}, {value})"
        lines.append(f"{name} = pl.maximum(pl.minimum({call}, 100.0), -100.0)")
        names.append(name)
    lines.append(f"out[:] = {names[-1]}")
    return "\n    ".join(lines)


def loaded(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@settings(max_examples=int(os.environ.get("SLIPRING_EXAMPLES", "15")), deadline=None, derandomize=True)
@given(programs())
def test_random_programs(tmp_path_factory, body):
    folder = tmp_path_factory.mktemp("random")
    path = pathlib.Path(folder) / "random_kernel.py"
    path.write_text(
        "import slipring.language as pl\n\n@pl.jit\n"
        f"def kernel(x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor]):\n    {body}\n"
    )
    module = loaded(f"random_kernel_{abs(hash(body))}", path)
    x, y = numbers(16, 32), numbers(16, 32, seed=1)
    assert_agrees(module.kernel, (x, y, np.zeros_like(x)), rtol=1e-4, atol=1e-3)


@pl.jit
def by_blocks(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    row = pl.get_block_idx() * 16
    tile = pl.load(x, [row, 0], [16, 64])
    pl.store(pl.mul(tile, 2.0), [row, 0], out)


def test_several_blocks():
    x = numbers(48, 64)
    y = np.zeros_like(x)
    by_blocks.reference(x, y, blocks=3)
    assert (y == x * 2).all()
    assert_agrees(by_blocks, (x, np.zeros_like(x)), blocks=3)
    with pytest.raises(ValueError, match="one block or more"):
        by_blocks.reference(x, y, blocks=0)


@pl.jit
def sorted_rows(x: pl.Tensor, numbers: pl.Tensor, values: pl.Out[pl.Tensor], places: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        merged = pl.mrgsort(pl.sort32(x, numbers), block_len=64)
        values[:] = pl.gather(merged, mask_pattern=pl.tile.MaskPattern.P0101)
        places[:] = pl.gather(merged, mask_pattern=pl.tile.MaskPattern.P1010, output_dtype=pl.UINT32)


def test_sorting():
    x = numbers(1, 128)
    order, values, places = np.arange(128, dtype=np.uint32)[None], np.zeros_like(x), np.zeros((1, 128), np.uint32)
    sorted_rows.reference(x, order, values, places)
    assert (values == -np.sort(-x)).all() and (x[0, places[0]] == values[0]).all()
    assert_agrees(sorted_rows, (x, order, np.zeros_like(x), np.zeros_like(places)))


@pl.jit
def by_index(
    x: pl.Tensor, rows: pl.Tensor, pages: pl.Tensor, waves: pl.Out[pl.Tensor], y: pl.Out[pl.Tensor], spread: pl.Out[pl.Tensor]
):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = x[:, :]
        waves[0] = pl.sin(t)
        waves[1] = pl.cos(t)
        y[0] = pl.mgather(x, rows)
        y[1] = pl.paged_gather(x, rows, pages, block_size=4, size=32, max_indices=16, space=pl.Mem.Vec)
        y[2] = pl.scatter_update(x, -2, rows, pl.add(t, 1.0))
        y[3] = pl.tensor.expand_clone(x[3:4, :], x)
        spread[:] = pl.tile.scatter_mask(pl.load(x, [0, 0], [16, 32]), pl.gather(x, mask_pattern=2), 1)


def test_rows_by_index():
    rng = np.random.default_rng(3)
    rows, pages = rng.permutation(16).astype(np.int32)[None], rng.permutation(4).astype(np.int32)[None]
    x = numbers(16, 32)
    waves, y, spread = np.zeros((2, 16, 32), np.float32), np.zeros((4, 16, 32), np.float32), np.zeros_like(x)
    assert_agrees(by_index, (x, rows, pages, waves, y, spread), rtol=1e-5, atol=1e-6)
    by_index.reference(x, rows, pages, waves, y, spread)
    assert (y[0] == x[rows[0]]).all() and (y[2][rows[0]] == x + 1).all() and (spread[:, ::2] == x[:, 1::2]).all()


ROWS = pl.dynamic("ROWS")


@pl.jit
def by_named_extents(x: pl.Tensor[[ROWS, 16], pl.FP32], out: pl.Out[pl.Tensor[[ROWS, 16], pl.FP32]]):
    for i in pl.range(0, ROWS, 8):
        out[i : i + 8, :] = pl.load(x, [i, 0], [8, 16], valid_shape=[pl.min(8, ROWS - i), 16]) * 2.0


@pl.jit
def by_bound_extents(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    x.bind_dynamic(0, ROWS)
    for i in pl.range(0, ROWS, 8):
        out[i : i + 8, :] = x[i : i + 8, :] * 2.0


@pl.inline
def doubled(x: pl.Tensor[[ROWS, 16], pl.FP32], out: pl.Out[pl.Tensor[[ROWS, 16], pl.FP32]]):
    for i in pl.range(0, ROWS, 8):
        out[i : i + 8, :] = x[i : i + 8, :] * 2.0


@pl.jit
def by_extents_of_an_inline_function(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    doubled(x, out)


@pytest.mark.parametrize("kernel", [by_named_extents, by_bound_extents, by_extents_of_an_inline_function])
@pytest.mark.parametrize("rows", [16, 21])
def test_extents_that_a_call_decides(kernel, rows):
    x = numbers(rows, 16)
    out = np.zeros_like(x)
    assert_agrees(kernel, (x, out))
    kernel.reference(x, out)
    assert (out == x * 2).all()
    with pytest.raises(TypeError, match="known when the kernel is called"):
        int(ROWS)


@pl.jit
def of_both(x: pl.Tensor[[ROWS, 16], pl.FP32], few: pl.Tensor, out: pl.Out[pl.Tensor], fewer: pl.Out[pl.Tensor]):
    doubled(few, fewer)
    for i in pl.range(0, ROWS, 8):
        out[i : i + 8, :] = x[i : i + 8, :] * 2.0


def test_an_inline_function_has_its_own_extents():
    x, few = numbers(24, 16), numbers(16, 16, seed=1)
    out, fewer = np.zeros_like(x), np.zeros_like(few)
    assert_agrees(of_both, (x, few, out, fewer))
    of_both.reference(x, few, out, fewer)
    assert (out == x * 2).all() and (fewer == few * 2).all()


LATER = """
from __future__ import annotations

import slipring.language as pl

ROWS = pl.dynamic("ROWS")


@pl.jit
def kernel(x: pl.Tensor[[ROWS, 16], pl.FP32], by: pl.Scalar[pl.FP32], out: pl.Out[pl.Tensor[[ROWS, 16], pl.FP32]]):
    for i in pl.range(0, ROWS, 8):
        out[i : i + 8, :] = x[i : i + 8, :] * by
"""


def test_extents_in_annotations_that_are_texts(tmp_path):
    path = tmp_path / "later.py"
    path.write_text(LATER)
    kernel = loaded("annotations_later", path).kernel
    x = numbers(21, 16)
    out = np.zeros_like(x)
    assert_agrees(kernel, (x, 0.1, out))
    kernel.reference(x, 0.1, out)
    assert (out == x * np.float32(0.1)).all()


def test_arguments_that_disagree_about_an_extent():
    x, few = numbers(24, 16), numbers(16, 16)
    disagree = "`pl.dynamic.ROWS` is 24 by one argument and 16 by another"
    for kernel in (by_named_extents, by_extents_of_an_inline_function):
        with pytest.raises(TypeError, match=disagree):
            kernel.reference(x, few)
    with pytest.raises(TypeError, match="is expected"):
        by_named_extents(x, few)
