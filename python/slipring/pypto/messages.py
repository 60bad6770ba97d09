"""Messages and checks of public scripts: `pypto.log_info(…)`, `pypto.check(…)`.

Only messages of the script itself pass through here. Findings of slipring are raised, shown or part of a run, whatever
the level.
"""

import enum
import os
import sys

from .._slipring import KernelError


class InternalError(RuntimeError):
    """The exception of `internal_check`."""


class LogLevel(enum.IntEnum):
    """The severity of a message; `NONE` is a threshold that no message reaches."""

    DEBUG = 0
    INFO = 1
    WARN = 2
    ERROR = 3
    FATAL = 4
    EVENT = 5
    NONE = 6


def _first():
    word = os.environ.get("PYPTO_LOG_LEVEL", "info").upper()
    if word not in LogLevel.__members__:
        raise ValueError(f"PYPTO_LOG_LEVEL is {word!r}: there are {', '.join(LogLevel.__members__)}")
    return LogLevel[word]


_threshold = [_first()]


def set_log_level(level):
    """Hides messages below this level."""
    _threshold[0] = LogLevel(level)


def get_log_level():
    """The level below which messages are not shown."""
    return _threshold[0]


def _shows(level):
    def log(message):
        if not isinstance(message, str):
            raise TypeError(f"log_{level.name.lower()} takes a string, not {type(message).__name__}")
        if level >= _threshold[0] and _threshold[0] != LogLevel.NONE:
            print(f"{level.name.lower()}: {message}", file=sys.stderr)

    log.__name__ = log.__qualname__ = f"log_{level.name.lower()}"
    log.__doc__ = f"Shows a message of the level {level.name} on the standard error output."
    return log


log_debug, log_info, log_warn, log_error, log_fatal, log_event = (_shows(level) for level in list(LogLevel)[:-1])


def check(condition, message):
    """Raises `ValueError` with the message if the condition does not hold."""
    if not condition:
        raise ValueError(message)


def internal_check(condition, message):
    """Raises `InternalError` with the message if the condition does not hold."""
    if not condition:
        raise InternalError(message)


# The public compiler's exception for a program is slipring's own here.
Error = KernelError


__all__ = """
Error InternalError LogLevel check get_log_level internal_check log_debug log_error log_event log_fatal log_info log_warn set_log_level
""".split()
