"""Errors as users see them: under the package's own name, and without the package's own frames."""

import functools
import os
import sys

from ._slipring import FindingError, KernelError, QueueError

# What an error has that speaks of no text.
KernelError.findings, KernelError.waits_for_arguments = [], False
KernelError.filename = KernelError.lineno = None
# They are found, pickled and shown by the name that users import.
KernelError.__module__ = "slipring"
QueueError.__module__ = FindingError.__module__ = "slipring.queue"

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


def public(method):
    """A method that users call: what it raises shows their own lines, and not those of the package."""

    @functools.wraps(method)
    def call(*args, **kwargs):
        __tracebackhide__ = True
        try:
            return method(*args, **kwargs)
        except (KernelError, TypeError, ValueError, IndexError, KeyError) as error:
            if not _of_package(error.__traceback__):
                raise
            raise error.with_traceback(None) from error.__cause__

    return call


def _of_package(trace):
    """True if all frames of a traceback are the package's: nothing that users wrote is among them."""
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OWN):
            return False
        trace = trace.tb_next
    return True


def outside():
    """How far up the first frame is that is not the package's, for `warnings.warn`."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        level, frame = level + 1, frame.f_back
    return level
