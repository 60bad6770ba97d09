"""Lists and dicts that a kernel makes and changes: what it computes with them is what Python computes, or an error."""

import random

import numpy as np
import slipring

HEAD = """import slipring.language as pl
@pl.incore
def k(a: pl.Tensor[[8, 8], pl.FP32], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
"""


def made_by_loops(name):
    """Comprehensions."""
    return [
        f"[v * 2.0 for v in {name} if v > 1]",
        f"[i + v for i, v in enumerate({name})]",
        f"[v + w for v in {name}[:2] for w in (1.0, 2.0) if v != w]",
        f"[{name}.pop() for x in range(2)]",
        f"{name}[1:]",
        f"{name}[-2::2]",
        f"{name}[::-1] + {name}[5:0:-2]",
    ]


def statements(seed):
    """Some lines that make lists and a dict, give them further names, change them, and put them together in `V`."""
    draw = random.Random(seed)
    lines, names = ["D = {'a': 3.0, 'b': 1.0}"], []

    def name():
        return draw.choice(names)

    def number():
        return draw.choice([f"{draw.randint(0, 9)}.0", f"len({name()})", f"{name()}[{draw.randint(-2, 2)}]"] if names else ["2.0"])

    def listed():
        made = "[" + ", ".join(number() for _ in range(draw.randint(0, 3))) + "]"
        return draw.choice([made, name(), f"{name()} + [{number()}]", f"[{number()}] * {draw.randint(0, 3)}", *made_by_loops(name())] if names else [made])

    def bound(value):
        new = draw.choice("LMN")
        lines.append(f"{new} = {value}")
        if new not in names:
            names.append(new)

    for _ in range(draw.randint(4, 12)):
        if not names or draw.random() < 0.3:
            bound(listed())
            continue
        one = name()
        changes = [
            f"assert {name()}.pop() > -1.0",
            f"assert 0.0 <= {name()}.pop() and len({name()}) < 99",
            f"for i, v in enumerate({one}):\n    {one}[i] = v + 1.0",
            f"for v in {one}:\n    if v > 1.0 and len({one}) < 6:\n        {name()}.append(v)",
            f"for v in {one}[:]:\n    {one}.insert(0, v)",
            f"{one}[{draw.randint(-2, 2)}] += 1.0",
            f"{one}[int({one}.pop()) % 2] += 1.0",
            f"{name()}.append({number()})",
            f"{name()}.extend({listed()})",
            f"{name()} += {listed()}",
            f"{name()} *= {draw.randint(0, 2)}",
            f"{name()}.insert({draw.randint(-3, 3)}, {number()})",
            f"{name()}[{draw.randint(-2, 2)}] = {number()}",
            f"{name()}.reverse()",
            f"{name()}.clear()",
            f"x = {name()}.pop()",
            f"x = {name()}.pop({draw.randint(-2, 2)})",
            f"if len({name()}) > 2:\n    {name()}.append({number()})",
            f"for i in (0, 1):\n    {name()}.append(i * 1.0)",
            "D['a'] = 5.0",
            "D.update({'b': 7.0}, c=2.0)",
            "E = D\nE['c'] = 4.0",
            "x = D.pop('a')",
        ]
        lines.append(draw.choice(changes))
    lines.append("V = 1.0 + D.get('a', 40.0) + D['b'] + D.get('c', 0.0)")
    for each in names:
        lines.append(f"V = V + len({each}) * 1.0\nif len({each}) > 0:\n    V = V * 3.0 + {each}[0] + {each}[-1] * 2.0")
    return "\n".join(lines)


def by_python(text):
    """The value, or `None` where Python raises."""
    known = {}
    try:
        exec(text, known)
    except (IndexError, KeyError):
        return None
    return float(known["V"])


# What Python does and a kernel may not; it says so.
ALLOWED = ("changes while the loop goes through it", "changes a list, and is needed twice")
REFUSED = "refused"


def by_slipring(path, text):
    body = "".join(f"    {line}\n" for line in text.split("\n"))
    path.write_text(f"{HEAD}{body}    out[:, :] = a[:, :] * 0.0 + V\n")
    out = np.zeros((8, 8), np.float32)
    try:
        slipring.open(path)(np.ones((8, 8), np.float32), out)
    except slipring.KernelError as error:
        return REFUSED if any(words in str(error) for words in ALLOWED) else None
    return float(out[0, 0])


def test_values_are_those_of_python(tmp_path):
    values = refused = 0
    for seed in range(300):
        text = statements(seed)
        wanted, got = by_python(text), by_slipring(tmp_path / "lists.py", text)
        if got == REFUSED:
            refused += 1
            continue
        assert got == (None if wanted is None else np.float32(wanted)), f"seed {seed}, Python says {wanted}, slipring {got}:\n{text}"
        values += got is not None
    assert values > 60 and 10 < refused < 100, (values, refused)
