"""What programs for several devices call: `import slipring.language.distributed as pld`.

Its names are words of the language, as those of `slipring.language` are: windows, what devices do with each other's parts of them, and
signals.
"""

from .._words import Word

__slipring_path__ = "pld"


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(Word("pld"), name)
