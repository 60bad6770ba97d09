"""What slipring and the assembler say of one file."""

import re
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

# slipring's names of platforms, and the assembler's.
ARCH = {"a5": "a5", "a2a3": "a3"}
SECONDS = 60
# The answer for an accepted text.
TAKEN = ("accepted", "verified")


@dataclass(frozen=True)
class Tools:
    ptoas: Path | None
    # Only the dialect, which parses and verifies.
    verifier: Path | None
    slipring: Path
    target: str | None
    root: Path
    folder: Path


@dataclass(frozen=True)
class Answer:
    file: str
    platform: str
    digest: str
    answer: str


def ask_own(tools: Tools, path: Path, platform: str) -> Answer | None:
    """A file of this repository; nothing if it does not build at all."""
    name = str(path.relative_to(tools.root))
    if tools.target is not None and slipring(tools, path, platform, None)[0] is None:
        return None
    return ask(tools, path, name, platform, skip_refused=tools.target is None)


def ask_sample(tools: Tools, path: Path, checkout: Path, platform: str) -> Answer | None:
    """A public file; nothing if the assembler itself refuses it at every level."""
    if not any(assemble(tools, path, platform, level) in TAKEN for level in ("level2", "level3")):
        return None
    return ask(tools, path, str(path.relative_to(checkout)), platform, skip_refused=False)


def ask(tools: Tools, path: Path, name: str, platform: str, *, skip_refused: bool) -> Answer | None:
    text, reason = slipring(tools, path, platform, tools.target)
    if text is None:
        return None if skip_refused else Answer(name, platform, "-", f"refused: {reason}")
    printed = tools.folder / f"{threading.get_ident()}.pto"
    printed.write_text(text)
    return Answer(name, platform, digest(text), assemble(tools, printed, platform, "level3"))


def slipring(tools: Tools, path: Path, platform: str, target: str | None) -> tuple[str | None, str]:
    """What `slipring build` prints, or why it prints nothing."""
    command = [str(tools.slipring), "build", str(path), "--arch", platform] + (["--for", target] if target else [])
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    if done.returncode == 0:
        return done.stdout, ""
    found = re.search(r"error(?:\[([\w-]+)\])?: (.*)", done.stderr)
    return None, f"{found[1] or 'error'}: {general(found[2])}" if found else f"exit {done.returncode}"


def assemble(tools: Tools, path: Path, platform: str, level: str) -> str:
    """`accepted`, `verified` where only its dialect was asked, or the assembler's first message."""
    if tools.verifier is not None:
        command = [str(tools.verifier), str(path), ARCH[platform]]
    elif tools.ptoas is not None:
        command = [str(tools.ptoas), f"--pto-arch={ARCH[platform]}", f"--pto-level={level}", str(path), "-o", "/dev/null"]
    else:
        return "not asked"
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    if done.returncode == 0:
        return "accepted" if tools.verifier is None else "verified"
    found = re.search(r"error: (.*)", done.stderr, re.IGNORECASE)
    return f"rejected: {general(found[1])}" if found else f"rejected: exit {done.returncode}"


def general(message: str) -> str:
    """A message without the names and numbers of one file."""
    message = re.sub(r"%[\w#]+", "%", message)
    return re.sub(r"\s+", " ", re.sub(r"(?<![\w.-])\d+(?![\w.])", "N", message)).strip()[:160].strip()


def digest(text: str) -> str:
    """The form of a printed program: its set of lines without comments, places and names of values, numbers left out where they
    are constants, events and addresses.

    64-bit FNV-1a, as `crates/cli/tests/assembler.rs` computes it.
    """
    lines = set()
    for line in text.splitlines():
        line = line.split(" loc(")[0].strip()
        if not line.startswith("//"):
            line = re.sub(r"%[\w#$.:-]+", "%", line)
            if any(word in line for word in ("arith.constant", "_flag[", "reserve_buffer")):
                line = re.sub(r"[0-9]+", "0", line)
            lines.add(line)
    value = 0xCBF29CE484222325
    for byte in "\n".join(sorted(lines)).encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return f"{value:016x}"
