"""Scales for scaled products, in the order in which the matrix unit reads them."""

import warnings

from ._arrays import host_array, marked

# Rows (left operand) or columns (right operand) of a box, and groups of 32 elements of k.
LANES, GROUPS = 16, 2
# True in a process that runs public scripts, where an array of scales already has the device's byte order, by their own
# convention.
AS_ON_DEVICE = []


def pack_scales(scales, layout):
    """Scales in the byte order of a parameter with `pl.MX_A_ZZ` or `pl.MX_B_NN`, in the same shape, and marked as such.

    `scales` has one row per row of the left operand and one column per 32 elements of k (`pl.MX_A_ZZ`, `[m, k // 32]`),
    or one row per 32 elements of k and one column per column of the right operand (`pl.MX_B_NN`, `[k // 32, n]`).
    """
    import numpy as np

    name, array = layout_name(layout), host_array(scales)
    left = name == "MX_A_ZZ"
    form = "[m, k // 32]" if left else "[k // 32, n]"
    if array.ndim != 2 or array.dtype.itemsize != 1:
        raise TypeError(f"scales are an array {form} of float8_e8m0fnu, or of its bytes; this is {array.dtype}{list(array.shape)}")
    lanes, groups = array.shape if left else array.shape[::-1]
    if lanes % LANES or groups % GROUPS or not array.size:
        raise ValueError(f"scales {form} have m and n in multiples of {LANES} and k in multiples of {32 * GROUPS}: {list(array.shape)} is none")
    # Each box holds its 16 rows (columns) in sequence, each with its two groups.
    each = array if left else array.T
    boxes = each.reshape(lanes // LANES, LANES, groups // GROUPS, GROUPS).transpose(0, 2, 1, 3)
    packed = np.ascontiguousarray(boxes).reshape(array.shape)
    return _as_given(packed, scales, name)


def packed_scales(scales, layout):
    """Marks scales that already have the byte order of a parameter with `pl.MX_A_ZZ` or `pl.MX_B_NN`; the array is not
    changed."""
    name, array = layout_name(layout), host_array(scales)
    if array.dtype.itemsize != 1:
        raise TypeError(f"scales are an array of float8_e8m0fnu, or of its bytes; this is {array.dtype}{list(array.shape)}")
    return _as_given(array, scales, name)


def layout_name(layout):
    """The name of a layout of packed scales."""
    name = getattr(layout, "__slipring_path__", str(layout)).rpartition(".")[2]
    if name not in ("MX_A_ZZ", "MX_B_NN"):
        raise ValueError(f"scales are packed as pl.MX_A_ZZ or pl.MX_B_NN, not as {layout!r}")
    return name


def _as_given(packed, scales, name):
    """The packed array in the library of the original scales, with its mark."""
    import numpy as np

    if type(scales).__module__.partition(".")[0] == "torch":
        import torch

        made = torch.from_numpy(np.ascontiguousarray(packed).view(np.uint8)).view(scales.dtype)
        made.slipring_layout = name
        return made
    return marked(packed, name)


def check_packed(name, array, layout):
    """Rejects an unmarked array for a parameter of packed scales: the bytes alone do not show their order."""
    given = getattr(array, "slipring_layout", None)
    if given == layout:
        return
    if given is not None:
        raise TypeError(f"`{name}` holds scales packed as pl.{layout}, and these are packed as pl.{given}")
    if AS_ON_DEVICE:
        from ._runs import KernelWarning

        warnings.warn(f"the bytes of `{name}` are taken as scales packed as pl.{layout}: nothing says that they are", KernelWarning, stacklevel=2)
        return
    raise TypeError(
        f"`{name}` holds scales packed as pl.{layout}, and an array does not say how its bytes lie: pass "
        f"`slipring.pack_scales({name}, pl.{layout})` of scales that lie row by row, "
        f"`slipring.packed_scales({name}, pl.{layout})` of those that are packed already"
    )


__all__ = ["pack_scales", "packed_scales"]
