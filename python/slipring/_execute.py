"""Files of the kernel language as Python executes them: what `python -m slipring` compiles.

Decorators collect the kernels and programs while the file runs as a module; imports, factories, classes and aliases are Python's own.
"""

import ast
import builtins
import contextlib
import functools
import inspect
import linecache
import os
import sys
import types

from ._decorator import MADE
from ._kernel import Function
from ._program import Program


class Stopped(Exception):
    """An exception raised by a file's own code, at a line of the file."""

    def __init__(self, message, line):
        super().__init__(message)
        self.slipring_line = line


class _Absent(types.ModuleType):
    """A stand-in for a library that is not installed. Files that only mention it can be executed; calling anything of
    it raises."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Part(f"{self.__name__}.{name}", self.__name__)


class _Part(type):
    """A member of a library that is not installed."""

    def __new__(cls, name, library):
        return super().__new__(cls, name, (), {"_library": library})

    def __init__(cls, name, library):
        super().__init__(name, (), {})

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Part(f"{cls.__name__}.{name}", cls._library)

    def __call__(cls, *args, **kwargs):
        raise ModuleNotFoundError(f"No module named '{cls._library}', of which `{cls.__name__}` is called", name=cls._library)

    def __repr__(cls):
        return cls.__name__


# Array libraries that scripts import for the code around their kernels.
ABSENT = ("torch",)


def _stand_in():
    """Installs stand-in modules for libraries that are not installed."""
    import importlib.util

    for name in ABSENT:
        if name not in sys.modules and importlib.util.find_spec(name) is None:
            sys.modules[name] = _Absent(name)


class _Set(ast.NodeTransformer):
    """Overrides constants of a file."""

    def __init__(self, values):
        self.values, self.taken = values, set()

    def visit_FunctionDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def visit_Assign(self, node):
        if len(node.targets) == 1:
            self._give(node, node.targets[0])
        return node

    def visit_AnnAssign(self, node):
        self._give(node, node.target)
        return node

    def _give(self, node, target):
        if isinstance(target, ast.Name) and target.id in self.values:
            self.taken.add(target.id)
            given = ast.Constant(self.values[target.id])
            node.value = ast.fix_missing_locations(ast.copy_location(given, node.value or node))


def _value(text):
    """A value from the command line: a Python literal, else the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return {"true": True, "false": False}.get(text, text)


def _line(error, path):
    """The line of the file at which the exception occurred."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    found, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            found = trace.tb_lineno
        trace = trace.tb_next
    return found


def _stopped(error, path):
    if isinstance(error, Stopped):
        return error
    words = error.msg if isinstance(error, SyntaxError) else str(error)
    return Stopped(f"{type(error).__name__}: {words}" if words else type(error).__name__, _line(error, path))


class _File:
    """An executed file: the objects that its decorators created, and its names."""

    def __init__(self, path, text, sets):
        self.path, self.text, self.values = path, text, {name: _value(word) for name, word in sets}
        self.taken, self.made = set(), []
        tree = ast.parse(text, path)
        change = _Set(self.values)
        tree = change.visit(tree)
        self.taken |= change.taken
        lines = text.splitlines(keepends=True)
        linecache.cache[path] = (len(text), None, lines, path)
        name = os.path.splitext(os.path.basename(path))[0]
        module = types.ModuleType(name if name.isidentifier() and name not in sys.modules else f"slipring_file_{name}")
        module.__file__ = os.path.abspath(path)
        sys.modules[module.__name__] = module
        self.names = vars(module)
        folder = os.path.dirname(module.__file__)
        if folder not in sys.path:
            # Modules next to the file can be imported.
            sys.path.insert(0, folder)
        _stand_in()
        with _collecting(self.made):
            exec(compile(tree, path, "exec"), self.names)
            self._factories(tree)
        unknown = sorted(set(self.values) - self.taken)
        if unknown:
            raise Stopped(f"`--set {unknown[0]}=…`: the file has no such constant, and no function that builds kernels such a parameter", None)

    def _factories(self, tree):
        """Calls functions of the file that build kernels and have not been called."""
        self.open = []
        built = {own.function.__code__ for own in self.made if isinstance(own, Function)}
        for node in tree.body:
            function = self.names.get(getattr(node, "name", None))
            if not isinstance(node, ast.FunctionDef) or not isinstance(function, types.FunctionType) or node.decorator_list:
                continue
            if not any(self._builds(inner) for inner in ast.walk(node)):
                continue
            if any(code in built for code in _codes(function.__code__)):
                # Already called; it is called again only if one of its parameters is set.
                if not set(inspect.signature(function).parameters) & set(self.values):
                    continue
            given = {}
            for name, parameter in inspect.signature(function).parameters.items():
                if name in self.values:
                    given[name] = self.values[name]
                    self.taken.add(name)
                elif parameter.default is parameter.empty and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    self.open.append((function.__name__, name, node.lineno))
                    break
            else:
                function(**given)

    def _builds(self, node):
        """Whether this is an inner function or class with a decorator that may make a kernel of it."""
        return isinstance(node, (ast.FunctionDef, ast.ClassDef)) and any(map(self._may_make, node.decorator_list))

    def _may_make(self, decorator):
        """Whether a decorator may be one of the language; those whose value only the enclosing function knows may be."""
        while isinstance(decorator, ast.Call):
            decorator = decorator.func
        chain = []
        while isinstance(decorator, ast.Attribute):
            chain.append(decorator.attr)
            decorator = decorator.value
        if not isinstance(decorator, ast.Name):
            return True
        known = {**vars(builtins), **self.names}
        if decorator.id not in known:
            return True
        value = known[decorator.id]
        for name in reversed(chain):
            value = getattr(value, name, None)
        while isinstance(value, functools.partial):
            value = value.func
        own = getattr(value, "__globals__", None) is self.names
        return hasattr(value, "__slipring_path__") or own and self._is_of_language(value.__code__)

    def _is_of_language(self, code):
        """Whether a function of the file uses something of the language."""
        codes = [code, *_codes(code)]
        return any(hasattr(self.names.get(name), "__slipring_path__") for one in codes for name in one.co_names)

    def functions(self):
        """The functions that the decorators created, without duplicates; those of classes follow their class."""
        found = []
        for own in self.made:
            found += own.functions.values() if isinstance(own, Program) else [own]
        # Methods are kernels of the instances in the file.
        for value in list(self.names.values()):
            methods = vars(type(value)).items() if type(value).__module__ == self.names["__name__"] else ()
            found += [getattr(value, name) for name, own in methods if isinstance(own, Function) and _is_method(own)]
        each = {}
        for function in found:
            each.setdefault((id(function.function), id(function.instance)), function)
        return list(each.values())

    def entries(self):
        """The entry functions: those of programs, and functions that no other function calls."""
        own = [function for function in self.functions() if function.function.__code__.co_filename == self.path]
        own = own or self.functions()
        entries, parts = [], []
        for function in own:
            if function.owner is not None:
                if function not in function.owner.entries():
                    continue
            elif function.kind in ("inline", "python", "helper") or _is_method(function):
                continue
            entries.append(function)
            parts.append({id(part.function) for part in function._parts()[0]})
        left = []
        for at, function in enumerate(entries):
            own = id(function.function)
            # Of functions that are parts of each other, as the two ends of a pipe are, the first one stands for all.
            others = [other for other in range(len(entries)) if other != at and own in parts[other]]
            above = [other for other in others if other < at or id(entries[other].function) not in parts[at]]
            if not above or function.owner is not None:
                left.append(function)
        return left

    def named(self, name):
        """The entry functions for the name of a function, a class or a variable."""
        found = self.names.get(name)
        if isinstance(found, Function):
            return [found]
        if isinstance(found, Program):
            return found.entries()
        programs = [own for own in self.made if isinstance(own, Program) and own.name == name]
        if programs:
            return programs[-1].entries()
        return [function for function in self.functions() if function.name == name][-1:]


def _is_method(function):
    """Whether this is a method, without its instance, of a class that is not a program."""
    return function.owner is None and function.instance is None and function.function.__code__.co_varnames[:1] == ("self",)


def _codes(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


@contextlib.contextmanager
def _collecting(made):
    """Collects the objects that decorators create, and redirects the file's output to standard error."""
    MADE.append(made)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        MADE.pop()


def _unit(function, file):
    """The text of a function with all its parts, and the values of its names."""
    parts, names = function._parts()
    # Comment lines that contain directives for the run.
    comments = file.text.splitlines() if parts[0].text.filename == file.path else ()
    filename, text = names.text(parts, comments)
    return filename, text, function.name, names


_known = {}


def execute(path, text, function, sets):
    """The kernels and programs of a file as (file, text, function, names): the named one, else the entries.

    A file is executed once per set of values. Exceptions of its own code are raised as `Stopped`.
    """
    key = (path, text, tuple(sets))
    try:
        file = _known.get(key)
        if file is None:
            while len(_known) >= 16:
                _known.pop(next(iter(_known)))
            file = _known[key] = _File(path, text, sets)
        chosen = file.entries() if function is None else file.named(function)
        if function is not None and not chosen:
            known = ", ".join(f"`{own.name}`" for own in file.functions()) or "none"
            raise Stopped(f"the file has no kernel `{function}`; those that it has: {known}", None)
        if file.open and (function is None or not chosen):
            name, parameter, line = file.open[0]
            raise Stopped(f"`{name}` builds kernels, and nothing is given for its `{parameter}`: `--set {parameter}=VALUE`", line)
        return [_unit(own, file) for own in chosen]
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        _known.pop(key, None)
        raise _stopped(error, path) from None


__all__ = ["execute"]
