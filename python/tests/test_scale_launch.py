"""Launches of many blocks on workers: the same run as in one process, to the word."""

import numpy as np
import pytest

import slipring.language as pl
from slipring.scale.launch import Touches, ranges

pytestmark = pytest.mark.once

ROWS = 16


@pl.jit
def rows_of_blocks(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    for block in pl.spmd(12):
        out[block * ROWS : block * ROWS + ROWS, :] = pl.exp(x[block * ROWS : block * ROWS + ROWS, :])


@pl.jit
def one_row_too_many(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    for block in pl.spmd(11):
        out[block * ROWS : block * ROWS + 2 * ROWS, :] = pl.exp(x[block * ROWS : block * ROWS + 2 * ROWS, :])


@pl.jit
def products(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
    row = pl.get_block_idx() * ROWS
    product = pl.matmul(a[row : row + ROWS, :], b)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        half = row + lane * (ROWS // 2)
        out[half : half + ROWS // 2, :] = pl.aiv_shard(product) * 2.0


@pl.jit
def summed(x: pl.Tensor, out: pl.InOut[pl.Tensor]):
    row = pl.get_block_idx() * ROWS
    pl.store(pl.exp(x[row : row + ROWS, :]), [0, 0], out, atomic=pl.AtomicType.Add)


def run(kernel, x, **options):
    out = np.zeros_like(x)
    return kernel.run(x, out, **options), out


@pytest.mark.parametrize("platform", ["a5", "a2a3"])
def test_a_clean_launch_is_put_together(platform):
    x = np.random.default_rng(0).standard_normal((12 * ROWS, 64), np.float32)
    whole, wanted = run(rows_of_blocks, x, platform=platform)
    for workers in (1, 2):
        parts, out = run(rows_of_blocks, x, platform=platform, where="local", workers=workers)
        assert parts.pieces == 12
        assert out.tobytes() == wanted.tobytes() and wanted.any()
        assert (parts.cycles, parts.verdict, parts.report) == (whole.cycles, "clean", "")
        assert parts.facts == whole.facts and parts.timeline == whole.timeline and parts.checks == whole.checks


@pytest.mark.parametrize("platform", ["a5", "a2a3"])
def test_more_blocks_than_clusters_of_all_cores(platform):
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(np.float16) for shape in ((150 * ROWS, 32), (32, 32)))
    one, two = (np.zeros((150 * ROWS, 32), np.float32) for _ in range(2))
    whole = products.run(a, b, one, platform=platform, blocks=150)
    parts = products.run(a, b, two, platform=platform, blocks=150, where="local", workers=2)
    assert whole.verdict == "clean" and parts.pieces == 50
    assert one.tobytes() == two.tobytes() and one.any()
    assert parts.facts == whole.facts and parts.timeline == whole.timeline and parts.text(True) == whole.text(True)


def test_atomic_sums_of_several_parts_are_added_in_the_order_of_one_process():
    x = np.random.default_rng(2).standard_normal((5 * ROWS, 64), np.float32)
    one, two = (np.zeros((ROWS, 64), np.float32) for _ in range(2))
    whole = summed.run(x, one, blocks=5)
    parts = summed.run(x, two, blocks=5, where="local", workers=2)
    assert parts.pieces == "in one piece: blocks touch the same bytes"
    assert one.tobytes() == two.tobytes() and one.any() and parts.facts == whole.facts


def test_a_conflict_between_parts_is_the_finding_of_one_process():
    x = np.ones((12 * ROWS, 64), np.float32)
    whole, _ = run(one_row_too_many, x)
    parts, out = run(one_row_too_many, x, where="local", workers=2)
    assert whole.verdict == "findings" and "race" in whole.report
    assert parts.pieces == "in one piece: blocks touch the same bytes"
    assert parts.report == whole.report and parts.facts == whole.facts and not out.any()


def test_what_is_run_in_one_piece():
    x = np.ones((12 * ROWS, 64), np.float32)
    for options, why in (({"verify": True}, "`verify` is asked for"), ({"record": True}, "`record` is asked for")):
        assert run(rows_of_blocks, x, where="local", **options)[0].pieces == f"in one piece: {why}"
    assert run(rows_of_blocks, x[:-ROWS], where="local", workers=1)[0].pieces.startswith("in one piece: there is something to say of it")
    with pytest.raises(ValueError, match="`where` is"):
        run(rows_of_blocks, x, where="nowhere")


def test_parts_of_a_launch_do_not_depend_on_workers():
    assert ranges(3) == [(0, 1), (1, 1), (2, 1)]
    assert ranges(4096)[:2] == [(0, 64), (64, 64)] and sum(count for _, count in ranges(4096)) == 4096
    assert ranges(130)[-1] == (129, 1)


def test_bytes_that_two_parts_touch_are_found():
    rng = np.random.default_rng(0)

    def packed(touched):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], touched, [0]])))
        return edges.astype("<u8").tobytes()

    for _ in range(200):
        seen, touches = np.zeros((2, 64), bool), Touches()
        for _ in range(6):
            reads, writes = rng.random((2, 64)) < 0.04
            conflict = (writes & (seen[0] | seen[1]) | reads & seen[1]).any()
            assert (touches.add((None, None, [packed(reads)], [packed(writes)], None)) is not None) == conflict
            if conflict:
                break
            seen[0] |= reads
            seen[1] |= writes
