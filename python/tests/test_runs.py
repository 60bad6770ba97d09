"""What a run does to the process that it is in: signals, threads, forks, memory."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import slipring
import slipring.language as pl
from slipring.testing import assert_agrees, difference


@pl.jit
def double(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:] = pl.add(x[:, :], x[:, :])


RUNS = int(os.environ.get("SLIPRING_LEAK_RUNS", "10000"))

ENDLESS = """
import os, signal, threading, time
import numpy as np
import slipring, slipring.language as pl

@pl.jit
def endless(x: pl.Tensor, n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor]):
    for i in pl.range(n):
        out[:] = pl.add(x[:, :], x[:, :])

x = np.ones((16, 64), np.float32)
y = np.full_like(x, 7)
endless(x, 1, y)
y[:] = 7
pressed = []
def press():
    time.sleep(0.3)
    pressed.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press).start()
try:
    endless(x, 1 << 40, y)
except KeyboardInterrupt:
    took = time.monotonic() - pressed[0]
    assert (y == 7).all()
    print("stopped", took)
"""


def test_ctrl_c_stops_a_run_and_leaves_outputs(tmp_path):
    script = tmp_path / "endless.py"
    script.write_text(ENDLESS)
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and run.stdout.startswith("stopped"), run.stderr + run.stdout


def test_other_threads_go_on():
    counted = 0
    over = threading.Event()

    def count():
        nonlocal counted
        while not over.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    x = np.ones((64, 64), np.float32)
    for _ in range(20):
        double(x, np.zeros_like(x))
    over.set()
    thread.join()
    assert counted > 0


def test_runs_in_threads():
    x = np.arange(16 * 64, dtype=np.float32).reshape(16, 64)
    results = [np.zeros_like(x) for _ in range(8)]
    threads = [threading.Thread(target=double, args=(x, result)) for result in results]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for result in results:
        np.testing.assert_array_equal(result, x + x)


def test_an_input_that_changes_during_the_run():
    x = np.ones((64, 64), np.float32)
    over = threading.Event()

    def change():
        while not over.is_set():
            x[:] = np.random.rand()

    thread = threading.Thread(target=change)
    thread.start()
    y = np.zeros_like(x)
    for _ in range(10):
        double(x, y)
    over.set()
    thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_runs_kernels():
    script = textwrap.dedent(
        """
        import os
        import numpy as np
        import slipring, slipring.language as pl

        @pl.jit
        def product(a: pl.Tensor[[128, 256], pl.FP16], b: pl.Tensor[[256, 256], pl.FP16], out: pl.Out[pl.Tensor[[128, 256], pl.FP32]]):
            out[:] = pl.matmul(a[:, :], b[:, :], out_dtype=pl.FP32)

        a, b = np.ones((128, 256), np.float16), np.ones((256, 256), np.float16)
        out = np.zeros((128, 256), np.float32)
        product(a, b, out)
        child = os.fork()
        if child == 0:
            out[:] = 0
            product(a, b, out)
            os._exit(0 if (out == 256).all() else 1)
        assert os.waitpid(child, 0)[1] == 0
        print("ok")
        """
    )
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), f"slipring-fork-{os.getpid()}.py")
    with open(path, "w") as file:
        file.write(script)
    try:
        run = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=60)
    finally:
        os.remove(path)
    assert run.stdout == "ok\n", run.stderr


def test_nothing_leaks():
    resource = pytest.importorskip("resource")
    x = np.ones((16, 64), np.float32)
    y = np.zeros_like(x)
    for _ in range(50):
        double(x, y)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(RUNS):
        double(x, y)
    gc.collect()
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    # A leak of the arrays alone would be 8 KiB a run. Without one, memory grows by a few MiB in all: the allocator keeps
    # some for each thread, and when it does so differs from run to run.
    assert grown < RUNS, f"{grown} KiB more after {RUNS} runs"


def test_signal_handlers_stay():
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_runs_and_kernels_in_a_notebook():
    x = np.ones((16, 64), np.float32)
    run = double.run(x, np.zeros_like(x))
    html = run._repr_html_()
    assert "clean" in html and "<svg" in html and "pto.tadd" in html
    assert run.facts["estimate"] and f"{run.cycles} cycles (estimate)" in html
    assert "pl.add" in double._repr_html_()


def test_agreement():
    x = np.arange(16 * 64, dtype=np.float32).reshape(16, 64)
    assert_agrees(double, (x, np.zeros_like(x)))


def test_differences_in_words():
    a = np.zeros((2, 3), np.float32)
    b = a.copy()
    assert difference(a, b) is None
    b[1, 2], b[0, 1] = 3, 1
    text = difference(a, b)
    assert "2 of 6 elements differ" in text and "first at [0, 1]" in text and "worst at [1, 2]: 0.0 instead of 3.0" in text
    c = np.array([1, 2], np.int32)
    assert "1 of 2" in difference(c, c + np.array([0, 1], np.int32))
    assert "instead of" in difference(a, a.astype(np.float16))
    nan = np.array([np.nan], np.float32)
    assert difference(nan, nan) is None and difference(nan, np.zeros(1, np.float32))


def test_options():
    x = np.ones((16, 64), np.float32)
    run = double.run(x, np.zeros_like(x), check="none")
    assert {check["tool"]: check["verdict"] for check in run.checks}["race"] == "not checked"
    with pytest.raises(TypeError, match="no parameter `colour`"):
        double.run(x, np.zeros_like(x), colour=3)
    stopped = double.run(x, np.zeros_like(x), max_steps=1)
    assert stopped.verdict != "clean" and not stopped.complete
    assert isinstance(slipring.__version__, str)
