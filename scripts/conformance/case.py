"""One case: its inputs made, its kernel run, its results compared, all by the case's own programs."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

import host

SECONDS = 120


@dataclass
class Outcome:
    """What came of one case with one seed.

    `result` is `pass`, `differs` (the case's comparison says no), `stopped` (a finding ended the run), `refused` (the text
    was not accepted), `error` (this script or the case's own programs failed).
    """
    case: str
    seed: int | None
    result: str
    detail: str = ""
    findings: list = field(default_factory=list)
    cycles: int = 0

    def as_json(self) -> dict:
        return asdict(self)


@dataclass
class Settings:
    """How kernels are run."""
    slipring: Path
    slack: int
    check: str
    keep: Path | None


def takes_seed(case: Path) -> bool:
    """True if the case's inputs depend on a seed that can be chosen."""
    return '"--seed"' in (case / "golden.py").read_text()


def run_case(name: str, case: Path, seed: int | None, settings: Settings) -> Outcome:
    """Runs a case with a seed; `None` is the seed that the case has itself."""
    outcome = Outcome(name, seed, "error")
    folder = Path(tempfile.mkdtemp(prefix="conformance-"))
    try:
        program = host.read_program(case)
        options = [] if seed is None else ["--seed", str(seed)]
        made = command([sys.executable, str(case / "golden.py"), "--output-dir", str(folder), *options], folder)
        if made.returncode != 0:
            outcome.detail = "golden.py: " + last_line(made.stderr)
        elif execute(program, case, folder, settings, outcome):
            compare(case, folder, outcome)
    except (host.HostError, OSError, subprocess.TimeoutExpired) as error:
        outcome.detail = str(error)
    finally:
        if settings.keep is not None:
            target = settings.keep / f"{name.replace('/', '-')}-{'own' if seed is None else seed}"
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target)
        shutil.rmtree(folder)
    return outcome


def execute(program: host.Program, case: Path, folder: Path, settings: Settings, outcome: Outcome) -> bool:
    """Does what the host program does, with `slipring run` for a launch. False if a launch did not complete."""
    for name, size in program.buffers.items():
        (folder / device_file(name)).write_bytes(bytes(size))
    sizes = {}
    for step in program.steps:
        match step:
            case host.Read():
                data = (folder / step.file).read_bytes()
                # A file that is larger than the host buffer is not read: the buffer keeps its contents.
                if len(data) <= step.capacity:
                    sizes[step.size] = len(data)
                    device = folder / device_file(step.device)
                    device.write_bytes((data + device.read_bytes()[len(data):])[:program.buffers[step.device]])
            case host.Launch():
                if not launch(step, case, folder, settings, outcome):
                    return False
            case host.Write():
                size = sizes.get(step.variable, step.size)
                (folder / step.file).write_bytes((folder / device_file(step.device)).read_bytes()[:size])
    return True


def launch(step: host.Launch, case: Path, folder: Path, settings: Settings, outcome: Outcome) -> bool:
    args = []
    for kind, value in step.args:
        args += ["--arg", f"@{device_file(value)}:out" if kind == "buffer" else value]
    line = [str(settings.slipring), "run", str(case / "kernel.pto"), "--func", step.kernel, "--blocks", str(step.blocks),
            "--gm-slack", str(settings.slack), "--check", settings.check, "--json", *args]
    done = command(line, folder)
    try:
        facts = json.loads(done.stdout)
    except ValueError:
        outcome.result, outcome.detail = "error", f"slipring ended with {done.returncode}: {last_line(done.stderr)}"
        return False
    errors = [f for f in facts.get("findings", []) if f["severity"] == "error"]
    outcome.findings += sorted({f["code"] for f in errors})
    outcome.cycles += facts.get("cycles", 0)
    if facts.get("complete"):
        return True
    outcome.result = "refused" if done.returncode == 2 else "stopped"
    first = errors[0] if errors else {"code": "", "message": facts.get("error") or last_line(done.stderr), "line": None}
    place = f"line {first['line']}: " if first.get("line") else ""
    outcome.detail = f"{place}{first['code']}: {first['message']}".replace("\n", " ")
    return False


def compare(case: Path, folder: Path, outcome: Outcome) -> None:
    """The case's own comparison, strict."""
    done = command([sys.executable, str(case / "compare.py")], folder, COMPARE_STRICT="1")
    outcome.result = "pass" if done.returncode == 0 else "differs"
    if done.returncode != 0:
        outcome.detail = re.sub(r"\s+", " ", done.stdout.strip() or last_line(done.stderr))[:200]


def command(line: list, folder: Path, **environment) -> subprocess.CompletedProcess:
    return subprocess.run(line, cwd=folder, env=os.environ | environment, capture_output=True, text=True, timeout=SECONDS)


def device_file(name: str) -> str:
    return f"device-{name}.bin"


def last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""
