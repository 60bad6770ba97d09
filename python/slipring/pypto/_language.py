"""`pypto.language`: the language, with what public scripts also find in it."""

import itertools
import linecache
import types

from .. import language
from .._kernel import Function

_number = itertools.count(1)


def parse(text, filename=None):
    """The function that a text defines: one, with `@pl.function`. Names of the language need no import in it."""
    name = filename or f"<text {next(_number)} of pl.parse>"
    code = compile(text, name, "exec")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"pl": module(), "__name__": name}
    exec(code, names)
    found = [value for value in names.values() if isinstance(value, Function)]
    if len(found) != 1:
        what = "no function" if not found else "several functions: " + ", ".join(value.name for value in found)
        raise ValueError(f"the text has {what}; pl.parse takes one with the decorator @pl.function")
    return found[0]


def loads(path):
    """The function that a file defines."""
    with open(path, encoding="utf-8") as file:
        return parse(file.read(), str(path))


_made = []


def module():
    """The module, made once."""
    if not _made:
        made = types.ModuleType("pypto.language", language.__doc__)
        made.__dict__.update({name: value for name, value in vars(language).items() if not name.startswith("__")})
        made.__slipring_path__ = language.__slipring_path__
        made.__all__ = [*language.__all__, "loads", "parse"]
        made.parse, made.loads = parse, loads
        _made.append(made)
    return _made[0]
