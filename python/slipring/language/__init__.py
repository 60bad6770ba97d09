"""The kernel language: `import slipring.language as pl`.

Every name of the language is here, with its documentation and the ways to call it; the stub beside this file says the same to editors
and type checkers. In a kernel the names are compiled; called anywhere else they are an error, but for `kernel.reference(…)`, which runs
the Python function itself.
"""

import operator as _operator

from .._slipring import catalogue as _catalogue
from .._slipring import words as _words
from .._words import Word
from .._decorator import Decorator as _Decorator
from .._tune import Config, autotune
from . import _types

__slipring_path__ = "pl"


def _doc(entry):
    lines = [entry["doc"] + ".", ""]
    name = entry["names"][0]
    lines += [f"    pl.{name}({way.strip()})" for way in entry["params"].split("|")]
    if entry["refused"]:
        lines.append("\nKnown, and refused: it cannot be compiled yet.")
    return "\n".join(lines)


class Op(Word):
    """An op of the language."""


def _number(value):
    """The value of an extent in the current run of the reference, or `None`; anything else unchanged."""
    if not isinstance(value, Extent):
        return value
    from ..reference import active

    evaluator = active()
    return evaluator and evaluator.extents.get(value.__slipring_path__)


def _computed(sign, compute):
    """Two operators of an extent: with the extent on the left, and on the right."""

    def of(left, right):
        numbers = _number(left), _number(right)
        own = left if isinstance(left, Extent) else right
        return Extent(f"({left!r} {sign} {right!r})", own.__doc__) if None in numbers else compute(*numbers)

    return of, lambda own, other: of(other, own)


def _compared(compare):
    def of(own, other):
        numbers = _number(own), _number(other)
        return NotImplemented if None in numbers else compare(*numbers)

    return of


class Extent(Word):
    """An extent that is known when the kernel is called, or an expression of such extents."""

    __add__, __radd__ = _computed("+", _operator.add)
    __sub__, __rsub__ = _computed("-", _operator.sub)
    __mul__, __rmul__ = _computed("*", _operator.mul)
    __floordiv__, __rfloordiv__ = _computed("//", _operator.floordiv)
    __mod__, __rmod__ = _computed("%", _operator.mod)
    __lt__, __le__ = _compared(_operator.lt), _compared(_operator.le)
    __gt__, __ge__ = _compared(_operator.gt), _compared(_operator.ge)

    def __index__(self):
        number = _number(self)
        if number is None:
            raise TypeError(f"`{self!r}` is known when the kernel is called")
        return number

    def __eq__(self, other):
        number = _number(self)
        return Word.__eq__(self, other) if number is None or isinstance(other, Word) else number == other

    __hash__ = Word.__hash__


class Dynamic(Op):
    """`pl.dynamic("M")`: an extent that is known when the kernel is called. It may be created outside kernels, like
    types."""

    def __call__(self, name, *args, **kwargs):
        return Extent(f"pl.dynamic.{name}", f"The extent {name}, known when the kernel is called.")


def _fill(names):
    for word, form, doc in _words():
        ways = "".join(f"\n    pl.{word}{way.strip()}" for way in form.split("|") if way)
        names[word] = Word(f"pl.{word}", f"{doc}.\n{ways}")
    for entry in _catalogue():
        for name in entry["names"]:
            if "." not in name:
                names[name] = Op(f"pl.{name}", _doc(entry))
    for group in ("tile", "tensor", "system"):
        names[group] = Word(f"pl.{group}", f"`pl.{group}.x` is `pl.x`.")
    for entry in _catalogue():
        for name in entry["names"]:
            group, dot, bare = name.partition(".")
            if dot:
                names.setdefault(group, Word(f"pl.{group}"))
                names[group].__dict__[bare] = Op(f"pl.{name}", _doc(entry))
    names["dynamic"] = Dynamic("pl.dynamic", names["dynamic"].__doc__)
    for name, word in _types.words().items():
        names.setdefault(name, word)
    for name in ("jit", "incore", "kernel", "function", "inline", "program"):
        names[name] = _Decorator(f"pl.{name}")


_fill(globals())
# The type of the result of `pl.dynamic`.
DynVar = Extent
__all__ = sorted(name for name in globals() if not name.startswith("_") and name not in ("Dynamic", "Extent", "Op", "Word"))
