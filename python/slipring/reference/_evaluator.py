"""Runs the Python function of a kernel: parameters are windows of arrays, tiles are arrays, and each op is a numpy
function."""

import contextvars
import threading
import warnings

import numpy as np

from .._errors import outside
from .._runs import KernelWarning, block_count, nothing_to_do
from .._words import Generic
from ._bind import bound, entries
from ._cross import Lanes
from ._pipes import meet
from ._rewrite import for_reference
from ._tiles import NotKnown, Part, is_float, numpy_type

__all__ = ["Evaluator", "NotKnown", "Part"]


class Evaluator:
    """The behaviour of the language's builtins while a kernel's function runs, for one lane."""

    def __init__(self, lane=0, lanes=None):
        from ._ops import OPS

        self.ops = OPS
        self.block, self.blocks = 0, 1
        # The Vector core of this run, and its synchronisation with the other one; `None` without regions.
        self.lane, self.lanes, self.mode, self.region = lane, lanes, None, False
        # Arrays in global memory, sums that the other lane has not seen, tiles in transit, values that a loop carries.
        self.memory, self.sums, self.rings, self.yielded = [], [], {}, ()
        # For one of several functions connected by pipes: the pipes, the kind of core, its ends of the pipes.
        self.meeting, self.core, self.ends = None, None, []
        # The values of the extents (`pl.dynamic`) in parameter types, by name.
        self.extents = {}

    def run(self, function, arguments, blocks):
        """Runs all blocks; returns the arrays of outputs and the result of the function."""
        arrays, back = {}, []
        for name, value in arguments.items():
            if isinstance(value, np.ndarray) and not is_scalar(function, name):
                arrays[name] = np.ascontiguousarray(value).copy().reshape(value.shape or (1,))
                self.memory.append(arrays[name])
        self.name_extents(function, arguments)
        passed = parameters_of(function, {**arguments, **arrays})
        for name, array in arrays.items():
            if passed[name].frozen is None:
                back.append((arguments[name], array, "Out" not in word_of(function, name) and array.copy()))
        body, result = for_reference(function), None
        self.blocks = blocks
        for self.block in range(blocks):
            result = body(**passed)
        # Declared outputs, and for an opaque function whatever it has changed.
        changed = [(value, array) for value, array, was in back if was is False or array.tobytes() != was.tobytes()]
        return changed, result

    def name_extents(self, function, given):
        """Names the extents in the types of a function's parameters, from arguments by name.

        Raises `TypeError` if two arguments disagree about one of them.
        """
        named = {}
        for name, value in given.items():
            for path, n in extents_in(annotation_of(function, name), getattr(value, "shape", ())).items():
                if named.setdefault(path, n) != n:
                    raise TypeError(f"`{path}` is {named[path]} by one argument and {n} by another")
        self.extents = {**self.extents, **named}

    def inlined(self, function, owner, args, kwargs):
        """A call of a function inside a kernel, whose own arguments name the extents in its types; `owner` is what it
        takes before them."""
        around = self.extents
        try:
            self.name_extents(function, {**dict(zip(function.own_parameters, args)), **kwargs})
            return for_reference(function)(*owner, *args, **kwargs)
        finally:
            self.extents = around

    def add(self, target, delta):
        """Adds to memory immediately, or at the end of a region, since both lanes may add to the same elements."""
        if not self.region:
            target[...] = (target.astype(delta.dtype) + delta).astype(target.dtype)
            return
        at, place = next(found for found in (place_in(target, n, own) for n, own in enumerate(self.memory)) if found)
        self.sums.append((at, place, delta))

    def call(self, path, args, kwargs):
        """A call of a builtin of the language."""
        name = path.removeprefix("pl.")
        for group in ("tile.", "tensor.", "system."):
            if name not in self.ops and name not in entries():
                name = name.removeprefix(group)
        entry = entries().get(name)
        usual = name if entry is None or name in self.ops else entry["names"][0]
        op = self.ops.get(usual)
        if op is None:
            raise NotKnown(f"the reference does not know `{path}`")
        given = bound(name, args, kwargs)
        if given is None:
            return op(*args, **kwargs)
        return op(**given)


def annotation_of(function, name):
    """The type of a parameter: of `from __future__ import annotations` and other texts the value, where its names are
    known."""
    annotation = function.function.__annotations__.get(name)
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, function.function.__globals__)
    except NameError:
        return annotation


def extents_in(annotation, shape):
    """The values of the extents in a type of a parameter, by name."""
    parts = annotation.parts if isinstance(annotation, Generic) else ()
    if isinstance(parts, Generic):
        return extents_in(parts, shape)
    dims = parts[0] if isinstance(parts, tuple) and parts else ()
    if not isinstance(dims, (list, tuple)) or len(dims) != len(shape):
        return {}
    paths = [str(getattr(dim, "__slipring_path__", "")) for dim in dims]
    return {path: n for path, n in zip(paths, shape) if path.startswith("pl.dynamic.")}


def word_of(function, name):
    annotation = annotation_of(function, name)
    return annotation.word if isinstance(annotation, Generic) else str(annotation)


def is_scalar(function, name):
    return "Scalar" in word_of(function, name)


def parameters_of(function, given):
    """A function's own parameters from arguments by name: windows, and numbers as the kernel sees them."""
    passed = {}
    for name in function.own_parameters:
        value = given[name]
        if is_scalar(function, name):
            value = scalar(value, annotation_of(function, name))
        elif isinstance(value, np.ndarray):
            output = "Out" in word_of(function, name) or function.is_opaque
            value = Part(value, None if output else name)
        passed[name] = value
    if function.function.__code__.co_varnames[:1] == ("self",):
        passed["self"] = function.owner if function.instance is None else function.instance
    return passed


def place_in(part, at, whole):
    """The position of a view inside an array: `(index of the array, slices)`."""
    if not np.may_share_memory(part, whole):
        return None
    offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    first = np.unravel_index(offset // whole.itemsize, whole.shape)
    return at, tuple(slice(int(start), int(start) + n) for start, n in zip(first, part.shape))


def scalar(value, annotation):
    """A number as the kernel sees it: a 32-bit float, or an integer."""
    value = value.item() if hasattr(value, "item") else value
    parts = annotation.parts if isinstance(annotation, Generic) else None
    if parts is None or isinstance(value, str):
        return value
    dtype = numpy_type(parts[-1] if isinstance(parts, tuple) else parts)
    return np.float32(np.asarray(value).astype(dtype)) if is_float(dtype) else int(value)


def evaluate(function, arguments, blocks, active):
    """Runs a kernel, with one run per lane if it has regions; writes the outputs and returns its result."""
    blocks = block_count(blocks)
    if nothing_to_do(arguments, function.directions):
        message = f"the reference of `{function.name}` says nothing: every output has an extent of 0"
        warnings.warn(message, KernelWarning, stacklevel=outside())
        return None
    if function.peers:
        for value, array in meet(function, arguments, blocks, active):
            value[...] = array.reshape(value.shape)
        return None
    parts, _ = function._parts()
    divided = any("split_aiv" in line for part in parts for line in part.text.lines)
    if not divided:
        evaluator = Evaluator()
        token = active.set(evaluator)
        try:
            back, result = evaluator.run(function, arguments, blocks)
        finally:
            active.reset(token)
    else:
        back, result = both_lanes(function, arguments, blocks, active)
    for value, array in back:
        value[...] = array.reshape(value.shape)
    if isinstance(result, tuple):
        return tuple(part.array.copy() if isinstance(part, Part) else part for part in result)
    return result.array.copy() if isinstance(result, Part) else result


def both_lanes(function, arguments, blocks, active):
    """Runs each lane in its own thread: both execute the code outside regions, each in its own memory."""
    lanes, outcomes, wrong = Lanes(), [None, None], []

    def one(lane):
        evaluator = Evaluator(lane, lanes)
        active.set(evaluator)
        try:
            outcomes[lane] = evaluator.run(function, arguments, blocks)
        except BaseException as error:
            if not isinstance(error, threading.BrokenBarrierError):
                wrong.append(error)
            lanes.barrier.abort()

    context = contextvars.copy_context()
    other = threading.Thread(target=contextvars.copy_context().run, args=(one, 1), daemon=True)
    other.start()
    context.run(one, 0)
    other.join()
    if wrong:
        raise wrong[0]
    return outcomes[0]
