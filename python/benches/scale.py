"""What sweeps cost: `python python/benches/scale.py [POINTS]`, in a Python that has the package, for `docs/scale.md`.

The run itself is what `kernel.run` takes for the same points in one process, compilation included. On Ray it needs `ray`.
"""

import os
import pathlib
import pickle
import resource
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "examples/lang"))

import slipring
from slipring.scale.local import LocalPool
from slipring.scale.points import Grid
from slipring.scale.sweep import job_of

attention = __import__("6_attention").attention


class Nothing:
    """Takes so many seconds of nobody's processor."""

    def __init__(self, seconds):
        self.seconds = seconds

    def open(self):
        pass

    def do(self, at, payload):
        time.sleep(self.seconds)
        return {"verdict": "clean", "cycles": at, "reason": None, "line": None, "outputs": "0123456789abcdef"}


def arrays():
    chance = np.random.default_rng(0)
    q, k, v = (chance.standard_normal((rows, 128)).astype(np.float16) for rows in (64, 512, 512))
    return [q, k, v, np.zeros((64, 128), np.float32)]


def points(count):
    """Tiles and depths of rings, and durations by seed until there are enough."""
    return {"TILE": [64, 128], "slot_num": [1, 2, 3, 4, 5], "timing": [f"random:{seed}" for seed in range(max(1, count // 10))]}


def timed(pool, tasks):
    begun = time.perf_counter()
    rows = sum(1 for _ in pool.run(tasks))
    took = time.perf_counter() - begun
    pool.close()
    return took, rows


def warm(pool):
    """The same pool with its processes begun."""
    for _ in pool.run([(at, ({"TILE": 64, "slot_num": 1, "timing": "platform"}, None)) for at in range(4 * pool.size)]):
        pass
    return pool


def row(name, value, unit):
    print(f"{name:58} {value:10.3f} {unit}", flush=True)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    grid = Grid(points(count))
    tasks = [(at, (grid[at], None)) for at in range(len(grid))]
    data = pickle.dumps(job_of(attention, grid, arrays()))
    job = pickle.loads(data)
    job.open()
    job.do(*tasks[0])
    some = tasks[: len(tasks) // 10]
    begun = time.perf_counter()
    for task in some:
        job.do(*task)
    alone = (time.perf_counter() - begun) / len(some)
    row(f"points of attention: {len(tasks)}; the run itself, a point", alone * 1e3, "ms")
    one, _ = timed(warm(LocalPool(data, 1)), tasks)
    row("one process, a point", one / len(tasks) * 1e3, "ms")
    row("  over the run itself", (one / len(tasks) - alone) * 1e3, "ms")
    two, _ = timed(warm(LocalPool(data, 2)), tasks)
    row("two processes, a point", two / len(tasks) * 1e3, "ms")
    row("  efficiency from one to two", one / two / 2, "")
    nothing = pickle.dumps(Nothing(0.0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    took, rows = timed(LocalPool(nothing, 2), ((at, None) for at in range(10 * count)))
    row(f"the driver with two processes that do nothing, a point of {rows}", took / rows * 1e6, "us")
    row("memory of the driver before, at its most", before, "MiB")
    row("  and after", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB")
    for many, seconds in ((16, 0.02), (64, 0.02), (128, 0.02)):
        took, rows = timed(LocalPool(pickle.dumps(Nothing(seconds)), many), ((at, None) for at in range(many * 100)))
        row(f"{many} workers that take {seconds * 1e3:g} ms a point: efficiency", rows * seconds / many / took, "")
    try:
        from slipring.scale.raypool import RayPool
    except ImportError:
        return
    import ray

    os.environ.setdefault("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    for name, own, work in (("attention", data, tasks), ("nothing", nothing, [(at, None) for at in range(count)])):
        pool = RayPool(own, 2)
        for _ in pool.run(work[:8]):
            pass
        took, rows = timed(pool, work)
        row(f"Ray, two workers, {name}: a point", took / rows * 1e3, "ms")
    ray.shutdown()


if __name__ == "__main__":
    main()
