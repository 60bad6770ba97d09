"""Errors as users see them: under the package's own name, and without its internal frames."""

import functools
import os
import sys

from ._slipring import FindingError, KernelError, QueueError

# The attributes of an error that is not about a text.
KernelError.findings, KernelError.waits_for_arguments = [], False
KernelError.filename = KernelError.lineno = None
# Users import, pickle and see the errors under this name.
KernelError.__module__ = "slipring"
QueueError.__module__ = FindingError.__module__ = "slipring.queue"

_OWN = os.path.dirname(os.path.abspath(__file__)) + os.sep


def public(method):
    """Marks a public method: tracebacks show only the frames of the user's code."""

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
    """Whether all frames of a traceback belong to the package."""
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith(_OWN):
            return False
        trace = trace.tb_next
    return True


def outside():
    """The number of frames up to the first one outside the package, for `warnings.warn`."""
    level, frame = 1, sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        level, frame = level + 1, frame.f_back
    return level
