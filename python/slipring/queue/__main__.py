"""Runs a host program that expects a board's driver on a simulated board: `python -m slipring.queue --board p100 host.py`."""

import argparse
import os
import sys

from . import Machine
from .driver import report, run

EXAMPLES = """examples:
  python -m slipring.queue --board p100 host.py
  python -m slipring.queue --board p100 --allow go-before-payload host.py --size 4096
  python -m slipring.queue --board my.toml --mode silicon --record host.cq --trace host.pftrace host.py

exit codes: 0 nothing was found; 1 errors were found, or the host raised; 2 wrong options; else what the host gave to sys.exit"""


def field(text):
    name, equals, value = text.partition("=")
    try:
        return name, int(value, 0)
    except ValueError:
        raise argparse.ArgumentTypeError(f"a field of the layout is given as NAME=NUMBER, not {text}") from None


def main():
    parser = argparse.ArgumentParser("python -m slipring.queue", description=__doc__, epilog=EXAMPLES)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--board", default="p150", help="p100, p150 or the name of a board file (my.toml)")
    parser.add_argument("--mode", choices=("strict", "silicon"), default="strict", help="stop at the first error, or go on")
    parser.add_argument("--allow", action="append", default=[], metavar="CODE", help="accept a hazard; several times")
    parser.add_argument("--seed", type=int, help="other delays of the board")
    parser.add_argument("--late", metavar="KIND", help="a kind of delay that always is late")
    parser.add_argument("--layout", action="append", default=[], type=field, metavar="NAME=NUMBER", help="a field of the memory map")
    parser.add_argument("--steps", type=int, help="steps of the board without a new record before the run is given up")
    parser.add_argument("--record", metavar="FILE", help="write what was queued, for slipring queue")
    parser.add_argument("--trace", metavar="FILE", help="write who did what when: FILE.pftrace for Perfetto")
    parser.add_argument("host", help="the host program")
    rest = parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the host program is given")
    rest.required = False
    args = parser.parse_args()
    if not os.path.isfile(args.host):
        parser.error(f"there is no file {args.host}")
    layout = dict(args.layout)
    try:
        machine = Machine(
            args.board, args.mode, args.seed, late=args.late, allow=args.allow, layout=layout,
            limits={"steps": args.steps} if args.steps else None,
            trace=args.trace is not None, record=args.record is not None,
            # By default, kernels of the host find their semaphores through their launch messages.
            base_from_launch=not {"kernel_config_base", "sem_offset"} & set(layout),
        )
    except (ValueError, OSError) as error:
        parser.error(str(error))
    end = run(args.host, args.arguments, machine)
    code = report(args.host, machine, end)
    for path, write in ((args.record, machine.record), (args.trace, machine.trace)):
        try:
            if path:
                write(path)
        except OSError as error:
            print(f"error: cannot write `{path}`: {error.strerror}", file=sys.stderr)
            code = 2
    return code


if __name__ == "__main__":
    sys.exit(main())
