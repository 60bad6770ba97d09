"""Launches of many blocks: each worker runs some of them, and the results are merged.

Blocks are not ordered with respect to each other: they are independent unless two touch the same bytes and one of them
writes. In that case, and whenever there are messages, the launch is repeated in one piece, which reports them as usual.
Time cannot be computed for single blocks, because they share global memory: it is computed here for all of them, while
the workers compute the values.
"""

import concurrent.futures
import pickle

from .._runs import DEFAULTS, Run, passed, start, with_verify
from .._slipring import Kernel, in_one_piece, run_part
from .._slipring import blocks as blocks_of
from .._slipring import times as times_of
from .local import PoolError
from .pool import known, pool_of
from .progress import Line
from .sweep import source_of

# Number of parts of a launch, independent of the number of workers.
PARTS = 64


class LaunchJob:
    """A kernel with its arguments; a point is a range of its blocks."""

    def __init__(self, source, arguments, options):
        self.source, self.arguments, self.options = source, arguments, options

    def open(self):
        """Compiles it."""
        _, make = self.source.compiling({}, {}, self.arguments)
        self.kernel = make()
        self.values = passed(self.kernel, self.kernel.parameters(), self.arguments)[0]

    def fault(self, at, payload, verdict, reason):
        """The row of a range that ended its process."""
        return {"verdict": verdict, "reason": reason}

    def do(self, at, payload):
        """The results of a range of blocks, pickled."""
        part = run_part(self.kernel, self.values, *payload, self.options)
        if part.obstacle:
            return pickle.dumps((part.obstacle, None, None, None, None))
        return pickle.dumps((None, part.checks, part.reads, part.writes, part.contents))


def ranges(blocks):
    """The first block and the number of blocks of each part."""
    size = -(-blocks // PARTS)
    return [(first, min(size, blocks - first)) for first in range(0, blocks, size)]


class Touches:
    """The bytes that the parts so far have read and written, by buffer."""

    def __init__(self):
        self.reads, self.writes = {}, {}

    def add(self, part):
        """A buffer and an offset at which a part conflicts with an earlier one, or `None`."""
        _, _, reads, writes, _ = part
        for own, others in ((writes, (self.reads, self.writes)), (reads, (self.writes,))):
            for buffer, stretches in enumerate(map(_pairs, own)):
                for other in others:
                    shared = _shared(stretches, other.get(buffer))
                    if shared is not None:
                        return buffer, shared
        for own, all_of in ((reads, self.reads), (writes, self.writes)):
            for buffer, stretches in enumerate(map(_pairs, own)):
                if len(stretches):
                    all_of[buffer] = _union(all_of.get(buffer), stretches)
        return None


def _pairs(data):
    import numpy as np

    return np.frombuffer(data, dtype="<u8").reshape(-1, 2)


def _shared(one, two):
    """The first byte that two lists of ranges share; each list is sorted and disjoint."""
    import numpy as np

    if two is None or not len(one) or not len(two):
        return None
    # For each range of `one`, the first range of `two` that ends after its start.
    at = np.searchsorted(two[:, 1], one[:, 0], side="right")
    inside = at < len(two)
    hits = np.flatnonzero(inside)[two[at[inside], 0] < one[inside, 1]]
    if not len(hits):
        return None
    return int(max(one[hits[0], 0], two[at[hits[0]], 0]))


def _union(one, two):
    """The union of two lists of ranges, sorted and disjoint."""
    import numpy as np

    both = two if one is None else np.concatenate([one, two])
    both = both[np.argsort(both[:, 0], kind="stable")]
    ends = np.maximum.accumulate(both[:, 1])
    begins = np.concatenate([[True], both[1:, 0] > ends[:-1]])
    firsts = np.flatnonzero(begins)
    lasts = np.concatenate([firsts[1:], [len(both)]]) - 1
    return np.stack([both[firsts, 0], ends[lasts]], axis=1)


def launch(function, target, compiled, arguments, options, verify, where, workers=None):
    """Runs a kernel's blocks on workers and returns the run; its attribute `pieces` is the number of parts, or the
    reason for running in one piece."""
    (platform, interpretations), (kernel, parameters) = target, compiled
    known(where)
    blocks = blocks_of(kernel, options) if isinstance(kernel, Kernel) else 1
    why = _whole(kernel, blocks, with_verify(options, verify))
    if why is None:
        source = source_of(function, platform, interpretations)[0]
        options = {**DEFAULTS, **options}
        job = pickle.dumps(LaunchJob(source, arguments, options))
        values, arrays, returned = passed(kernel, parameters, arguments)
        pool = pool_of(where, job, workers, None)
        why, run = _in_parts(pool, kernel, values, blocks, options)
        if run is not None:
            run = Run(run, kernel, parameters, arrays, returned)
            run.pieces = len(ranges(blocks))
            return run
    run = start(kernel, parameters, arguments, options, verify)
    run.pieces = f"in one piece: {why}"
    return run


def _whole(kernel, blocks, options):
    """A reason to run a launch in one piece from the start, if any."""
    if not isinstance(kernel, Kernel):
        return "a whole program"
    if blocks < 2:
        return "it is one block"
    name = in_one_piece(options)
    return None if name is None else f"`{name}` is asked for"


def _in_parts(pool, kernel, values, blocks, options):
    """The merged run, or why the parts cannot be merged."""
    parts = ranges(blocks)
    first = run_part(kernel, values, *parts[0], options)
    if first.obstacle:
        pool.close()
        return first.obstacle, None
    touches, written = Touches(), [None] * len(parts)
    mine = (None, first.checks, first.reads, first.writes, first.contents)
    line = Line(f"launch of {kernel.name}", blocks, 0)
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        times = beside.submit(times_of, kernel, values, options)
        try:
            why = None
            for at, data in _with(mine, pool.run(enumerate(parts[1:], 1))):
                part = data if at == 0 else _read(data, parts[at])
                why = _misfit(part, mine, touches)
                if why:
                    break
                written[at] = part[3], part[4]
                for _ in range(parts[at][1]):
                    line.step(0)
        finally:
            line.close()
            pool.close()
        times = times.result()
    if why:
        return why, None
    if not times.clean:
        return "its times follow from what it computes", None
    return None, times.put_together(first, written)


def _with(first, rest):
    yield 0, first
    yield from rest


def _read(data, blocks):
    if data[:1] == b"{":
        import json

        row = json.loads(data)
        raise PoolError(f"blocks {blocks[0]} to {blocks[0] + blocks[1] - 1}: {row['verdict']}: {row['reason']}")
    return pickle.loads(data)


def _misfit(part, mine, touches):
    """Why a part does not match the others."""
    if part[0]:
        return part[0]
    if part[1] != mine[1]:
        return "what the tools say differs from block to block"
    if touches.add(part) is not None:
        return "blocks touch the same bytes"
    return None
