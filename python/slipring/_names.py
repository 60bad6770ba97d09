"""Combines the functions of a kernel into one text, with the values of the names in each."""

from ._slipring import KernelError
from ._source import Alias, FunctionName, Members, Partial, Path, _Constant, identity, keyed, spelled


class Names:
    """The values of names around the functions of a text, in the form that the compiler takes.

    `whole` holds the names around all of it, and `parts` the functions: the byte range of each in the text, its own
    names, and the scopes in which it was defined. `elsewhere` lists the ranges that come from other files: range, file
    name, and first line. Names are looked up once: a program that is followed sets no names outside its functions.
    """

    def __init__(self):
        self.whole, self.parts, self.elsewhere = {"pl": Path("pl")}, [], []
        # The names of each function, in order.
        self.own = []

    def close(self, parts, own):
        """Sets the functions and their names."""
        self.own = list(own)
        at = {identity(part): number for number, part in enumerate(parts)}
        for names in own:
            _number(names, at)

    def all(self):
        """All dicts of names, those of the entry function first."""
        return [*self.own, self.whole]

    def flat(self):
        """One dict, for a text in which all functions share their names.

        Raises `KernelError` if a name has several values.
        """
        flat = {}
        for names in self.all():
            for name, value in names.items():
                first = flat.setdefault(name, value)
                if isinstance(first, Members) and isinstance(value, Members) and first.same == value.same:
                    first.__slipring_members__.update(value.__slipring_members__)
                elif repr(first) != repr(value):
                    raise KernelError(
                        f"`{name}` stands for {first!r} and, in another function of the program, for {value!r}: in one text they "
                        "share their names. Give one of them another name, or pass the value as an argument"
                    )
        # Names of functions follow from the text itself.
        own = {name for name, value in flat.items() if isinstance(value, FunctionName) and value.__slipring_function__ == name}
        return {name: value for name, value in flat.items() if name not in own}

    def with_values(self, values):
        """A copy in which names, in any function, have other values."""
        other = Names()
        other.whole = _set(self.whole, values)
        other.own = [_set(names, values) for names in self.own]
        other.elsewhere = self.elsewhere
        other.parts = [(place, names, within) for (place, _, within), names in zip(self.parts, other.own)]
        return other

    def key(self):
        """The cache key: equal keys compile to the same kernel."""
        return tuple(tuple(sorted((name, keyed(value)) for name, value in names.items())) for names in self.all())

    def __contains__(self, name):
        return any(name in names for names in self.all())

    def __iter__(self):
        return iter(dict.fromkeys(name for names in self.all() for name in names))

    def text(self, parts, comments=()):
        """One text with each function at its original lines: `(filename, text)`. `comments` are lines of the file that
        are written to lines that would be empty."""
        filename, lines, places = _together(parts)
        for at, line in enumerate(comments[: len(lines)]):
            if line.startswith("#") and not lines[at].strip():
                lines[at] = f"{line}\n"
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line.encode()))
        self._types(lines)
        self.parts = [
            ((starts[first], starts[last]), names, _within(part, filename) if number else [])
            for number, (part, (first, last), names) in enumerate(zip(parts, places, self.own))
        ]
        self.elsewhere = sorted(
            {
                ((starts[first], starts[last]), _shown(part.text.filename), part.text.first)
                for part, (first, last) in zip(parts, places)
                if part.text.filename != filename
            }
        )
        return filename, "".join(lines)

    def _types(self, lines):
        """Adds a line for each name of a type, as a file would have it."""
        types = {}
        for names in self.all():
            for name in [name for name, value in names.items() if isinstance(value, Alias)]:
                value = names.pop(name)
                if types.setdefault(name, value) != value:
                    raise KernelError(
                        f"`{name}` is {types[name]!r} and, in another function, {value!r}: the types that functions of a program have "
                        "names for are those of all. Give one of them another name"
                    )
        if not types:
            return
        for name, value in types.items():
            extents = {}
            lines.append(f"{name} = {spelled(value.generic, '_slipring_pl', extents)}\n")
            self.whole.update(extents)
        self.whole |= {"_slipring_pl": Path("pl"), "_slipring_pld": Path("pld")}


def _shown(filename):
    """A file name for display: relative to the current folder if the file is below it."""
    import os

    below = os.path.relpath(filename) if os.path.isabs(filename) else filename
    return filename if below.startswith("..") else below


def _set(names, values):
    return {name: values.get(name, value) for name, value in names.items()}


def _number(value, at):
    """Sets the index of each named function among the functions of the text."""
    if isinstance(value, FunctionName):
        value.part = at.get(value.key)
    elif isinstance(value, dict):
        for item in value.values():
            _number(item, at)
    elif isinstance(value, Members):
        _number(value.__slipring_members__, at)
    elif isinstance(value, Partial):
        function, args, named = value.__slipring_partial__
        _number((function, *args, *named.values()), at)
    elif isinstance(value, tuple) and not isinstance(value, _Constant):
        for item in value:
            _number(item, at)


def _within(part, filename):
    """The scopes in which a function was defined: its module if that is another one, classes and functions."""
    *within, _ = part.function.__qualname__.split(".")
    module = [] if part.text.filename == filename else str(part.function.__module__).split(".")
    return [name for name in (*module[-1:], *within) if name.isidentifier()]


def _together(parts):
    """The lines of the functions, and the range of lines of each."""
    # A text from which several functions were created appears only once.
    texts = list({part.text.key: part.text for part in parts}.values())
    classes = {}
    for part in parts:
        if classes.setdefault(part.text.key, part.owner) is not part.owner:
            raise KernelError(f"`{part.name}` is of two programs that are made of one text: start it in one of them")
    filename = texts[0].filename
    own = sorted((text for text in texts if text.filename == filename), key=lambda text: text.first)
    others = [text for text in texts if text.filename != filename]
    lines, open_indent, open_class, places = [], "", None, {}
    for text in own + others:
        first = text.first if text in own else len(lines) + 3
        while len(lines) < first - 1:
            lines.append("\n")
            if len(lines) < first - 1:
                open_indent = None
        owner = classes[text.key]
        if text.indent and (owner is not open_class if owner else text.indent != open_indent):
            # In a class, functions refer to each other through `self`.
            head = f"class {owner.name}:\n" if owner else "if True:\n"
            decorator = owner.decorator if owner else ""
            if decorator and len(lines) > 1 and not lines[-2].strip():
                lines[-2] = f"{decorator}\n"
            if lines and not lines[-1].strip():
                lines[-1] = head
            else:
                lines.append(head)
        open_indent, open_class = text.indent, owner
        begin = len(lines)
        lines += text.lines
        if not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        places[text.key] = begin, len(lines)
    return filename, lines, [places[part.text.key] for part in parts]


__all__ = ["Names"]
