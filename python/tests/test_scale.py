"""Sweeps on local processes: the same table whatever does the work, and what becomes of work that goes wrong."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import slipring
import slipring.language as pl
from scale_jobs import Job
from slipring.scale import PoolError
from slipring.scale.journal import Journal
from slipring.scale.local import LocalPool
from slipring.scale.points import Grid
from slipring.scale.pool import drive
from slipring.scale.progress import Line

if sys.platform == "win32":
    pytest.skip("workers need a system with POSIX pipes", allow_module_level=True)

TILE = 32
SOURCES = os.pathsep.join(path for path in sys.path if path)


@pl.jit
def scaled(x: pl.Tensor, n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor]):
    pl.func_attr({"exact_slices": True})
    for i in pl.range(n):
        for at in pl.range(0, 64, TILE):
            out[at : at + TILE, :] = pl.mul(x[at : at + TILE, :], 2.0)


X = np.arange(64 * 64, dtype=np.float32).reshape(64, 64)
POINTS = {"TILE": [16, 32, 64, 7], "n": [1, 2], "platform": ["a5", "a2a3"]}


def arrays():
    return [X, np.zeros_like(X)]


def pool_of(folder, points, **options):
    options.setdefault("workers", 2)
    return LocalPool(pickle.dumps(Job(folder)), **options), [(at, point) for at, point in enumerate(points)]


def rows_of(folder, points, **options):
    pool, tasks = pool_of(folder, points, **options)
    try:
        return {at: json.loads(text) for at, text in pool.run(tasks)}
    finally:
        pool.close()


def test_points_are_numbered_as_loops_would_go():
    grid = Grid({"a": [1, 2], "b": "xyz"})
    assert len(grid) == 6
    assert [grid[at] for at in range(6)] == [{"a": a, "b": b} for a in (1, 2) for b in "xyz"]
    with pytest.raises(ValueError, match="`a` has no value"):
        Grid({"a": []})


def test_a_table_is_what_single_runs_say(tmp_path):
    table = slipring.sweep(scaled, POINTS, arrays(), workers=1, file=tmp_path / "one")
    assert len(table) == 16 and table.verdicts() == {"clean": 12, "findings": 4}
    global TILE
    for row in (table[3], table[8], table[10]):
        out = np.zeros_like(X)
        kept, TILE = TILE, row["TILE"]
        run = scaled.run(X, row["n"], out, platform=row["platform"])
        TILE = kept
        assert (row["verdict"], row["cycles"]) == (run.verdict, run.cycles)
        sizes = {name: bytes_ for name, bytes_ in row["memory"].items() if bytes_}
        assert row["local_memory"] == sum(sizes.values()) == 2 * row["TILE"] * 64 * 4
    assert table[12]["reason"].startswith("memory-bounds: ") and table[12]["line"] > 0
    assert table.best()["TILE"] == 64 and [row["at"] for row in table.best(2, by="local_memory")] == [0, 1]
    assert "verdict" in str(table) and "… 4 more" in str(table)
    # All that ran to the end wrote the same.
    assert len({row["outputs"] for row in table if row["verdict"] == "clean"}) == 1
    two = slipring.sweep(scaled, POINTS, arrays(), workers=2, file=tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert list(two) == list(table)


def test_what_a_point_may_change(tmp_path):
    def own(point):
        rows = point["rows"]
        return {"x": np.ones((rows, 64), np.float32), "n": 1, "out": np.zeros((rows, 64), np.float32)}

    with pytest.raises(TypeError, match="no name `rows`: it has TILE"):
        slipring.sweep(scaled, {"rows": [64]}, own)
    with pytest.raises(TypeError, match="takes 3 arguments"):
        slipring.sweep(scaled, {"TILE": [16]}, arrays())
    with pytest.raises(ValueError, match="`cycles` is a column"):
        slipring.sweep(scaled, [{"cycles": 3}], arrays())
    by_tile = slipring.sweep(scaled, {"TILE": [16, 64]}, lambda point: {"x": X[: point["TILE"]], "n": 1, "out": np.zeros_like(X)})
    assert [row["verdict"] for row in by_tile] == ["findings", "clean"]
    def filled(value):
        return lambda point: [np.full_like(X, value), 1, np.zeros_like(X)]

    ones = slipring.sweep(scaled, {"TILE": [16, 64]}, filled(1), file=tmp_path / "ones")
    assert list(slipring.sweep(scaled, {"TILE": [16, 64]}, filled(1), file=tmp_path / "ones")) == list(ones)
    with pytest.raises(ValueError, match="rows of another sweep of scaled .id differ."):
        slipring.sweep(scaled, {"TILE": [16, 64]}, filled(2), file=tmp_path / "ones")
    listed = slipring.sweep(scaled, [{"TILE": 16, "timing": "random:3"}, {"TILE": 64, "timing": "platform"}], [X, 1, np.zeros_like(X)])
    assert [row["timing"] for row in listed] == ["random:3", "platform"] and listed.verdicts() == {"clean": 2}
    of_file = slipring.sweep("examples/lang/double.py", {"slot_num": [1, 2, 99]}, list(inputs_of_double()))
    assert [row["verdict"] for row in of_file] == ["clean", "clean", "refused"]
    assert of_file[2]["reason"] == "a ring has from 1 to 64 slots"
    assert of_file[1]["local_memory"] > of_file[0]["local_memory"]


def inputs_of_double():
    yield np.ones((64, 64), np.float16)
    yield np.ones((64, 64), np.float16)
    yield np.zeros((64, 64), np.float32)


def test_tables_for_others(tmp_path):
    table = slipring.sweep(scaled, POINTS, arrays())
    svg = table.plot(tmp_path / "a.svg")
    assert svg.count("<polyline") == 2 and "n 2" in svg and (tmp_path / "a.svg").read_text() == svg
    pandas = pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and list(frame["TILE"][:4]) == [16] * 4 and "memory vec" in frame
    parquet = pytest.importorskip("pyarrow.parquet")
    table.write_parquet(tmp_path / "a.parquet")
    assert parquet.read_table(tmp_path / "a.parquet").column("cycles").to_pylist() == [row["cycles"] for row in table]


def test_a_point_that_goes_wrong_is_a_row_and_the_others_are_done(tmp_path):
    words = ["well", "dies", "segfault", "well", "dies once", "raises", "well", "well"]
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        folder.mkdir()
        rows = rows_of(folder, [(word, 0) for word in words], workers=workers)
        assert [rows[at]["verdict"] for at in range(8)] == [
            "clean", "crashed", "crashed", "clean", "clean", "crashed", "clean", "clean",
        ]  # fmt: skip
        assert rows[1]["reason"] == "the process ended with 3: a last word"
        assert rows[2]["reason"].startswith("the process ended by SIGSEGV")
        assert rows[5]["reason"] == "the process ended with 1: ZeroDivisionError: no number"
        assert rows[7]["square"] == 49
        # Retried once, and nothing that was reported is done again.
        began = Job(folder).done()
        assert [began.count(at) for at in range(8)] == [1, 2, 2, 1, 2, 2, 1, 1]


def test_time_and_memory_end(tmp_path):
    words = ["well", "sleeps forever", "eats", "well"]
    rows = rows_of(tmp_path, [(word, 0) for word in words], workers=1, timeout=1.0, memory=1 << 30)
    assert [rows[at]["verdict"] for at in range(4)] == ["clean", "out of time", "out of memory", "clean"]
    assert rows[1]["reason"] == "it took more than 1 s" and rows[2]["reason"] == f"it took more than {1 << 30} bytes"


def test_another_version_is_refused_by_name(tmp_path):
    speak = "import sys; from slipring.scale.wire import frame; sys.stdout.buffer.write(frame(('hello', '0.0.7'))); sys.stdout.flush(); sys.stdin.read()"
    with pytest.raises(PoolError, match=f"is slipring 0.0.7, and this is {slipring.__version__}"):
        rows_of(tmp_path, [("well", 0)], command=[sys.executable, "-c", speak])
    with pytest.raises(PoolError, match="did not start: .* ended with 5: no such thing"):
        rows_of(tmp_path, [("well", 0)], command=[sys.executable, "-c", "import sys; print('no such thing', file=sys.stderr); sys.exit(5)"])


def test_what_stopped_goes_on(tmp_path):
    points = [("waits", 0.01)] * 40

    def go(stop):
        journal = Journal(tmp_path / "rows", {"what": "test"}, len(points))
        pool, _ = pool_of(tmp_path, points)
        stopping = Stopping(pool, stop)
        drive(stopping, journal, lambda at: points[at], "test")
        return journal

    class Stopping:
        def __init__(self, pool, stop):
            self.pool, self.stop, self.close = pool, stop, pool.close

        def run(self, tasks):
            for number, row in enumerate(self.pool.run(tasks)):
                if number == self.stop:
                    raise KeyboardInterrupt
                yield row

    with pytest.raises(KeyboardInterrupt):
        go(13)
    assert len((tmp_path / "rows").read_bytes().splitlines()) == 14
    # As if the power had gone while a row was written.
    with open(tmp_path / "rows", "ab") as file:
        file.write(b'{"at":39,"word":"wa')
    reported = {json.loads(line)["at"] for line in (tmp_path / "rows").read_bytes().splitlines()[1:14]}
    before = Job(tmp_path).done()
    journal = go(None)
    assert [journal.row(at)["at"] for at in range(40)] == list(range(40))
    after = Job(tmp_path).done()
    again = {at for at in set(after) if after.count(at) > before.count(at)}
    assert again == set(range(40)) - reported
    assert [json.loads(line)["at"] for line in (tmp_path / "rows").read_bytes().splitlines()[1:]] == list(range(40))
    # A finished file is the answer.
    assert go(0).whole
    with pytest.raises(ValueError, match=r"rows of another test \(points differ\)"):
        Journal(tmp_path / "rows", {"what": "test"}, 41)
    (tmp_path / "text").write_text("my notes\n")
    with pytest.raises(ValueError, match="not a file of slipring"):
        Journal(tmp_path / "text", {"what": "test"}, 41)
    assert (tmp_path / "text").read_text() == "my notes\n"


SWEEP = """
import resource, signal, sys
import numpy as np
import slipring
from test_scale import POINTS, arrays, scaled
points = {**POINTS, "n": range(1, 60)}
capacity = int(sys.argv[2])
if capacity:
    resource.setrlimit(resource.RLIMIT_FSIZE, (capacity, capacity))
try:
    slipring.sweep(scaled, points, arrays(), workers=2, file=sys.argv[1])
    print("whole")
except KeyboardInterrupt:
    print("interrupted")
except OSError as error:
    print("no space", error.strerror)
"""


def start(tmp_path, name, capacity=0):
    script = tmp_path / "sweep.py"
    script.write_text(SWEEP)
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, str(script), str(tmp_path / name), str(capacity)], env=environment, **pipes)


def rows_in(path):
    return len(path.read_bytes().splitlines()) - 1 if path.exists() else 0


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.01)


def test_ctrl_c_a_killed_driver_and_a_full_disk_leave_a_file_that_goes_on(tmp_path):
    path = tmp_path / "rows"
    first = start(tmp_path, "rows")
    until(lambda: rows_in(path) > 20)
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(first.pid)], capture_output=True, text=True).stdout.split()
    first.kill()
    first.wait()
    # Its workers end with it.
    until(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in children))
    before = rows_in(path)
    second = start(tmp_path, "rows")
    until(lambda: rows_in(path) > before + 20)
    second.send_signal(signal.SIGINT)
    out, err = second.communicate(timeout=60)
    assert out == "interrupted\n" and f"of 472 rows stand in {path}: the same call" in err
    third = start(tmp_path, "rows", capacity=path.stat().st_size + 5000)
    out, err = third.communicate(timeout=60)
    assert out.startswith("no space File too large"), err
    middle = rows_in(path)
    assert before < middle < 472
    last = start(tmp_path, "rows")
    out, err = last.communicate(timeout=120)
    assert out == "whole\n", err
    whole = slipring.sweep(scaled, {**POINTS, "n": range(1, 60)}, arrays(), workers=2, file=tmp_path / "whole")
    assert path.read_bytes() == (tmp_path / "whole").read_bytes()
    assert len(whole) == 472


def test_the_line_of_progress():
    line = Line("sweep of attention", 1000, 100, shown=False)
    for _ in range(50):
        line.step(0)
    line.step(1)
    assert line.text(10.0) == "sweep of attention: 151 of 1000, 5.1/s, 1 finding, 2 min 46 s left"
    assert textwrap.shorten(Line("x", 10, 0).text(0.0), 40) == "x: 0 of 10, 0/s"


def test_a_pool_closes_its_logs(tmp_path):
    pool, tasks = pool_of(tmp_path, [("fine", 1)], workers=1)
    list(pool.run(tasks))
    logs = [process.log for process in pool.processes]
    pool.close()
    assert logs and all(log.closed for log in logs)
