"""The meaning of kernels without the compiler: the Python function itself runs, eagerly, on numpy tiles."""

import contextvars

_active = contextvars.ContextVar("slipring_reference", default=None)


def active():
    """The evaluator that runs a kernel now, or `None`."""
    return _active.get()


def run(function, arguments, blocks=1):
    """Runs a kernel's Python function on arrays, block by block."""
    from ._evaluator import Evaluator

    evaluator = Evaluator(blocks)
    token = _active.set(evaluator)
    try:
        return evaluator.run(function, arguments)
    finally:
        _active.reset(token)
