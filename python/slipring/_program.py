"""Programs of the kernel language: classes of functions."""

import functools
import textwrap

from ._kernel import Function

# pytest omits the frames of this module from tracebacks.
__tracebackhide__ = True


class Program:
    """A class of kernels: `@pl.program`. Its functions are its attributes."""

    def __init__(self, cls, path="pl.program", options=()):
        functools.update_wrapper(self, cls, updated=())
        self.functions = {name: value for name, value in vars(cls).items() if isinstance(value, Function)}
        if not self.functions:
            raise TypeError(f"the program `{cls.__name__}` has no function: give one of its methods `@pl.function`")
        self._path, self._options = path, dict(options)
        for function in self.functions.values():
            function.owner = self

    @property
    def name(self):
        """Its name."""
        return self.__name__

    @property
    def decorator(self):
        """Its decorator as written in the text; empty if it has no options."""
        said = ", ".join(f"{name}={value!r}" for name, value in self._options.items())
        return f"@{self._path}({said})" if said else ""

    def entries(self):
        """The entry functions: host functions that no other host function calls, else the kernels."""
        kernels = [function for function in self.functions.values() if function.kind not in ("inline", "python")]
        entries = [function for function in kernels if function.kind is None] or kernels
        # A function that another one calls is a part of it.
        called = {name for function in entries for name in function.text.siblings if name != function.name}
        return [function for function in entries if function.name not in called] or entries

    def lower(self, *args, **kwargs):
        """The program of its entry: the host function, or the only kernel."""
        entries = self.entries()
        if len(entries) != 1:
            raise TypeError(f"the program has {len(entries)} functions to begin with: {', '.join(self.functions)}")
        return entries[0].lower(*args, **kwargs)

    def get_function(self, name):
        """The function of that name, or `None`."""
        return self.functions.get(name)

    def as_python(self):
        """Its text: the class with its functions."""
        functions = (textwrap.indent(textwrap.dedent(function.as_python()), "    ") for function in self.functions.values())
        return f"{self.decorator or f'@{self._path}'}\nclass {self.name}:\n" + "\n".join(functions)

    def __getattr__(self, name):
        functions = self.__dict__.get("functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"the program has no function `{name}`")


__all__ = ["Program"]
