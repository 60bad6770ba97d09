"""Gather and scatter, sorting, and the sine, as the documentation of the language defines them."""

import numpy as np

from .._words import Word
from ._tiles import NotKnown, Part, counted, data, made, numpy_type, put

PATTERNS = {"P0101": (2, 0), "P1010": (2, 1), "P0001": (4, 0), "P0010": (4, 1), "P0100": (4, 2), "P1000": (4, 3), "P1111": (1, 0)}


def pattern(which):
    """A mask pattern, by number or by name: its period in columns, and the column that it keeps."""
    if isinstance(which, int):
        return list(PATTERNS.values())[which - 1]
    return PATTERNS[getattr(which, "__slipring_path__", str(which)).rpartition(".")[2]]


def last_axis(dim, array):
    if dim not in (-1, array.ndim - 1):
        raise NotKnown(f"the reference gathers along the last axis only, not {dim}")


def by_pattern(input, mask_pattern, output_dtype=None):
    every, first = pattern(mask_pattern)
    kept = np.ascontiguousarray(data(input)[..., first::every])
    return made(kept if output_dtype is None else kept.view(numpy_type(output_dtype)), numpy_type(output_dtype or kept.dtype))


def compared(input, kvalue, tmp=None, *, cmp_mode="eq", offset=0, out_cols, count_dtype=None):
    """For each row, the indices of the elements for which the comparison holds, and their count."""
    a = counted(input)
    holds = a > kvalue if cmp_mode in ("gt", 4) else a == kvalue
    numbers = offset + np.arange(a.size).reshape(a.shape)
    found = np.full((a.shape[0], out_cols), 0x7B, np.int32)
    counts = np.zeros((a.shape[0], 1), numpy_type(count_dtype) if count_dtype else np.int32)
    for row in range(a.shape[0]):
        own = numbers[row][holds[row]]
        found[row, : min(len(own), out_cols)] = own[:out_cols]
        counts[row] = len(own)
    return made(found, found.dtype), made(counts, counts.dtype)


def gather(
    src=None, indices=None, tmp=None, *, input=None, dim=None, index=None, mask_pattern=None, output_dtype=None, **compare
):
    src = src if input is None else input
    if mask_pattern is not None:
        return by_pattern(src, mask_pattern, output_dtype)
    if compare:
        return compared(src, **compare)
    if isinstance(indices, int):
        dim, index = indices, tmp
    array = data(src)
    if dim is None:
        return made(array.ravel()[data(indices)], array.dtype)
    last_axis(dim, array)
    numbers = data(index).astype(np.int64)
    of_tile, of_indices = getattr(src, "valid", None), getattr(index, "valid", None)
    if of_tile is None and of_indices is None:
        return made(np.take_along_axis(array, numbers, -1), array.dtype)
    # Invalid rows of a tile yield nothing, and invalid indices select nothing.
    rows, cols = of_indices or numbers.shape
    rows = rows if of_tile is None else min(rows, of_tile[0])
    numbers[rows:], numbers[:, cols:] = 0, 0
    return made(np.take_along_axis(array, numbers, -1), array.dtype, valid=(rows, cols))


def gather_blocks(src, offset, *, output_dtype=None):
    array = data(src)
    blocks = array.ravel().view(np.uint8)
    rows = [[blocks[at : at + 32] for at in row] for row in data(offset)]
    dtype = numpy_type(output_dtype or array.dtype)
    return made(np.array(rows).reshape(len(rows), -1).view(dtype), dtype)


def scatter(dst=None, src=None, indexes=None, *, input=None, dim=None, index=None, mask_pattern=None):
    if mask_pattern is not None:
        return scatter_mask(dst, input, mask_pattern)
    if dim is None:
        target = data(dst)
        flat = np.zeros(target.size, target.dtype)
        flat[data(indexes).ravel()] = data(src).ravel()
        target[...] = flat.reshape(target.shape)
        return dst
    target = data(input).copy()
    last_axis(dim, target)
    np.put_along_axis(target, data(index).astype(np.int64), data(src), -1)
    return made(target, target.dtype)


def scatter_mask(dst, src, mask_pattern):
    every, first = pattern(mask_pattern)
    target = data(dst).copy()
    target[..., first::every] = data(src)
    return made(target, target.dtype)


def inside(at, count, outside):
    """Indices of rows or elements of a table, and which of them are out of bounds."""
    word = ["undefined", "clamp", "wrap", "zero"][outside] if isinstance(outside, int) else outside
    beyond = (at < 0) | (at >= count)
    if word == "undefined":
        if beyond.any():
            raise IndexError(f"index {at[beyond][0]} of a table of {count}")
        return at, None
    if word == "wrap":
        return at % count, None
    return np.clip(at, 0, count - 1), beyond if word == "zero" else None


def table_gather(mem, idx, coalesce="row", *, gather_oob="undefined", target_memory=None, scratch=None, valid_shape=None):
    array, numbers = data(mem), data(idx).astype(np.int64)
    by_element = coalesce in ("elem", 1)
    table = array.ravel() if by_element else array.reshape(-1, array.shape[-1])
    numbers = numbers if by_element else numbers.ravel()
    valid = None if valid_shape is None else tuple(int(n) for n in valid_shape)
    if valid is not None:
        # Invalid elements are not gathered: their indices may have any value.
        counts = np.zeros(numbers.shape, bool)
        counts[tuple(slice(n) for n in valid[: numbers.ndim])] = True
        numbers = np.where(counts, numbers, 0)
    at, zero = inside(numbers, len(table), gather_oob)
    result = table[at]
    if zero is not None:
        result = np.where(zero if by_element else zero[:, None], np.zeros((), array.dtype), result)
    return made(result, array.dtype, valid=valid)


def table_scatter(src, idx, output_tensor):
    target = data(output_tensor)
    flat = target.ravel()
    flat[data(idx).astype(np.int64).ravel()] = data(src).ravel()
    put(target, made(flat.reshape(target.shape), target.dtype))
    return output_tensor


def paged(src, indices, block_table, block_size, size, max_indices, *, space=None, col_off=0, is_trans=False, is_b_matrix=False):
    pool, at = data(src), data(indices).ravel()[:max_indices].astype(np.int64)
    rows = data(block_table).ravel()[at // block_size] * block_size + at % block_size
    result = np.zeros((max_indices, size), pool.dtype)
    result[: len(rows)] = pool[rows, col_off : col_off + size]
    return made(result.T if is_trans else result, pool.dtype)


def update(input, dim=-2, index=None, src=None):
    if isinstance(dim, Part):
        # The second signature: the index, then the source.
        dim, index, src = -2, dim, index
    if dim != -2:
        raise ValueError(f"rows are updated along -2, not {dim}")
    result = data(input).copy()
    rows = result.reshape(-1, result.shape[-1])
    rows[data(index).ravel()] = data(src).reshape(-1, result.shape[-1])
    return made(result, result.dtype)


def sort32(src, idx):
    values, numbers = data(src), data(idx)
    rows = values.reshape(-1, values.shape[-1])
    numbers = np.broadcast_to(numbers.reshape(-1, rows.shape[1]), rows.shape)
    records = np.zeros((*rows.shape, 8), np.uint8)
    for row in range(rows.shape[0]):
        for first in range(0, rows.shape[1], 32):
            block = slice(first, first + 32)
            order = np.argsort(-rows[row, block].astype(np.float64), kind="stable")
            kept = np.ascontiguousarray(rows[row, block][order])
            records[row, block, : values.itemsize] = kept.view(np.uint8).reshape(len(order), -1)
            kept = np.ascontiguousarray(numbers[row, block][order].astype(np.uint32))
            records[row, block, 4:] = kept.view(np.uint8).reshape(len(order), 4)
    flat = records.reshape(rows.shape[0], -1).view(values.dtype)
    return made(flat.reshape(*values.shape[:-1], -1), values.dtype)


def merged(values):
    """Records in descending order of their first element."""
    records = values.reshape(-1, 8 // values.itemsize)
    return records[np.argsort(-records[:, 0].astype(np.float64), kind="stable")].ravel()


def merge(src0, src1=None, src2=None, src3=None, tmp=None, exhausted=False, *, block_len=None):
    first = data(src0)
    if block_len is not None:
        runs = first.ravel().reshape(-1, 4 * block_len)
        return made(np.concatenate([merged(run) for run in runs]).reshape(first.shape), first.dtype)
    if exhausted:
        raise NotKnown("the reference does not stop a merge at the first list that is used up")
    lists = [data(part).ravel() for part in (src0, src1, src2, src3) if part is not None]
    result = merged(np.concatenate(lists))
    whole = np.zeros(result.size if tmp is None else data(tmp).size, first.dtype)
    whole[: result.size] = result
    return made(whole.reshape(1, -1), first.dtype)


def wave(f):
    def op(x):
        array = data(x)
        if array.dtype != np.float32:
            raise TypeError(f"sines are of float32, not {array.dtype}")
        return made(f(array.astype(np.float64)), array.dtype)

    return op


def philox(counter, key, rounds):
    """Philox 4x32 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3")."""
    c, key = [counter >> 32 * n & 0xFFFFFFFF for n in range(4)], list(key)
    for _ in range(rounds):
        first, second = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [second >> 32 ^ c[1] ^ key[0], second & 0xFFFFFFFF, first >> 32 ^ c[3] ^ key[1], first & 0xFFFFFFFF]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def random_words(key0, key1, counter0, counter1, counter2, counter3, shape, valid_shape=None, dtype=None, rounds=10):
    if isinstance(valid_shape, Word):
        # The second signature: the type, then the rounds.
        valid_shape, dtype, rounds = None, valid_shape, rounds if dtype is None else dtype
    if valid_shape is not None:
        raise NotKnown("the reference does not know `valid_shape` of `pl.random`")
    key = [int(word) & 0xFFFFFFFF for word in (key0, key1)]
    at = sum((int(word) & 0xFFFFFFFF) << 32 * n for n, word in enumerate((counter0, counter1, counter2, counter3)))
    cols = int(shape[-1])
    rows = int(np.prod(shape)) // cols
    # Each row continues after the last repeat of 64 counters of the previous row.
    step = 64 * ((cols + 255) // 256 - 1) + (cols % 64 or 64)
    words = []
    for _ in range(rows):
        own = [word for n in range((cols + 3) // 4) for word in philox((at + n) % 2**128, key, int(rounds))]
        words.append(own[:cols])
        at += step
    words = np.array(words, np.uint32).reshape([int(n) for n in shape])
    return made(words, numpy_type(dtype) if dtype is not None else np.dtype(np.uint32))


OPS = {
    "gather": gather,
    "gather_mask": by_pattern,
    "gatherb": gather_blocks,
    "scatter": scatter,
    "scatter_mask": scatter_mask,
    "mgather": table_gather,
    "mscatter": table_scatter,
    "paged_gather": paged,
    "scatter_update": update,
    "sort32": sort32,
    "mrgsort": merge,
    "sin": wave(np.sin),
    "cos": wave(np.cos),
    "random": random_words,
    "gather_compare": compared,
}
