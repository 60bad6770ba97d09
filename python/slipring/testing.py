"""Comparisons for tests."""

import numpy as np

from ._memory import copies
from ._slipring import KernelError

PLATFORMS = ("a5", "a2a3")
# Largest relative difference that counts as agreement, by type: a few rounding errors.
SLACK = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2, "float8_e4m3fn": 0.15, "float8_e5m2": 0.3}


def difference(got, wanted, rtol=None, atol=None):
    """The difference of two arrays, as text; `None` if they agree: integers exactly, floats within a few rounding
    errors of their type."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{list(got.shape)} instead of {wanted.dtype}{list(wanted.shape)}"
    name = got.dtype.name
    if name in SLACK:
        rtol = SLACK[name] if rtol is None else rtol
        atol = rtol if atol is None else atol
        a, b = got.astype(np.float64), wanted.astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.abs(a - b)
            wrong = ~((a == b) | (np.isnan(a) & np.isnan(b)) | (off <= atol + rtol * np.abs(b)))
            measure = np.where(np.isnan(off), np.inf, off)
    else:
        wrong = got != wanted
        measure = np.abs(got.astype(object) - wanted.astype(object)).astype(np.float64) if wrong.any() else wrong
    count = int(wrong.sum())
    if not count:
        return None
    first = tuple(int(at) for at in np.argwhere(wrong)[0])
    worst = tuple(int(at) for at in np.unravel_index(np.argmax(np.where(wrong, measure, -1)), got.shape))
    lines = [f"{count} of {got.size} elements differ"]
    for word, at in [("first", first)] + ([("worst", worst)] if worst != first else []):
        lines.append(f"  {word} at {list(at)}: {got[at]} instead of {wanted[at]}")
    return "\n".join(lines)


def assert_agrees(kernel, arguments, platforms=PLATFORMS, rtol=None, atol=None, reference=True, **options):
    """Runs a kernel on every platform, and compares its outputs with the reference and between the platforms.

    The arguments are left unchanged. Findings raise `KernelError`; differences raise an `AssertionError` that states
    how many, where and by how much.
    """
    results = []
    for platform in platforms:
        mine = copies(arguments)
        run = kernel.run(*mine, platform=platform, verify=True, **options)
        run.check()
        results.append((f"on {platform}", mine, run))
    wanted = []
    if reference:
        mine = copies(arguments)
        kernel.reference(*mine, blocks=options.get("blocks") or 1)
        wanted.append(("the reference", mine))
    if len(results) > 1:
        wanted.append((results[0][0], results[0][1]))
    names = [parameter[0] for parameter in results[0][2]._parameters]
    wrong = []
    for title, mine, run in results:
        for other, theirs in wanted:
            if theirs is mine:
                continue
            for name, a, b in zip(names, mine, theirs):
                text = difference(a, b, rtol, atol) if hasattr(a, "dtype") and np.ndim(a) else None
                if text:
                    wrong.append(f"`{name}` {title} and {other}: {text}")
    if wrong:
        raise AssertionError("\n".join(wrong))


__all__ = ["KernelError", "assert_agrees", "difference"]
