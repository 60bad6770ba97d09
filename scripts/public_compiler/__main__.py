"""Lets the public language's own compiler write its texts, and holds them against slipring: two compilers, one
meaning.

    python3 scripts/public_compiler CHECKOUT [--build DIR] [--python PYTHON] [--verifier BINARY] [--outcomes FILE] [--page FILE]
    python3 scripts/public_compiler --texts DIR …

Builds the compiler of the checkout in DIR (once), lets it compile its unit tests (`unit`), its system tests
(`system`), its examples and the marked blocks of its guide (`scripts`) with a plugin that keeps every text and the
program that it was written from, and then checks each text, runs it, lowers the same program and compares the bytes
that both leave in the buffers. `tests/st/runtime` and `examples/models` are left out. `--texts` takes a folder that an
earlier run left with `--keep DIR`. `--verifier` is what `scripts/assembler --build-verifier` makes of the public
assembler: what it refuses too is counted apart. `--outcomes` is what `scripts/public_suite --outcomes` wrote: which
tests and scripts compare with goldens that our own lowering meets. PYTHON and what a build wants: `build.py`. Ends
with 1 where bytes differ, or the verifier refuses what is built for that assembler, without a reason that is known,
with 2 where there is nothing to judge.
"""

import argparse
import collections
import os
import pathlib
import sys
import tempfile
import textwrap

import build
import emit
import judge

ROOT = pathlib.Path(__file__).resolve().parents[2]
PARTS = ("unit", "system", "scripts")
INTRODUCTION = (
    "What `scripts/public_compiler` reports on the texts that the public language's own compiler makes of its unit tests, its system tests "
    "(without its runtime tests), its examples (without its models) and the blocks of its guide, each text once. A text is `clean` where a "
    "run of it is: buffers of floats hold random numbers, those of integers zeros, numbers are 1, open extents 256. `findings in both`: our "
    "own lowering of the program has the same finding, so the program has it, or the launch. `clean, refused by the assembler`: taken here, "
    "and not by that verifier, for types or working memory of one op, which the tile library takes; what `build --for ptoas-0.60` makes of it "
    "stands with it. `refused by both`: the verifier of the public "
    "assembler 0.60 refuses the text too. `only read`: checked and not launched, for the reason that stands there. `not modelled`: an op is "
    "known by its form and refused as what it is. Of clean texts the bytes of every buffer are compared with those that our own lowering of "
    "the same program leaves: the earliest form of the function, among those after each pass of that compiler, that has the parameters of "
    "the text."
)


def main():
    """Builds, emits, judges and writes."""
    options = read_options()
    met = set(options.outcomes.read_text(encoding="utf-8").splitlines()) if options.outcomes else set()
    with tempfile.TemporaryDirectory() as folder:
        texts = options.texts or options.keep or pathlib.Path(folder)
        if options.texts is None:
            if not list((options.top / "python/pypto").glob("pypto_core*.so")):
                build.build(options.top, options.build or pathlib.Path(folder) / "build", options.python)
            emit.emit(options, texts)
        page, wrong, total = ["# What the public compiler writes", "", *textwrap.wrap(INTRODUCTION, 118)], 0, 0
        for part in options.part:
            found = [text for text in judge.texts(texts / part) if options.only in text.name]
            judge.judged(found, options)
            for text in found:
                # The tests of `codegen` compare no values.
                is_one = text.ours == "same" and not text.note["name"].startswith("codegen/")
                text.golden = is_one and f"{part}\t{text.platform}\tpassed\t{text.note['name']}" in met
            lines = table(part, found, any(own.startswith(f"{part}\t") for own in met))
            print("\n".join(lines), flush=True)
            page += lines
            total += len(found)
            wrong += sum("not explained" in (text.ours_why, text.built) for text in found)
            for text in found if options.verbose else []:
                if text.outcome != "clean" or text.ours != "same":
                    print(f"{text.outcome}, {text.ours}: {text.path}: {text.name}: {text.why or text.ours_why}")
    if not total:
        print("public_compiler: no texts", file=sys.stderr)
        return 2
    if options.page:
        options.page.write_text("\n".join(page) + "\n", encoding="utf-8")
    return int(wrong > 0)


def table(part, found, asked):
    """The lines of the page for a part; `asked`: with how many have goldens."""
    lines = ["", f"## {part}", ""]
    for platform in ("a2a3", "a5"):
        of = [text for text in found if text.platform == platform]
        counts = collections.Counter(text.outcome for text in of)
        ours = collections.Counter(text.ours for text in of if text.outcome == "clean")
        said = f"{platform}, {len(of)} texts: {listed(counts)}. Of the clean ones, against our own lowering: {listed(ours)}."
        if asked:
            said += f" What wrote {sum(text.golden for text in of)} of these compares with goldens, which our own lowering meets."
        lines += textwrap.wrap(said, 118)
        lines += [""]
    causes = collections.Counter((text.outcome, text.why) for text in found if text.outcome != "clean")
    causes += collections.Counter((f"clean, refused by the assembler; {text.built}", text.against) for text in found if text.against)
    causes += collections.Counter((text.ours, text.ours_why) for text in found if text.outcome == "clean" and text.ours != "same")
    lines += ["| number | outcome | cause |", "|---|---|---|"]
    for (outcome, why), count in sorted(causes.items(), key=lambda own: (own[0][0], -own[1], own[0][1])):
        lines.append(f"| {count} | {outcome} | {why.replace('|', chr(92) + '|')[:130]} |")
    meant = collections.Counter()
    for text in found:
        reasons = [meant for begin, meant in judge.REASONS if text.why.startswith(begin)]
        if text.outcome in ("refused", "findings") and reasons:
            meant[reasons[0]] += 1
    if meant:
        lines += ["", "Of the texts that are refused or have findings here alone:", ""]
        for why, count in sorted(meant.items(), key=lambda own: (-own[1], own[0])):
            lines += textwrap.wrap(f"- {count}: {why}", 118, subsequent_indent="  ")
    return lines


def listed(counts):
    """Counts in words."""
    return ", ".join(f"{count} {what}" for what, count in sorted(counts.items())) or "none"


def read_options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path, nargs="?")
    parser.add_argument("--build", type=pathlib.Path, metavar="DIR", help="where to build")
    parser.add_argument("--python", default=sys.executable, help="the Python that the compiler is built for")
    parser.add_argument("--texts", type=pathlib.Path, metavar="DIR", help="judge these, build and emit nothing")
    parser.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="leave the texts there")
    parser.add_argument("--verifier", type=pathlib.Path, metavar="BINARY")
    parser.add_argument("--outcomes", type=pathlib.Path, metavar="FILE", help="what scripts/public_suite --outcomes wrote")
    parser.add_argument("--slipring", default=str(ROOT / "target/release/slipring"))
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--only", default="", metavar="TEXT", help="those whose name has TEXT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE", help="write the tables to FILE")
    parser.add_argument("--verbose", action="store_true", help="every text that is not clean or not the same")
    options = parser.parse_args()
    options.part = options.part or list(PARTS)
    if (options.checkout is None) == (options.texts is None):
        parser.error("a checkout, or --texts")
    if options.checkout is not None:
        options.top = options.checkout.resolve()
        if not (options.top / "python/pypto").is_dir():
            parser.error(f"{options.top} has no folder `python/pypto`")
    return options


if __name__ == "__main__":
    sys.exit(main())
