"""Functions for programs on several devices: `import slipring.language.distributed as pld`.

Its names are builtins of the language, like those of `slipring.language`: windows, operations of devices on each
other's parts of them, and signals.
"""

from .._words import Word

__slipring_path__ = "pld"


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(Word("pld"), name)
