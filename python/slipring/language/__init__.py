"""The kernel language: `import slipring.language as pl`.

Every name of the language is here, with its documentation and the ways to call it; the stub beside this file says the same to editors
and type checkers. In a kernel the names are compiled; called anywhere else they are an error, but for `kernel.reference(…)`, which runs
the Python function itself.
"""

from .._slipring import catalogue as _catalogue
from .._slipring import words as _words
from .._words import Word
from .._kernel import Decorator as _Decorator
from .._tune import Config, autotune

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


def _computed(sign):
    """Two operators of an extent: with the extent on the left, and on the right."""
    return (
        lambda own, other: Extent(f"({own!r} {sign} {other!r})", own.__doc__),
        lambda own, other: Extent(f"({other!r} {sign} {own!r})", own.__doc__),
    )


class Extent(Word):
    """An extent that is known when the kernel is called, or an expression of such extents."""

    __add__, __radd__ = _computed("+")
    __sub__, __rsub__ = _computed("-")
    __mul__, __rmul__ = _computed("*")
    __floordiv__, __rfloordiv__ = _computed("//")
    __mod__, __rmod__ = _computed("%")


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
    for name in ("jit", "incore", "kernel", "function", "inline", "program"):
        names[name] = _Decorator(f"pl.{name}")


_fill(globals())
# The type of the result of `pl.dynamic`.
DynVar = Extent
__all__ = sorted(name for name in globals() if not name.startswith("_") and name not in ("Dynamic", "Extent", "Op", "Word"))
