"""The ops of a checkout, as its `.td` files declare them, beside those that slipring knows.

Only names are compared: of ops, of their attributes, of pipes that an op always has; and how many values an op takes. What an op
means no such file says.
"""

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

FILES = {
    "PTOOps.td": "operations on tiles",
    "VPTOOps.td": "micro-instructions",
    "VPTOUbOps.td": "micro-instructions on UB (A2/A3)",
    "VMIOps.td": "virtual micro-instructions",
}
# Attributes that the assembler adds to every op of a kind, and that do not occur in texts.
INTERNAL = {"operandSegmentSizes", "resultSegmentSizes"}


@dataclass
class Declared:
    """An op of the checkout."""
    name: str
    file: str
    least: int = 0
    most: int | None = 0
    attributes: set[str] = field(default_factory=set)
    pipes: set[str] = field(default_factory=set)


@dataclass
class Difference:
    """What differs of an op that both know."""
    name: str
    attributes: list[str]
    operands: str
    pipe: str


def declared(checkout: Path) -> dict[str, Declared]:
    """The ops of a checkout, by name."""
    found = {}
    for file in FILES:
        path = checkout / "include" / "PTO" / "IR" / file
        if path.is_file():
            for op in of_file(path.read_text(errors="replace"), file):
                found[op.name] = op
    return found


def of_file(text: str, file: str) -> list[Declared]:
    """The ops of one file. Arguments that a class gives are looked up there."""
    text = re.sub(r"\[\{.*?\}\]", lambda m: m.group(0) if "PIPE" in m.group(0) else "[{}]", text, flags=re.S)
    text = re.sub(r"//[^\n]*", "", text)
    classes = {m.group(1): m.group(0) for m in re.finditer(r"^class (\w+).*?(?=^(?:class|def|defm|multiclass) |\Z)", text, re.M | re.S)}
    ops = []
    for m in re.finditer(r"^def \w+\s*:\s*(\w+)<\s*\"([^\"]+)\".*?(?=^(?:class|def|defm|multiclass) |\Z)", text, re.M | re.S):
        base, mnemonic, body = m.group(1), m.group(2), m.group(0)
        prefix = "vmi." if file.startswith("VMI") and not mnemonic.startswith("vmi.") else ""
        op = Declared(f"pto.{prefix}{mnemonic}", file)
        arguments(body, base, classes, op)
        pipes = re.search(r"PIPE getPipe\(\)\s*\{(.*?)\}", body, re.S)
        if pipes:
            op.pipes = {p.removeprefix("PIPE_") for p in re.findall(r"PIPE::(PIPE_\w+)", pipes.group(1))} - {"UNASSIGNED"}
        ops.append(op)
    return ops


def arguments(body: str, base: str, classes: dict[str, str], op: Declared) -> None:
    """Reads `(ins …)` of an op, or of the nearest class that has it."""
    seen = set()
    while "let arguments" not in body and base in classes and base not in seen:
        seen.add(base)
        body = classes[base]
        outer = re.match(r"class \w+.*?:\s*(\w+)<", body, re.S)
        base = outer.group(1) if outer else ""
    listed = re.search(r"let arguments\s*=\s*\(ins(.*?)\n?\s*\)\s*;", body, re.S)
    for part in re.finditer(r"([\w:<>,\s\"\.\[\]{}&|()-]*?):\$(\w+)", listed.group(1) if listed else ""):
        kind, name = part.group(1).strip(" ,\n"), part.group(2)
        if "Attr" in kind:
            op.attributes.add(name)
            continue
        if "Variadic<" in kind:
            op.most = None
        elif "Optional<" not in kind:
            op.least += 1
        if op.most is not None:
            op.most += 1


def known(slipring: Path) -> dict[str, dict]:
    """The ops that slipring knows, by every name."""
    done = subprocess.run([str(slipring), "ops", "--json"], capture_output=True, text=True, check=True)
    table = {}
    for line in done.stdout.splitlines():
        op = json.loads(line)
        for name in [op["name"], *op["aliases"]]:
            table[name] = op
    return table


def compare(theirs: dict[str, Declared], ours: dict[str, dict]) -> tuple[list[Declared], list[Difference]]:
    """The ops that are new, and what differs of the others."""
    new = [op for name, op in sorted(theirs.items()) if name not in ours]
    differences = []
    for name, op in sorted(theirs.items()):
        own = ours.get(name)
        if own is None:
            continue
        attributes = sorted(op.attributes - {a["name"] for a in own["attributes"]} - INTERNAL)
        counts = [o["count"] for o in own["operands"]]
        least, most = counts.count("one"), None if "variadic" in counts else len(counts)
        operands = "" if least <= op.least and (most is None or op.most is not None and op.most <= most) else \
            f"{span(op.least, op.most)} there, {span(least, most)} here"
        pipe = own["pipe"] or "none"
        pipes = "" if not op.pipes or pipe in (*op.pipes, "depends") else f"{', '.join(sorted(op.pipes))} there, {pipe} here"
        if attributes or operands or pipes:
            differences.append(Difference(name, attributes, operands, pipes))
    return new, differences


def span(least: int, most: int | None) -> str:
    """`2`, `2 to 4`, `2 or more`."""
    return f"{least} or more" if most is None else str(least) if least == most else f"{least} to {most}"
