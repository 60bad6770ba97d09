"""Creation, movement, slicing and reshaping of tiles."""

import numpy as np

from ._tiles import NotKnown, Part, counted, data, is_float, made, member, nothing, numpy_type, put, rounded, wide


def ints(numbers):
    return [int(n) for n in numbers]


def window(x, offsets, shape):
    """A window of a tensor or tile: a view of it."""
    return tuple(slice(at, at + n) for at, n in zip(ints(offsets), ints(shape)))


def held(extents, offsets, shape, valid_shape, clamp):
    """The valid extents of a window at these offsets."""
    if clamp:
        return [max(0, min(n, extent - at)) for extent, at, n in zip(extents, ints(offsets), ints(shape))]
    valid = ints(shape if valid_shape is None else valid_shape)
    if any(not 0 <= n <= most for n, most in zip(valid, shape)):
        raise ValueError(f"{valid} of a tile {ints(shape)} counts")
    return valid


def folded(shape):
    return (int(np.prod(shape[:-1])), int(shape[-1])) if len(shape) > 1 else (1, int(shape[0]))


def given(valid_shape):
    """A valid shape; an empty list means none, as the public language prints it."""
    return valid_shape if valid_shape is None or len(valid_shape) > 0 else None


def load(tensor, offsets, shapes, valid_shape=None, target_memory=None, clamp=None):
    shapes, valid_shape = ints(shapes), given(valid_shape)
    if valid_shape is None and not clamp:
        for at, n, extent in zip(ints(offsets), shapes, tensor.shape):
            if at < 0 or at + n > extent:
                raise IndexError(f"elements {at} to {at + n} of an extent of {extent}")
        return made(data(tensor)[window(tensor, offsets, shapes)], tensor.dtype)
    valid = held(tensor.shape, offsets, shapes, valid_shape, clamp)
    whole = np.full(shapes, nothing(tensor.dtype), tensor.dtype)
    whole[tuple(slice(n) for n in valid)] = data(tensor)[window(tensor, offsets, valid)]
    if any(n not in (1, most) for n, most in zip(valid[:-2], shapes[:-2])):
        raise NotKnown("the reference does not know parts of more than two dimensions of which not all counts")
    return Part(whole, None, folded(valid))


def part(x, shape, offset, valid_shape=None, drop_dims=None, pad_value=None, clamp=None):
    valid_shape = given(valid_shape)
    own = x[window(x, offset, shape)]
    if valid_shape is not None or clamp:
        valid = held(x.shape, offset, shape, valid_shape, clamp)
        whole = np.full(ints(shape), nothing(x.dtype), x.dtype)
        whole[tuple(slice(n) for n in valid)] = data(x)[window(x, offset, valid)]
        own = Part(whole, x.frozen, folded(valid))
    if drop_dims:
        kept = [n for axis, n in enumerate(own.shape) if axis not in [d % len(own.shape) for d in drop_dims]]
        own = Part(own.array.reshape(kept), own.frozen, own.valid)
    return own


def store(tile, offsets, tensor, shapes=None, *, atomic=None, clamp=None):
    source = counted(tile)
    if clamp:
        rank = len(offsets)
        whole = source.reshape([1] * (rank - source.ndim) + list(source.shape)[max(0, source.ndim - rank) :])
        left = held(tensor.shape, offsets, whole.shape, None, True)
        source = whole[tuple(slice(n) for n in left)]
    extents = ints(source.shape if shapes is None else shapes)
    extents = [1] * (len(offsets) - len(extents)) + extents[max(0, len(extents) - len(offsets)) :]
    if tensor.frozen:
        raise TypeError(f"`{tensor.frozen}` is an input of the kernel")
    target = data(tensor)[window(tensor, offsets, extents)]
    if target.size != source.size:
        raise IndexError(f"a tile {list(source.shape)} at {ints(offsets)} does not lie in {list(tensor.shape)}")
    if atomic is not None and member(atomic).lower() != "none":
        from . import active

        active().add(target, wide(source).reshape(target.shape))
    else:
        put(target, Part(source))
    return tensor


def assemble(target, source, offset, *, atomic=None):
    return store(source, offset, target, atomic=atomic)


def create_tensor(shape, dtype, layout=None, manual_dep=None, init_value=0):
    """A tensor of a whole program; the options specify its location."""
    from . import active

    dtype = numpy_type(dtype)
    made_here = Part(np.full(ints(shape), rounded(np.asarray(init_value), dtype), dtype))
    active().memory.append(made_here.array)
    return made_here


def create(shape, dtype, target_memory=None, transpose=None, flat_layout=None):
    dtype = numpy_type(dtype)
    return Part(np.full(ints(shape), nothing(dtype), dtype))


def reshaped(x, shape=None, valid_shape=None, layout=None):
    """The same bytes with another shape."""
    if x.valid is not None:
        if counted(x).size != data(x).size:
            raise NotKnown("the reference reshapes whole tiles only: `pl.fillpad` first")
    array = data(x) if shape is None else data(x).reshape(ints(shape))
    return Part(array, x.frozen, None if valid_shape is None else folded(ints(valid_shape)))


def transpose(x, axis1=None, axis2=None, tmp_tile=None):
    a = data(x)
    if axis1 is None or axis2 is None or a.ndim == 2:
        turned = a.swapaxes(-1, -2)
    else:
        turned = a.swapaxes(axis1, axis2)
    return made(turned, a.dtype, valid=None if x.valid is None else x.valid[::-1])


def set_validshape(x, rows, cols):
    if not (0 <= rows <= folded(x.shape)[0] and 0 <= cols <= folded(x.shape)[1]):
        raise ValueError(f"{[rows, cols]} of a tile {list(x.shape)} counts")
    return Part(x.array, x.frozen, (int(rows), int(cols)))


def padding(pad_value, dtype):
    """The value of invalid elements after padding."""
    word = "zero" if pad_value is None else member(pad_value).lower()
    if word in ("zero", "null"):
        return 0
    if word not in ("min", "max"):
        raise NotKnown(f"the reference does not know the padding `{word}`")
    sign = 1 if word == "max" else -1
    if is_float(dtype):
        return sign * np.inf
    return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min


def fillpad(x, pad_value=None):
    return fillpad_expand(x, x.shape, pad_value)


def fillpad_expand(x, shape, pad_value=None):
    whole = np.full(ints(shape), padding(pad_value, x.dtype), x.dtype)
    inside = counted(x)
    whole[tuple(slice(n) for n in inside.shape)] = inside
    return Part(whole)


def reinterpret(x, dtype, *, shape=None):
    array = np.ascontiguousarray(data(x)).view(numpy_type(dtype))
    return made(array if shape is None else array.reshape(ints(shape)), array.dtype)


def concat(a, b):
    return made(np.concatenate([data(a), data(b)], axis=-1), data(a).dtype)


def repeated(x, shape):
    a = data(x)
    return made(np.broadcast_to(a, ints(shape)), a.dtype)


def expand_clone(src, target):
    whole = made(np.broadcast_to(data(src), data(target).shape), src.dtype)
    if target.frozen is None and any(data(target).base is own or data(target) is own for own in _memory()):
        put(data(target), whole)
        return target
    return whole


def _memory():
    from . import active

    return active().memory


def gather_row(dst, src, dst_offset, src_offset, shapes, transpose=False, *, valid_shape=None):
    shape = ints(shapes if valid_shape is None else valid_shape)
    own = data(src)[window(src, src_offset, shape)]
    target = data(dst)[window(dst, dst_offset, shape)]
    target[...] = own.reshape(target.shape)
    return dst


def extract(src, row, col, shape, *, target_memory=None):
    return made(data(src)[row : row + shape[0], col : col + shape[1]], src.dtype)


OPS = {
    "load": load,
    "slice": part,
    "store": store,
    "assemble": assemble,
    "create_tensor": create_tensor,
    "create_tile": create,
    "create_l1": create,
    "reshape": reshaped,
    "view": reshaped,
    "transpose": transpose,
    "transpose_view": lambda tile: Part(data(tile).swapaxes(-1, -2), tile.frozen),
    "set_validshape": set_validshape,
    "fillpad": fillpad,
    "fillpad_inplace": fillpad,
    "fillpad_expand": fillpad_expand,
    "reinterpret_view": reinterpret,
    "concat": concat,
    "broadcast_to": repeated,
    "expand_clone": expand_clone,
    "gather_row": gather_row,
    "move": lambda tile, target_memory=None, blayout=None, slayout=None: made(data(tile), tile.dtype, tile),
    "extract": extract,
}
