"""Functions connected by pipes: the program of the Cube core and those of both Vector cores, one thread each.

A pipe is an unbounded queue, and a pop waits for its tile: the result does not depend on the order of the threads.
"""

import contextvars
import threading

import numpy as np

from ._tiles import NotKnown, Part, counted, data, made, member, put

CUBE = "cube"
# Names that kernels use without the prefix `pl.`.
BARE = ("TPUSH", "TPOP", "TFREE", "aic_initialize_pipe", "aiv_initialize_pipe", "DIR_C2V", "DIR_V2C", "DIR_BOTH")
DIRECTIONS = {"DIR_C2V": 1, "DIR_V2C": 2, "DIR_BOTH": 3}


def own():
    from . import active

    return active()


class Stuck(RuntimeError):
    """A deadlock: every core waits for a tile that no other one pushes."""


class Meeting:
    """The pipes of one block, and the threads that wait."""

    def __init__(self, alive):
        self.changed = threading.Condition()
        self.queues, self.sizes, self.waiting, self.alive = {}, {}, {}, alive
        self.ended = False

    def wait(self, is_there, what):
        """Waits until a condition holds; on a deadlock, all threads end."""
        with self.changed:
            me = threading.get_ident()
            self.waiting[me] = is_there, what
            try:
                while not is_there():
                    if self.ended or len(self.waiting) == self.alive and not any(there() for there, _ in self.waiting.values()):
                        self.ended = True
                        self.changed.notify_all()
                        texts = sorted({text for _, text in self.waiting.values()})
                        raise Stuck(f"no core goes on: {', '.join(texts)}")
                    self.changed.wait()
            finally:
                del self.waiting[me]

    def leave(self):
        with self.changed:
            self.alive -= 1
            self.changed.notify_all()

    def put(self, key, tile):
        with self.changed:
            self.queues.setdefault(key, []).append(tile)
            self.changed.notify_all()

    def get(self, key, what):
        self.wait(lambda: bool(self.queues.get(key)), what)
        with self.changed:
            return self.queues[key].pop(0)


class Buffer:
    """The memory of a ring's slots."""

    def __init__(self, name, meeting):
        self.name, self.meeting = name, meeting

    @property
    def base(self):
        return self

    @property
    def size(self):
        sizes = self.meeting.sizes
        self.meeting.wait(lambda: self.name in sizes, f"the size of `{self.name}` is not reserved")
        return sizes[self.name]


class End:
    """A core's end of a pipe."""

    def __init__(self, id, lane, buffers):
        self.id, self.lane, self.buffers = id, lane, buffers

    @property
    def prod(self):
        return self

    @property
    def cons(self):
        return self


def reserve(name, size, base=None):
    meeting = own().meeting
    if meeting is None:
        return None
    with meeting.changed:
        meeting.sizes[name] = int(size)
        meeting.changed.notify_all()
    return Buffer(name, meeting)


def imported(name, peer_func=None):
    return None if own().meeting is None else Buffer(name, own().meeting)


def initialize(dir_mask=None, slot_size=None, id=None, lane=None, **options):
    """Initialises an end of a pipe. Slots, depths and addresses do not affect values."""
    evaluator = own()
    if evaluator.meeting is None:
        return None
    buffers = [value for value in options.values() if isinstance(value, Buffer)]
    end = End(0 if id is None else int(id), lane, buffers)
    evaluator.ends.append(end)
    return end


def end_of(id, *named):
    """The end of a pipe that an op uses: by number, directly, or by the memory of its slots."""
    evaluator = own()
    for name in named:
        if isinstance(name, End):
            return name
        if isinstance(name, Buffer):
            for end in evaluator.ends:
                if any(own_buffer.name == name.name for own_buffer in end.buffers):
                    return end
    number = 0 if id is None else int(id)
    return next((end for end in evaluator.ends if end.id == number), End(number, None, []))


def mode_of(split):
    word = "NONE" if split is None else member(split) if not isinstance(split, (int, np.integer)) else str(int(split))
    mode = {"0": "NONE", "1": "UP_DOWN", "2": "LEFT_RIGHT"}.get(word, word)
    if mode not in ("NONE", "UP_DOWN", "LEFT_RIGHT"):
        raise NotKnown(f"the reference does not know the mode `{mode}` of a push or pop")
    return mode


def axis_of(mode, tile):
    return 0 if mode == "UP_DOWN" else tile.array.ndim - 1


def push(tile, pipe=None, prod=None, fifo=None, split=None, id=None, lane_stride=None):
    evaluator, mode = own(), mode_of(split)
    end = end_of(id, pipe, prod, fifo)
    if evaluator.core != CUBE:
        evaluator.meeting.put(("v2c", end.id, evaluator.lane), (mode, made(data(tile), tile.dtype, tile)))
        return
    for lane in (0, 1) if end.lane is None else (end.lane,):
        if mode == "NONE":
            part = made(data(tile), tile.dtype, tile)
        else:
            whole, axis = counted(tile), axis_of(mode, tile)
            if whole.shape[axis] % 2:
                raise NotKnown(f"the reference does not divide {whole.shape[axis]} rows or columns")
            part = made(np.split(whole, 2, axis)[lane], tile.dtype)
        evaluator.meeting.put(("c2v", end.id, lane), (mode, part))


def pop(pipe=None, shape=None, dtype=None, cons=None, tile=None, fifo=None, split=None, id=None, lane_stride=None):
    evaluator, mode = own(), mode_of(split)
    end, meeting = end_of(id, pipe, cons, fifo), evaluator.meeting
    if evaluator.core != CUBE:
        _, part = meeting.get(("c2v", end.id, evaluator.lane), f"AIV{evaluator.lane} pops from pipe {end.id}")
    else:
        parts = []
        # If both lanes push full tiles, the tile of the first lane is used.
        for lane in (0, 1) if end.lane is None else (end.lane,):
            parts.append(meeting.get(("v2c", end.id, lane), f"the Cube core pops from pipe {end.id} what AIV{lane} pushes"))
        divided = parts[0][0] != "NONE" and len(parts) == 2
        first = parts[0][1]
        part = first
        if divided:
            part = made(np.concatenate([data(own_part) for _, own_part in parts], axis_of(parts[0][0], first)), first.dtype)
    if tile is None:
        return part
    put(tile.array, part)
    return tile


def meet(function, arguments, blocks, active):
    """Runs a function and the functions connected to it by pipes on arrays: each block is a separate cluster."""
    from ._evaluator import Evaluator, parameters_of
    from ._rewrite import for_reference

    directions, arrays, back = function.directions, {}, []
    for name, value in arguments.items():
        if isinstance(value, np.ndarray):
            arrays[name] = np.ascontiguousarray(value).copy().reshape(value.shape or (1,))
            if directions[name] != "in":
                back.append((value, arrays[name]))
    cores = []
    for part in (function, *function.peers):
        is_cube = "aic_initialize_pipe" in part.as_python()
        cores += [(part, CUBE, 0)] if is_cube else [(part, "vector", lane) for lane in (0, 1)]
    for block in range(blocks):
        meeting, wrong = Meeting(len(cores)), []

        def one(part, core, lane):
            evaluator = Evaluator(lane)
            evaluator.meeting, evaluator.core = meeting, core
            evaluator.block, evaluator.blocks = block, blocks
            evaluator.memory = list(arrays.values())
            active.set(evaluator)
            try:
                evaluator.name_extents(part, arguments)
                for_reference(part)(**parameters_of(part, {**arguments, **arrays}))
            except BaseException as error:
                wrong.append(error)
            finally:
                meeting.leave()

        threads = [threading.Thread(target=contextvars.copy_context().run, args=(one, *core), daemon=True) for core in cores]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if wrong:
            # Threads that waited for the failed one are not the cause.
            raise next((error for error in wrong if not isinstance(error, Stuck)), wrong[0])
    return back


def bare(function):
    """Names without the prefix `pl.` that a function uses and its file does not define."""
    from .. import language

    names = [name for name in BARE if name in function.__code__.co_names and name not in function.__globals__]
    return {name: DIRECTIONS.get(name) or getattr(language, name) for name in names}


__all__ = ["Buffer", "End", "Part", "bare", "imported", "initialize", "meet", "pop", "push", "reserve"]
