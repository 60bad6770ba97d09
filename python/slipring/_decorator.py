"""Decorators of the kernel language: what they make of a function or a class."""

import functools

from ._kernel import Function
from ._program import Program
from ._source import surroundings

# pytest omits the frames of this module from tracebacks.
__tracebackhide__ = True

# Stack of lists that collect the objects created by decorators while files are executed.
MADE = []
# Levels of a device; functions at higher levels run on the host.
OF_DEVICE = ("AIV", "AIC", "CORE_GROUP", "CHIP_DIE", "L2CACHE", "CHIP", "PROCESSOR", "UMA")


def _member(options, name):
    """The last part of a name given to a decorator; empty if it is not given."""
    word = options.get(name)
    return "" if word is None else getattr(word, "__slipring_path__", str(word)).rpartition(".")[2]


def _kind(path, options):
    """The kind of function that a decorator creates: `None` if it launches kernels, `python` for host code that is not
    compiled."""
    if options.get("type") is not None:
        kinds = {"InCore": "kernel", "Opaque": "kernel", "AIC": "cube", "AIV": "vector", "Inline": "inline"}
        return kinds.get(_member(options, "type"))
    role = _member(options, "role")
    if role == "Orchestrator":
        return None
    if role == "SubWorker" and _member(options, "level") not in ("", *OF_DEVICE):
        return "python"
    return {"pl.inline": "inline", "pl.jit.inline": "inline", "pl.jit.host": None}.get(path, "kernel")


def _is_opaque(path, options):
    """Whether a function need not declare which parameters it writes."""
    return path == "pl.jit.opaque" or path == "pl.function" and _member(options, "type") in ("", "Opaque")


def _collected(made):
    if MADE:
        MADE[-1].append(made)
    return made


class Decorator:
    """`@pl.jit`, `@pl.incore`, `@pl.function(type=…)`: turns a function into a kernel."""

    def __init__(self, path):
        self.__slipring_path__ = path
        self.__doc__ = f"`@{path}` makes a kernel of a function."

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        part = Decorator(f"{self.__slipring_path__}.{name}")
        self.__dict__[name] = part
        return part

    def __call__(self, function=None, /, **options):
        if function is None:
            return functools.partial(self._make, options=options, depth=2)
        return self._make(function, options, 3)

    def _make(self, function, options, depth):
        if isinstance(function, type):
            unknown = set(options) - {"strict_ssa"}
            if unknown:
                raise TypeError(f"{self.__slipring_path__} has no argument `{sorted(unknown)[0]}`")
            return _collected(Program(function, self.__slipring_path__, options))
        if isinstance(function, Function):
            return function
        kind = _kind(self.__slipring_path__, options)
        constants = {}
        while isinstance(function, (staticmethod, functools.partial)):
            # Keyword arguments of a partial function are constants of the kernel.
            if isinstance(function, functools.partial):
                if function.args:
                    raise TypeError("a kernel of a partial function: pass its constants by name, `partial(f, TILE=64)`")
                constants = {**function.keywords, **constants}
            function = getattr(function, "func", None) or function.__func__
        made = Function(function, kind, surroundings(depth))
        made.constants, made.decorator = constants, self.__slipring_path__
        made.is_opaque = _is_opaque(self.__slipring_path__, options)
        made.of_host = self.__slipring_path__ == "pl.jit.host" or _member(options, "level") not in ("", *OF_DEVICE)
        return _collected(made)

    def __repr__(self):
        return self.__slipring_path__


__all__ = ["Decorator"]
