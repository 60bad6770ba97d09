"""Asks the public assembler (ptoas) whether it takes what slipring builds.

    python3 scripts/assembler --ptoas BINARY [--own] [--samples CHECKOUT] [--for ptoas-0.27] [--write]
    python3 scripts/assembler --build FOLDER --samples CHECKOUT …
    python3 scripts/assembler --build-verifier FOLDER --samples CHECKOUT --own --for ptoas --write
    python3 scripts/assembler --ptoas BINARY --accepts FOLDER

`--own` builds every example and every file of `tests/files` that builds, on both platforms, and gives what was printed to the
assembler. `--samples` is a checkout of the assembler's sources: each of its `.pto` files that the assembler itself accepts is read,
built and printed by slipring and given to the assembler again. Without a binary own files are built and nobody is asked. Tables of the reasons go to standard output; `--write` also writes the
answers for own files to `tests/assembler.tsv`, which the ordinary tests compare with the present form of what is printed. `--build`
makes the assembler from the checkout first (Debian packages in `build.py`; about 20 minutes on two cores). A newer one than 0.27 is not
built as a whole: `--build-verifier` makes what parses and verifies its dialect (about 10 minutes), `--verifier BINARY` asks that; what
it takes is `verified`, for its passes and what it prints are not tried. `--accepts` asks about the
programs of one op each that `SLIPRING_PROGRAMS=FOLDER cargo test -p slipring-cli --test all accepts` writes, and writes the answers to
`tests/accepts/answers.tsv`. Needs Python 3.11. Ends with 0 if all answers could be had, whatever they are, with 2 if not.
"""

import argparse
import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from accepts import ask_accepts
from answers import TAKEN, Answer, Tools, ask_own, ask_sample, assemble
from build import build_assembler, build_verifier

ROOT = Path(__file__).resolve().parents[2]
PLATFORMS = ("a5", "a2a3")
# Folders of the checkout reserved for evaluation; nothing was developed with them.
HELD_OUT = ("FlashAttention", "GQA", "FFN", "Qwen3")


def main() -> int:
    options = read_options()
    ptoas, verifier = options.ptoas, options.verifier
    if options.build_verifier is not None:
        if options.samples is None:
            return fail("--build-verifier needs --samples, the checkout of the assembler's sources")
        verifier = build_verifier(options.samples, options.build_verifier)
    if verifier is not None and not verifier.is_file():
        return fail(f"{verifier} is not there: say `--verifier BINARY`, or `--build-verifier FOLDER` to make it")
    if options.build is not None:
        if options.samples is None:
            return fail("--build needs --samples, the checkout of the assembler's sources")
        ptoas = build_assembler(options.samples, options.build)
    if ptoas is not None and not ptoas.is_file() or ptoas is verifier is None and (options.samples or options.accepts):
        return fail(f"{ptoas} is not there: say `--ptoas BINARY`, or `--build FOLDER` to make it")
    if not options.slipring.is_file():
        return fail(f"{options.slipring} is not there: build it with `cargo build --release`, or say `--slipring PATH`")
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(ptoas and ptoas.resolve(), verifier and verifier.resolve(), options.slipring.resolve(), options.target, ROOT, Path(folder))
        with ThreadPoolExecutor(options.jobs) as pool:
            if options.accepts is not None:
                takes = lambda path, platform: assemble(tools, path, platform, "level3") in TAKEN
                count = ask_accepts(options.accepts, ROOT / "tests" / "accepts" / "answers.tsv", takes, pool.map)
                print(f"asked about {count} programs of one op")
            if options.own:
                files = own_files()
                jobs = [(tools, path, platform) for path in files for platform in PLATFORMS]
                answers = [a for a in pool.map(lambda job: ask_own(*job), jobs) if a is not None]
                print(report("own files that build", answers, options.list))
                if options.write:
                    write_table(answers, options.target or "none")
            if options.samples is not None and options.build_verifier is None:
                files = [path for path in sorted(options.samples.rglob("*.pto")) if not held_out(path)]
                jobs = [(tools, path, options.samples, platform) for path in files for platform in PLATFORMS]
                answers = [a for a in pool.map(lambda job: ask_sample(*job), jobs) if a is not None]
                print(report("public files that the assembler accepts", answers, options.list))
    return 0


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="assembler", description=__doc__.splitlines()[0])
    parser.add_argument("--ptoas", type=Path, help="the assembler's binary")
    parser.add_argument("--build", type=Path, metavar="FOLDER", help="make the assembler in this folder, from --samples")
    parser.add_argument("--verifier", type=Path, help="the binary that parses and verifies the newest assembler's dialect")
    parser.add_argument("--build-verifier", type=Path, metavar="FOLDER", help="make that binary in this folder, from --samples")
    parser.add_argument("--samples", type=Path, metavar="CHECKOUT", help="the assembler's sources: its samples make the round trip")
    parser.add_argument("--own", action="store_true", help="ask about the examples and file tests of this repository")
    parser.add_argument("--accepts", type=Path, metavar="FOLDER", help="ask about the programs of one op each in this folder")
    parser.add_argument("--for", dest="target", help="the `--for` of `slipring build`; without it none is given")
    parser.add_argument("--write", action="store_true", help="write the answers for own files to tests/assembler.tsv")
    parser.add_argument("--list", action="store_true", help="name the files after each reason")
    parser.add_argument("--slipring", type=Path, default=ROOT / "target" / "release" / "slipring")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


def own_files() -> list[Path]:
    # A whole program runs task by task, so the printed program is not the one that `run` executes.
    left_out = {ROOT / "examples" / "programs", ROOT / "tests" / "files" / "programs"}
    files = [path for folder in ("examples", "tests/files") for path in sorted((ROOT / folder).rglob("*")) if path.suffix in (".py", ".pto")]
    return [path for path in files if "broken" not in path.parts and not left_out & set(path.parents)]


def held_out(path: Path) -> bool:
    return any(part.startswith(HELD_OUT) for part in path.parts)


def report(title: str, answers: list[Answer], with_files: bool) -> str:
    """The numbers on each platform, of examples alone too, and how often each reason was given."""
    lines = [f"{title}:"]
    for platform in PLATFORMS:
        mine = [a for a in answers if a.platform == platform]
        for name, of in (("", mine), (" (examples)", [a for a in mine if a.file.startswith("examples/")])):
            if of:
                taken = sum(a.answer in TAKEN for a in of)
                lines.append(f"  {platform}{name}: {taken} of {len(of)} accepted")
    for answer, count in Counter(a.answer for a in answers if a.answer not in TAKEN).most_common():
        lines.append(f"{count:5}  {answer}")
        if with_files:
            lines += [f"           {a.platform:5} {a.file}" for a in answers if a.answer == answer]
    return "\n".join(lines)


def write_table(answers: list[Answer], target: str) -> None:
    """Replaces the rows of this target."""
    path = ROOT / "tests" / "assembler.tsv"
    rows = path.read_text().splitlines() if path.is_file() else []
    kept = [row for row in rows if row and not row.startswith("#") and row.split("\t")[0] != target]
    rows = kept + ["\t".join((target, a.platform, a.file, a.digest, a.answer)) for a in answers]
    head = "# target, platform, file, digest of the printed form, what the assembler said of it (scripts/assembler --own --write)"
    path.write_text("\n".join([head, *sorted(rows)]) + "\n")


def fail(message: str) -> int:
    print(f"assembler: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
