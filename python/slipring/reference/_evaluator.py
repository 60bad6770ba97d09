"""Runs the Python function of a kernel: parameters are windows of arrays, tiles are arrays, each op is a function of numpy."""

import contextlib

import numpy as np

from .._arrays import ELEMENTS, dtype_of
from .._words import Generic

# The language's names of element types, and numpy's.
TYPES = {
    "FP32": "float32",
    "FP16": "float16",
    "BF16": "bfloat16",
    "BFLOAT16": "bfloat16",
    "FP8E4M3FN": "float8_e4m3fn",
    "FP8E5M2": "float8_e5m2",
    "FP8E8M0": "float8_e8m0fnu",
    "INT8": "int8",
    "INT16": "int16",
    "INT32": "int32",
    "INT64": "int64",
    "UINT8": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
    "UINT64": "uint64",
}


class NotKnown(NotImplementedError):
    """The reference does not know a word of the language: nothing was compared."""


def numpy_type(word):
    """numpy's type for `pl.FP32` and the like."""
    if isinstance(word, np.dtype):
        return word
    path = getattr(word, "__slipring_path__", "")
    name = TYPES.get(path.rpartition(".")[2])
    if name is None:
        raise NotKnown(f"the reference does not know the element type {word!r}")
    return dtype_of(ELEMENTS[name])


def is_float(dtype):
    """True for the types of floats, those of ml_dtypes too."""
    return dtype.kind == "f" or dtype.name.startswith(("bfloat", "float"))


class Part:
    """A window of a tensor, or a tile: an array and what may be done with it. A part of it is a view."""

    def __init__(self, array, output=None):
        self.array = array
        # The name of the parameter where it may not be written.
        self.frozen = output

    @property
    def shape(self):
        return self.array.shape

    @property
    def dtype(self):
        return self.array.dtype

    def _window(self, at):
        at = at if isinstance(at, tuple) else (at,)
        for extent, part in zip(self.array.shape, (part for part in at if part is not Ellipsis)):
            if isinstance(part, slice):
                # Slices end where the dimension does, as numpy's; one that begins outside takes nothing that is there.
                first = part.start or 0
                first += extent if first < 0 else 0
                if not 0 <= first < extent:
                    raise IndexError(f"the window {part.start}:{part.stop} begins outside of an extent of {extent}")
            elif isinstance(part, (Part, np.ndarray)):
                raise IndexError("an index is a number, not a tile")
            elif not -extent <= part < extent:
                raise IndexError(f"index {part} of an extent of {extent}")
        return self.array[at]

    def __getitem__(self, at):
        part = self._window(at)
        return Part(part, self.frozen) if isinstance(part, np.ndarray) and part.ndim else part[()]

    def __setitem__(self, at, value):
        if self.frozen:
            raise TypeError(f"`{self.frozen}` is an input of the kernel")
        if hasattr(at, "array") and at.array.dtype == bool:
            self.array[at.array] = value.array[at.array] if isinstance(value, Part) else value
            return
        window = self._window(at)
        if not isinstance(window, np.ndarray):
            self.array[at] = value
            return
        put(window, value)

    def __add__(self, other):
        return binary(np.add, self, other)

    def __sub__(self, other):
        return binary(np.subtract, self, other)

    def __mul__(self, other):
        return binary(np.multiply, self, other)

    def __truediv__(self, other):
        return divide(self, other)

    def __neg__(self):
        return unary(np.negative, self)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return binary(lambda a, b: b - a, self, other)

    def __rtruediv__(self, other):
        return divide(made(np.full(self.array.shape, other), self.array.dtype), self)

    def __mod__(self, other):
        return _word("rem", self, other)

    def __matmul__(self, other):
        return _word("matmul", self, other)

    def __and__(self, other):
        return _word("and_", self, other)

    def __or__(self, other):
        return _word("or_", self, other)

    def __xor__(self, other):
        return _word("xor", self, other)

    def __invert__(self):
        return _word("not_", self)

    def __lshift__(self, other):
        return _word("shl", self, other)

    def __rshift__(self, other):
        return _word("shr", self, other)

    def __eq__(self, other):
        return _word("cmp", self, other, "eq")

    def __ne__(self, other):
        return _word("cmp", self, other, "ne")

    def __lt__(self, other):
        return _word("cmp", self, other, "lt")

    def __le__(self, other):
        return _word("cmp", self, other, "le")

    def __gt__(self, other):
        return _word("cmp", self, other, "gt")

    def __ge__(self, other):
        return _word("cmp", self, other, "ge")

    # Tiles are told apart by what they are, not by what they hold.
    __hash__ = object.__hash__

    @property
    def T(self):
        return _word("transpose", self)

    def __repr__(self):
        return f"tile {self.array.dtype}{list(self.array.shape)}\n{self.array}"


def _word(name, *args):
    """What a word of the language gives for operands."""
    from ._ops import OPS

    return OPS[name](*args)


def data(value):
    """The array of a window or tile."""
    if isinstance(value, Part):
        return value.array
    raise TypeError(f"a tile is expected, not {value!r}")


def put(target, value):
    """Writes a tile into a window."""
    source = data(value)
    if source.dtype != target.dtype and not (is_float(source.dtype) and is_float(target.dtype)):
        raise TypeError(f"a tile of {source.dtype} is put into {target.dtype}")
    if source.ndim == target.ndim and source.size > target.size and all(m >= n for m, n in zip(source.shape, target.shape)):
        # The window ends where its tensor does: what is there of the tile is stored.
        source = source[tuple(slice(n) for n in target.shape)]
    if source.size != target.size:
        raise ValueError(f"a tile {list(source.shape)} is put into {list(target.shape)}")
    target[...] = source.reshape(target.shape).astype(target.dtype)


def other(value, dtype):
    """The second operand: a tile, or a number of the type."""
    return value.array if isinstance(value, Part) else np.asarray(value).astype(dtype)


def made(array, dtype):
    return Part(np.asarray(array).astype(dtype, copy=False).copy())


def binary(f, lhs, rhs):
    a = data(lhs)
    b = other(rhs, a.dtype)
    if b.ndim and b.shape != a.shape:
        # A single row or column is repeated.
        fits = a.ndim == b.ndim and all(m == n or 1 in (m, n) for m, n in zip(a.shape, b.shape))
        if not fits:
            raise ValueError(f"tiles {list(a.shape)} and {list(b.shape)}")
    with np.errstate(all="ignore"):
        return made(f(a, b), a.dtype)


def unary(f, x):
    a = data(x)
    with np.errstate(all="ignore"):
        return made(f(a), a.dtype)


def divide(lhs, rhs, high_precision=None):
    a = data(lhs)
    if is_float(a.dtype):
        return binary(np.divide, lhs, rhs)
    b = other(rhs, a.dtype).astype(np.int64)
    quotient = np.abs(a.astype(np.int64)) // np.abs(b)
    return made(quotient * np.sign(a.astype(np.int64)) * np.sign(b), a.dtype)


class Evaluator:
    """What the words of the language do while a kernel's function runs."""

    def __init__(self, blocks=1):
        from ._ops import OPS

        if blocks < 1:
            raise ValueError(f"a launch has one block or more, not {blocks}")
        self.block, self.blocks = 0, blocks
        own = {"program_id": lambda axis=0: self.block, "get_block_idx": lambda: self.block, "get_block_num": lambda: self.blocks}
        self.ops = {**OPS, **own}

    def run(self, function, arguments):

        annotations = function.function.__annotations__
        passed, back = {}, []
        for name, value in arguments.items():
            if not isinstance(value, np.ndarray):
                passed[name] = value
                continue
            annotation = annotations.get(name)
            word = annotation.word if isinstance(annotation, Generic) else str(annotation)
            if "Scalar" in word:
                passed[name] = value.item()
                continue
            array = np.ascontiguousarray(value).copy().reshape(value.shape or (1,))
            output = "Out" in word
            passed[name] = Part(array, None if output else name)
            if output:
                back.append((value, array))
        code = function.function.__code__
        if code.co_varnames[:1] == ("self",):
            passed["self"] = function.owner if function.instance is None else function.instance
        for self.block in range(self.blocks):
            result = function.function(**passed)
        for value, array in back:
            value[...] = array.reshape(value.shape)
        if isinstance(result, tuple):
            return tuple(part.array.copy() if isinstance(part, Part) else part for part in result)
        return result.array.copy() if isinstance(result, Part) else result

    def call(self, path, args, kwargs):
        """A call of a word of the language."""
        name = path.removeprefix("pl.")
        for group in ("tile.", "tensor.", "system."):
            if name not in self.ops:
                name = name.removeprefix(group)
        op = self.ops.get(name)
        if op is None:
            raise NotKnown(f"the reference does not know `{path}`")
        return op(*args, **kwargs)


@contextlib.contextmanager
def scope(*args, **options):
    """A `with` that says where something runs: nothing."""
    yield
