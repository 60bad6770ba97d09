"""What each op does to arrays, from the documentation of the language."""

import builtins

import numpy as np

from . import _indexed
from ._evaluator import NotKnown, Part, binary, data, divide, is_float, made, numpy_type, other, put, scope, unary


def wide(a):
    """An array in the type that its sums are made in."""
    return a.astype(np.float64) if is_float(a.dtype) else a.astype(np.int64)


def exactly(f):
    """A function of floats, computed with more digits than the result has."""
    return lambda x, high_precision=None: unary(lambda a: f(a.astype(np.float64)), x)


def reduced(f, axis):
    def op(x, tmp_tile=None):
        a = data(x)
        return made(f(wide(a), axis=axis, keepdims=True), a.dtype)

    return op


def position(f, axis):
    def op(x, tmp_tile=None):
        a = data(x)
        return made(np.expand_dims(f(wide(a), axis=axis), axis), np.int32)

    return op


def expanded(f, axis):
    """An op with a value for each row (`axis` 1) or column (`axis` 0)."""

    def op(x, values, tmp=None):
        a, v = data(x), data(values)
        v = v[:, :1] if axis == 1 else v[:1, :]
        with np.errstate(all="ignore"):
            return made(np.broadcast_to(f(a, v), a.shape), a.dtype)

    return op


def matmul(lhs, rhs, out_dtype=None, a_trans=False, b_trans=False, c_matrix_nz=None):
    a, b = data(lhs), data(rhs)
    a, b = (a.T if a_trans else a), (b.T if b_trans else b)
    result = np.float32 if is_float(a.dtype) else np.int32
    product = made(wide(a) @ wide(b), result)
    return product if out_dtype is None else made(product.array, numpy_type(out_dtype))


def matmul_acc(acc, lhs, rhs, a_trans=False, b_trans=False, init_cond=None):
    product = matmul(lhs, rhs, a_trans=a_trans, b_trans=b_trans).array
    start = 0 if init_cond is not None and init_cond else wide(data(acc))
    acc.array[...] = (start + wide(product)).astype(acc.array.dtype)
    return acc


def matmul_bias(lhs, rhs, bias, a_trans=False, b_trans=False):
    product = matmul(lhs, rhs, a_trans=a_trans, b_trans=b_trans).array
    return made(wide(product) + wide(data(bias)), product.dtype)


ROUND = {
    "none": np.rint,
    "rint": np.rint,
    "round": lambda a: np.copysign(np.floor(np.abs(a) + 0.5), a),
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
}


def cast(x, target_type, mode="round"):
    a, target = data(x), numpy_type(target_type)
    if is_float(target):
        return made(a, target)
    limits = np.iinfo(target)
    if is_float(a.dtype):
        mode = str(mode).rpartition(".")[2].lower()
        if mode not in ROUND:
            raise NotKnown(f"the reference does not know the rounding `{mode}`")
        a = np.nan_to_num(ROUND[mode](a.astype(np.float64)), nan=0.0, posinf=2.0**62, neginf=-(2.0**62))
    clipped = np.clip(a, limits.min, limits.max)
    return made(clipped, target)


def load(tensor, offsets, shapes, valid_shape=None, target_memory=None, clamp=None):
    if valid_shape is not None or clamp:
        raise NotKnown("the reference does not know `valid_shape` and `clamp` of `pl.load`")
    window = tuple(builtins.slice(int(at), int(at) + int(n)) for at, n in zip(offsets, shapes))
    return made(data(tensor[window]), data(tensor).dtype)


def store(tile, offsets, tensor, shapes=None, *, atomic=None):
    extents = list(data(tile).shape if shapes is None else shapes)
    extents = [1] * (len(offsets) - len(extents)) + extents
    window = tuple(builtins.slice(int(at), int(at) + int(n)) for at, n in zip(offsets, extents))
    if atomic is not None and "none" not in str(atomic).lower():
        target = data(tensor[window])
        put(target, made(wide(target) + wide(data(tile)).reshape(target.shape), target.dtype))
    else:
        tensor[window] = tile
    return tensor


def part(x, shape, offset, valid_shape=None, drop_dims=None, pad_value=None, clamp=None):
    if valid_shape is not None or drop_dims or clamp:
        raise NotKnown("the reference does not know `valid_shape`, `drop_dims` and `clamp` of `pl.slice`")
    return x[tuple(builtins.slice(int(at), int(at) + int(n)) for at, n in zip(offset, shape))]


def assemble(target, source, offset, *, atomic=None):
    return store(source, offset, target, atomic=atomic)


def full(shape, dtype, value):
    return made(np.full([int(n) for n in shape], value), numpy_type(dtype))


def create_tensor(shape, dtype, **options):
    """A tensor of a whole program; options say where it lies."""
    return full(shape, dtype, 0)


def create(shape, dtype, target_memory=None, transpose=None):
    return full(shape, dtype, 0)


def integers(start, shape, dtype=None, descending=False):
    shape = [int(n) for n in shape]
    count = np.arange(int(np.prod(shape))).reshape(shape)
    return made(start - count if descending else start + count, numpy_type(dtype) if dtype else np.int32)


COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


class Mask:
    """What a comparison gives: booleans."""

    def __init__(self, array):
        self.array = array

    @property
    def shape(self):
        return self.array.shape

    def __and__(self, other):
        return Mask(self.array & other.array)

    def __or__(self, other):
        return Mask(self.array | other.array)

    def __xor__(self, other):
        return Mask(self.array ^ other.array)

    def __invert__(self):
        return Mask(~self.array)

    def __bool__(self):
        raise TypeError("a condition is a truth value, not a mask: `pl.sel(mask, a, b)` chooses element by element")

    def __repr__(self):
        return f"mask {list(self.array.shape)}\n{self.array}"


def of_masks(f, otherwise):
    """An op of bits that takes masks, too."""

    def op(*args):
        masks = [arg for arg in args if isinstance(arg, Mask)]
        return Mask(f(*(mask.array for mask in masks))) if len(masks) == len(args) else otherwise(*args)

    return op


def compare(lhs, rhs, cmp_type="eq"):
    name = list(COMPARE)[cmp_type] if isinstance(cmp_type, int) else str(cmp_type).rpartition(".")[2].lower()
    a = data(lhs)
    return Mask(COMPARE[name](a, other(rhs, a.dtype)))


def select(mask, lhs, rhs, tmp=None):
    if not isinstance(mask, Mask):
        raise NotKnown("the reference knows masks of comparisons only")
    dtype = (lhs if isinstance(lhs, Part) else rhs).dtype
    return made(np.where(mask.array, other(lhs, dtype), other(rhs, dtype)), dtype)


def loop(*bounds, **options):
    if options.get("init_values") is not None:
        raise NotKnown("the reference does not know loops with `init_values`")
    return builtins.range(*(int(bound) for bound in bounds))


def shown(*values, label=None):
    print(*([f"{label}:"] if label is not None else []), *values)


def claimed(cond, msg="", *, condition=None, message=None):
    """`pl.device_assert`: as `assert`; of a mask all of it holds."""
    held = cond if condition is None else condition
    assert held.array.all() if isinstance(held, Mask) else held, msg or message or ""


def repeated(x, shape):
    a = data(x)
    return made(np.broadcast_to(a, [int(n) for n in shape]), a.dtype)


def mean(axis):
    def op(x, tmp_tile=None):
        a = data(x)
        if not is_float(a.dtype):
            raise TypeError(f"a mean of {a.dtype} elements")
        # The sum, rounded to the type, times a constant.
        total = wide(a).sum(axis=axis, keepdims=True).astype(a.dtype)
        return made(total * np.asarray(1.0 / a.shape[axis]).astype(a.dtype), a.dtype)

    return op


def truncated(a, b):
    return np.fmod(a, b)


def floored(a, b):
    return a - np.floor(a / b) * b if is_float(a.dtype) else np.mod(a, b)


def with_tmp(f):
    return lambda lhs, rhs, tmp=None: binary(f, lhs, rhs)


def pairs(f):
    return lambda lhs, rhs: binary(f, lhs, rhs)


OPS = {
    **_indexed.OPS,
    "at": scope,
    "cluster": scope,
    "range": loop,
    "unroll": loop,
    "parallel": loop,
    "pipeline": loop,
    "div": divide,
    "divs": divide,
    "rem": with_tmp(floored),
    "rems": with_tmp(floored),
    "fmod": pairs(truncated),
    "fmods": pairs(truncated),
    "xor": with_tmp(np.bitwise_xor),
    "xors": with_tmp(np.bitwise_xor),
    "lrelu": with_tmp(lambda a, b: np.where(a > 0, a, a * b)),
    "prelu": with_tmp(lambda a, b: np.where(a > 0, a, a * b)),
    "exp": exactly(np.exp),
    "log": exactly(np.log),
    "sqrt": exactly(np.sqrt),
    "rsqrt": exactly(lambda a: 1 / np.sqrt(a)),
    "recip": exactly(lambda a: 1 / a),
    "neg": lambda x: unary(np.negative, x),
    "abs": lambda x: unary(np.abs, x),
    "relu": lambda x: unary(lambda a: np.where(a <= 0, np.zeros_like(a), a), x),
    "not_": lambda x: unary(np.invert, x),
    "cast": cast,
    "cmp": compare,
    "cmps": compare,
    "sel": select,
    "sels": select,
    "addc": lambda a, b, c: binary(np.add, binary(np.add, a, b), c),
    "subc": lambda a, b, c: binary(np.add, binary(np.subtract, a, b), c),
    "addsc": lambda a, scalar, b: binary(np.add, binary(np.add, a, scalar), b),
    "subsc": lambda a, scalar, b: binary(np.add, binary(np.subtract, a, scalar), b),
    "matmul": matmul,
    "gemv": matmul,
    "matmul_acc": matmul_acc,
    "gemv_acc": matmul_acc,
    "matmul_bias": matmul_bias,
    "gemv_bias": matmul_bias,
    "load": load,
    "store": store,
    "slice": part,
    "assemble": assemble,
    "create_tensor": create_tensor,
    "full": full,
    "create": create,
    "create_tile": create,
    "tile.create": create,
    "create_l1": create,
    "expands": lambda target, scalar: made(np.full(data(target).shape, scalar), data(target).dtype),
    "ci": integers,
    "arange": integers,
    "reshape": lambda x, shape: made(data(x).reshape([int(n) for n in shape]), data(x).dtype),
    "transpose": lambda x, axis1=None, axis2=None: made(data(x).T, data(x).dtype),
    "transpose_view": lambda tile: made(data(tile).T, data(tile).dtype),
    "concat": lambda a, b: made(np.concatenate([data(a), data(b)], axis=1), data(a).dtype),
    "row_expand": expanded(lambda a, v: v, 1),
    "col_expand": expanded(lambda a, v: v, 0),
    "move": lambda tile, target_memory=None, blayout=None, slayout=None: made(data(tile), data(tile).dtype),
    "extract": lambda src, row, col, shape, *, target_memory=None: made(
        data(src[row : row + shape[0], col : col + shape[1]]), data(src).dtype
    ),
    "read": lambda src, offset: src[tuple(offset) if isinstance(offset, (list, tuple)) else offset],
    "dim": lambda tensor, axis: tensor.shape[axis],
    "no_dep": lambda x: x,
    "print": shown,
    "static_print": shown,
    "device_assert": claimed,
    "broadcast_to": repeated,
    "row_mean": mean(1),
    "col_mean": mean(0),
    "const": lambda value, dtype=None: value,
    "static_assert": lambda *args: None,
    "bar_all": lambda *args, **options: None,
    "bar_v": lambda *args, **options: None,
    "bar_m": lambda *args, **options: None,
    "sync_src": lambda *args, **options: None,
    "sync_dst": lambda *args, **options: None,
}

for _names, _f in [
    (("add", "adds"), np.add),
    (("sub", "subs"), np.subtract),
    (("mul", "muls"), np.multiply),
    (("maximum", "max", "maximums", "maxs"), np.maximum),
    (("minimum", "min", "minimums", "mins"), np.minimum),
    (("and_", "ands"), np.bitwise_and),
    (("or_", "ors"), np.bitwise_or),
    (("shl", "shls"), np.left_shift),
    (("shr", "shrs"), np.right_shift),
]:
    for _name in _names:
        OPS[_name] = pairs(_f)
for _name, _f in [("sum", np.sum), ("max", np.max), ("min", np.min), ("prod", np.prod)]:
    OPS[f"row_{_name}"], OPS[f"col_{_name}"] = reduced(_f, 1), reduced(_f, 0)
for _name, _f in [("argmax", np.argmax), ("argmin", np.argmin)]:
    OPS[f"row_{_name}"], OPS[f"col_{_name}"] = position(_f, 1), position(_f, 0)
for _name, _f in [
    ("add", np.add),
    ("sub", np.subtract),
    ("mul", np.multiply),
    ("div", np.divide),
    ("max", np.maximum),
    ("min", np.minimum),
    ("expdif", lambda a, v: np.exp(wide(a) - wide(v))),
]:
    OPS[f"row_expand_{_name}"], OPS[f"col_expand_{_name}"] = expanded(_f, 1), expanded(_f, 0)

for _name, _f in [("and_", np.logical_and), ("or_", np.logical_or), ("not_", np.logical_not), ("xor", np.logical_xor)]:
    OPS[_name] = of_masks(_f, OPS[_name])

__all__ = ["OPS", "Part"]
