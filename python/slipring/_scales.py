"""Scales of products with scales, as the matrix unit reads them."""

from ._arrays import host_array

# Rows (of the left operand) or columns (of the right one) of a box, and groups of 32 elements of k.
LANES, GROUPS = 16, 2


def pack_scales(scales, layout):
    """Scales in the order of bytes that a parameter with `pl.MX_A_ZZ` or `pl.MX_B_NN` holds, in the same shape.

    `scales` has one row for each row of the left operand and one column for each 32 elements of k (`pl.MX_A_ZZ`, `[m, k // 32]`), or one
    row for each 32 elements of k and one column for each column of the right operand (`pl.MX_B_NN`, `[k // 32, n]`).
    """
    import numpy as np

    name = getattr(layout, "__slipring_path__", str(layout)).rpartition(".")[2]
    if name not in ("MX_A_ZZ", "MX_B_NN"):
        raise ValueError(f"scales are packed as pl.MX_A_ZZ or pl.MX_B_NN, not as {layout!r}")
    array = host_array(scales)
    left = name == "MX_A_ZZ"
    form = "[m, k // 32]" if left else "[k // 32, n]"
    if array.ndim != 2 or array.dtype.itemsize != 1:
        raise TypeError(f"scales are an array {form} of float8_e8m0fnu, or of its bytes; this is {array.dtype}{list(array.shape)}")
    lanes, groups = array.shape if left else array.shape[::-1]
    if lanes % LANES or groups % GROUPS or not array.size:
        raise ValueError(f"scales {form} have m and n in multiples of {LANES} and k in multiples of {32 * GROUPS}: {list(array.shape)} is none")
    # Each box has its 16 rows (columns) one after the other, with the two groups of each side by side.
    each = array if left else array.T
    boxes = each.reshape(lanes // LANES, LANES, groups // GROUPS, GROUPS).transpose(0, 2, 1, 3)
    packed = np.ascontiguousarray(boxes).reshape(array.shape)
    if type(scales).__module__.partition(".")[0] == "torch":
        import torch

        return torch.from_numpy(packed.view(np.uint8)).view(scales.dtype)
    return packed


__all__ = ["pack_scales"]
