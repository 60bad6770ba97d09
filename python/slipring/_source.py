"""The source text of functions, and the values of their names."""

import functools
from types import FunctionType, ModuleType

from ._slipring import KernelError
from ._words import Generic


def written(function):
    """The current lines of the file that contains a function."""
    import linecache

    code = getattr(function, "__code__", None)
    if code is None:
        return None
    linecache.checkcache(code.co_filename)
    return linecache.getlines(code.co_filename, getattr(function, "__globals__", None))


class Text:
    """The text of a function, with its location."""

    def __init__(self, function, written=None, decorator=None):
        # Imported here because these modules take longer to import than the whole package.
        import ast
        import inspect
        import textwrap

        code = function.__code__
        self.filename = code.co_filename
        self.name = function.__name__
        try:
            if written and 0 < code.co_firstlineno <= len(written):
                # The file as it was when the function was defined; it may have been edited since.
                self.first = code.co_firstlineno
                self.lines = inspect.getblock(written[self.first - 1 :])
            else:
                self.lines, self.first = inspect.getsourcelines(function)
        except (OSError, TypeError, IndentationError):
            raise KernelError(
                f"the text of `{self.name}` is not known: slipring compiles what is written, so a kernel stands in a file, a "
                "notebook or a prompt that keeps what was typed (IPython, or Python 3.13 and later)"
            ) from None
        self.first = max(self.first, 1)
        indented = self.lines[0][:1] in (" ", "\t")
        self.indent = self.lines[0][: len(self.lines[0]) - len(self.lines[0].lstrip())] if indented else ""
        tree = ast.parse(textwrap.dedent("".join(self.lines)) if indented else "".join(self.lines))
        self._decorated(tree.body[0], decorator)
        self.used = sorted({node.id for node in ast.walk(tree) if isinstance(node, ast.Name)})
        # The members used of each name: `model.width` for `config.model.width`.
        self.members = {}
        for node in ast.walk(tree):
            chain = []
            while isinstance(node, ast.Attribute):
                chain.append(node.attr)
                node = node.value
            if chain and isinstance(node, ast.Name):
                self.members.setdefault(node.id, set()).add(tuple(reversed(chain)))
        # The functions of its class that it uses.
        own = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
        self.siblings = sorted({node.attr for node in own if node.value.id == "self"})
        self.returned = _returned(tree.body[0])
        self.is_open = _is_open(tree.body[0])
        self.key = (self.filename, self.first, "".join(self.lines))

    def _decorated(self, function, decorator):
        """Removes the autotune decorator, and inserts the decorator of a plain function that became a kernel."""
        self.lines = list(self.lines)
        for own in function.decorator_list:
            if _is_tuning(own):
                for at in range(own.lineno - 1, own.end_lineno):
                    self.lines[at] = "\n"
        if decorator and not function.decorator_list and self.first > 1:
            self.lines.insert(0, f"{self.indent}@{decorator}\n")
            self.first -= 1


def _is_tuning(decorator):
    """Whether this is `@pl.autotune(…)`, which precedes the decorator of the kernel."""
    import ast

    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Attribute) and called.attr == "autotune"


def _returned(function):
    """The names that a function's last statement returns, in order; `None` for a value without a name."""
    import ast

    last = function.body[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return []
    values = last.value.elts if isinstance(last.value, ast.Tuple) else [last.value]
    return [value.id if isinstance(value, ast.Name) else None for value in values]


def _is_open(function):
    """Whether the body of a function is `...`, apart from its docstring."""
    import ast

    constants = [line.value.value for line in function.body if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)]
    return len(constants) == len(function.body) and constants[-1] is ... and all(isinstance(text, str) for text in constants[:-1])


_MISSING = object()


def look_up(name, function, local):
    """The value of a name in a function, by Python's rules; `local` holds the names around its definition."""
    code = function.__code__
    if name in code.co_freevars:
        try:
            return function.__closure__[code.co_freevars.index(name)].cell_contents
        except ValueError:
            return _MISSING
    if name in code.co_varnames or name in code.co_cellvars:
        # A local name of the function; in its annotations, the same name may refer to an enclosing scope.
        return local.get(name, _MISSING)
    if name in local:
        return local[name]
    return function.__globals__.get(name, _MISSING)


# Modules that the language knows, with the names by which it knows them.
_MODULES = {"math": "math", "numpy": "np", "torch": "torch", "functools": "functools"}


def plain(value, members=()):
    """A value that a kernel may use, in a form that the compiler takes and that can be compared; `_MISSING` for other
    values.

    `members` are the member chains used of it: nothing else of a module or an instance is read.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    path = getattr(value, "__slipring_path__", None)
    if isinstance(path, str):
        return Path(path)
    if isinstance(getattr(value, "__slipring_function__", None), str):
        return FunctionName(value)
    if isinstance(value, FunctionType):
        return FunctionName(value)
    if isinstance(value, Generic):
        return alias(value)
    if isinstance(value, functools.partial):
        own = value.func
        parts = FunctionName(own) if isinstance(own, FunctionType) else plain(own), plain(value.args), plain(value.keywords)
        return _MISSING if _MISSING in parts or len(parts[2]) < len(value.keywords) else Partial(*parts)
    if value is functools.partial:
        return Path("functools.partial")
    if isinstance(value, tuple) and hasattr(value, "_fields") and any(chain[0] in value._fields for chain in members):
        fields = {name: plain(getattr(value, name)) for name in value._fields}
        return Members(value, {name: item for name, item in fields.items() if item is not _MISSING})
    if isinstance(value, tuple) and len(value) > 16:
        return _constant(value)
    if type(value) is list and len(value) > 16:
        return _of_list(value)
    if isinstance(value, (tuple, list)):
        items = tuple(plain(item) for item in value)
        return _MISSING if _MISSING in items else items
    if not isinstance(value, ModuleType) and hasattr(value, "item") and getattr(value, "shape", None) == ():
        return plain(value.item())
    if not members and _is_numbers(value):
        return tuple(value.tolist())
    if isinstance(value, dict):
        entries = {plain(key): plain(item) for key, item in value.items()}
        known = Entries((key, item) for key, item in entries.items() if key is not _MISSING and item is not _MISSING)
        known.same = id(value)
        return known
    if isinstance(value, ModuleType) and value.__name__ in _MODULES:
        return Path(_MODULES[value.__name__])
    fields = {}
    for name in sorted({chain[0] for chain in members}):
        inner = plain(getattr(value, name, _MISSING), [chain[1:] for chain in members if chain[0] == name and chain[1:]])
        if inner is not _MISSING:
            fields[name] = inner
    return Members(value, fields) if fields or _is_array(value) else _MISSING


def _is_array(value):
    """Whether a value is a numpy array, or similar."""
    return hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__")


def _is_numbers(value):
    """Whether a value is a short one-dimensional array of numbers, which is a tuple in a kernel."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    return kind in ("i", "u", "f", "b") and getattr(value, "ndim", 0) == 1 and len(value) <= 1024 and hasattr(value, "tolist")


class _Constant(tuple):
    """A long tuple of numbers and strings: converted once, and compared by the identity of its source."""

    __slots__ = ()


# A reference to each source tuple is kept, so that its id is not reused.
_CONSTANTS = {}
_LISTS = {}


def _constant(value):
    """A tuple in the form that the compiler takes; immutable tuples are converted only once."""
    known = _CONSTANTS.get(id(value))
    if known is not None and known[0] is value:
        return known[1]
    items = tuple(plain(item) for item in value)
    if _MISSING in items:
        return _MISSING
    if not _fixed(value):
        return items
    while len(_CONSTANTS) >= 256:
        _CONSTANTS.pop(next(iter(_CONSTANTS)))
    _CONSTANTS[id(value)] = (value, _Constant(items))
    return _CONSTANTS[id(value)][1]


def _of_list(value):
    """A long list as a constant: the converted one is reused while the contents are unchanged."""
    kinds = tuple(map(type, value))
    if not set(kinds) <= {bool, int, float, str}:
        items = tuple(plain(item) for item in value)
        return _MISSING if _MISSING in items else items
    known = _LISTS.get(id(value))
    if known is None or known[0] is not value or known[1] != kinds or known[2] != tuple(value):
        while len(_LISTS) >= 256:
            _LISTS.pop(next(iter(_LISTS)))
        known = _LISTS[id(value)] = (value, kinds, _Constant(value))
    return known[2]


def is_constant(value):
    """Whether a long tuple or list has been converted before and is still valid: tuples are immutable, and the list
    still has the same types."""
    known = _CONSTANTS.get(id(value))
    if known is not None and known[0] is value:
        return True
    known = _LISTS.get(id(value))
    return known is not None and known[0] is value and known[1] == tuple(map(type, value))


def _fixed(value):
    """Whether a value is immutable."""
    return all(_fixed(item) if type(item) is tuple else isinstance(item, (bool, int, float, str, type(None))) for item in value)


def keyed(value):
    """A value as a part of a cache key: equal keys compile to the same kernel."""
    return ("constant", id(value)) if isinstance(value, _Constant) else repr(value)


class Entries(dict):
    """A dict; `same` is equal for the same dict under different names."""


class FunctionName:
    """A function to which a name refers."""

    def __init__(self, function):
        self.__slipring_function__ = getattr(function, "__slipring_function__", None) or function.__name__
        self.key = identity(function)
        # Its index among the functions of a text, if it is one of them.
        self.part = None

    def __eq__(self, other):
        return isinstance(other, FunctionName) and self.key == other.key

    def __hash__(self):
        return hash(self.key)

    def __repr__(self):
        return f"<function {self.__slipring_function__} {self.part}>"


def identity(function):
    """What identifies a function under any name: its code object and its instance."""
    return id(getattr(function, "function", function)), id(getattr(function, "instance", None))


class Partial:
    """A function with arguments that are added to each of its calls."""

    def __init__(self, function, args, named):
        self.__slipring_partial__ = function, args, named

    def __repr__(self):
        return f"<partial {self.__slipring_partial__}>"


class Alias(str):
    """A type of the language bound to a name, in the spelling with `pl`."""

    def __new__(cls, generic):
        made = super().__new__(cls, spelled(generic, "pl", {}))
        made.generic = generic
        return made

    def __repr__(self):
        return f"the type {self}"


def alias(generic):
    """A type in the spelling of a kernel's text; `_MISSING` if it has parts that cannot be written."""
    try:
        return Alias(generic)
    except TypeError:
        return _MISSING


def spelled(part, language, extents):
    """A part of a type as text, where `language` is the name of the language, and with a `d` that of its part for several
    devices; extents known only at run time are added to `extents`, by the names with which they are written."""
    if isinstance(part, Generic):
        inner = part.parts if isinstance(part.parts, tuple) else (part.parts,)
        return f"{spelled_word(part.word, language)}[{', '.join(spelled(one, language, extents) for one in inner)}]"
    path = getattr(part, "__slipring_path__", None)
    if isinstance(path, str) and path.startswith("pl.dynamic."):
        name = "_extent_" + path.removeprefix("pl.dynamic.")
        extents[name] = Path(path)
        return name
    if isinstance(path, str) and path.startswith(("pl.", "pld.")):
        return spelled_word(path, language)
    if isinstance(part, (list, tuple)):
        inside = ", ".join(spelled(one, language, extents) for one in part)
        return f"[{inside}]" if isinstance(part, list) else f"({inside},)"
    if part is None or isinstance(part, (bool, int, float, str)):
        return repr(part)
    raise TypeError(part)


def spelled_word(path, language):
    """The language's own name of a builtin with several names."""
    module, _, name = path.partition(".")
    return f"{language}{module.removeprefix('pl')}.{name}"


class Members:
    """A module or an instance: the members that are used, and a description for messages."""

    def __init__(self, value, members):
        # Equal for the same value under different names.
        self.same = id(value)
        own = isinstance(value, ModuleType)
        self.what = f"the module `{value.__name__}`" if own else f"an instance of `{type(value).__name__}`"
        if isinstance(value, FunctionType):
            self.what = f"`{value.__name__}` of Python (a kernel calls what `def` makes, by that name)"
        if _is_array(value):
            shape = list(getattr(value, "shape", ()))
            self.what = f"an array {shape} of the host, which a kernel takes as an argument (`table: pl.Tensor`)"
        self.__slipring_members__ = members

    def __repr__(self):
        return f"<{self.what}: {self.__slipring_members__}>"


class Path(str):
    """The full name of a builtin of the language."""

    @property
    def __slipring_path__(self):
        return str(self)

    def __repr__(self):
        return f"<{self}>"


def surroundings(depth):
    """The names around a definition: those of the enclosing functions and classes."""
    import inspect
    import sys

    frame, around = sys._getframe(depth), []
    while frame is not None and frame.f_locals is not frame.f_globals:
        around.append(frame.f_locals)
        if frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            break
        # The body of a class: continue with the enclosing scope.
        frame = frame.f_back
    names = {}
    for outer in reversed(around):
        names.update(outer)
    return names
