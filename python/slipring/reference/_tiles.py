"""Tiles and windows of the reference: arrays, their valid parts, and operators."""

import numpy as np

from .._arrays import ELEMENTS, dtype_of

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
    "INDEX": "int64",
    "UINT8": "uint8",
    "UINT16": "uint16",
    "UINT32": "uint32",
    "UINT64": "uint64",
    "BOOL": "uint8",
}


class NotKnown(NotImplementedError):
    """The reference does not support a builtin of the language: nothing was compared."""


def numpy_type(word):
    """numpy's type for `pl.FP32` and the like."""
    if isinstance(word, np.dtype):
        return word
    name = TYPES.get(member(word))
    if name is None:
        raise NotKnown(f"the reference does not know the element type {word!r}")
    return dtype_of(ELEMENTS[name])


def member(word):
    """The last part of a name: `UP_DOWN` of `pl.SplitMode.UP_DOWN`."""
    return getattr(word, "__slipring_path__", str(word)).rpartition(".")[2]


def is_float(dtype):
    """Whether a type is a float type, including those of ml_dtypes."""
    return dtype.kind == "f" or dtype.name.startswith(("bfloat", "float"))


def is_tile(value):
    return isinstance(value, Part)


class Part:
    """A window of a tensor, or a tile: an array and its access mode. A part of it is a view."""

    # True for the result of a matrix product.
    product = False

    def __init__(self, array, output=None, valid=None):
        self.array = array
        # The name of the parameter if it must not be written.
        self.frozen = output
        # The valid rows and columns; `None` means all.
        self.valid = valid

    @property
    def counted(self):
        """The valid part."""
        if self.valid is None:
            return self.array
        rows, cols = self.valid
        return self.array[..., :rows, :cols]

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
                # Slices are clipped to the dimension, as in numpy; a slice that begins outside is empty or an error.
                first = part.start or 0
                first += extent if first < 0 else 0
                size = (extent if part.stop is None else part.stop) - first
                # In a sequence of equal parts, those past the end are empty: a launch may have more blocks than there
                # are parts.
                if first >= extent and size > 0 and first % size == 0:
                    continue
                if not 0 <= first < extent:
                    raise IndexError(f"the window {part.start}:{part.stop} begins outside of an extent of {extent}")
            elif isinstance(part, (Part, np.ndarray)):
                raise IndexError("an index is a number, not a tile")
            elif not -extent <= part < extent:
                raise IndexError(f"index {part} of an extent of {extent}")
        return self.array[at]

    def _valid_of(self, at, part):
        """The valid extents of a part."""
        if self.valid is None or part.ndim != 2 or not isinstance(at, tuple) or len(at) != 2:
            return None
        first = [own.indices(n)[0] if isinstance(own, slice) else own for own, n in zip(at, self.array.shape)]
        return tuple(int(np.clip(n - start, 0, size)) for n, start, size in zip(self.valid, first, part.shape))

    def bind_dynamic(self, axis, extent):
        """An extent of a tensor has a name, which stands for its number from there on."""
        from . import active

        active().extents[extent.__slipring_path__] = self.array.shape[axis]

    def __getattr__(self, name):
        """A builtin of the language as a method: `x.cast(pl.FP16)`."""
        from . import active
        from ._bind import entries

        word = "cast" if name in ("to", "astype") else name
        if name.startswith("_") or active() is None or word not in entries():
            raise AttributeError(f"a tile has no member `{name}`")
        return lambda *args, **kwargs: active().call(f"pl.{word}", (self, *args), kwargs)

    def __getitem__(self, at):
        if isinstance(at, tuple) and None in [own for own in at if not isinstance(own, Part)] or at is None:
            # Dimensions of one element, after those that are indexed.
            at = at if isinstance(at, tuple) else (at,)
            part = self[tuple(own for own in at if own is not None)] if any(own is not None for own in at) else self
            behind = tuple(own if own is None or own is Ellipsis else slice(None) for own in at if own is None or not isinstance(own, int))
            return Part(part.array[behind], part.frozen)
        if isinstance(at, Part) and self.array.ndim == 2 and not is_float(at.dtype) and not isinstance(at, Mask):
            return _word("mgather", self, at)
        part = self._window(at)
        if isinstance(part, np.ndarray) and part.ndim:
            return Part(part, self.frozen, self._valid_of(at, part))
        return number_of(part)

    def __setitem__(self, at, value):
        if self.frozen:
            raise TypeError(f"`{self.frozen}` is an input of the kernel")
        if isinstance(at, Mask):
            self.array[at.bits] = value.array[at.bits] if isinstance(value, Part) else value
            return
        window = self._window(at)
        if not isinstance(window, np.ndarray):
            self.array[at] = value
        else:
            put(window, value)

    def __add__(self, other):
        return _word("add", self, other)

    def __sub__(self, other):
        return _word("sub", self, other)

    def __mul__(self, other):
        return _word("mul", self, other)

    def __truediv__(self, other):
        return _word("div", self, other)

    def __mod__(self, other):
        return _word("rem", self, other)

    def __matmul__(self, other):
        return _word("matmul", self, other)

    def __pow__(self, exponent):
        whole = abs(exponent)
        if whole == 0.5:
            return _word("sqrt" if exponent > 0 else "rsqrt", self)
        if whole not in range(1, 9):
            raise TypeError(f"a tile to the power of {exponent}")
        power = self
        for _ in range(1, int(whole)):
            power = _word("mul", power, self)
        return power if exponent > 0 else _word("recip", power)

    def __neg__(self):
        return _word("neg", self)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return _word("sub", other, self)

    def __rtruediv__(self, other):
        return _word("div", other, self)

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

    # Tiles are hashed by identity, not by contents.
    __hash__ = object.__hash__

    @property
    def T(self):
        return _word("transpose", self)

    def __repr__(self):
        return f"tile {self.array.dtype}{list(self.array.shape)}\n{self.array}"


class Mask(Part):
    """The result of a comparison: booleans; where numbers are needed, ones and zeros of the compared type."""

    def __init__(self, bits, dtype, valid=None):
        super().__init__(bits.astype(dtype), None, valid)
        self.bits = bits

    def __bool__(self):
        raise TypeError("a condition is a truth value, not a mask: `pl.sel(mask, a, b)` chooses element by element")

    def __repr__(self):
        return f"mask {list(self.bits.shape)}\n{self.bits}"


def _word(name, *args):
    """The result of a builtin of the language for operands."""
    from ._ops import OPS

    return OPS[name](*args)


def number_of(element):
    """An element as a number of the kernel: an integer of any size, or a 32-bit float."""
    return np.float32(element) if is_float(element.dtype) else int(element)


def data(value):
    """The array of a window or tile."""
    if isinstance(value, Part):
        return value.array
    raise TypeError(f"a tile is expected, not {value!r}")


def counted(value):
    """The valid part of the array of a window or tile."""
    data(value)
    return value.counted


def put(target, value):
    """Writes a tile into a window."""
    if not isinstance(value, Part):
        raise TypeError(f"a tile is expected, not {value!r}")
    source = value.counted
    if source.dtype != target.dtype and not (is_float(source.dtype) and is_float(target.dtype)):
        raise TypeError(f"a tile of {source.dtype} is put into {target.dtype}")
    if source.ndim == target.ndim and source.size > target.size and all(m >= n for m, n in zip(source.shape, target.shape)):
        # The window is clipped to its tensor: only that part of the tile is stored.
        source = source[tuple(slice(n) for n in target.shape)]
    if value.valid is not None and source.size < target.size:
        target = target[..., : source.shape[-2], : source.shape[-1]]
    if source.size != target.size:
        raise ValueError(f"a tile {list(source.shape)} is put into {list(target.shape)}")
    target[...] = rounded(source.reshape(target.shape), target.dtype)


def rounded(array, dtype):
    """Converts an array to another type: narrow floats by way of `f32`, integers modulo their width."""
    array = np.asarray(array)
    if array.dtype == dtype:
        return array
    with np.errstate(all="ignore"):
        if is_float(dtype) and dtype.itemsize < 4 and array.dtype == np.float64:
            array = array.astype(np.float32)
        return array.astype(dtype)


def made(array, dtype, like=None, valid=None):
    """A new tile. `like` supplies the valid extents."""
    array = rounded(array, dtype)
    if valid is None and like is not None:
        valid = like.valid
    return Part(array.copy(), None, valid)


def within(array, dtype, shape, valid):
    """A tile of a shape in which only the given part is valid."""
    if valid is None or tuple(shape) == array.shape:
        return Part(rounded(array, dtype).copy(), None, valid)
    whole = Part(np.full(shape, nothing(dtype), dtype), None, valid)
    whole.counted[...] = rounded(array, dtype)
    return whole


def nothing(dtype):
    """The value of invalid elements."""
    return np.nan if is_float(dtype) else 0x7B


def wide(a):
    """Converts an array to the type in which it is summed."""
    return a.astype(np.float64) if is_float(a.dtype) else a.astype(np.int64)


def of_type(value, dtype):
    """An operand as an array: that of a tile, or a number of this type."""
    if isinstance(value, Part):
        return value.array
    return rounded(np.asarray(value, np.float64) if is_float(dtype) else np.asarray(value), dtype)
