"""The functions that a kernel is made of as one text, and what names stand for in each of them."""

from ._slipring import KernelError
from ._source import Alias, FunctionName, Members, Partial, Path, _Constant, identity, keyed, spelled


class Names:
    """What names stand for around the functions of a text, as the compiler takes it.

    `whole` are names around all of it, `parts` the functions: where each stands in the text in bytes, its own names, and what it was
    defined in. `elsewhere` says what comes from other files: where it stands, the name of the file, and with which of its lines it
    begins. Names are looked up once: a program that is followed sets none outside of its functions.
    """

    def __init__(self):
        self.whole, self.parts, self.elsewhere = {"pl": Path("pl")}, [], []
        # The names of each function, in their order.
        self.own = []

    def close(self, parts, own):
        """The functions are these, with these names."""
        self.own = list(own)
        at = {identity(part): number for number, part in enumerate(parts)}
        for names in own:
            _number(names, at)

    def all(self):
        """All dicts of names, those of the function to begin with first."""
        return [*self.own, self.whole]

    def flat(self):
        """One dict, for a text in which all functions share their names.

        Raises `KernelError` where a name stands for several things.
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
        # The text itself says what functions are called.
        own = {name for name, value in flat.items() if isinstance(value, FunctionName) and value.__slipring_function__ == name}
        return {name: value for name, value in flat.items() if name not in own}

    def with_values(self, values):
        """The same where names, of whatever function, stand for other values."""
        other = Names()
        other.whole = _set(self.whole, values)
        other.own = [_set(names, values) for names in self.own]
        other.elsewhere = self.elsewhere
        other.parts = [(place, names, within) for (place, _, within), names in zip(self.parts, other.own)]
        return other

    def key(self):
        """What compares equal is compiled alike."""
        return tuple(tuple(sorted((name, keyed(value)) for name, value in names.items())) for names in self.all())

    def __contains__(self, name):
        return any(name in names for names in self.all())

    def __iter__(self):
        return iter(dict.fromkeys(name for names in self.all() for name in names))

    def text(self, parts, comments=()):
        """One text of the functions, each at the lines where it stands: `(filename, text)`. `comments` are lines of the file that are
        written where nothing stands."""
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
        """Adds a line for each type that a name stands for, as a file has it."""
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
        self.whole["_slipring_pl"] = Path("pl")


def _shown(filename):
    """A file's name as it is shown: from here, where it lies below."""
    import os

    below = os.path.relpath(filename) if os.path.isabs(filename) else filename
    return filename if below.startswith("..") else below


def _set(names, values):
    return {name: values.get(name, value) for name, value in names.items()}


def _number(value, at):
    """Says to each function that is named where it stands among those of the text."""
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
    """What a function was defined in: its module where that is another one, classes and functions."""
    *within, _ = part.function.__qualname__.split(".")
    module = [] if part.text.filename == filename else str(part.function.__module__).split(".")
    return [name for name in (*module[-1:], *within) if name.isidentifier()]


def _together(parts):
    """The lines of the functions, and for each from which line to which it stands there."""
    # A text of which several functions were made stands there once.
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
            # In a class, functions find each other by `self`.
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
