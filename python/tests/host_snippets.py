"""Random host code: what slipring makes of it is what CPython makes of it, or an error.

`snippet(seed)` is the text of a file whose kernel stores `V`. By hand, thousands against the command line:
`python python/tests/host_snippets.py target/debug/slipring 0 2000`.
"""

import collections
import contextlib
import io
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

HEAD = "import math\nimport slipring.language as pl\n"
KERNEL = """

@pl.incore
def k(a: pl.Tensor[[8, 8], pl.FP32], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    out[:, :] = a[:, :] * 0.0 + V
"""

# Statements by what they need: {i} {j} integers, {f} a float, {l} {m} lists, {d} a dict, {s} a string, {n} a new name, {c} a small number.
INTS = [
    "{n} = {i} // {c} - {j} % {c}",
    "{n} = -{i} // {c}",
    "{n} = ({i} - 40) % -{c}",
    "{n} = {i} if {j} > {c} else {j}",
    "{n} = {i} or {j}",
    "{n} = {i} and {c}",
    "{n} = not {i}",
    "{n} = ({i} > {c}) + True",
    "{n} = {c} < {i} <= {j} < 90",
    "{n} = {i} << {c} >> 1 ^ {j} & 13 | {c}",
    "{n} = len({l}) * {c} + sum({l})",
    "{n} = sum({l}, {c})",
    "{n} = sum(x * {c} for x in {l} if x % 2)",
    "{n} = max({l}, default={c}) - min({m}, default={i})",
    "{n} = max({l} + [{i}], key=lambda x: (x % {c}, x))",
    "{n} = {l}.count({c}) + {l}.index(max({l})) if {l} else -1",
    "{n} = int('{c}') + int({f})",
    "{n} = round({f}) + math.floor({f}) - math.ceil({f})",
    "{n} = abs({i} - 50) ** 2 % 17",
    "{n} = divmod({i} - 30, {c})[1]",
    "{n} = pow({i}, {c}, 7)",
    "{n} = {i}; {n} += {j}; {n} -= {c}; {n} *= 2; {n} //= 3; {n} %= 29",
    "{n} = {l}[{c} % len({l})] if {l} else {c}",
    "{n} = {l}[-1] if len({l}) > 1 else 0",
    "{n} = {d}.get('{k}', {c})",
    "{n} = {c} in {l}",
    "{n} = '{k}' in {d}",
    "{n} = {d} == {{'a': 1}}",
    "{n} = [{i}, {c}] < [{j}, {c}]",
    "{n} = ({i}, 'x') == ({j}, 'x')",
    "{n} = {l} is {m}",
    "{n} = {l} == {m}",
    "{n} = isinstance({i}, int) + isinstance({f}, (int, float)) * 2 + isinstance({l}, list) * 4",
    "{n} = len({s}) + {s}.find('{k}') + {s}.count('a')",
    "{n} = ord({s}[0]) if {s} else 0",
    "{n} = any(x > {c} for x in {l}) + 2 * all(x > {c} for x in {l})",
    "{n} = (lambda x, y={c}: x * y - {j})({i})",
    "{n} = len(set({l})) + len({{{c}, {i}}})",
    "{n} = {c} in set({l})",
    "{n} = math.gcd({i}, {c} + 1) + math.isqrt(abs({i}))",
    "{n} = (y := {i} + {c}) * y",
    "{n} = functools_reduce(lambda x, y: x * 3 + y, {l}, {c}) % 1009",
    "{n} = -2 ** {c} + ~{i}",
    "{n} = next(iter({l}), {c})",
    "{n} = len(range({c}, {i}, 3)) + ({i} in range(0, 60, {c}))",
    "{n} = bool({l}) + bool({s}) + bool({d})",
    "{n} = {i} is None",
    "{n} = None is None",
    "{n} = [x for x in range({c} + 3)][::-2][0]",
    "{n} = list(range(10, -10, -{c}))[1]",
    "{n} = sum(a * b for a, b in zip({l}, {m}))",
    "{n} = sum(i * x for i, x in enumerate({l}, {c}))",
    "{n} = list(reversed({l} + [{c}]))[0]",
    "{n} = sorted({l} + [{i}], reverse=True)[0] - sorted({l} + [{j}], key=lambda x: -x)[-1]",
    "{n} = [*{l}, *{m}, {c}][-1]",
    "{n} = {{**{d}, 'z': {c}}}['z'] + len({{**{d}}})",
    "{n} = int(math.sqrt({c} * {c}))",
    "{n} = hasattr({l}, 'nothing') if False else {c}",
]
FLOATS = [
    "{n} = {f} / {c} + {i}",
    "{n} = {f} // 0.7 - {f} % 0.7",
    "{n} = -{f} % {c}",
    "{n} = round({f} * 1.37, {c})",
    "{n} = {i} / {c}",
    "{n} = 2 ** -{c}",
    "{n} = {f} ** 2",
    "{n} = float('{c}.25') + {f}",
    "{n} = min({f}, {i}, 2.5)",
    "{n} = math.sqrt(abs({f}))",
    "{n} = abs(-{f})",
    "{n} = float({i} > {j})",
    "{n} = sum([{f}, 0.5, {i}])",
    "{n} = (-{f}) // {c}",
]
STRINGS = [
    "{n} = f'{{{i}}}:{{{f}:.2f}}:{{{i}:04d}}:{{{s}!r}}'",
    "{n} = {s} + str({i})",
    "{n} = {s} * ({c} % 3)",
    "{n} = '-'.join(str(x) for x in {l})",
    "{n} = {s}.upper().replace('A', 'bb').strip('x')",
    "{n} = str({f})",
    "{n} = {s}[::-1][:{c}]",
    "{n} = '%d/%s/%.3f' % ({i}, {s}, {f})",
    "{n} = ','.join(sorted({d}))",
    "{n} = str({l}) + repr({d})",
    "{n} = {s}.title() if {i} > 99 else {s}.lower()",
    "{n} = 'a,b,,c'.split(',')[{c} % 4] + ' x  y '.split()[0]",
    "{n} = {s}.zfill({c}) + {s}.rjust(5)",
    "{n} = 'yes' if {s}.startswith('{k}') or {s}.endswith('b') else 'no'",
    "{n} = str(({i},)) + str(None) + str(True) + str({i} / {c})",
    "{n} = f'{{{i}:>6}}|{{{i}:<6}}|{{{i}:^7}}|{{{f}:8.3f}}|{{{i}:,}}|{{{i}:x}}|{{{i}:+d}}'",
    "{n} = type({i}).__name__ if False else 'q'",
]
LISTS = [
    "{n} = {l}",
    "{n} = {l}[:]",
    "{n} = list({l})",
    "{n} = {l}[{c} % 3::{c} % 2 + 1]",
    "{n} = [x + {c} for x in {l}]",
    "{n} = [x for x in {l} if x > {c}]",
    "{n} = [i * j for i in range(3) for j in range(i)]",
    "{n} = {l} + {m}",
    "{n} = {l} * ({c} % 3)",
    "{n} = sorted({l})",
    "{n} = [{i}, {j}, *{l}]",
    "{n} = list(map(lambda x: x % 7, {l}))",
    "{n} = list(filter(lambda x: x % 2, {l}))",
    "{n} = [a - b for a, b in zip({l}, {m})]",
    "{n} = list({d}.values())",
    "{n} = [f() for f in [lambda: q for q in range({c} % 4)]]",
    "{n}, *rest = [{i}], {c}, 3",
    "first, *{n} = {l} + [{c}, {i}]",
    "*{n}, last = {l} + [{c}]",
    "{n} = [y for y in ({i}, {j}) if y]",
    "{n} = list(range({c}))[1:-1]",
    "{n} = {l} if {l} else [{c}]",
    "{n} = {l} or [1, {c}]",
    "{n} = grow({l}, {i})",
    "{n} = keep({i})",
]
CHANGES = [
    "{l}.append({i})",
    "{l}.extend([{i}, {c}])",
    "{l} += [{c}]",
    "{l}.insert({c} % 4, {i})",
    "{l}.pop() if {l} else None",
    "{l}.reverse()",
    "{l}.sort()",
    "{l}.sort(key=lambda x: -x, reverse={i} > {j})",
    "{l}.remove({c}) if {c} in {l} else None",
    "{l}[1:2] = [{i}, {j}]",
    "{l}[::2] = [0] * len({l}[::2])",
    "{l}[-1:] = []",
    "if {l}: {l}[0] = {i}",
    "if {l}: {l}[-1] += {c}",
    "if len({l}) > 2: del {l}[1]",
    "del {l}[{c}:]",
    "{l}.clear() if len({l}) > 12 else None",
    "{d}['{k}'] = {i}",
    "{d}['{k}'] = {d}.get('{k}', 0) + {c}",
    "{d}.update(a={c}, b={i})",
    "{d}.update({{'{k}': {c}}})",
    "{d}.pop('{k}', None)",
    "{d}.setdefault('{k}', {i})",
    "{d} |= {{'{k}': {c}}}",
    "for key in list({d}): {d}[key] += 1",
    "for key, value in {d}.items(): total += value + len(key)",
    "for x in {l}: total += x",
    "for x in {l}:\n    if x > {c}:\n        break\n    total += 1\nelse:\n    total += 100",
    "while total > 50:\n    total //= 2\nelse:\n    total += {c}",
    "for q in range({c}):\n    if q == 2:\n        continue\n    total += q * {i}",
    "try:\n    {i} // ({c} - {c2})\n    total += 1\nexcept ZeroDivisionError:\n    total += 7\nfinally:\n    total += 2",
    "try:\n    {l}[{i}]\nexcept (IndexError, KeyError) as error:\n    total += len(str(error))\nelse:\n    total += 5",
    "try:\n    {d}['{k}']\nexcept KeyError:\n    {d}['{k}'] = {c}",
    "try:\n    raise ValueError('no', {c})\nexcept ValueError as e:\n    total += len(e.args)",
    "with Held({c}) as held:\n    total += held.n",
    "total += box.inc({c})",
    "box.items.append({i})",
    "total += box.twice + Box.made() + Box.plain({c}) + len(box) + (box + box).n",
    "Box.shared.append({c})",
    "Box.level = {c}; total += box.level + child.level",
    "child.level = {i}",
    "total += child.inc({c}) + isinstance(child, Box) + child.name()",
    "bump({c})",
    "total = counter()",
    "total += cached({c})",
    "total += fib({c})",
    "total += point.x * {c} + (point == Point({c}, 2))",
    "total += apply(lambda x: x + {i}, {c})",
    "assert total is not None, 'never'",
    "match {c}:\n    case 1 | 2:\n        total += 3\n    case 3:\n        total -= 1\n    case other:\n        total += other",
    "def local(x, extra=[]):\n    extra.append(x)\n    return len(extra)\ntotal += local({i}) + local({c})",
    "total = total % 100003 if abs(total) > 10 ** 9 else total",
    "pairs = {{k2: v2 for k2, v2 in zip('abc', {l})}}; total += sum(pairs.values())",
    "s2 = {{{i}, {c}}}; s2.add({j}); s2.discard({c}); total += len(s2) + sum(s2)",
    "it = iter({l} + [1, 2]); total += next(it); total += sum(it) + sum(it)",
    "g = (x + total for x in {l}); total += 1; total += sum(g)",
    "a1 = b1 = []; a1.append({c}); total += len(b1)",
    "grid = [[0] * 2] * 3; grid[0][1] = {c}; total += grid[2][1]",
    "t2 = (1, {l}); t2[1].append({c})",
    "x0, (y0, z0) = {c}, ({i}, {j}); total += x0 - y0 + z0",
    "x0, y0 = {i}, {c}; x0, y0 = y0, x0; total += x0 * 2 + y0",
    "fs = [lambda: q3 for q3 in range(3)]; total += fs[0]()",
    "for q4 in range(3): pass\ntotal += q4",
    "total += sum(1 for _ in range({i} % 9) for _ in range({c}))",
    "exec('total = 3') if False else None",
]
UNKNOWN = [
    "if os_unknown(): {l}.append({c})",
    "if os_unknown():\n    total += 1\n    {d}['{k}'] = 1\nelse:\n    total += 2",
    "unknown_function({l})",
    "unknown_function(box)",
    "for q in unknown_things(): {l}.append(q)",
    "{n} = {l} if os_unknown() else {m}\n{n}.append({c})",
    "while os_unknown():\n    {l}.pop()\n    break",
    "try:\n    unknown_function({c})\n    {l}.append(1)\nexcept Exception:\n    {l}.append(2)",
    "with open(os.devnull) as w:\n    {l}.append({c})",
    "[{l}.append(q) for q in unknown_things()]",
    "unknown_function(bump)\nbump_later = 1",
]
SETUP = '''
import os
from functools import lru_cache, reduce as functools_reduce
from dataclasses import dataclass, field

total = 0


class Held:
    def __init__(self, n):
        self.n = n

    def __enter__(self):
        self.n += 1
        return self

    def __exit__(self, kind, value, trace):
        global total
        total += 3
        return False


class Box:
    shared = []
    level = 1

    def __init__(self, n=2):
        self.n = n
        self.items = []

    def inc(self, by):
        self.n += by
        return self.n

    def name(self):
        return 4

    @property
    def twice(self):
        return self.n * 2

    @classmethod
    def made(cls):
        return cls().n + cls.level

    @staticmethod
    def plain(x):
        return x + 1

    def __len__(self):
        return len(self.items)

    def __add__(self, other):
        return Box(self.n + other.n)


class Child(Box):
    def inc(self, by):
        return super().inc(by * 2) + 1

    def name(self):
        return super().name() * 10


@dataclass
class Point:
    x: int
    y: int = 2
    tags: list = field(default_factory=list)


def bump(by):
    global total
    total += by


def make_counter(start):
    n = start

    def step():
        nonlocal n
        n += 2
        return n

    return step


@lru_cache
def cached(x):
    box.items.append(x)
    return x * 2


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def grow(items, x, *more, scale=1, **named):
    items.append(x * scale)
    return items


def keep(x, seen=[]):
    seen.append(x)
    return seen


def apply(function, *args):
    return function(*args)


def logged(function):
    def inner(*args, **kwargs):
        bump(1)
        return function(*args, **kwargs)

    return inner


apply = logged(apply)
counter = make_counter(5)
box, child, point = Box(), Child(3), Point(1)


def os_unknown():
    return os.environ.get("SLIPRING_NOT_THERE") is not None


def unknown_things():
    return os.environ.get("SLIPRING_NOT_THERE", ())


unknown_function = os.environ.get("SLIPRING_NOT_THERE", id)
'''


def snippet(seed, unknowns=False):
    """The text of a file, without its kernel."""
    random_ = random.Random(seed)
    pick = random_.choice
    ints, floats, strings = ["5", "i0"], ["1.5", "f0"], ["s0"]
    lists, dicts = ["l0", "l1"], ["d0"]
    lines = ["i0, f0, s0, l0, l1, d0 = 7, 2.75, 'abxa', [3, 1, 4], [1, 5], {'a': 1, 'bb': 2}"]
    kinds = [(INTS, ints), (FLOATS, floats), (STRINGS, strings), (LISTS, lists)]
    for number in range(random_.randint(3, 12)):
        choice = random_.random()
        name = f"v{number}"
        made = None
        if unknowns and choice < 0.15:
            text = pick(UNKNOWN)
        elif choice < 0.5:
            text = pick(CHANGES)
        else:
            texts, made = pick(kinds)
            text = pick(texts)
        c = random_.randint(1, 6)
        text = text.format(
            n=name, i=pick(ints), j=pick(ints), f=pick(floats), l=pick(lists), m=pick(lists), d=pick(dicts), s=pick(strings),
            c=c, c2=pick([c, c + 1]), k=pick(["a", "bb", "c"]),
        )  # fmt: skip
        shape = random_.random()
        if shape < 0.1 and made is None:
            text = f"if {pick(ints)} > {c}:\n" + "\n".join("    " + line for line in text.split("\n"))
        elif shape < 0.2 and made is None:
            text = f"for turn in range({c % 4}):\n" + "\n".join("    " + line for line in text.split("\n"))
        lines.append(text)
        if made is not None and name in text:
            made.append(name)
    seen = [pick(ints), pick(floats), pick(strings), pick(lists), "total", "box.n, box.items, child.n", "Box.shared"]
    if unknowns:
        seen = [pick(seen)]
    state = ", ".join(random_.sample(seen, random_.randint(1, len(seen))) + ["0"])
    lines.append(f"state = repr(({state}))")
    lines.append("V = float(sum(ord(letter) * (at + 1) for at, letter in enumerate(state)) % 100003)")
    return HEAD + SETUP + "\n".join(lines)


def python_value(text):
    """What CPython gives `V`, or the name of what it raises."""
    body = text.replace("import slipring.language as pl\n", "")
    names = {"__name__": "__main__"}
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(body, "snippet.py", "exec"), names)
    except Exception as error:
        return type(error).__name__
    return struct.unpack("f", struct.pack("f", names["V"]))[0]


def main(slipring, first, last, unknowns):
    """Compares what a command line makes of snippets with CPython; the number of wrong values."""
    counts = collections.Counter()
    reasons = collections.Counter()
    folder = pathlib.Path(tempfile.mkdtemp())
    for seed in range(first, last):
        text = snippet(seed, unknowns)
        value = python_value(text)
        file = folder / f"s{seed}.py"
        file.write_text(text + KERNEL)
        wanted = value if isinstance(value, float) else 0.0
        command = [slipring, "run", str(file), "--arg", "full:f32[8x8]=1.0", "--arg", "zeros:f32[8x8]"]
        command += ["--expect", f"out=full:f32[8x8]={wanted!r}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode not in (0, 1, 2):
            verdict = "died"
        elif done.returncode == 2:
            raised = "error[raise]" in done.stderr + done.stdout or "error[assert]" in done.stderr + done.stdout
            verdict = "raised" if isinstance(value, str) and raised else "honest"
            if verdict == "honest":
                said = [line for line in (done.stdout + done.stderr).split("\n") if "error" in line]
                reasons[said[0][:150] if said else "?"] += 1
            if raised and isinstance(value, float):
                verdict = "false alarm"
        elif isinstance(value, str):
            verdict = "wrong"
        else:
            verdict = "same" if done.returncode == 0 else "wrong"
        counts[verdict] += 1
        if verdict in ("wrong", "died", "false alarm"):
            print(verdict, seed, value, file)
        else:
            file.unlink()
    print(dict(counts))
    for reason, count in reasons.most_common(12):
        print(count, reason)
    return counts["wrong"] + counts["died"] + counts["false alarm"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), "--unknowns" in sys.argv[4:]) > 0)
