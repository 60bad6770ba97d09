"""Matrix products, with a bias, an accumulator, scales."""

import numpy as np

from ._tiles import Part, counted, data, is_float, made, numpy_type, rounded, wide, within


def operands(lhs, rhs, a_trans, b_trans):
    """Both operands in a type in which products and sums are exact."""
    a, b = (np.asarray(counted(own), np.float64) for own in (lhs, rhs))
    a, b = (own if own.ndim > 1 else own.reshape(1, -1) for own in (a, b))
    return (a.swapaxes(-1, -2) if a_trans else a), (b.swapaxes(-1, -2) if b_trans else b)


# Maximum size that BLAS multiplies on one thread. On a busy machine, several threads spend more time waiting for each
# other than computing: 16 ms instead of 0.2 ms for 128 x 128 x 128.
PIECE = 64


def multiplied(a, b):
    """The product of two matrices, or of two lists of matrices."""
    (m, k), n = a.shape[-2:], b.shape[-1]
    if m * k * n <= PIECE**3 or a.ndim > 2 or b.ndim > 2:
        return a @ b
    result = np.zeros((m, n))
    for i in range(0, m, PIECE):
        for p in range(0, k, PIECE):
            left = np.ascontiguousarray(a[i : i + PIECE, p : p + PIECE])
            for j in range(0, n, PIECE):
                result[i : i + PIECE, j : j + PIECE] += left @ b[p : p + PIECE, j : j + PIECE]
    return result


def product(lhs, rhs, a_trans=False, b_trans=False, start=None):
    """The product of the valid parts of two matrices, or of two lists of matrices, plus an accumulator."""
    if lhs.dtype != rhs.dtype and not (lhs.dtype.itemsize == rhs.dtype.itemsize == 1 and is_float(lhs.dtype)):
        raise TypeError(f"a product of {lhs.dtype} and {rhs.dtype}")
    a, b = operands(lhs, rhs, a_trans, b_trans)
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"a product of {list(a.shape)} and {list(b.shape)}: the inner extents differ")
    with np.errstate(all="ignore"):
        result = multiplied(a, b)
        return result if start is None else result + start


def sums_of(elem):
    return np.dtype(np.float32 if is_float(elem) else np.int32)


def shaped(result, lhs, rhs, a_trans, b_trans, dtype):
    """A result as a tile of the size that both operands determine."""
    if lhs.valid is None and rhs.valid is None:
        return made(result, dtype)
    rows = data(lhs).shape[-1 if a_trans else -2]
    cols = data(rhs).shape[-2 if b_trans else -1]
    return within(result, dtype, (rows, cols), result.shape[-2:])


def matmul(lhs, rhs, out_dtype=None, a_trans=False, b_trans=False, c_matrix_nz=None, acc_phase=None):
    dtype = sums_of(lhs.dtype)
    total = rounded(product(lhs, rhs, a_trans, b_trans), dtype)
    return shaped(total, lhs, rhs, a_trans, b_trans, dtype if out_dtype is None else numpy_type(out_dtype))


def matmul_acc(acc, lhs, rhs, a_trans=False, b_trans=False, init_cond=None, acc_phase=None):
    begins = init_cond is not None and bool(init_cond)
    own = product(lhs, rhs, a_trans, b_trans)
    at = (..., slice(own.shape[-2]), slice(own.shape[-1]))
    total = own if begins else own + wide(data(acc))[at]
    if lhs.valid is not None or rhs.valid is not None:
        acc = shaped(total, lhs, rhs, a_trans, b_trans, acc.dtype)
    else:
        acc.array[...] = rounded(total, acc.dtype)
    return acc


def matmul_bias(lhs, rhs, bias, a_trans=False, b_trans=False, acc_phase=None):
    dtype = sums_of(lhs.dtype)
    total = product(lhs, rhs, a_trans, b_trans, wide(data(bias)).reshape(1, -1)[:, : counted(bias).shape[-1]])
    return shaped(rounded(total, dtype), lhs, rhs, a_trans, b_trans, dtype)


def unpacked(scales, lines, k):
    """Unpacks scales to `[lines, k // 32]`: boxes of 16 lines by 2 groups, along k, then along the lines."""
    groups = k // 32
    boxes = data(scales).astype(np.float64).reshape(lines // 16, groups // 2, 16, 2)
    return boxes.transpose(0, 2, 1, 3).reshape(lines, groups)


def scaled(lhs, lhs_scale, rhs, rhs_scale):
    """Both operands times their scales, one for each 32 elements along k."""
    a, b = data(lhs).astype(np.float64), data(rhs).astype(np.float64)
    (m, k), n = a.shape, b.shape[-1]
    left = np.repeat(unpacked(lhs_scale, m, k), 32, axis=1)
    right = np.repeat(unpacked(rhs_scale, n, k), 32, axis=1).T
    return Part(a * left), Part(b * right)


def matmul_mx(lhs, lhs_scale, rhs, rhs_scale):
    return made(product(*scaled(lhs, lhs_scale, rhs, rhs_scale)), np.dtype(np.float32))


def matmul_mx_acc(acc, lhs, lhs_scale, rhs, rhs_scale):
    acc.array[...] = rounded(product(*scaled(lhs, lhs_scale, rhs, rhs_scale), start=wide(data(acc))), acc.dtype)
    return acc


def matmul_mx_bias(lhs, lhs_scale, rhs, rhs_scale, bias):
    total = product(*scaled(lhs, lhs_scale, rhs, rhs_scale), start=wide(data(bias)).reshape(1, -1))
    return made(total, np.dtype(np.float32))


def marked(op):
    """The op with its result marked as a product."""

    def called(*args, **kwargs):
        result = op(*args, **kwargs)
        result.product = True
        return result

    return called


OPS = {
    "matmul": marked(matmul),
    "gemv": marked(matmul),
    "batch_matmul": marked(matmul),
    "matmul_acc": marked(matmul_acc),
    "gemv_acc": marked(matmul_acc),
    "batch_matmul_acc": marked(matmul_acc),
    "matmul_bias": marked(matmul_bias),
    "gemv_bias": marked(matmul_bias),
    "matmul_mx": matmul_mx,
    "matmul_mx_acc": matmul_mx_acc,
    "matmul_mx_bias": matmul_mx_bias,
}
