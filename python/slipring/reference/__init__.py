"""The semantics of kernels without the compiler: the Python function itself runs eagerly on numpy tiles."""

import contextvars

from ._tiles import NotKnown

_active = contextvars.ContextVar("slipring_reference", default=None)


def active():
    """The evaluator of the running kernel, or `None`."""
    return _active.get()


def run(function, arguments, blocks=1):
    """Runs a kernel's Python function on arrays, block by block."""
    from ._evaluator import evaluate

    return evaluate(function, arguments, blocks, _active)


__all__ = ["NotKnown", "active", "run"]
