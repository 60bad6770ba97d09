"""Sweeps on a cluster of Ray: four nodes on this machine, two of which go away. The cluster is the tests' own, and ends with them."""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import slipring
from scale_jobs import Job, Odd
from slipring.scale import PoolError
from test_scale import POINTS, SOURCES, arrays, rows_in, scaled, until
from test_scale_launch import ROWS, rows_of_blocks

# The tests' environment has Ray wherever it has a wheel for the interpreter.
pytest.importorskip("ray", reason="Ray has no wheel for this Python")
pytestmark = pytest.mark.once


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    # What nodes start finds the package and the tests' jobs.
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = SOURCES
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    cluster.nodes = [cluster.add_node(num_cpus=1, wait=False) for _ in range(3)]
    cluster.wait_for_nodes()
    os.environ.pop("PYTHONPATH") if before is None else os.environ.update(PYTHONPATH=before)
    yield cluster
    cluster.shutdown()


def rows_of(cluster, folder, points, watch=lambda number: None, **options):
    from slipring.scale.raypool import RayPool

    pool = RayPool(pickle.dumps(Job(folder)), address=cluster.address, **options)
    rows = {}
    try:
        for at, text in pool.run(enumerate(points)):
            assert at not in rows
            rows[at] = json.loads(text)
            watch(len(rows))
    finally:
        pool.close()
    return rows


OWN = """
import sys
import slipring
from test_scale import POINTS, arrays, scaled
slipring.sweep(scaled, POINTS, arrays(), where="ray", workers=1, file=sys.argv[1])
"""


def test_a_cluster_of_its_own_is_started_and_quiet(tmp_path):
    command = [sys.executable, "-c", OWN, str(tmp_path / "ray")]
    environment = {**os.environ, "PYTHONPATH": SOURCES}
    environment.pop("RAY_ADDRESS", None)
    run = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    slipring.sweep(scaled, POINTS, arrays(), workers=1, file=tmp_path / "one")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "ray").read_bytes()


def test_the_same_table_as_one_process(cluster, tmp_path, capfd):
    points = {**POINTS, "n": [1, 2, 3]}
    slipring.sweep(scaled, points, arrays(), workers=1, file=tmp_path / "one")
    capfd.readouterr()
    slipring.sweep(scaled, points, arrays(), where=cluster.address, file=tmp_path / "ray")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "ray").read_bytes()
    out, err = capfd.readouterr()
    assert out + err == "", "Ray is quiet"


def test_the_same_campaign_as_one_process(cluster, tmp_path):
    files = ["examples/lang/double.py", "examples/lang/pure_vector.py"]
    reports = {}
    for name, where in (("one", {"workers": 1}), ("ray", {"where": cluster.address})):
        report = slipring.campaign(Odd, files, seeds=range(10), platforms=["a5"], file=tmp_path / name, **where)
        reports[name] = report.counts, report.findings
    assert reports["one"] == reports["ray"] and len(reports["ray"][1]) == 3
    assert (tmp_path / "one").read_bytes() == (tmp_path / "ray").read_bytes()


def test_a_launch_is_that_of_one_process(cluster):
    x = np.random.default_rng(0).standard_normal((12 * ROWS, 64), np.float32)
    one, two = np.zeros_like(x), np.zeros_like(x)
    whole = rows_of_blocks.run(x, one)
    parts = rows_of_blocks.run(x, two, where=cluster.address)
    assert parts.pieces == 12 and one.tobytes() == two.tobytes() and one.any()
    assert parts.facts == whole.facts and parts.timeline == whole.timeline


def test_what_goes_wrong_is_settled_where_it_is(cluster, tmp_path, monkeypatch):
    words = ["well", "dies", "sleeps forever", "eats", "dies once", "well"]
    rows = rows_of(cluster, tmp_path, [(word, 0) for word in words], timeout=2.0, memory=1 << 30)
    verdicts = ["clean", "crashed", "out of time", "out of memory", "clean", "clean"]
    assert [rows[at]["verdict"] for at in range(6)] == verdicts
    assert rows[1]["reason"] == "the process ended with 3: a last word"
    monkeypatch.setattr(slipring, "__version__", "0.0.7")
    with pytest.raises(PoolError, match="no worker of the cluster can be used: .* has slipring .*, and this is 0.0.7"):
        rows_of(cluster, tmp_path, [("well", 0)])


LONG = {**POINTS, "n": range(300, 360)}


def test_ctrl_c_leaves_a_file_that_goes_on_without_a_node(cluster, tmp_path):
    path = tmp_path / "rows"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", STOPPED, cluster.address, str(path)]
    driver = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": SOURCES}, **pipes)
    until(lambda: rows_in(path) > 3)
    driver.send_signal(signal.SIGINT)
    out, err = driver.communicate(timeout=60)
    assert out == "interrupted\n" and f"of 480 rows stand in {path}: the same call" in err
    begun = rows_in(path)
    assert 3 < begun < 480
    gone, left = leaving(cluster), []

    def watch():
        until(lambda: rows_in(path) > begun)
        left.append(480 - rows_in(path))
        gone.run()

    watcher = threading.Thread(target=watch)
    watcher.start()
    slipring.sweep(scaled, LONG, arrays(), where=cluster.address, file=path)
    watcher.join()
    assert left[0] > 0, "the node went when all was done"
    slipring.sweep(scaled, LONG, arrays(), workers=2, file=tmp_path / "whole")
    assert path.read_bytes() == (tmp_path / "whole").read_bytes()


def leaving(cluster):
    """A thread that takes a node away."""

    def leave():
        cluster.remove_node(cluster.nodes.pop(0))

    return threading.Thread(target=leave)


def test_a_node_that_goes_away_loses_nothing(cluster, tmp_path):
    gone = leaving(cluster)
    rows = rows_of(cluster, tmp_path, [("waits", 0.03)] * 150, lambda number: number == 30 and gone.start())
    gone.join()
    assert sorted(rows) == list(range(150)) and all(row["verdict"] == "clean" for row in rows.values())
    began = Job(tmp_path).done()
    assert sorted(set(began)) == list(range(150))
    # Done again is at most what one actor had before it.
    assert len(began) - 150 <= 2 * 20


STOPPED = """
import sys
import slipring
from test_scale import arrays, scaled
from test_scale_ray import LONG
try:
    slipring.sweep(scaled, LONG, arrays(), where=sys.argv[1], file=sys.argv[2])
    print("whole")
except KeyboardInterrupt:
    print("interrupted")
"""


DRIVER = """
import sys
import slipring
from slipring.scale import PoolError
from test_scale import POINTS, arrays, scaled
try:
    slipring.sweep(scaled, {**POINTS, "n": range(1, 60)}, arrays(), where=sys.argv[1], file=sys.argv[2])
    print("whole")
except PoolError as error:
    print(error)
"""


def test_a_lost_head_leaves_a_file_that_goes_on(cluster, tmp_path):
    path = tmp_path / "rows"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    command = [sys.executable, "-c", DRIVER, cluster.address, str(path)]
    driver = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": SOURCES}, **pipes)
    until(lambda: rows_in(path) > 3 or driver.poll() is not None)
    begun = time.monotonic()
    cluster.remove_node(cluster.head_node)
    # Ray ends a driver whose own node is gone, often before it can say anything.
    out, err = driver.communicate(timeout=60)
    assert driver.returncode != 0 or "the head of the cluster of Ray at" in out, out + err
    assert time.monotonic() - begun < 40
    done = rows_in(path)
    assert 3 < done < 472
    slipring.sweep(scaled, {**POINTS, "n": range(1, 60)}, arrays(), workers=2, file=path)
    slipring.sweep(scaled, {**POINTS, "n": range(1, 60)}, arrays(), workers=2, file=tmp_path / "whole")
    assert path.read_bytes() == (tmp_path / "whole").read_bytes()
