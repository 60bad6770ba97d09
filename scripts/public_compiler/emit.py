"""Lets the public compiler write its texts: of its unit tests, of its system tests, of its examples and the blocks of
its guide."""

import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import tempfile

from build import assembler

HERE = pathlib.Path(__file__).resolve().parent
# Unit tests that emit texts match this pattern; the tests of the rest of the compiler take ten minutes more.
WRITES = re.compile(r"PTOCodegen|\.compile\(|\bjit\b|generate\(")
SYSTEM = ("examples", "distributed", "codegen")
PLATFORMS = ("a2a3", "a5")


def emit(options, texts):
    """Fills a folder for each part with texts and notes. Tests that fail write what they write."""
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        around = {
            **os.environ,
            "PTOAS_ROOT": str(assembler(scratch / "bin")),
            "PYTHONPATH": os.pathsep.join([str(options.top / "python"), str(HERE), str(options.top)]),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYPTO_PROG_BUILD_DIR": str(scratch / "built"),
        }
        pytest = [options.python, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider", "-p", "keeper"]
        pytest += ["--continue-on-collection-errors"]
        if "unit" in options.part:
            files = [path for path in sorted((options.top / "tests/ut").rglob("test_*.py")) if WRITES.search(path.read_text(encoding="utf-8"))]
            run([*pytest, *map(str, files)], options.top, {**around, "KEEPER_FOLDER": str(texts / "unit")})
        for platform in PLATFORMS if "system" in options.part else ():
            command = [*pytest, "--rootdir", "tests/st", "--codegen-only", f"--platform={platform}sim", "--device=0-7"]
            folders = [f"tests/st/{name}" for name in SYSTEM]
            run([*command, *folders], options.top, {**around, "KEEPER_FOLDER": str(texts / f"system/{platform}")})
        for platform in PLATFORMS if "scripts" in options.part else ():
            of = {**around, "KEEPER_FOLDER": str(texts / f"scripts/{platform}"), "KEEPER_PLATFORM": f"{platform}sim"}
            for name, path, text in scripts(options.top):
                if path is None:
                    path = scratch / "block.py"
                    path.write_text(text.replace("__PLATFORM__", f"{platform}sim"), encoding="utf-8")
                run([options.python, "-O", str(HERE / "keeper.py"), str(path)], scratch, {**of, "KEEPER_NAME": name}, 120)


def run(command, folder, environment, limit=3600):
    """Runs what writes texts; what it says of its own results does not count."""
    try:
        subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=limit)
    except subprocess.TimeoutExpired:
        print(f"not done in {limit} s: {command[-1]}", flush=True)


def scripts(top):
    """The examples and the marked blocks of the guide, as `scripts/public_scripts` finds them: name, path, text."""
    loader = importlib.machinery.SourceFileLoader("public_scripts", str(HERE.parent / "public_scripts"))
    public = importlib.util.module_from_spec(importlib.util.spec_from_loader("public_scripts", loader))
    loader.exec_module(public)
    return [*public.scripts(top), *public.blocks(top)]
