"""Type checkers pass what the documents show and a user's file, and find mistakes; the stubs have what the package has."""

import ast
import importlib.util
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

import slipring
import slipring.pypto
import slipring.queue
import slipring.scale
from slipring._files import File
from slipring._kernel import Function
from slipring._program import Program
from slipring._runs import ProgramRun, Run

HERE = pathlib.Path(__file__).parent / "types"
PACKAGE = pathlib.Path(slipring.__file__).parent


def readme():
    text = pathlib.Path("README.md").read_text().split("## From Python\n", 1)[1]
    return text.split("```python\n", 1)[1].split("```", 1)[0]


def shown(page):
    """The blocks of a page that are whole: those that stand by themselves."""
    blocks = re.findall(r"```python\n(.*?)```", pathlib.Path(page).read_text(), re.DOTALL)
    whole = [block for block in blocks if "import slipring" in block]
    assert whole, page
    return whole


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Files that are right, and one that is wrong."""
    folder = tmp_path_factory.mktemp("types")
    texts = {"readme": readme()}
    for page in ("tutorial", "kernels"):
        texts.update({f"{page}{at}": text for at, text in enumerate(shown(f"docs/{page}.md"))})
    texts["user"], texts["wrong"] = (HERE / "user.py").read_text(), (HERE / "wrong.py").read_text()
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def wrong_lines(folder):
    lines = (folder / "wrong.py").read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if "# wrong" in line}


@pytest.mark.once
def test_mypy(files):
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(files / "cache"), "."]
    # Where the package is no installed one, its own files are looked at, too: those are not what is asked here.
    places = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    run = subprocess.run(command, cwd=files, capture_output=True, text=True, timeout=300, env=places)
    found = [line.split(":", 2) for line in run.stdout.splitlines() if ": error:" in line]
    found = [line for line in found if (files / line[0]).parent == files]
    assert not [line for line in found if line[0] != "wrong.py"], run.stdout + run.stderr
    assert {int(line[1]) for line in found} == wrong_lines(files), run.stdout + run.stderr


@pytest.mark.once
def test_pyright(files):
    if importlib.util.find_spec("pyright") is None:
        pytest.skip("pyright is not installed")
    settings = {"extraPaths": [str(PACKAGE.parent)], "typeCheckingMode": "basic", "include": ["."]}
    (files / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    run = subprocess.run(command, cwd=files, capture_output=True, text=True, timeout=300)
    if not run.stdout.startswith("{"):
        pytest.skip(f"pyright does not start: {run.stderr[-200:]}")
    found = [own for own in json.loads(run.stdout)["generalDiagnostics"] if own["severity"] == "error"]
    others = [own for own in found if not own["file"].endswith("wrong.py")]
    assert not others, others
    assert {own["range"]["start"]["line"] + 1 for own in found} == wrong_lines(files), found


def members(tree, name):
    """The public members that a stub gives a class, and those of what it is based on."""
    found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    own = {node.name for node in found.body if isinstance(node, ast.FunctionDef)}
    own |= {node.target.id for node in found.body if isinstance(node, ast.AnnAssign)}
    for base in found.bases:
        if isinstance(base, ast.Name) and any(isinstance(node, ast.ClassDef) and node.name == base.id for node in tree.body):
            own |= members(tree, base.id)
    return {name for name in own if not name.startswith("_")}


@pytest.mark.parametrize("kind", [Function, Program, Run, ProgramRun, File], ids=lambda kind: kind.__name__)
def test_the_stub_has_the_members_of(kind):
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    have = {name for own in kind.__mro__[:-1] for name in vars(own) if not name.startswith("_")}
    assert have - members(tree, kind.__name__) == set()
    assert members(tree, kind.__name__) - have - {"function"} == set()


@pytest.mark.parametrize("module", [slipring.queue, slipring.scale, slipring.pypto], ids=lambda module: module.__name__)
def test_the_stub_of_a_module_has_what_it_has(module):
    tree = ast.parse(pathlib.Path(module.__file__).with_suffix(".pyi").read_text())
    known = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    values = {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert set(module.__all__) - set(known) - values == set()
    for name in module.__all__:
        own = getattr(module, name)
        if isinstance(own, type) and not issubclass(own, Exception):
            fields = {field for kind in own.__mro__ for field in getattr(kind, "__annotations__", {})}
            have = fields | {member for kind in own.__mro__[:-1] for member in vars(kind) if not member.startswith("_")}
            assert have - members(tree, name) == set(), name
        elif not isinstance(own, type) and callable(own):
            says = inspect.signature(own).parameters
            given = known[name].args
            shown = [one.arg for one in [*given.args, *given.kwonlyargs, given.vararg, given.kwarg] if one is not None]
            assert shown == list(says), name


def test_public_functions_have_types_and_documentation():
    tree = ast.parse((PACKAGE / "__init__.pyi").read_text())
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    for name in slipring.__all__:
        own = getattr(slipring, name)
        assert name in defined or name == "__version__" or type(own).__name__ == "module", f"the stub has no `{name}`"
        assert getattr(own, "__doc__", None), f"`slipring.{name}` has no documentation"
    for kind in (Function, Program, Run, ProgramRun, File):
        for name, own in vars(kind).items():
            if not name.startswith("_") and (callable(own) or isinstance(own, property)):
                assert own.__doc__, f"`{kind.__name__}.{name}` has no documentation"
