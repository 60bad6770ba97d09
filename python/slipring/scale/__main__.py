"""Sweeps and campaigns as commands: `python -m slipring.scale --help`."""

import argparse
import ast
import json
import pathlib
import sys

EXAMPLES = """examples:
  python -m slipring.scale sweep examples/lang/6_attention.py TILE=32,64,128 slot_num=1..4
  python -m slipring.scale campaign mutants examples/pipes --seeds 1000 --where ray --file night.jsonl
  python -m slipring.scale replay mutants examples/pipes/two_lanes.pto --platform a5 --seed 17 --text mutant.pto"""


def values_of(text):
    """The values of `NAME=…`: `1..4`, `32,64`, `true`, strings."""
    values = []
    for part in text.split(","):
        first, dots, last = part.partition("..")
        if dots:
            values += range(int(first), int(last) + 1)
            continue
        try:
            values.append(ast.literal_eval(part.capitalize() if part in ("true", "false") else part))
        except (ValueError, SyntaxError):
            values.append(part)
    return values


def _kernel(path, name):
    """The kernel of a Python file, as a Python object."""
    import importlib.util

    from .. import Function

    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(pathlib.Path(path).parent))
    spec.loader.exec_module(module)
    kernels = {key: value for key, value in vars(module).items() if isinstance(value, Function) and value.kind != "inline"}
    if name:
        if name not in kernels:
            raise ValueError(f"{path} has no kernel `{name}`; it has {', '.join(kernels) or 'none'}")
        return kernels[name]
    if len(kernels) != 1:
        raise ValueError(f"{path} has {len(kernels)} kernels ({', '.join(kernels)}): name one with --function")
    return next(iter(kernels.values()))


def _random_arrays(kernel, point, platform):
    """Random inputs of the declared shapes."""
    import numpy as np

    from .._arrays import dtype_of

    names = {"platform": platform} if platform else {}
    compiled = kernel.compile(**names)
    chance, arrays = np.random.default_rng(0), {}
    for name, elem, shape, is_buffer, direction, _ in compiled.parameters():
        if not is_buffer or name in point:
            continue
        dtype = dtype_of(elem)
        if direction == "out":
            arrays[name] = np.zeros(shape, dtype)
        elif dtype.kind in "iu":
            arrays[name] = chance.integers(0, 8, shape).astype(dtype)
        else:
            arrays[name] = chance.uniform(-1, 1, shape).astype(np.float32).astype(dtype)
    return arrays


def _sweep(args):
    from . import sweep

    points = {}
    for word in args.points:
        name, is_set, values = word.partition("=")
        if not name or not is_set or not all(value.strip() for value in values.split(",")):
            raise ValueError(f"`{word}` is not NAME=VALUES")
        points[name] = values_of(values)
    kernel = _kernel(args.program, args.function) if args.program.endswith(".py") else args.program
    if isinstance(kernel, str):
        raise ValueError("a sweep from the command line takes a file of the language: text has no names to set; see slipring.sweep")
    arrays = _random_arrays(kernel, points, args.platform)
    table = sweep(kernel, points, arrays, platform=args.platform, verify=args.verify, **_common(args))
    if args.json:
        table.write_json(sys.stdout)
        return 0
    print(table)
    best = table.best()
    if best:
        print(f"\nbest: {', '.join(f'{name} {best[name]}' for name in table.names)}: {best['cycles']} cycles")
    return 0 if best else 1


def _campaign(args):
    from . import campaign

    platforms = args.platform.split(",") if args.platform else ("a5", "a2a3")
    report = campaign(args.kind, args.programs, args.seeds, platforms=platforms, **_common(args))
    if args.json:
        json.dump({"kind": report.kind, "tried": len(report), "counts": report.counts, "findings": report.findings}, sys.stdout)
        print()
    else:
        print(report)
    return 1 if report.findings else 0


def _replay(args):
    from .trials import CampaignJob

    text = pathlib.Path(args.program).read_text(encoding="utf-8") if args.program else None
    job = CampaignJob(args.kind, [(args.program, text)])
    job.open()
    if args.text:
        pathlib.Path(args.text).write_text(job.trial.text(args.program, text, args.platform, args.seed), encoding="utf-8")
    row = job.do(0, (0 if args.program else None, args.platform, args.seed))
    print(f"{row['outcome']} ({row['class']})" + (f": {row['reason']}" if row["reason"] else ""))
    return 1 if row["outcome"] == "finding" else 0


def _common(args):
    return {name: getattr(args, name) for name in ("where", "workers", "file", "timeout", "memory", "logs")}


def main():
    parser = argparse.ArgumentParser("python -m slipring.scale", description=__doc__, epilog=EXAMPLES)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(required=True)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--where", default="local", help="local, ray, or the address of a cluster of Ray")
    shared.add_argument("--workers", type=int, help="processes; all processors where nothing is said")
    shared.add_argument("--file", help="where the rows stand: the same command goes on there")
    shared.add_argument("--timeout", type=float, default=300.0, help="seconds that a point may take")
    shared.add_argument("--memory", type=int, help="bytes that a process may take")
    shared.add_argument("--logs", help="a folder for what workers print")
    shared.add_argument("--json", action="store_true", help="JSON for programs")
    shared.add_argument("--platform", help="a5, a2a3")
    one = commands.add_parser("sweep", parents=[shared], help="a kernel at many points")
    one.add_argument("program")
    one.add_argument("points", nargs="+", metavar="NAME=VALUES")
    one.add_argument("--function", help="the kernel, where the file has several")
    one.add_argument("--verify", action="store_true", help="compare each with the sequential semantics")
    one.set_defaults(run=_sweep)
    many = commands.add_parser("campaign", parents=[shared], help="programs at many seeds against an oracle")
    many.add_argument("kind", help="timings, mutants, fuzz, random, or a trial of one's own as module:Class")
    many.add_argument("programs", nargs="*")
    many.add_argument("--seeds", type=int, default=100, help="how many, from 0")
    many.set_defaults(run=_campaign)
    again = commands.add_parser("replay", help="one seed of a campaign, in this process")
    again.add_argument("kind", help="timings, mutants, fuzz, random, or a trial of one's own as module:Class")
    again.add_argument("program", nargs="?")
    again.add_argument("--platform", default="a5")
    again.add_argument("--seed", type=int, required=True)
    again.add_argument("--text", help="a file for the program that was tried")
    again.set_defaults(run=_replay)
    args = parser.parse_args()
    try:
        return args.run(args)
    except (ImportError, OSError, TypeError, ValueError) as error:
        # What the command line names is not there, or is of another kind; findings of points are rows, not exceptions.
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
