"""`pypto.language`: the language, with the additional names that public scripts use."""

import itertools
import linecache
import types

from .. import language
from .._kernel import Function
from .._program import Program

_number = itertools.count(1)


def _defined(text, filename, kind, what):
    """The single object of a kind that a text defines."""
    name = filename or f"<text {next(_number)} of pl.parse>"
    code = compile(text, name, "exec")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"pl": module(), "__name__": name}
    exec(code, names)
    found = [value for value in names.values() if isinstance(value, kind)]
    if len(found) != 1:
        said = f"no {what}" if not found else f"several {what}s: " + ", ".join(value.name for value in found)
        takes = "parse" if what == "function" else f"parse_{what}"
        raise ValueError(f"the text has {said}; pl.{takes} takes one with the decorator @pl.{what}")
    return found[0]


def parse(text, filename=None):
    """The function that a text defines: exactly one, with `@pl.function`. Names of the language need no import in
    it."""
    return _defined(text, filename, Function, "function")


def loads(path):
    """The function that a file defines."""
    with open(path, encoding="utf-8") as file:
        return parse(file.read(), str(path))


def parse_program(text, filename=None):
    """The program that a text defines: exactly one class with `@pl.program`."""
    return _defined(text, filename, Program, "program")


def loads_program(path):
    """The program that a file defines."""
    with open(path, encoding="utf-8") as file:
        return parse_program(file.read(), str(path))


_made = []


def module():
    """The module, created on first use."""
    if not _made:
        made = types.ModuleType("pypto.language", language.__doc__)
        made.__dict__.update({name: value for name, value in vars(language).items() if not name.startswith("__")})
        made.__slipring_path__ = language.__slipring_path__
        own = {"parse": parse, "loads": loads, "parse_program": parse_program, "loads_program": loads_program}
        made.__dict__.update({name: value for name, value in own.items() if name not in made.__dict__})
        made.__all__ = [*language.__all__, *own]
        _made.append(made)
    return _made[0]
