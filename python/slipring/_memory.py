"""Arrays that share memory."""

from ._arrays import PAIRS, _name, host_array, is_array

# Limit on numpy's search for a shared element of two arrays, after which they count as sharing one.
MOST_WORK = 1 << 20
# Maximum number of elements whose addresses are compared one by one.
MOST_ELEMENTS = 1 << 22


def places(parameters, arrays):
    """For each array, by index, that shares memory with others of which one is written: the index of the memory, and
    the offset of the array in it.

    Raises `TypeError` for arrays that share memory in a way that a kernel cannot handle, and for an output whose own
    elements share memory.
    """
    written = [at for at in arrays if parameters[at][4] != "in"]
    for at in written:
        if parameters[at][4] is not None and _overlaps_itself(arrays[at]):
            raise TypeError(f"`{parameters[at][0]}` is an output of the kernel, and elements of the array share memory: pass a copy")
    if len(arrays) < 2 or not written:
        return {}
    ends = {at: _ends(array) for at, array in arrays.items()}
    order = sorted(arrays, key=lambda at: (ends[at], at))
    if all(ends[one][1] <= ends[two][0] for one, two in zip(order, order[1:])):
        return {}
    together = {}
    for first, one in enumerate(order):
        for two in order[first + 1 :]:
            if ends[two][0] >= ends[one][1]:
                break
            if (one in written or two in written) and _share(arrays[one], arrays[two]):
                _check(parameters, arrays, *sorted((one, two)))
                own = together.get(one, {one}) | together.get(two, {two})
                together.update((at, own) for at in own)
    placed = {}
    for at, own in together.items():
        start = min(ends[other][0] for other in own)
        placed[at] = min(own), ends[at][0] - start
    return placed


def apart(arguments):
    """Rejects different arrays that share memory, by name: other processes get separate copies of them."""
    import numpy as np

    arrays = [(name, value) for name, value in arguments.items() if isinstance(value, np.ndarray)]
    for at, (one, first) in enumerate(arrays):
        for two, second in arrays[at + 1 :]:
            if first is not second and np.may_share_memory(first, second) and _share(first, second):
                raise TypeError(f"`{one}` and `{two}` share memory, which other processes would not: pass copies, or one array for both")


def copies(arguments):
    """The arguments with copies of the arrays; arrays that share memory still share memory."""
    import numpy as np

    arrays = {at: host_array(value) for at, value in enumerate(arguments) if is_array(value)}
    ends = {at: _ends(array) for at, array in arrays.items()}
    copied, order = list(arguments), sorted(arrays, key=lambda at: ends[at])
    while order:
        own = [order.pop(0)]
        while order and ends[order[0]][0] < max(ends[at][1] for at in own):
            own.append(order.pop(0))
        if len(own) == 1:
            copied[own[0]] = np.array(arrays[own[0]])
            continue
        start, end = ends[own[0]][0], max(ends[at][1] for at in own)
        memory = np.zeros(end - start, np.uint8)
        for at in own:
            array = arrays[at]
            offset = array.__array_interface__["data"][0] - start
            copied[at] = np.ndarray(array.shape, array.dtype, memory, offset, array.strides)
        for at in own:
            copied[at][...] = arrays[at]
    return copied


def _ends(array):
    """The addresses of the first byte of an array, and one past its last."""
    start = array.__array_interface__["data"][0]
    if array.flags.c_contiguous or array.size == 0:
        return start, start + array.nbytes
    steps = [(extent - 1) * step for extent, step in zip(array.shape, array.strides)]
    return start + sum(min(step, 0) for step in steps), start + sum(max(step, 0) for step in steps) + array.itemsize


def _share(one, two):
    import numpy as np

    try:
        return np.shares_memory(one, two, max_work=MOST_WORK)
    except Exception as error:
        if type(error).__name__ == "TooHardError":
            return True
        raise


def _check(parameters, arrays, one, two):
    """Arrays that share memory must be row-major: the device has no other layout."""
    for at in (one, two):
        array = arrays[at]
        if array.flags.c_contiguous and _name(array.dtype) not in PAIRS:
            continue
        names = [parameters[at][0] for at in (one, two)]
        why = "4-bit floats are packed for the device" if array.flags.c_contiguous else "its rows do not lie one after the other"
        raise TypeError(
            f"`{names[0]}` and `{names[1]}` share memory and the kernel writes to one of them, but `{parameters[at][0]}` has to be copied: "
            f"{why}. Pass a copy of one, as `numpy.array(x)`"
        )


def _overlaps_itself(array):
    """Whether two elements of an array overlap in memory."""
    if array.flags.c_contiguous or array.size < 2:
        return False
    import numpy as np

    dims = sorted((abs(step), extent) for step, extent in zip(array.strides, array.shape) if extent > 1)
    reach, apart = array.itemsize, True
    for step, extent in dims:
        apart, reach = apart and step >= reach, reach + step * (extent - 1)
    if apart or dims[0][0] == 0:
        return not apart
    if array.size > MOST_ELEMENTS:
        return True
    starts = np.zeros(1, dtype=np.int64)
    for step, extent in dims:
        starts = (starts[:, None] + np.arange(extent, dtype=np.int64) * step).reshape(-1)
    starts.sort()
    return bool((np.diff(starts) < array.itemsize).any())


__all__ = ["apart", "copies", "places"]
