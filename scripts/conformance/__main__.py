"""Runs the micro-instruction examples of a PTO-Gym checkout and says which pass.

    python3 scripts/conformance PTO_GYM [--seeds own,1,2] [--json results.json]
    python3 scripts/conformance PTOAS --suite test/vpto/cases --only 'vmi_new/*'

Every case below `examples/pto/micro-op` makes its inputs with its own `golden.py`, runs its `kernel.pto` with `slipring run` as
its `main.cpp` and `launch.cpp` would launch it, and is compared by its own `compare.py` with `COMPARE_STRICT=1`. Needs Python
3.11 and numpy. Ends with 0 if everything passed, with 1 if something did not, with 2 if nothing could be run.
"""

import argparse
import json
import os
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatch
from pathlib import Path

from case import Outcome, Settings, run_case, takes_seed

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    options = read_options()
    suite = options.checkout / options.suite
    found = {str(k.parent.relative_to(suite)): k.parent for k in sorted(suite.glob("*/*/kernel.pto"))}
    cases = {name: path for name, path in found.items() if wanted(name, options)}
    if not cases:
        return fail(f"no case in {suite}" if not found else "no case has such a name")
    if not options.slipring.is_file():
        return fail(f"{options.slipring} is not there: build it with `cargo build --release`, or say `--slipring PATH`")
    settings = Settings(options.slipring.resolve(), options.gm_slack, options.check, options.keep)
    runs = [(name, path, seed) for name, path in cases.items() for seed in seeds_of(path, options.seeds)]
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(lambda run: run_case(*run, settings), runs))
    print(table(outcomes))
    if options.json is not None:
        options.json.write_text(json.dumps([o.as_json() for o in outcomes], indent=1) + "\n")
    return 0 if all(o.result == "pass" for o in outcomes) else 1


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=Path, help="a checkout of PTO-Gym")
    parser.add_argument("--seeds", default="own", help="`own` (each case's own seed) and numbers, with commas; a case without "
                        "a choice of seed runs once")
    parser.add_argument("--suite", type=Path, default=Path("examples/pto/micro-op"), help="the folder of the checkout with folders "
                        "of cases (default: examples/pto/micro-op)")
    parser.add_argument("--only", default="*", help="cases whose name fits, such as `binary-vector/*`")
    parser.add_argument("--skip", default="", help="patterns of cases to leave out, with commas")
    parser.add_argument("--slipring", type=Path, default=ROOT / "target" / "release" / "slipring")
    parser.add_argument("--gm-slack", type=int, default=65536, help="bytes after every buffer: 23 cases touch memory "
                        "beyond their buffers (default: 65536)")
    parser.add_argument("--check", default="all", help="the `--check` of `slipring run`")
    parser.add_argument("--json", type=Path, help="also write every outcome to this file")
    parser.add_argument("--keep", type=Path, help="keep the files of every run in this folder")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def wanted(name: str, options: argparse.Namespace) -> bool:
    return fnmatch(name, options.only) and not any(fnmatch(name, p) for p in options.skip.split(",") if p)


def seeds_of(case: Path, text: str) -> list:
    seeds = [None if word == "own" else int(word) for word in text.split(",")]
    return seeds if takes_seed(case) else [None]


def table(outcomes: list[Outcome]) -> str:
    """A line for each folder, then what did not pass, then what the checks say of what passed."""
    lines = [f"{'folder':28} {'runs':>5} {'pass':>5} {'differs':>8} {'stopped':>8} {'refused':>8} {'error':>6}"]
    folders = Counter(o.case.split("/")[0] for o in outcomes)
    for folder, runs in [*sorted(folders.items()), ("all", len(outcomes))]:
        of = Counter(o.result for o in outcomes if folder in ("all", o.case.split("/")[0]))
        counts = (of[r] for r in ("pass", "differs", "stopped", "refused", "error"))
        lines.append("{:28} {:>5} {:>5} {:>8} {:>8} {:>8} {:>6}".format(folder, runs, *counts))
    for o in outcomes:
        if o.result != "pass":
            seed = "" if o.seed is None else f" (seed {o.seed})"
            lines.append(f"\n{o.result}: {o.case}{seed}\n    {o.detail}")
    codes: dict = {}
    for o in outcomes:
        if o.result == "pass":
            for code in o.findings:
                codes.setdefault(code, set()).add(o.case)
    for code, cases in sorted(codes.items()):
        lines.append(f"\npassed with findings `{code}`: {len(cases)} cases\n    {', '.join(sorted(cases))}")
    return "\n".join(lines)


def fail(message: str) -> int:
    print(f"conformance: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
