"""Holds `outputs` against `expected`, as `slipring compare --board .` does: the standard library of Python is enough.

Exit code 0: all as expected, within the tolerance of each type; 1: something is wrong; 2: files are missing, short or of
another launch; 3: nothing is wrong but numbers that differ by more than their own size permits.
"""

import array
import json
import math
import pathlib
import struct
import sys


def numbers(elem, data, table):
    """The numbers of a buffer, a tuple for each element; None for types that are compared as bytes."""
    if elem in table:
        values = [tuple(float(x) for x in pair) for pair in table[elem]]
        return [values[byte] for byte in data]
    if elem == "f32":
        return [(x,) for (x,) in struct.iter_unpack("<f", data)]
    if elem == "f16":
        return [(x,) for (x,) in struct.iter_unpack("<e", data)]
    if elem == "bf16":
        halves = array.array("H", data)
        if sys.byteorder == "big":
            halves.byteswap()
        return [struct.unpack("<f", struct.pack("<I", half << 16)) for half in halves]
    return None


def grade(want, have, rtol, atol, largest):
    """0 close, 1 only within the tolerance of the largest number, 2 wrong."""
    if math.isnan(want) and math.isnan(have) or want == have:
        return 0
    if not (math.isfinite(want) and math.isfinite(have)):
        return 2
    off = abs(want - have)
    if off <= atol + rtol * abs(want):
        return 0
    return 1 if off <= atol + rtol * largest else 2


def compare(slot, want, have, table):
    """The worst grade, how many elements have it, and the first of them."""
    size = slot["elem_bytes"]
    ours = numbers(slot["elem"], want, table)
    if ours is None:
        wrong = [at for at in range(len(want) // size)
                 if want[at * size:(at + 1) * size] != have[at * size:(at + 1) * size]]
        return (2, len(wrong), wrong[0]) if wrong else (0, 0, 0)
    theirs = numbers(slot["elem"], have, table)
    largest = max((abs(x) for pair in ours for x in pair if math.isfinite(x)), default=0.0)
    grades = [
        max(grade(a, b, slot["rtol"], slot["atol"], largest) for a, b in zip(*pairs)) for pairs in zip(ours, theirs)
    ]
    worst = max(grades, default=0)
    return worst, grades.count(worst) if worst else 0, grades.index(worst) if worst else 0


def main():
    folder = pathlib.Path(__file__).resolve().parent
    project = json.loads((folder / "project.json").read_text())
    identity = folder / "outputs" / "identity"
    if not identity.is_file() or identity.read_text() != project["identity"]:
        print("error: `outputs` are not those of a complete launch of this project", file=sys.stderr)
        return 2
    worst = 0
    for at, slot in enumerate(project["parameters"]):
        if not slot["compared"]:
            continue
        want = (folder / "expected" / f"{at}.bin").read_bytes()
        if len(want) != slot["bytes"]:
            print(f"error: expected/{at}.bin does not have {slot['bytes']} bytes", file=sys.stderr)
            return 2
        path = folder / "outputs" / f"{at}.bin"
        if not path.is_file() or path.stat().st_size != len(want):
            print(f"error: outputs/{at}.bin (`{slot['name']}`) is missing or does not have {len(want)} bytes",
                  file=sys.stderr)
            return 2
        found, count, first = compare(slot, want, path.read_bytes(), project["table"])
        if found == 0:
            print(f"{slot['name']}: as expected")
        elif found == 1:
            print(f"{slot['name']}: {count} elements differ by more than their own size permits, by no more than the "
                  f"largest number does; first element {first}")
        else:
            print(f"{slot['name']}: {count} elements are wrong, first element {first}")
        worst = max(worst, found)
    return {0: 0, 1: 3, 2: 1}[worst]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
