"""Kernels and whole programs through the command queue of a board: `device=` does what `slipring run --device` does."""

import json
import subprocess
import sys

import numpy as np
import pytest

import slipring
import slipring.language as pl
from slipring import KernelError, queue

TWICE = """
func.func @twice(%x: !pto.ptr<f32>) attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %x, shape = [%c1, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c1, %c16]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<1x16xf32>
  %a = pto.alloc_tile : !pto.tile_buf<vec, 1x16xf32>
  pto.tload ins(%p : !pto.partition_tensor_view<1x16xf32>) outs(%a : !pto.tile_buf<vec, 1x16xf32>)
  pto.tadd ins(%a, %a : !pto.tile_buf<vec, 1x16xf32>, !pto.tile_buf<vec, 1x16xf32>) outs(%a : !pto.tile_buf<vec, 1x16xf32>)
  pto.tstore ins(%a : !pto.tile_buf<vec, 1x16xf32>) outs(%p : !pto.partition_tensor_view<1x16xf32>)
  return
}
"""


@pl.jit
def doubled(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[0:16, :] = x[0:16, :] * 2.0
    with pl.at(level=pl.Level.CORE_GROUP):
        out[16:32, :] = x[16:32, :] * 2.0


@pl.jit
def made(x: pl.Tensor):
    out = pl.create_tensor([32, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:, :] = x[:, :] + 1.0
    return out


@pl.incore
def row(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    b = pl.get_block_idx()
    out[b : b + 1, :] = x[b : b + 1, :] * 2.0


@pl.incore
def last_block(out: pl.Out[pl.Tensor]):
    out[:, :] = pl.full([16, 64], dtype=pl.FP32, value=1.0) * pl.cast(pl.get_block_idx(), pl.FP32)


@pl.incore
def named(device: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:, :] = device[:, :] * 2.0


def x():
    return np.arange(32 * 64, dtype=np.float32).reshape(32, 64)


def test_kernel():
    out = np.zeros((32, 64), np.float32)
    run = row.run(x(), out, blocks=32, device="p150")
    assert (run.verdict, run.complete, run.flags) == ("clean", True, "inserted")
    assert np.array_equal(out, x() * 2)
    assert run.facts["device"] == "p150" and run.facts["queue"]["launches"] == 32
    assert run.cycles == run.facts["queue"]["launch_cycles"]
    assert {check["tool"]: check["verdict"] for check in run.checks}["bytes"] == "clean"
    assert "through the command queue of a p150" in run.text()
    assert "clean" in run._repr_html_()
    # Other delays are other cycles and the same bytes.
    again = np.zeros((32, 64), np.float32)
    late = row.run(x(), again, blocks=32, device="p150", delays=3)
    assert late.cycles != run.cycles and np.array_equal(out, again)


def test_calls_take_boards():
    out = np.zeros((32, 64), np.float32)
    row(x(), out, blocks=32, device="p100")
    assert np.array_equal(out, x() * 2)


def test_other_bytes_are_a_finding():
    out = np.zeros((16, 64), np.float32)
    run = last_block.run(out, blocks=4, device="p150", delays=1)
    assert run.verdict == "findings"
    assert [finding["code"] for finding in run.findings] == ["race", "board-differs"]
    # Nothing is written where something was found, unless it is asked for: then what the board left.
    assert not out.any()
    run.write()
    assert (out == 2).all()
    with pytest.raises(KernelError, match="the board has left something else in 1024 elements of `out`"):
        last_block(np.zeros((16, 64), np.float32), blocks=4, device="p150", delays=1)


def test_whole_programs():
    out = np.zeros((32, 64), np.float32)
    run = doubled.run(x(), out, device="p150", clusters=2)
    assert run.verdict == "clean" and np.array_equal(out, x() * 2)
    assert run.facts["queue"]["launched"] == 2 and run.facts["queue"]["workers"] == 2
    assert "the same bytes as without the queue" in run.checks[-1]["detail"]
    assert np.array_equal(made(x(), device="p150"), x() + 1)


BLOCKS = """import slipring.language as pl


@pl.incore
def last_block(out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:, :] = pl.full([16, 64], dtype=pl.FP32, value=1.0) * pl.cast(pl.get_block_idx(), pl.FP32)
"""
TASKS = """import slipring.language as pl


@pl.incore
def put(out: pl.Out[pl.Tensor[[16, 64], pl.FP32]], n: pl.Scalar[pl.FP32]):
    out[:, :] = pl.full([16, 64], dtype=pl.FP32, value=1.0) * n


@pl.jit
def last_task(out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    put(pl.no_dep(out), 1.0)
    put(pl.no_dep(out), 2.0)
"""


@pytest.mark.parametrize(
    "text, name, codes, line, options",
    [
        (BLOCKS, "last_block", ["race", "board-differs"], ["--blocks", "4", "--delays", "1"], {"blocks": 4, "delays": 1}),
        (BLOCKS, "last_block", ["race"], ["--blocks", "4"], {"blocks": 4}),
        (TASKS, "last_task", ["task-race", "board-differs"], ["--order", "1"], {"order": 1}),
    ],
    ids=["late blocks", "blocks", "tasks"],
)
def test_the_command_line_says_the_same(tmp_path, text, name, codes, line, options):
    file = tmp_path / "kernel.py"
    file.write_text(text)
    asked = [sys.executable, "-m", "slipring", "run", str(file), "--func", name, "--arg", "zeros:f32[16x64]"]
    done = subprocess.run([*asked, "--device", "p150", *line, "--json"], capture_output=True, text=True)
    said = json.loads(done.stdout)
    out = np.zeros((16, 64), np.float32)
    run = slipring.open(file, function=name).run(out, device="p150", **options)
    assert [finding["code"] for finding in run.findings] == codes
    assert (run.verdict, done.returncode) == ("findings", 1)
    for key in ("complete", "checks", "queue", "buffers", "printed"):
        assert run.facts[key] == said[key], key
    assert [finding["message"] for finding in run.findings] == [finding["message"] for finding in said["findings"]]


@pytest.mark.parametrize("name, value", [
    ("assume", "n < 4"),
    ("check", "none"),
    ("events", 3),
    ("launches", 2),
    ("strict", True),
    ("timing", "random:1"),
    ("verify", True),
])
def test_options_that_a_board_does_not_take(name, value):
    for kernel, arrays in ((row, (x(), np.zeros((32, 64), np.float32))), (doubled, (x(), np.zeros((32, 64), np.float32)))):
        with pytest.raises(TypeError, match=f"`{name}=` is (not for a run on a board|for a kernel, and this is a whole program)"):
            kernel.run(*arrays, device="p150", **{name: value})


def test_boards_that_are_none():
    arrays = x(), np.zeros((32, 64), np.float32)
    for kernel in (row, doubled):
        with pytest.raises(ValueError, match="p900"):
            kernel.run(*arrays, device="p900")
        with pytest.raises(ValueError, match="cannot read `nothing.toml`"):
            kernel.run(*arrays, device="nothing.toml")
        with pytest.raises(TypeError, match="`delays=` is for runs on a board"):
            kernel.run(*arrays, delays=1)
    for word in ("prove", "rings", "debug"):
        with pytest.raises(TypeError, match="`device=` has no effect here"):
            getattr(row, word)(*arrays, device="p150")


def test_a_parameter_of_that_name_is_an_argument():
    out = np.zeros((32, 64), np.float32)
    named.run(device=x(), out=out)
    assert np.array_equal(out, x() * 2)


def test_timeline_of_the_board(tmp_path):
    for kernel in (row, doubled):
        run = kernel.run(x(), np.zeros((32, 64), np.float32), device="p150", record=True)
        run.trace(tmp_path / "board.json")
        assert "dispatch" in (tmp_path / "board.json").read_text().lower()
    run = row.run(x(), np.zeros((32, 64), np.float32), device="p150")
    with pytest.raises(ValueError, match="record=True"):
        run.trace(tmp_path / "board.json")
    with pytest.raises(TypeError, match="timeline of the board"):
        run.timeline


def test_recorded_launches_run_their_kernels(tmp_path):
    """What `run --device --record` keeps is run from Python, with its kernels: the bytes that come back are those of the launch."""
    source, given, stream = tmp_path / "twice.pto", tmp_path / "x.npy", tmp_path / "twice.cq"
    source.write_text(TWICE)
    numbers = np.arange(16, dtype=np.float32).reshape(1, 16)
    np.save(given, numbers)
    line = [sys.executable, "-m", "slipring", "run", str(source), "--arg", f"x=@{given}", "--device", "p150", "--record", str(stream)]
    subprocess.run(line, check=True, capture_output=True)
    run = queue.run(stream, kernels=True, platform="a5", trace=True)
    assert (run.complete, run.codes) == (True, [])
    assert np.array_equal(np.frombuffer(run.read_backs[0][:64], np.float32), numbers[0] * 2)
    # Workers that only acknowledge leave what was written.
    without = queue.run(stream)
    assert np.array_equal(np.frombuffer(without.read_backs[0][:64], np.float32), numbers[0])
    run.trace(tmp_path / "out.json")
    events = json.loads((tmp_path / "out.json").read_text())["traceEvents"]
    groups = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}
    [launch] = [event for event in events if event["name"] == "kernel"]
    below = [event for event in events if event["pid"] == launch["pid"] and event["ph"] == "X" and event is not launch]
    assert below and groups[launch["pid"]] == "workers of p150 (1,2)"
    assert all(launch["ts"] <= event["ts"] and event["ts"] + event["dur"] <= launch["ts"] + launch["dur"] for event in below)
    with pytest.raises(queue.QueueError, match="run it with `trace=True`"):
        without.trace(tmp_path / "none.json")
    for wrong in [{"kernels": True, "worker": print}, {"kernels": True, "kernel_cycles": 3}, {"platform": "a5"}, {"kernels": True, "platform": "a9"}]:
        with pytest.raises(ValueError, match="workers do one thing|is for `kernels=True`|unknown platform `a9`"):
            queue.run(stream, **wrong)
