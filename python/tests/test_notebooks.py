"""The notebooks run from their first cell to their last, in the shell that notebooks have."""

import json
import pathlib

import pytest

NOTEBOOKS = sorted(pathlib.Path("docs/notebooks").glob("*.ipynb"))


def test_there_are_notebooks():
    assert NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook(path, capsys):
    shells = pytest.importorskip("IPython.core.interactiveshell")
    shell = shells.InteractiveShell()
    shown = []
    shell.displayhook.write_format_data = lambda data, metadata=None: shown.append(data)
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        result = shell.run_cell("".join(cell["source"]), store_history=True)
        if not result.success:
            result.raise_error()
        assert not cell["outputs"], "notebooks are kept without outputs"
    said = capsys.readouterr().out
    if path.stem == "first_kernels":
        assert any("<svg" in data.get("text/html", "") for data in shown)
        assert "error[" in said and "pl.range(0, 64, 24)" in said or "out[i : i + 24, :]" in said
        assert "slots" in said
