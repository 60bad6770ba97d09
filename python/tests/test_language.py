"""The module of the language has everything that the catalogue has."""

import ast
import pathlib

import pytest

import slipring.language as pl
from slipring._slipring import catalogue, words
from slipring.language import _stub

STUB = pathlib.Path(pl.__file__).with_name("__init__.pyi")


def test_nothing_is_missing():
    names = [name for entry in catalogue() for name in entry["names"]] + [word for word, _, _ in words()]
    assert len(names) > 200
    for name in names:
        value = pl
        for part in name.split("."):
            value = getattr(value, part)
        assert value.__slipring_path__ == f"pl.{name}"


def test_words_have_documentation():
    assert "Exponential" in pl.exp.__doc__ and "pl.exp(x" in pl.exp.__doc__


def test_the_stub_is_the_catalogues():
    text = STUB.read_text()
    assert text == _stub.stub(), "make it again: python -m slipring.language._stub"
    tree = ast.parse(text)
    defined = {node.name for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    defined |= {node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)}
    for entry in catalogue():
        for name in entry["names"]:
            assert name.partition(".")[0] in defined, name


def test_no_word_that_python_cannot_find():
    missing = [name for name in pl.__all__ if getattr(pl, name, None) is None]
    assert not missing


def test_the_bytes_of_a_type():
    assert [word.get_byte() for word in (pl.FP32, pl.BF16, pl.INT8, pl.UINT64, pl.BOOL)] == [4, 2, 1, 8, 1]
    with pytest.raises(TypeError, match="`pl.exp` is not a type of elements"):
        pl.exp.get_byte()


def test_names_in_types_of_public_scripts():
    assert all(getattr(pl, name).__slipring_path__ == f"pl.{name}" for name in "Tuple Array TaskId FP4 ND NZ DN scope".split())
    assert repr(pl.TensorView(stride=[64, 1], layout=pl.ND)).startswith("pl.TensorView[")
