"""The effect of each op on arrays, from the documentation of the language."""

import builtins

import numpy as np

from . import _indexed, _products, _shapes
from ._cross import OPS as _CROSS
from ._tiles import (
    Mask,
    NotKnown,
    Part,
    counted,
    data,
    is_float,
    made,
    member,
    number_of,
    numpy_type,
    of_type,
    rounded,
    wide,
    within,
)


def computed(f, a, b):
    """Applies a function to two arrays of the same type: floats exactly, then rounded once; integers modulo their
    width."""
    with np.errstate(all="ignore"):
        if is_float(a.dtype):
            return rounded(f(a.astype(np.float64), b.astype(np.float64)), a.dtype)
        return f(a, b)


def both(lhs, rhs):
    """Both operands as arrays of the same shape and type, and the operand whose valid part applies."""
    like = lhs if isinstance(lhs, Part) else rhs
    if isinstance(lhs, Part) and isinstance(rhs, Part) and lhs.dtype != rhs.dtype:
        raise TypeError(f"tiles of {lhs.dtype} and {rhs.dtype}")
    a, b = of_type(lhs, like.dtype), of_type(rhs, like.dtype)
    if a.ndim and b.ndim and a.shape != b.shape:
        # A single row or column is broadcast; for a full tile and a tail tile, the valid parts have the same shape.
        if a.ndim != b.ndim and a.size == b.size:
            b = b.reshape(a.shape)
        elif not repeats(a, b):
            a, b, like = counted(lhs), counted(rhs), Part(counted(like))
            if not repeats(a, b):
                raise ValueError(f"tiles {list(a.shape)} and {list(b.shape)}")
        elif b.size > a.size:
            like = rhs
    return a, b, like


def repeats(a, b):
    """Whether two shapes are equal except for extents of 1."""
    return all(m == n or 1 in (m, n) for m, n in zip(a.shape[::-1], b.shape[::-1]))


def binary(f):
    """An op of two operands, one of which may be a number."""

    def op(lhs, rhs, tmp=None, high_precision=None):
        if not isinstance(lhs, Part) and not isinstance(rhs, Part):
            return number(f, lhs, rhs)
        a, b, like = both(lhs, rhs)
        return made(computed(f, a, b), like.dtype, like)

    return op


def number(f, lhs, rhs):
    """The op on two numbers."""
    value = f(lhs, rhs)
    return value.item() if isinstance(value, np.integer) else value


def with_slope(f):
    return lambda lhs, rhs=None, slope=None, tmp=None: binary(f)(lhs, slope if rhs is None else rhs)


def unary(f, floats=True):
    """An op of one operand: floats are computed with more digits than the result has."""

    def op(x, high_precision=None):
        if not isinstance(x, Part):
            return number(lambda a, _: f(a), x, None)
        a = data(x)
        if floats and not is_float(a.dtype):
            raise TypeError(f"elements of {a.dtype}, and the function is one of floats")
        with np.errstate(all="ignore"):
            return made(f(a.astype(np.float64) if is_float(a.dtype) else a), a.dtype, x)

    return op


def rsqrt(x, high_precision=None):
    """The root, rounded, then its reciprocal, rounded."""
    a = data(x)
    with np.errstate(all="ignore"):
        root = rounded(np.sqrt(a.astype(np.float64)), a.dtype)
        return made(1 / root.astype(np.float64), a.dtype, x)


def quotient(a, b):
    if is_float(a.dtype):
        return a / b
    # Rounded towards zero.
    a, b = a.astype(np.int64), b.astype(np.int64)
    return np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b)


def add(lhs, rhs, tmp=None):
    """A sum. For a full tile and a product of tail tiles, missing elements of the product add nothing."""
    for whole, part in ((lhs, rhs), (rhs, lhs)):
        if isinstance(part, Part) and part.product and isinstance(whole, Part) and whole.valid is None:
            own, size = counted(part), whole.shape
            if own.ndim == len(size) and own.shape != size and all(1 < m <= n for m, n in zip(own.shape, size)):
                result = made(whole.array, whole.dtype)
                corner = tuple(builtins.slice(n) for n in own.shape)
                result.array[corner] = computed(np.add, whole.array[corner], own)
                return result
    return binary(np.add)(lhs, rhs)


def divide(lhs, rhs, high_precision=None):
    if not isinstance(lhs, Part) and not isinstance(rhs, Part):
        return lhs / rhs
    return binary(quotient)(lhs, rhs)


def negative_slope(a, b):
    return np.where(a > 0, a, a * b)


def along(f, axis):
    """The valid part of a tile, reduced along its rows (`axis` -1) or columns (-2)."""

    def op(x, tmp_tile=None):
        a = counted(x)
        a = a if a.ndim > 1 else a.reshape(1, -1)
        if not a.shape[axis]:
            raise ValueError("nothing of the tile counts, so there is nothing to put together")
        with np.errstate(all="ignore"):
            result, dtype = f(a)
        shape, valid = list(data(x).shape), None
        shape = shape if len(shape) > 1 else [1, *shape]
        shape[axis] = 1
        if x.valid is not None:
            valid = (x.valid[0], 1) if axis == -1 else (1, x.valid[1])
        return within(result, dtype, shape, valid)

    return op


def reduced(f, axis):
    return along(lambda a: (f(wide(a), axis=axis, keepdims=True), a.dtype), axis)


def position(f, axis):
    return along(lambda a: (np.expand_dims(f(wide(a), axis=axis), axis), np.dtype(np.int32)), axis)


def mean(axis):
    def one(a):
        if not is_float(a.dtype):
            raise TypeError(f"a mean of {a.dtype} elements")
        # The sum, rounded to the type, times a constant.
        total = rounded(wide(a).sum(axis=axis, keepdims=True), a.dtype)
        return wide(total) * wide(rounded(np.asarray(1.0 / a.shape[axis]), a.dtype)), a.dtype

    return along(one, axis)


def expanded(f, axis):
    """An op with one value per row (`axis` 1) or column (`axis` 0)."""

    def op(x, values, tmp=None):
        a, v = data(x), of_type(values, data(x).dtype)
        v = v.reshape(v.shape if v.ndim > 1 else (-1, 1) if axis == 1 else (1, -1))
        v = v[..., :1] if axis == 1 and v.shape[-2] != 1 else v.reshape(-1, 1) if axis == 1 else v.reshape(-1, v.shape[-1])[:1]
        with np.errstate(all="ignore"):
            return made(np.broadcast_to(computed(f, a, v), a.shape), a.dtype, x)

    return op


ROUND = {
    "none": np.rint,
    "rint": np.rint,
    "round": lambda a: np.copysign(np.floor(np.abs(a) + 0.5), a),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
}


def whole(a, mode):
    """Floats rounded to whole numbers in this mode."""
    if mode == "odd":
        down = np.trunc(a)
        return np.where((down != a) & (down % 2 == 0), down + np.sign(a), down)
    if mode not in ROUND:
        raise NotKnown(f"the reference does not know the rounding `{mode}`")
    return ROUND[mode](a)


def limited(a, limits):
    """Whole numbers as 64-bit integers, saturated at limits; NaN becomes 0."""
    a = np.where(np.isnan(a), 0.0, a)
    inside = (a > float(limits.min)) & (a < float(limits.max))
    return np.where(inside, np.where(inside, a, 0.0).astype(np.int64), np.where(a > 0, limits.max, limits.min))


def cast(x, target_type, mode="round"):
    target = numpy_type(target_type)
    if not isinstance(x, Part):
        return np.float32(x) if is_float(target) else int(x)
    a, mode = data(x), member(mode).lower()
    if a.dtype == target:
        return made(a, target, x)
    if is_float(target):
        if is_float(a.dtype) or mode in ("round", "rint", "none") or wide(a).size == 0 or np.abs(wide(a)).max() < 2**11:
            return made(nearest(wide(a), target, mode, a.dtype), target, x)
        raise NotKnown(f"the reference rounds integers to floats to the nearest only, not `{mode}`")
    if is_float(a.dtype):
        # Integers keep their low bits; a float becomes one of 32 bits (of 64, for more than 16 bits) first.
        between = np.iinfo(np.int32 if target.itemsize < 4 else np.uint64 if target == np.uint64 else np.int64)
        with np.errstate(all="ignore"):
            a = limited(whole(a.astype(np.float64), mode), between)
    return made(a, target, x)


def nearest(a, target, mode, source):
    """Numbers rounded to a float type: `round` breaks ties away from zero, `rint` to even; other modes are directed."""
    if target == np.float32 and source.itemsize <= 4 and is_float(source):
        return rounded(a.astype(np.float64), target)
    with np.errstate(all="ignore"):
        near = rounded(np.asarray(a, np.float64), target).astype(np.float64)
        if mode in ("rint", "none") or not np.any(near != a):
            return near
        # The neighbours on both sides, of which the mode selects one.
        down, up = neighbours(near, np.asarray(a, np.float64), target)
        gap = np.asarray(a, np.float64)
        if mode == "round":
            tie = np.isfinite(near) & ((gap - down) == (up - gap))
            return np.where(tie, np.where(gap > 0, up, down), near)
        chosen = {"floor": down, "ceil": up, "trunc": np.where(gap > 0, down, up)}.get(mode)
        if chosen is None:
            raise NotKnown(f"the reference does not round floats by `{mode}`")
        return np.where(np.isfinite(gap) & ~(near == gap), chosen, near)


def neighbours(near, exact, target):
    """The neighbours in a type of values that it cannot represent."""
    if np.issubdtype(target, np.floating):
        finfo = np.finfo
    else:
        # The type is from ml_dtypes, so the package is installed. (Some of its types have the `kind` of numpy's
        # floats.)
        from ml_dtypes import finfo

    small = rounded(near, target)
    bits = small.view(f"i{target.itemsize}")
    sign = np.signbit(near)
    # The next value away from zero has the next larger bit pattern.
    away, back = (bits + 1).view(target).astype(np.float64), (bits - 1).view(target).astype(np.float64)
    above, below = np.where(sign, back, away), np.where(sign, away, back)
    tiny = float(np.array(1, f"i{target.itemsize}").view(target))
    above, below = np.where(near == 0, tiny, above), np.where(near == 0, -tiny, below)
    down, up = np.where(near > exact, below, near), np.where(near < exact, above, near)
    # For a type without infinities, an overflow is NaN, and its neighbour is the largest number.
    largest = float(finfo(target).max)
    over = np.isnan(near) & np.isfinite(exact)
    return np.where(over & (exact > 0), largest, down), np.where(over & (exact < 0), -largest, up)


COMPARE = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}


def of_masks(f, otherwise):
    """A bitwise op that also accepts masks."""

    def op(*args, **named):
        given = [*args, *named.values()]
        if all(isinstance(arg, Mask) for arg in given):
            return Mask(f(*(mask.bits for mask in given)), given[0].dtype, given[0].valid)
        return otherwise(*args, **named)

    return op


def bits_or_masks(f, masks):
    """A bitwise op; for floats, an op on comparison results: ones and zeros."""

    def op(*operands):
        if is_float(operands[0].dtype):
            return masks(*operands)
        return f(*operands)

    return op


def compare(lhs, rhs, cmp_type="eq"):
    name = list(COMPARE)[cmp_type] if isinstance(cmp_type, int) else member(cmp_type).lower()
    with np.errstate(all="ignore"):
        return compared(name, lhs, rhs)


def compared(name, lhs, rhs):
    if not isinstance(lhs, Part) and not isinstance(rhs, Part):
        return bool(COMPARE[name](lhs, rhs))
    a, b, like = both(lhs, rhs)
    return Mask(np.broadcast_to(COMPARE[name](a, b), np.broadcast_shapes(a.shape, b.shape)), like.dtype, like.valid)


def bits_of(mask, shape):
    """The elements for which a mask holds: for floats and comparison results, by element; for integers bit by bit,
    lowest bit first."""
    if isinstance(mask, Mask):
        return mask.bits
    a = data(mask)
    if is_float(a.dtype) or (a.shape == tuple(shape) and np.isin(a, (0, 1)).all()):
        return a != 0
    lines = np.ascontiguousarray(a).view(np.uint8).reshape(a.shape[0], -1)
    return np.unpackbits(lines, axis=1, bitorder="little")[:, : shape[-1]].astype(bool)


def select(mask, lhs=None, rhs=None, tmp=None, src=None, scalar=None):
    lhs = src if lhs is None else lhs
    if scalar is not None:
        rhs = scalar
    elif rhs is not None and isinstance(rhs, Part) and tmp is not None and not isinstance(tmp, Part):
        # The scratch tile comes before the number.
        rhs = tmp
    like = next((own for own in (lhs, rhs) if isinstance(own, Part)), mask)
    holds = bits_of(mask, like.shape)
    if like is mask and not is_float(mask.dtype) and any(isinstance(own, (float, np.floating)) for own in (lhs, rhs)):
        # Two numbers, one of them a float.
        like = Part(np.empty(mask.array.shape, np.float32), None, mask.valid)
    chosen = np.where(holds, of_type(lhs, like.dtype), of_type(rhs, like.dtype))
    return made(chosen, like.dtype, like if like.shape == chosen.shape else mask)


def part_op(f):
    """Applies the op where both operands are valid, and copies the valid operand elsewhere."""

    def op(lhs, rhs):
        a, b = counted(lhs), counted(rhs)
        large = lhs if a.size >= b.size else rhs
        result = made(data(large), large.dtype, large)
        common = tuple(builtins.slice(min(m, n)) for m, n in zip(a.shape, b.shape))
        result.counted[common] = computed(f, a[common], b[common])
        return result

    return op


def full(shape, dtype, value):
    dtype = numpy_type(dtype)
    return made(np.full([int(n) for n in (shape if isinstance(shape, (list, tuple)) else [shape])], of_type(value, dtype)), dtype)


def sigmoid(x):
    return OPS["recip"](OPS["add"](OPS["exp"](OPS["neg"](x)), 1.0))


def tanh(x):
    return OPS["add"](OPS["mul"](OPS["recip"](OPS["add"](OPS["exp"](OPS["mul"](x, 2.0)), 1.0)), -2.0), 1.0)


def integers(start, shape, dtype=None, descending=False):
    shape = [int(n) for n in (shape if isinstance(shape, (list, tuple)) else [shape])]
    count = np.arange(int(np.prod(shape))).reshape(shape)
    return made(start - count if descending else start + count, numpy_type(dtype) if dtype else np.dtype(np.int32))


def triangle(diagonal, shape, valid_shape=None, dtype=None, upper=False):
    rows, cols = np.indices([int(n) for n in shape][-2:])
    ones = cols >= rows + diagonal if upper else cols <= rows + diagonal
    valid = None if valid_shape is None else tuple(int(n) for n in valid_shape)
    return made(ones.reshape(shape), numpy_type(dtype) if dtype else np.dtype(np.int32), valid=valid)


def shown(*values, label=None, **more):
    print(*([f"{label}:"] if label is not None else []), *values, *more.values())


def claimed(cond, msg=""):
    """`pl.device_assert`: like `assert`; a mask must hold everywhere."""
    assert cond.bits.all() if isinstance(cond, Mask) else cond, msg


def assumed(*conditions):
    """`pl.assume`: a launch that violates it is invalid."""
    assert all(conditions), "the arguments do not satisfy what is assumed"


def truncated(a, b):
    return np.fmod(a, b)


def floored(a, b):
    return np.mod(a, b)


def write(dst, offset, value):
    at = tuple(offset) if isinstance(offset, (list, tuple)) else (offset,)
    if dst.frozen:
        raise TypeError(f"`{dst.frozen}` is an input of the kernel")
    # A single number indexes the flattened tile.
    dst.array[at if len(at) == dst.array.ndim else np.unravel_index(at[0], dst.array.shape)] = value
    return dst


def read(src, offset):
    at = tuple(offset) if isinstance(offset, (list, tuple)) else (offset,)
    array = data(src)
    return number_of(array[at] if len(at) == array.ndim else array.reshape(-1)[at[0]])


def updated(array, index, value):
    return [value if at == index else own for at, own in enumerate(array)]


def nothing(*args, **options):
    return None


OPS = {
    **_CROSS,
    **_indexed.OPS,
    **_products.OPS,
    **_shapes.OPS,
    "add": add,
    "sub": binary(np.subtract),
    "mul": binary(np.multiply),
    "div": divide,
    "maximum": binary(np.maximum),
    "minimum": binary(np.minimum),
    "fmod": binary(truncated),
    "rem": with_slope(floored),
    "xor": of_masks(np.logical_xor, with_slope(bits_or_masks(np.bitwise_xor, np.not_equal))),
    "and_": of_masks(np.logical_and, binary(bits_or_masks(np.bitwise_and, np.minimum))),
    "or_": of_masks(np.logical_or, binary(bits_or_masks(np.bitwise_or, np.maximum))),
    "shl": binary(np.left_shift),
    "shr": binary(np.right_shift),
    "lrelu": with_slope(negative_slope),
    "prelu": with_slope(negative_slope),
    "part_add": part_op(np.add),
    "part_mul": part_op(np.multiply),
    "part_max": part_op(np.maximum),
    "part_min": part_op(np.minimum),
    "exp": unary(np.exp),
    "log": unary(np.log),
    "sqrt": unary(np.sqrt),
    "rsqrt": rsqrt,
    "recip": unary(lambda a: 1 / a),
    "neg": unary(np.negative, floats=False),
    "abs": unary(np.abs, floats=False),
    "relu": unary(lambda a: np.where(a <= 0, np.zeros_like(a), a), floats=False),
    "not_": of_masks(np.logical_not, unary(bits_or_masks(np.invert, lambda a: a == 0), floats=False)),
    "cast": cast,
    "cmp": compare,
    "sel": select,
    "sels": select,
    "addc": lambda a, b, c: binary(np.add)(binary(np.add)(a, b), c),
    "subc": lambda a, b, c: binary(np.add)(binary(np.subtract)(a, b), c),
    "addsc": lambda a, scalar, b: binary(np.add)(binary(np.add)(a, scalar), b),
    "subsc": lambda a, scalar, b: binary(np.add)(binary(np.subtract)(a, scalar), b),
    "full": full,
    "expands": lambda target, scalar: made(np.full(data(target).shape, of_type(scalar, target.dtype)), target.dtype, target),
    "ci": integers,
    "tri": triangle,
    "zeros": lambda shape, dtype: full(shape, dtype, 0),
    "ones": lambda shape, dtype: full(shape, dtype, 1),
    "zeros_like": lambda x: OPS["expands"](x, 0),
    "ones_like": lambda x: OPS["expands"](x, 1),
    "square": lambda x: OPS["mul"](x, x),
    "sigmoid": sigmoid,
    "silu": lambda x: OPS["mul"](x, sigmoid(x)),
    "tanh": tanh,
    "clamp": lambda x, least, most: OPS["maximum"](OPS["minimum"](x, most), least),
    "cdiv": lambda a, b: -(-a // b),
    "row_expand": expanded(lambda a, v: v, 1),
    "col_expand": expanded(lambda a, v: v, 0),
    "row_mean": mean(-1),
    "col_mean": mean(-2),
    "read": read,
    "write": write,
    "dim": lambda tensor, axis: tensor.shape[axis],
    "no_dep": lambda x: x,
    "print": shown,
    "static_print": shown,
    "device_assert": claimed,
    "array.create": lambda extent, dtype: [0] * extent,
    "array.get_element": lambda array, index: array[index],
    "array.update_element": updated,
    "const": lambda value, dtype=None: value,
    "static_assert": nothing,
    "assume": assumed,
    "bar_all": nothing,
    "sync_src": nothing,
    "cacheinvalid": nothing,
    "fence": nothing,
    "MemRef": nothing,
    "prefetch.make_context": nothing,
    "prefetch.async_prefetch": nothing,
    "prefetch.session": nothing,
    "prefetch.wait": lambda event, session_handle: True,
    "dump_tag": nothing,
    "func_attr": nothing,
}

# The variants with a number have the same semantics.
for _name in ("add", "sub", "mul", "div", "maximum", "minimum", "fmod", "rem", "xor", "and_", "or_", "shl", "shr"):
    OPS[f"{_name.rstrip('_')}s"] = OPS[_name]
for _name, _f in [("sum", np.sum), ("max", np.max), ("min", np.min), ("prod", np.prod)]:
    OPS[f"row_{_name}"], OPS[f"col_{_name}"] = reduced(_f, -1), reduced(_f, -2)
for _name, _f in [("argmax", np.argmax), ("argmin", np.argmin)]:
    OPS[f"row_{_name}"], OPS[f"col_{_name}"] = position(_f, -1), position(_f, -2)
for _name, _f in [
    ("add", np.add),
    ("sub", np.subtract),
    ("mul", np.multiply),
    ("div", quotient),
    ("max", np.maximum),
    ("min", np.minimum),
]:
    OPS[f"row_expand_{_name}"], OPS[f"col_expand_{_name}"] = expanded(_f, 1), expanded(_f, 0)
for _name in ("row", "col"):
    OPS[f"{_name}_expand_expdif"] = lambda x, values, tmp=None, _name=_name: OPS["exp"](OPS[f"{_name}_expand_sub"](x, values))

__all__ = ["OPS", "Part"]
