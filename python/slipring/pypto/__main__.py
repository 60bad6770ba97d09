"""`python -m slipring.pypto [--platform NAME] script.py [arguments]`: runs a public script."""

import os
import runpy
import sys

from . import PLATFORMS, install

USAGE = "usage: python -m slipring.pypto [--platform NAME] script.py [arguments]"


def main():
    """Runs a script with the public modules."""
    rest, platform = sys.argv[1:], None
    if rest[:1] == ["--platform"]:
        if len(rest) < 2 or rest[1] not in PLATFORMS:
            sys.exit(f"{USAGE}\nplatforms: {', '.join(PLATFORMS)}")
        platform, rest = rest[1], rest[2:]
    if not rest:
        sys.exit(USAGE)
    install(platform)
    sys.argv = rest
    sys.path.insert(0, os.path.dirname(os.path.abspath(rest[0])))
    runpy.run_path(rest[0], run_name="__main__")


main()
