"""Conversion between arrays of the host and bytes of the device."""

import functools

# numpy's names of types, and slipring's.
ELEMENTS = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e8m0fnu": "f8E8M0FNU",
    "float4_e2m1fn": "f4E2M1x2",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
}
# Packed types: a device element holds two values, the first in its low bits.
PAIRS = ("float4_e2m1fn",)
HOST = {elem: name for name, elem in ELEMENTS.items()}
NEAREST = {"float64": "float32", "complex64": "float32", "complex128": "float32", "bool": "uint8", "longdouble": "float32"}


@functools.cache
def _name(dtype):
    """numpy's name of a type; cached, because numpy builds it on each access."""
    return dtype.name


@functools.cache
def dtype_of(elem):
    """The numpy type for an element type of slipring."""
    import numpy as np

    name = HOST.get(elem)
    if name is None:
        raise TypeError(f"numpy has no type for elements of {elem}")
    try:
        return np.dtype(name)
    except TypeError:
        try:
            import ml_dtypes
        except ImportError:
            raise TypeError(f"elements of {elem} need the package ml_dtypes: pip install ml_dtypes") from None
        return np.dtype(getattr(ml_dtypes, name))


def _torch(value):
    """A torch tensor as a numpy array over the same memory, including types that numpy does not support."""
    import torch

    if value.device.type != "cpu":
        raise TypeError(f"the tensor is on {value.device}; slipring reads memory of the host: pass `x.cpu()`")
    value = value.detach()
    name = str(value.dtype).removeprefix("torch.")
    if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        plain = value.view(torch.int16 if name == "bfloat16" else torch.uint8)
        return plain.numpy().view(dtype_of(ELEMENTS[name]))
    return value.numpy()


def is_array(value):
    """Whether a value can be passed as an array."""
    return hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__") or hasattr(value, "__array__")


def marked(array, layout):
    """A numpy array marked as packed scales in this layout."""
    import numpy as np

    class PackedScales(np.ndarray):
        """Scales in the order in which a product reads them. Copies keep the layout; results of other numpy operations
        have none."""

        slipring_layout = None

        def copy(self, order="C"):
            return marked(np.array(self.view(np.ndarray), order=order), self.slipring_layout)

        def __copy__(self):
            return self.copy()

        def __deepcopy__(self, memo):
            return self.copy()

        def __reduce__(self):
            return marked, (self.view(np.ndarray), self.slipring_layout)

    made = array.view(PackedScales)
    made.slipring_layout = layout
    return made


def host_array(value):
    """A numpy array over the memory of `value`, without a copy if possible."""
    import numpy as np

    if isinstance(value, np.ndarray):
        # Device buffers do not support masks.
        if isinstance(value, np.ma.MaskedArray):
            if np.ma.is_masked(value):
                raise TypeError("an array with masked elements: pass `x.filled(…)`, or `x.data` for what lies below the mask")
            return value.data
        return value
    if type(value).__module__.partition(".")[0] == "torch":
        layout = getattr(value, "slipring_layout", None)
        return _torch(value) if layout is None else marked(_torch(value), layout)
    if hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)
        except (RuntimeError, BufferError, TypeError) as error:
            if not hasattr(value, "__array__"):
                raise TypeError(f"an array of {type(value).__name__} cannot be read: {error}") from None
    return np.asarray(value)


def element_of(array, name):
    """The element type of an array, by slipring's name."""
    elem = ELEMENTS.get(_name(array.dtype))
    if elem is None or array.dtype.byteorder == ">":
        near = NEAREST.get(array.dtype.name, array.dtype.name)
        hint = f": pass `{name}.astype(numpy.{near})`" if near in ELEMENTS else ""
        raise TypeError(f"`{name}` has elements of {array.dtype}, which no device buffer has{hint}")
    return elem


def extents(array, name):
    """The extents of an array in device elements: 4-bit floats count in pairs."""
    shape = [int(extent) for extent in array.shape] or [1]
    if _name(array.dtype) in PAIRS:
        if shape[-1] % 2:
            raise TypeError(f"`{name}` has rows of {shape[-1]} 4-bit floats, which a device holds in pairs")
        shape[-1] //= 2
    return shape


def flat_bytes(array):
    """The bytes of an array in row-major order; a view if it is contiguous."""
    import numpy as np

    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return flat[0::2] & 15 | flat[1::2] << 4 if _name(array.dtype) in PAIRS else flat


def of_bytes(data, dtype, shape):
    """Converts bytes of the device to an array."""
    import numpy as np

    flat = np.frombuffer(data, dtype=np.uint8)
    if _name(dtype) in PAIRS:
        flat = np.stack([flat & 15, flat >> 4], axis=1).reshape(-1)
    return flat.view(dtype).reshape(shape)


def write_back(array, data):
    """Copies the bytes of a result into an array of any memory layout."""
    array[...] = of_bytes(data, array.dtype, array.shape)


def part_of(array, part):
    """A part of a returned array: its first element, extents and strides in elements; `None` for all of it."""
    if part is None:
        return array
    first, shape, strides = part
    if _name(array.dtype) in PAIRS:
        if not strides or strides[-1] != 1:
            raise TypeError("a part of an array of 4-bit floats is returned only with whole rows: they are held in pairs")
        first, shape, strides = 2 * first, [*shape[:-1], 2 * shape[-1]], [*(2 * stride for stride in strides[:-1]), 1]
    flat = array.reshape(-1)
    if hasattr(flat, "as_strided"):
        # A tensor of torch.
        return flat.as_strided(tuple(shape), tuple(strides), flat.storage_offset() + first)
    import numpy as np

    flat = flat[first:]
    return np.lib.stride_tricks.as_strided(flat, tuple(shape), tuple(stride * flat.itemsize for stride in strides))
