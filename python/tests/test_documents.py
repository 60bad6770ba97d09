"""What the documents show is what happens."""

import pathlib
import subprocess
import sys


def test_the_readmes_example(tmp_path):
    text = pathlib.Path("README.md").read_text().split("## From Python\n", 1)[1]
    script = text.split("```python\n", 1)[1].split("```", 1)[0]
    shown = text.split("prints\n\n```\n", 1)[1].split("```", 1)[0]
    path = tmp_path / "example.py"
    path.write_text(script)
    run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
    assert run.stdout == shown, run.stderr


def test_the_calls_of_scale(tmp_path):
    text = pathlib.Path("docs/scale.md").read_text()
    calls = text.split("```python\n")[1:]
    assert len(calls) == 3
    for number, call in enumerate(calls):
        shown = call.split("prints\n\n```\n", 1)[1].split("```", 1)[0]
        path = tmp_path / f"{number}.py"
        path.write_text(call.split("```", 1)[0])
        run = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120)
        assert run.stdout == shown, run.stderr
