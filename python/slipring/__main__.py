"""`python -m slipring COMMAND …`: the command line, with files of the kernel language executed by this Python."""

import signal
import sys

from . import _slipring
from ._execute import execute
from .pypto import install


def main():
    """Runs the command line."""
    # Ctrl-C has the same effect as in the native command line.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    install()
    code = _slipring.command_line(["python -m slipring", *sys.argv[1:]], execute)
    sys.stdout.flush()
    sys.exit(code)


main()
