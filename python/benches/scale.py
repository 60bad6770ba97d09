"""What sweeps cost: `python python/benches/scale.py [POINTS]`, in a Python that has the package, for `docs/scale.md`.

The run itself is what the same points take in this process, one after the other, compilation included. Processor times are those of
all processes together: they say more than the clock where a machine has other things to do. On Ray it needs `ray`.
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

# As workers do.
os.environ["RAYON_NUM_THREADS"] = "1"

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


def processor():
    """Seconds of processors that this process and those that it has ended took."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in each)


def timed(pool, tasks):
    """Seconds of the clock, rows, seconds of processors."""
    before, begun = processor(), time.perf_counter()
    rows = sum(1 for _ in pool.run(tasks))
    took = time.perf_counter() - begun
    pool.close()
    return took, rows, processor() - before


def warm(pool):
    """The same pool with its processes begun."""
    for _ in pool.run([(at, ({"TILE": 64, "slot_num": 1, "timing": "platform"}, None)) for at in range(4 * pool.size)]):
        pass
    return pool


def row(name, value, unit):
    print(f"{name:58} {value:10.3f} {unit}", flush=True)


def main():
    # Workers know what it has by its own name.
    module = __import__("scale")
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    grid = Grid(points(count))
    tasks = [(at, (grid[at], None)) for at in range(len(grid))]
    data = pickle.dumps(job_of(attention, grid, arrays()))
    job = pickle.loads(data)
    job.open()
    job.do(*tasks[0])
    some = tasks[: len(tasks) // 10]
    before, begun = processor(), time.perf_counter()
    for task in some:
        job.do(*task)
    alone, own = ((now - then) / len(some) for now, then in ((time.perf_counter(), begun), (processor(), before)))
    row(f"{len(tasks)} points of attention; the run itself, a point", alone * 1e3, "ms")
    row("  of processors", own * 1e3, "ms")
    starting = timed(warm(LocalPool(data, 1)), [])[2]
    one, _, used = timed(warm(LocalPool(data, 1)), tasks)
    row("one process, a point", one / len(tasks) * 1e3, "ms")
    row("  of processors, over the run itself", ((used - starting) / len(tasks) - own) * 1e3, "ms")
    two, _, _ = timed(warm(LocalPool(data, 2)), tasks)
    row("two processes, a point", two / len(tasks) * 1e3, "ms")
    row("  efficiency from one to two", one / two / 2, "")
    nothing = pickle.dumps(module.Nothing(0.0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    mine = time.process_time()
    took, rows, _ = timed(LocalPool(nothing, 2), ((at, None) for at in range(10 * count)))
    row(f"the driver alone, a point of {rows}, of its processor", (time.process_time() - mine) / rows * 1e6, "us")
    row("memory of the driver before, at its most", before, "MiB")
    row("  and after", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MiB")
    for many, seconds in ((16, 0.05), (64, 0.05), (64, 0.01), (64, 0.001)):
        pool = LocalPool(pickle.dumps(module.Nothing(seconds)), many)
        sum(1 for _ in pool.run((at, None) for at in range(2 * many)))
        mine = time.process_time()
        took, rows, _ = timed(pool, ((at, None) for at in range(many * 100)))
        row(f"{many} workers, {seconds * 1e3:g} ms a point: points a second", rows / took, "")
        row("  of what they could do", rows * seconds / many / took, "")
        row("  the driver's share of a processor", (time.process_time() - mine) / took, "")
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
        took, rows, _ = timed(pool, work)
        row(f"Ray, two workers, {name}: a point", took / rows * 1e3, "ms")
    ray.shutdown()


if __name__ == "__main__":
    main()
