"""Arrays that lie in one memory, and what memory holds when a kernel begins."""

import numpy as np
import pytest
import slipring
import slipring.language as pl
from slipring.testing import assert_agrees

ROWS = np.repeat(np.arange(32, dtype=np.float32), 8).reshape(32, 8)


@pl.jit
def down(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    for i in pl.range(0, 31):
        out[i + 1 : i + 2, :] = x[i : i + 1, :]
    out[0:1, :] = x[31:32, :]


def test_masks_are_not_dropped():
    masked = np.ma.masked_less(ROWS, 3)
    with pytest.raises(TypeError, match=r"masked elements: pass `x.filled"):
        down(masked, np.zeros_like(ROWS))
    with pytest.raises(TypeError, match="masked elements"):
        down(ROWS, masked)
    out = np.ma.zeros(ROWS.shape, np.float32)
    down(np.ma.array(ROWS, mask=False), out)
    assert np.array_equal(out.data, np.roll(ROWS, 1, 0)) and not np.ma.is_masked(out)


@pl.jit
def shifted(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        for i in pl.range(0, 4):
            out[i * 8 : (i + 1) * 8, :] = x[i * 8 : (i + 1) * 8, :] + 1.0


@pl.jit
def copied(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    for i in pl.range(0, 32):
        out[i : i + 1, :] = x[i : i + 1, :]


@pl.jit
def doubled(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:, :] = x[:, :] * 2.0


@pl.jit
def added(x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:, :] = x[:, :] + y[:, :]


def codes(run):
    return [finding["code"] for finding in run.findings]


def scope(run):
    return next(row["detail"] for row in run.checks if row["tool"] == "scope")


def test_what_is_written_to_an_argument_is_read_from_another(platform):
    b = ROWS.copy()
    run = down.run(b, b, platform=platform)
    assert run.verdict == "clean" and "with `x` and `out` in one memory" in scope(run)
    assert (b == 0).all(), "each row is the one before it, which was written before"
    m = np.zeros((33, 8), np.float32)
    m[:32] = ROWS
    m[0] = 5
    assert copied.run(m[:32], m[1:], platform=platform).verdict == "clean"
    assert (m == 5).all()


def test_views_of_one_array_that_race(platform):
    m = np.zeros((40, 8), np.float32)
    m[:32] = ROWS
    run = shifted.run(m[:32], m[8:], platform=platform)
    assert codes(run) == ["race"] and run.verdict == "findings"
    assert "of the memory of `x` and `out`" in run.report
    assert np.array_equal(m[:32], ROWS), "outputs are written where the verdict is clean"
    with pytest.raises(slipring.KernelError, match="nothing orders the two"):
        shifted(m[:32], m[8:], platform=platform)
    assert shifted.prove(m[:32], m[8:], platform=platform)["verdict"] == "violated"
    # Copies of them lie as they do.
    with pytest.raises(slipring.KernelError, match="nothing orders the two"):
        assert_agrees(shifted, (m[:32], m[8:]))
    assert_agrees(shifted, (m[:32], np.zeros_like(ROWS)))


def test_what_is_in_order_where_it_overlaps_is_right(platform):
    b = ROWS.copy()
    run = doubled.run(b, b, platform=platform)
    assert run.verdict == "clean" and "with `x` and `out` in one memory" in scope(run)
    assert np.array_equal(b, 2 * ROWS)
    facts = doubled.prove(b, b, platform=platform)
    assert facts["verdict"] == "proved"
    assert "of the arguments only `x` and `out` overlap in memory, as they were passed" in facts["scope"]["assumes"]
    # An addition of a row to the one before it, in place: the whole of it is read before any of it is written.
    m = np.vstack([ROWS, ROWS[:1]])
    run = added.run(m[:32], m[1:], m[:32], platform=platform)
    assert run.verdict == "clean", run.report
    assert np.array_equal(m[:32], ROWS + np.vstack([ROWS[1:], ROWS[:1]]))


def test_views_that_do_not_overlap_have_memories_of_their_own(platform):
    m = np.zeros((64, 8), np.float32)
    m[:32] = ROWS
    run = down.run(m[:32], m[32:], platform=platform)
    assert run.verdict == "clean" and "one memory" not in scope(run)
    assert np.array_equal(m[32:], np.roll(ROWS, 1, 0))
    assert "arguments do not overlap in memory" in down.prove(m[:32], m[32:], platform=platform)["scope"]["assumes"]
    # Every second column is the input, the others are the output: their bounds overlap and their elements do not.
    w = np.zeros((32, 16), np.float32)
    w[:, ::2] = ROWS
    assert down.run(w[:, ::2], w[:, 1::2], platform=platform).verdict == "clean"
    assert np.array_equal(w[:, 1::2], np.roll(ROWS, 1, 0)) and np.array_equal(w[:, ::2], ROWS)


def test_inputs_may_share_memory_in_any_way(platform):
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    out = np.zeros_like(x)
    added(x, x.T, out, platform=platform)
    assert np.array_equal(out, x + x.T)
    added(x, np.broadcast_to(x[:1], (8, 8)), out, platform=platform)
    assert np.array_equal(out, x + x[:1])
    x.flags.writeable = False
    added(x, x, out, platform=platform)
    assert np.array_equal(out, 2 * x)


def test_what_would_be_copied_apart_is_refused():
    x = np.zeros((8, 8), np.float32)
    for y, out, said in ((x.T, x, "`y` and `out` share memory .* `y` has to be copied"), (x, x[::-1], "`out` has to be copied")):
        with pytest.raises(TypeError, match=said):
            added.run(np.ones((8, 8), np.float32), y, out)
    wide = np.lib.stride_tricks.as_strided(np.zeros(64, np.float32), (8, 8), (4, 4))
    for out in (wide, np.lib.stride_tricks.as_strided(np.zeros(8, np.float32), (8, 8), (0, 4))):
        with pytest.raises(TypeError, match="`out` is an output of the kernel, and elements of the array share memory"):
            added.run(x, x, out)
    # Elements that lie between each other are apart.
    between = np.lib.stride_tricks.as_strided(np.zeros(256, np.float32), (8, 8), (36, 8))
    ones = np.ones((8, 8), np.float32)
    assert added.run(ones, ones, between).verdict == "clean" and (between == 2).all()


@pl.jit
def two_tasks(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[0:16, :] = x[0:16, :]
    with pl.at(level=pl.Level.CORE_GROUP):
        out[16:32, :] = x[16:32, :]


def test_a_whole_program_takes_memories_of_their_own():
    b = ROWS.copy()
    with pytest.raises(TypeError, match="`x` and `out` share memory, and the tasks of a whole program"):
        two_tasks(b, b)
    out = np.zeros_like(b)
    two_tasks(b, out)
    assert np.array_equal(out, ROWS)


def test_a_buffer_of_a_text_that_is_written_is_no_read_only_array(tmp_path):
    file = tmp_path / "k.pto"
    file.write_text(doubled.compile(ROWS, ROWS, platform="a5").text)
    kernel = slipring.open(file)
    x, out = ROWS.copy(), np.zeros_like(ROWS)
    x.flags.writeable = False
    kernel(x, out)
    assert np.array_equal(out, 2 * ROWS)
    other = np.zeros_like(ROWS)
    other.flags.writeable = False
    with pytest.raises(TypeError, match="the kernel has written to `out`, and the array is read-only"):
        kernel(x, other)
    # Without directions each buffer may be written: one array is one memory.
    b = ROWS.copy()
    kernel(b, b)
    assert np.array_equal(b, 2 * ROWS)


@pl.jit
def scratch(x: pl.Tensor, n: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor]):
    t = pl.create_tensor([32, 8], dtype=pl.FP32)
    for i in pl.range(n):
        t[i : i + 1, :] = x[i : i + 1, :]
    out[:, :] = t[:, :] * 2.0


@pl.jit
def read_back(x: pl.Tensor, n: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor], other: pl.Out[pl.Tensor]):
    for i in pl.range(n):
        out[i : i + 1, :] = x[i : i + 1, :]
    other[:, :] = out[:, :] * 2.0


@pytest.mark.parametrize("strict", [False, True])
def test_memory_that_nobody_wrote_holds_nothing(platform, strict):
    for kernel, outputs in ((scratch, 1), (read_back, 2)):
        args = lambda n: (ROWS, n, *(np.full_like(ROWS, 9) for _ in range(outputs)))
        run = kernel.run(*args(4), platform=platform, strict=strict)
        assert (run.verdict, codes(run)) == ("findings", ["uninitialised-read"])
        assert kernel.prove(*args(4), platform=platform)["verdict"] == "violated"
        # The same where every row is written, which no other number of them is.
        whole = args(32)
        run = kernel.run(*whole, platform=platform, strict=strict, verify=True)
        assert run.verdict == "clean", run.report
        assert np.array_equal(whole[-1], 2 * ROWS)
        assert kernel.prove(*args(32), platform=platform)["verdict"] == "violated"
