"""Builtins of the kernel language as Python objects: `pl.FP32`, `pl.Tensor[[64, 64], pl.FP32]` or
`pl.Level.CORE_GROUP`."""


import functools


@functools.cache
def _type_bytes():
    """The bytes that an element takes, by the full name of its type."""
    from . import _slipring

    return {f"pl.{name}": size for name, size in _slipring.type_bytes()}


class Word:
    """A name of the language. Its members are names too; the compiler and the reference define their meaning in a
    kernel."""

    def __init__(self, path, doc=None):
        self.__slipring_path__ = path
        self.__doc__ = doc

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        part = Word(f"{self.__slipring_path__}.{name}")
        self.__dict__[name] = part
        return part

    def get_byte(self):
        """The bytes that an element of a type takes."""
        size = _type_bytes().get(self.__slipring_path__)
        if size is None:
            raise TypeError(f"`{self.__slipring_path__}` is not a type of elements: only these have `get_byte()`")
        return size

    def __getitem__(self, parts):
        return Generic(self.__slipring_path__, parts)

    # Subscripting an object does not make it a sequence.
    __iter__ = None
    __contains__ = None

    def __call__(self, *args, **kwargs):
        from .reference import active

        evaluator = active()
        if evaluator is None:
            raise TypeError(
                f"`{self.__slipring_path__}` is a word of the kernel language: call it in a kernel, "
                "a function with the decorator @pl.jit"
            )
        return evaluator.call(self.__slipring_path__, args, kwargs)

    def __eq__(self, other):
        return isinstance(other, Word) and other.__slipring_path__ == self.__slipring_path__

    def __hash__(self):
        return hash(self.__slipring_path__)

    def __repr__(self):
        return self.__slipring_path__


class Generic:
    """A name with a subscript: the type of a parameter."""

    __slots__ = ("word", "parts")

    def __init__(self, word, parts):
        self.word = word
        self.parts = parts

    def __repr__(self):
        return f"{self.word}[{self.parts!r}]"
