"""The texts of a checkout with what its own tests expect of them, and what `slipring check` says.

A sample is expected to be accepted unless its name says `invalid`. A test says what it expects in its `RUN:` lines: a line with
`not` in front of the tool expects an error, every other line that the text is read. An error counts as one of the dialect
if its text stands in the parser or the verifier (`lib/PTO/IR`); one of a later pass, of the driver or of the C++ printer is
counted apart, since no text shows it.
"""

import json
import re
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

PLATFORM = {"a3": "a2a3", "a2a3": "a2a3", "a5": "a5"}
SECONDS = 60


@dataclass(frozen=True)
class Case:
    """A text, the platform it is for (`any` where nothing says it), and what is expected: `accepted`, `refused`, `refused later`."""
    name: str
    text: str
    platform: str
    expects: str


@dataclass
class Answer:
    """What `slipring check` said: `accepted`, `refused` with the first error, `findings` for a text that is read and not clean, or
    `failed` without an answer."""
    case: Case
    says: str
    code: str = ""
    message: str = ""
    line: int = 0

    def agrees(self) -> bool:
        """Whether the expectation is met. Of an error that comes later than the text either answer is fine. A text that is
        read and has findings is neither accepted nor refused."""
        return self.case.expects in (self.says, "refused later")

    def not_modelled(self) -> bool:
        """Whether it was refused by name, as something that is known and not modelled."""
        return self.says == "refused" and self.code == "unsupported"


@dataclass
class Source:
    """The assembler's own sources, to tell whose an error is."""
    dialect: str = ""
    later: str = ""


def samples(checkout: Path, held_out: list[str]) -> list[Case]:
    """The texts below `test/samples`, but those of folders that are held out."""
    root = checkout / "test" / "samples"
    cases = []
    for path in sorted(root.rglob("*.pto")):
        name = path.relative_to(root)
        if any(name.parts[0].startswith(prefix) for prefix in held_out):
            continue
        text = path.read_text(errors="replace")
        platform = "a5" if "A5" in name.parts[0] or "_a5" in name.name else "any"
        # The name promises an error; the tool's own lines do not say whether the text shows it.
        expects = "refused later" if "invalid" in name.stem else "accepted"
        cases.append(Case(str(name), text, platform_of(text, platform), expects))
    return cases


def platform_of(text: str, otherwise: str) -> str:
    """The platform that a module names, or another."""
    named = re.search(r'pto\.target_arch"?\s*=\s*"(\w+)"', text)
    if named:
        return PLATFORM.get(named.group(1), otherwise)
    chip = re.search(r'pto\.device-spec"?\s*=\s*"(\w+)"', text)
    return ("a5" if chip.group(1).startswith(("Ascend950", "Ascend910_95")) else otherwise) if chip else otherwise


def tests(checkout: Path, folder: str) -> list[Case]:
    """The cases of a folder below `test/lit`: one for each part of a file and platform."""
    root = checkout / "test" / "lit" / folder
    library = checkout / "lib" / "PTO"
    others = [p for p in sorted(library.iterdir()) if p.is_dir() and p.name != "IR"] + [checkout / "tools"]
    source = Source(read_all(library / "IR"), "\n".join(map(read_all, others)))
    cases = []
    for path in sorted(root.rglob("*.pto")):
        cases += cases_of(str(path.relative_to(root.parent)), path.read_text(errors="replace"), source)
    return cases


def read_all(folder: Path) -> str:
    """All C++ texts of a folder, with strings that are continued on a next line put together."""
    parts = [p.read_text(errors="replace") for p in sorted(folder.rglob("*")) if p.suffix in (".cpp", ".h", ".td", ".inc")]
    return re.sub(r'"\s*\n?\s*"', "", "\n".join(parts))


def cases_of(name: str, text: str, source: Source) -> list[Case]:
    """The cases of one test file."""
    lines = re.findall(r"RUN:(.*)", text)
    commands = re.sub(r"\\\s*\n", " ", "\n".join(line.rstrip() for line in lines)).split("\n")
    parts = split_parts(text, commands)
    found: dict[tuple[str, str], Case] = {}
    for command in commands:
        call = re.search(r"(\bnot\s+(?:--crash\s+)?)?\b(ptoas|pto-test-opt)\b([^|]*)", command)
        if not call or "--help" in command:
            continue
        refused = call.group(1) is not None
        arch = re.search(r"--?pto-arch[= ]'?(\w+)", call.group(3))
        for part, body in parts.items():
            if part and f"%t/{part}" not in command and not part.isdigit():
                continue
            platform = PLATFORM.get(arch.group(1), "a2a3") if arch else platform_of(body, "a5" if call.group(2) != "ptoas" else "a2a3")
            expects = "accepted"
            if "verify-diagnostics" in command:
                expects = "refused" if "expected-error" in body else "accepted"
                if expects == "refused" and not all(of_dialect(m, source) for m in re.findall(r"expected-error\S*\s*\{\{(.*?)\}\}", body)):
                    expects = "refused later"
            elif refused:
                prefix = re.search(r"--?check-prefix(?:es)?[= ](\w[\w-]*)", command)
                expects = refusal(body if part.isdigit() else text, prefix.group(1) if prefix else "CHECK", source)
            label = f"{name}{':' + part if part else ''}"
            old = found.get((label, platform))
            if old is None or (old.expects != "accepted" and expects == "accepted"):
                found[label, platform] = Case(label, body, platform, expects)
    return list(found.values())


def split_parts(text: str, commands: list[str]) -> dict[str, str]:
    """The texts in a file, by name: parts of `split-file` by theirs, parts after `// -----` by number."""
    if any("split-file" in c and "-split-input-file" not in c for c in commands):
        pieces = re.split(r"^\s*(?://|#|;)?\s*-{2,}\s*([\w./-]+)\s*$", text, flags=re.M)
        return dict(zip(pieces[1::2], pieces[2::2]))
    if any("split-input-file" in c for c in commands):
        pieces = re.split(r"^\s*// -----.*$", text, flags=re.M)
        return {str(i + 1): piece for i, piece in enumerate(pieces) if re.search(r"^\s*[^/\s]", piece, re.M)}
    return {"": text}


def refusal(text: str, prefix: str, source: Source) -> str:
    """Whose error a test expects, by the first line that FileCheck looks for."""
    wanted = re.findall(rf"\b{prefix}(?:-SAME|-NEXT|-DAG)?:\s*(.*)", text)
    if not wanted:
        # Several texts in one file, and this one has no line of its own: the error comes from another text.
        return "refused later" if "error" not in text else "refused"
    return "refused" if any(of_dialect(line, source) for line in wanted) else "refused later"


def of_dialect(line: str, source: Source) -> bool:
    """Whether an expected message is one of the parser or the verifier: its longest piece stands there, or in no pass."""
    line = re.sub(r"\{\{.*?\}\}|\[\[.*?\]\]", "\0", line)
    line = re.sub(r"error:|'pto\.[\w.]+' op|\"[^\"]*\"|'[^']*'|\b\d+\b", "\0", line)
    pieces = sorted((p.strip(" .,:;()[]") for p in line.split("\0")), key=len, reverse=True)
    if not pieces or len(pieces[0]) < 4 or "failed to legalize" in line:
        return False
    return pieces[0] in source.dialect or pieces[0] not in source.later and "op-fusion" not in line


def ask(cases: list[Case], slipring: Path, jobs: int) -> list[Answer]:
    """What `slipring check` says of all of them."""
    with tempfile.TemporaryDirectory(prefix="upstream-") as folder, ThreadPoolExecutor(jobs) as pool:
        def one(numbered: tuple[int, Case]) -> Answer:
            number, case = numbered
            path = Path(folder) / f"{number}.pto"
            path.write_text(case.text)
            return answer(case, path, slipring)
        return list(pool.map(one, enumerate(cases)))


def answer(case: Case, path: Path, slipring: Path) -> Answer:
    """What it says of one."""
    if case.platform == "any":
        both = [answer(replace(case, platform=platform), path, slipring) for platform in ("a2a3", "a5")]
        return next((a for a in both if a.says in ("accepted", "findings")), both[0])
    command = [str(slipring), "check", "--json", "--arch", case.platform, str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return Answer(case, "failed", "timeout", f"no answer in {SECONDS} seconds")
    if done.returncode == 0:
        return Answer(case, "accepted")
    if done.returncode == 1:
        # The text is parsed, but it is not claimed to be correct.
        return Answer(case, "findings")
    try:
        report = json.loads(done.stdout.splitlines()[0])
        first = next(d for d in report["diagnostics"] if d["severity"] == "error")
    except (ValueError, IndexError, KeyError, StopIteration):
        return Answer(case, "failed", "no-answer", (done.stderr or done.stdout).strip().split("\n")[0][:100])
    return Answer(case, "refused", first["code"], first["message"], first["line"] or 0)


def causes(answers: list[Answer]) -> list[tuple[int, str, str]]:
    """Why texts are refused that should not be, by first error, the most frequent first: number, cause, one name."""
    counts: Counter = Counter()
    example: dict[str, str] = {}
    for a in answers:
        if a.agrees() or a.says in ("accepted", "findings"):
            continue
        message = re.sub(r"`[^`]*`|\d+", lambda m: m.group(0) if m.group(0).startswith("`pto.") else "…", a.message)
        cause = f"{a.code}: {message}"
        counts[cause] += 1
        example.setdefault(cause, a.case.name)
    return [(n, cause, example[cause]) for cause, n in counts.most_common()]
