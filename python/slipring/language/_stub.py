"""Generates the stub of the language from its catalogue: `python -m slipring.language._stub >
python/slipring/language/__init__.pyi`."""

import keyword

from .._slipring import catalogue, words
from ._types import DESCRIBED, TYPES

HEAD = '''"""The kernel language. Made from the catalogue by slipring.language._stub: do not change it by hand."""

from typing import Annotated, Any, Callable, TypeVar, overload

from .. import Function

_T = TypeVar("_T")
_C = TypeVar("_C", bound=type)
# mypy takes this for true.
MYPY = False

class DType: ...
class Member: ...

class _Array:
    shape: tuple[int, ...]
    dtype: DType
    def __getitem__(self, at: Any) -> Any: ...
    def __setitem__(self, at: Any, value: Any) -> None: ...
    def __add__(self, other: Any) -> Any: ...
    def __sub__(self, other: Any) -> Any: ...
    def __mul__(self, other: Any) -> Any: ...
    def __truediv__(self, other: Any) -> Any: ...
    def __matmul__(self, other: Any) -> Any: ...
    def __mod__(self, other: Any) -> Any: ...
    def __and__(self, other: Any) -> Any: ...
    def __or__(self, other: Any) -> Any: ...
    def __xor__(self, other: Any) -> Any: ...
    def __invert__(self) -> Any: ...
    def __neg__(self) -> Any: ...
    def __radd__(self, other: Any) -> Any: ...
    def __rsub__(self, other: Any) -> Any: ...
    def __rmul__(self, other: Any) -> Any: ...
    def __rtruediv__(self, other: Any) -> Any: ...
    def __lt__(self, other: Any) -> Any: ...
    def __le__(self, other: Any) -> Any: ...
    def __gt__(self, other: Any) -> Any: ...
    def __ge__(self, other: Any) -> Any: ...
    @property
    def T(self) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...

if MYPY:
    from ._any import Scalar as Scalar
    from ._any import Tensor as Tensor
    from ._any import Tile as Tile
else:
    class Tensor(_Array):
        """A tensor in global memory: `pl.Tensor[[64, 64], pl.FP32]`, or `pl.Tensor` for the shape that is passed."""
        def __class_getitem__(cls, parts: Any) -> Any: ...

    class Tile(_Array):
        """A tile in a local memory."""
        def __class_getitem__(cls, parts: Any) -> Any: ...

    class Scalar(_Array):
        """A number that is passed: `pl.Scalar[pl.INT32]`."""
        def __index__(self) -> int: ...
        def __class_getitem__(cls, parts: Any) -> Any: ...

# An output.
Out = Annotated[_T, "output"]
# Read and written.
InOut = Annotated[_T, "read and written"]

# A parameter that is a constant of the kernel: `TILE: pl.constexpr = 64`.
constexpr = Annotated[Any, "constant"]

class Config(dict[str, Any]):
    """Constants of a kernel that are tried together."""
    blocks: int | None
    def __init__(self, constants: dict[str, Any] | None = ..., *, blocks: int | None = ..., **more: Any) -> None: ...

def autotune(configs: Any, key: Any = ...) -> Callable[[Any], Any]:
    """Runs the configuration that takes the fewest cycles."""

class _Decorator:
    @overload
    def __call__(self, function: _C, /) -> _C: ...
    @overload
    def __call__(self, function: Callable[..., Any], /) -> Function: ...
    @overload
    def __call__(self, **options: Any) -> Callable[[Callable[..., Any]], Function]: ...
    def __getattr__(self, name: str) -> _Decorator: ...

class _Word:
    def __call__(self, *args: Any, **options: Any) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
    def __getitem__(self, at: Any) -> Any: ...
    def __enter__(self) -> Any: ...
    def __exit__(self, *args: Any) -> None: ...

class DynVar(_Word):
    """The type of what `pl.dynamic("M")` gives."""
'''

CLASSES = ("Tensor", "Tile", "Scalar", "Out", "InOut", "constexpr")
DECORATORS = ("jit", "incore", "kernel", "function", "inline", "program")


def parameters(way):
    """`lhs, rhs, out=, *, mode=` as a signature's parameters; `None` if any arguments are accepted."""
    parts = [part.strip() for part in way.split(",") if part.strip()]
    if "…" in way:
        return None
    out, optional, star = [], False, False
    for part in parts:
        if part == "*":
            star = True
            out.append("*")
            continue
        name, equals, _ = part.partition("=")
        # Alternative names follow the usual one: `x/input/tile`.
        name = name.strip().partition("/")[0]
        if not name.lstrip("*").isidentifier() or keyword.iskeyword(name):
            return None
        if name.startswith("*"):
            out.append(f"{name}: Any")
            star = True
            continue
        if optional and not equals and not star:
            return None
        optional = optional or bool(equals)
        out.append(f"{name}: Any = ..." if equals else f"{name}: Any")
    return ", ".join(out)


def function(name, entry, indent=""):
    ways = [parameters(way) for way in entry["params"].split("|")]
    ways = ["*args: Any, **options: Any" if way is None else way for way in ways]
    ways = list(dict.fromkeys(ways))
    doc = entry["doc"] + ("." if not entry["doc"].endswith(".") else "")
    if entry["refused"]:
        doc += " Known, and refused: it cannot be compiled yet."
    lines = []
    for way in ways:
        if len(ways) > 1:
            lines.append(f"{indent}@overload")
        lines.append(f"{indent}def {name}({way}) -> Any:")
        lines.append(f'{indent}    """{doc}"""')
        lines.append("")
    return lines


def stub():
    """The text of the stub."""
    lines = HEAD.splitlines() + [""]
    others = [word for word, _, _ in words()]
    for word, form, doc in words():
        if word in CLASSES:
            continue
        kind = "_Decorator" if word in DECORATORS else "DType" if doc.startswith("An element type") else "_Word"
        lines.append(f"{word}: {kind}")
        lines.append(f'"""{doc}."""')
    for group in ("tile", "tensor", "system"):
        lines.append(f"{group}: _Word")
    lines.append("")
    groups, done = {}, set()
    for entry in catalogue():
        for name in entry["names"]:
            group, dot, bare = name.partition(".")
            if dot:
                groups.setdefault(group, []).append((bare, entry))
            elif name not in done and name not in others:
                done.add(name)
                if name.isidentifier() and not keyword.iskeyword(name):
                    lines += function(name, entry)
    further = {*TYPES, *DESCRIBED} - {*others, *done}
    for group in sorted({*groups, *further} - {"tile", "tensor", "system"}):
        lines.append(f"{group}: _Word")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    print(stub(), end="")
