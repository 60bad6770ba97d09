"""The command line and the package say the same of the file tests: findings, verdicts, checks, times and bytes."""

import importlib.util
import json
import os
import pathlib
import re
import shlex
import sys
import tempfile
import warnings

import numpy as np
import pytest

import slipring
from slipring import KernelError, _scales, _slipring
from slipring._kernel import Function
from slipring._program import Program
from slipring.pypto import install

pytestmark = pytest.mark.once

ROOT = pathlib.Path(__file__).parents[2]
FILES = sorted(path for kind in ("py", "pto") for folder in ("tests/files", "examples") for path in (ROOT / folder).rglob(f"*.{kind}"))
# What cannot be compared, and why.
NOT_COMPARED = {
    "tests/files/run/limits/memory.pto": "the command line refuses its arguments before they are made",
    "tests/files/matmul/hif8.pto": "numpy has no type for elements of hif8",
    "tests/files/ops/cvt_small_floats.pto": "numpy has no type for elements of hif8",
    "tests/files/programs/options_of_kernels.py": "most of these options show something of a run, which the package has by itself",
}
# Options of `run` that the package has, and what takes their value.
OPTIONS = {
    "--assume": ("assume", str),
    "--blocks": ("blocks", int),
    "--check": ("check", str),
    "--clusters": ("clusters", int),
    "--devices": ("devices", int),
    "--gm-slack": ("gm_slack", int),
    "--launches": ("launches", int),
    "--max-cycles": ("max_cycles", int),
    "--max-memory": ("max_memory", int),
    "--max-output": ("max_output", int),
    "--max-steps": ("max_steps", int),
    "--order": ("order", int),
    "--timing": ("timing", str),
}


class Command:
    """A command line of `slipring run`, as the package takes it; `options` is `None` for one that only the command line has."""

    def __init__(self, words):
        self.texts, self.values, self.interpretation = [], {}, []
        self.platform = self.function = None
        self.options, self.verify = {}, False
        words = iter(words)
        for word in words:
            name, _, value = word.partition("=")
            if name == "--verify":
                self.verify = True
            elif name == "--strict":
                self.options["strict"] = True
            elif name in ("--stats", "--json"):
                continue
            elif name in ("--timeline", "--lines"):
                self.options["record"] = True
            elif name in ("--arg", "--set", "--arch", "--func", "--interpretation", *OPTIONS):
                value = value or next(words)
                if name == "--arg":
                    self.texts.append(value)
                elif name == "--set":
                    self.values.update([value.split("=", 1)])
                elif name == "--arch":
                    self.platform = value
                elif name == "--func":
                    self.function = value
                elif name == "--interpretation":
                    self.interpretation.append(value)
                else:
                    option, kind = OPTIONS[name]
                    self.options[option] = kind(value)
            else:
                self.options = None
                return


def commands(path, verb):
    """The command lines of a file test, each with its words."""
    for line in path.read_text().splitlines():
        found = re.match(rf"(?://|#) test: {verb} %s(.*)", line)
        if found:
            yield shlex.split(found[1])


def having(verb):
    """The files with such a command line that the package has, too."""
    return [path for path in FILES if any(Command(words).options is not None for words in commands(path, verb))]


# Standard output and standard error while the command line runs: it keeps the first that it is given.
WRITTEN = [tempfile.TemporaryFile() for _ in range(2)]


def command_line(words):
    """The exit code, and the object that the command line writes."""
    sys.stdout.flush()
    kept = os.dup(1), os.dup(2)
    try:
        for at, file in enumerate(WRITTEN, 1):
            file.seek(0)
            file.truncate()
            os.dup2(file.fileno(), at)
        code = _slipring.command_line(["slipring", *words])
    finally:
        for at, own in enumerate(kept, 1):
            os.dup2(own, at)
            os.close(own)
    WRITTEN[0].seek(0)
    facts = json.loads(WRITTEN[0].read())
    # The version of what is printed; facts in Python have that of the package.
    assert facts.pop("schema") == 2
    return code, facts


def same_words(theirs, mine):
    """True for texts that differ in how they write options at most: "`--max-steps`" is "`max_steps=`"."""
    if not isinstance(theirs, str):
        return theirs == mine
    parts = re.split(r"`--[^`]*`", theirs)
    return isinstance(mine, str) and re.fullmatch("`[^`]*=[^`]*`".join(map(re.escape, parts)), mine) is not None


def differences(theirs, mine, at=""):
    """Where two objects differ."""
    if isinstance(theirs, dict) and isinstance(mine, dict):
        for key in {**theirs, **mine}:
            yield from differences(theirs.get(key), mine.get(key), f"{at}.{key}")
    elif isinstance(theirs, list) and isinstance(mine, list) and len(theirs) == len(mine):
        for index, (one, other) in enumerate(zip(theirs, mine)):
            yield from differences(one, other, f"{at}[{index}]")
    elif not same_words(theirs, mine) and not (at.endswith(".elem") and mine.partition("[")[0] == theirs.partition("[")[0]):
        # An array has the parameter's shape; on the command line its own, or none.
        yield f"{at}: {theirs!r} on the command line, {mine!r} in the package"


def exit_of(findings, complete):
    """The exit code that a run's findings mean."""
    if any(finding["code"] in ("unsupported", "memory-limit") for finding in findings):
        return 2
    return 1 if not complete or any(finding["severity"] == "error" for finding in findings) else 0


@pytest.fixture(autouse=True, scope="module")
def public_modules():
    """The modules that public scripts import, for this file's tests only: other tests of this process must not depend
    on them, nor read scales as those scripts do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_scales, "AS_ON_DEVICE", [])
        patch.setattr(sys, "meta_path", sys.meta_path[:])
        install()
        yield
    for name in [name for name in sys.modules if name.partition(".")[0] == "pypto"]:
        del sys.modules[name]


def loaded(path, monkeypatch):
    """The module that a file is; `None` where Python cannot import it."""
    spec = importlib.util.spec_from_file_location(f"surface_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    monkeypatch.syspath_prepend(path.parent)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spec.loader.exec_module(module)
    except (Exception, SystemExit):
        return None
    return module


def function_of(module, name):
    """The function of a module that the command line calls so."""
    for value in vars(module).values() if module else ():
        own = value.functions.values() if isinstance(value, Program) else [value]
        for function in own:
            if isinstance(function, Function) and function.name == name:
                return function
    return None


def run_of(call):
    """The findings, the exit code that they mean, and the run; what raises says why instead."""
    try:
        run = call()
    except KernelError as error:
        return error.findings, 2, None
    except (TypeError, ValueError, OSError) as error:
        return str(error), 2, None
    return run.findings, exit_of(run.findings, run.complete), run


def copied(arrays):
    """The same arguments again: a run writes into its arrays."""
    return [array.copy() if isinstance(array, np.ndarray) else array for array in arrays]


def is_of(function, finding):
    """True for a finding that is not about another function of the file, which a function alone does not have."""
    own = [part.text for part in function._parts()[0]]
    return finding["line"] is None or any(text.first <= finding["line"] < text.first + len(text.lines) for text in own)


def compare(title, code, facts, call):
    """Holds what the package says against what the command line says."""
    findings, own, run = run_of(call)
    if run is None and isinstance(findings, str):
        said = facts.get("error") or ""
        # The command line says of its own options what they take.
        assert "try '--help'" in said or same_words(said, findings), f"{title}: {facts.get('error')!r} / {findings!r}"
    said = list(differences(facts["findings"], findings) if run is None else differences(facts, run.facts))
    assert not said or isinstance(findings, str), "\n".join([title, *said])
    assert own == code, title


@pytest.mark.parametrize("path", having("run"), ids=lambda path: str(path.relative_to(ROOT)))
def test_runs(path, monkeypatch):
    """A run of a file, and of its function in a module, is the command line's."""
    monkeypatch.chdir(ROOT)
    name = str(path.relative_to(ROOT))
    if name in NOT_COMPARED:
        pytest.skip(NOT_COMPARED[name])
    module = loaded(path, monkeypatch) if path.suffix == ".py" else None
    compared = 0
    for words in commands(path, "run"):
        command = Command(words)
        if command.options is None:
            continue
        code, facts = command_line(["run", name, "--json", *(word for word in words if word != "--json")])
        title, arrays = " ".join(words), []

        def of_file():
            file = slipring.open(name, command.platform, command.function, command.interpretation, command.values)
            arrays[:] = file.arguments(*command.texts)
            return file.run(*copied(arrays), verify=command.verify, **command.options)

        compare(f"{title}, by its file", code, facts, of_file)
        compared += 1
        function = function_of(module, facts.get("kernel") or facts.get("program"))
        if function is None or command.values or not arrays:
            continue
        options = {"blocks": facts["blocks"], **command.options} if "blocks" in facts else command.options
        options = {**options, "interpretation": command.interpretation, "platform": facts["platform"]}

        def of_function():
            # What the kernel makes itself comes last, and a function makes it.
            passed = copied(arrays)[: len(function.parameter_names)]
            return function.run(*passed, verify=command.verify, **options)

        facts["findings"] = [own for own in facts["findings"] if is_of(function, own)]
        compare(f"{title}, by its function", code, facts, of_function)
    if not compared:
        pytest.skip("no run that the package has, too")


@pytest.mark.parametrize("path", having("check"), ids=lambda path: str(path.relative_to(ROOT)))
def test_checks(path, monkeypatch):
    """What stops the compiler in the package is an error of `check`, and what is clean there compiles."""
    monkeypatch.chdir(ROOT)
    name = str(path.relative_to(ROOT))
    compared = 0
    for words in commands(path, "check"):
        command = Command(words)
        if command.options is None or command.texts or name in NOT_COMPARED:
            continue
        code, facts = command_line(["check", name, "--json", *words])
        try:
            slipring.open(name, command.platform, command.function, command.interpretation, command.values)
        except KernelError as error:
            # What a launch needs, a check does not.
            if error.waits_for_arguments or {own["code"] for own in error.findings} & {"which-kernel", "several-programs", "launch"}:
                continue
            refused = [own["name"] for own in facts["platforms"] if not own["applies"]]
            if (command.platform or "a5") in refused:
                continue
            for finding in error.findings:
                same = (one for one in facts["diagnostics"] if one["code"] == finding["code"] and one["line"] == finding["line"])
                assert any(same_words(one["message"], finding["message"]) for one in same), f"{words}: {finding}"
            assert code != 0, words
        except TypeError as error:
            # Of several kernels one has to be named.
            assert "several" in str(error) or "no kernel" in str(error) or "whole program" in str(error), f"{words}: {error}"
            continue
        compared += 1
    if not compared:
        pytest.skip("no check of one kernel")
