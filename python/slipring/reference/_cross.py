"""Blocks, lanes, and communication between the kinds of core."""

import contextlib

import numpy as np

from . import _pipes
from ._tiles import NotKnown, counted, data, made, member


def own():
    from . import active

    return active()


@contextlib.contextmanager
def scope(*args, **options):
    """A `with` block that only states where code runs: no effect."""
    yield


def loop(*bounds, init_values=None, **options):
    """A counted loop; with `init_values` it carries the values of `pl.yield_`."""
    counted_ = range(*(int(bound) for bound in bounds))
    if init_values is None:
        return iter(counted_)
    return carried(counted_, init_values)


def carried(iterations, values):
    evaluator = own()
    for iteration in iterations:
        yield iteration, tuple(values)
        values = evaluator.yielded


def repeated(init_values=(), **options):
    """`for (a, b) in pl.while_(init_values=…)`: repeats while `pl.cond` holds."""
    evaluator, values = own(), init_values
    while True:
        yield tuple(values)
        values = evaluator.yielded


def yielded(*values):
    own().yielded = values
    return values if len(values) > 1 else values[0]


def blocks(count, **options):
    """`for block in pl.spmd(n)`: the blocks one after another."""
    evaluator = own()
    before = evaluator.block, evaluator.blocks
    for block in range(int(count)):
        evaluator.block, evaluator.blocks = block, int(count)
        yield block
    evaluator.block, evaluator.blocks = before


def lanes(count=2, mode=None, **options):
    """`for lane in pl.split_aiv(2)`: each lane runs separately, and they synchronise at the end of the region."""
    evaluator = own()
    if evaluator.lanes is None:
        raise NotKnown("the reference takes `pl.split_aiv` as a loop of the kernel itself")
    evaluator.mode = None if mode is None else member(mode)
    evaluator.region = True
    before = [array.copy() for array in evaluator.memory]
    yield evaluator.lane
    evaluator.region = False
    evaluator.lanes.merge(evaluator, before)


def half(array, mode, lane):
    """A lane's half of an array."""
    if mode == "NONE":
        return array
    axis = {"UP_DOWN": 0, "LEFT_RIGHT": array.ndim - 1}.get(mode)
    if axis is None:
        raise NotKnown(f"the reference does not know the mode `{mode}` of a cross-core copy")
    if array.shape[axis] % 2:
        raise ValueError(f"half of {array.shape[axis]}")
    return np.split(array, 2, axis)[lane]


def crossing(mode):
    evaluator = own()
    mode = evaluator.mode if mode is None else member(mode)
    if not evaluator.region or mode is None:
        raise NotKnown("the reference knows shards and gathers in regions of `pl.split_aiv` only")
    return evaluator, mode


def shard(tile, mode=None):
    evaluator, mode = crossing(mode)
    part, valid = half(data(tile), mode, evaluator.lane), tile.valid
    if valid is not None and mode != "NONE":
        # The valid part of its half.
        axis = 0 if mode == "UP_DOWN" else 1
        size = part.shape[axis]
        left = min(max(valid[axis] - evaluator.lane * size, 0), size)
        valid = (left, valid[1]) if axis == 0 else (valid[0], left)
    return made(part, tile.dtype, valid=valid)


def gather(tile, mode=None):
    evaluator, mode = crossing(mode)
    both = evaluator.lanes.exchange(evaluator.lane, data(tile).copy())
    if mode == "NONE":
        return made(both[0], tile.dtype)
    return made(np.concatenate(both, 0 if mode == "UP_DOWN" else -1), tile.dtype)


class Lanes:
    """Two runs of a kernel, one per Vector core, that exchange cross-core copies and merge memory at the end of a
    region."""

    def __init__(self):
        import threading

        self.barrier = threading.Barrier(2)
        self.held = [None, None]

    def exchange(self, lane, value):
        self.held[lane] = value
        self.barrier.wait()
        both = list(self.held)
        self.barrier.wait()
        return both

    def merge(self, evaluator, before):
        """Merges the writes of both lanes, so that both see them; atomic sums of both are added."""
        memory = evaluator.memory
        both = self.exchange(evaluator.lane, ([array.copy() for array in memory], evaluator.sums))
        for at, array in enumerate(before):
            for written, _ in both:
                bytes_ = [np.ascontiguousarray(own).view(np.uint8).reshape(own.shape + (-1,)) for own in (written[at], array)]
                changed = (bytes_[0] != bytes_[1]).any(-1)
                memory[at][changed] = written[at][changed]
        for _, sums in both:
            for at, place, delta in sums:
                target = memory[at][place]
                target[...] = (target.astype(delta.dtype) + delta).astype(target.dtype)
        evaluator.sums = []


def number_of(id):
    return 0 if id is None else int(id)


def undivided(split):
    if split is not None and getattr(split, "__slipring_path__", split) not in (0, "pl.SplitMode.NONE"):
        raise NotKnown("the reference knows pushes of whole tiles only, in a kernel for both kinds of core")


def push(to):
    """A push into a ring, first in, first out, in a kernel for both kinds of core. `None`: the tile determines the
    direction."""

    def op(tile, pipe=None, prod=None, fifo=None, split=None, id=None, lane_stride=None):
        if own().meeting is not None:
            return _pipes.push(tile, pipe, prod, fifo, split, id, lane_stride)
        undivided(split)
        # The Cube core pushes products, the Vector cores push other tiles.
        target = to or ("aiv" if tile.product else "aic")
        own().rings.setdefault((target, number_of(id)), []).append(made(counted(tile), tile.dtype))

    return op


def pop(to):
    def op(pipe=None, shape=None, dtype=None, cons=None, tile=None, fifo=None, split=None, id=None, lane_stride=None):
        if own().meeting is not None:
            return _pipes.pop(pipe, shape, dtype, cons, tile, fifo, split, id, lane_stride)
        undivided(split)
        rings = [own().rings.get((target, number_of(id)), []) for target in ((to,) if to else ("aiv", "aic"))]
        full = [ring for ring in rings if ring]
        if len(full) > 1:
            raise NotKnown("both cores have pushed, and the pop does not say whose tile it takes: `pl.tpop_from_aic`, `pl.tpop_from_aiv`")
        if not full:
            raise NotKnown("a pop of what nothing in this function pushes: run the reference of the function that imports the other's buffer")
        return full[0].pop(0)

    return op


def free(*args, **options):
    return None


def alone(*args, **options):
    """A barrier of all cores: no effect with one block."""
    if own().blocks > 1:
        raise NotKnown("the reference runs blocks one after the other, and `pl.syncall` lets them meet")


OPS = {
    "at": scope,
    "cluster": scope,
    "manual_scope": scope,
    "scope": scope,
    "split": lambda *args, **options: None,
    "cross_core_slot": lambda *args, **options: None,
    "range": loop,
    "unroll": loop,
    "parallel": loop,
    "pipeline": loop,
    "while_": repeated,
    "cond": lambda condition: condition,
    "yield_": yielded,
    "spmd": blocks,
    "split_aiv": lanes,
    "aiv_shard": shard,
    "aic_gather": gather,
    "program_id": lambda axis=0: own().block,
    "get_block_idx": lambda: own().block,
    "get_block_num": lambda: own().blocks,
    "num_programs": lambda axis=0: own().blocks,
    "get_subblock_idx": lambda: own().lane,
    # The result does not depend on their number.
    "available_cluster_count": lambda: 1,
    "available_aiv_count": lambda: 1,
    "reserve_buffer": _pipes.reserve,
    "import_peer_buffer": _pipes.imported,
    "aic_initialize_pipe": _pipes.initialize,
    "aiv_initialize_pipe": _pipes.initialize,
    "TPUSH": push(None),
    "TPOP": pop(None),
    "TFREE": free,
    "tpush_to_aiv": push("aiv"),
    "tpush_to_aic": push("aic"),
    "tpop_from_aic": pop("aiv"),
    "tpop_from_aiv": pop("aic"),
    "tfree_to_aic": free,
    "tfree_to_aiv": free,
    "syncall": alone,
}

__all__ = ["OPS", "Lanes"]
