"""The files of values and the examples: what a run of each kernel gives is what the reference gives."""

import importlib.util
import pathlib
import sys
import types
import warnings

import numpy as np
import pytest

import slipring.language
from slipring import KernelError
from slipring._kernel import Function
from slipring._words import Generic
from slipring.reference._tiles import is_float, numpy_type
from slipring.testing import difference

FILES = sorted(path for folder in ("tests/files/lang/values", "examples/lang") for path in pathlib.Path(folder).glob("*.py"))
# Of the largest magnitude: what a product multiplies was rounded to 16 bits before, and may have fallen on the other side.
SLACK = 2e-3


def loaded(path, monkeypatch):
    """The module of a file in the public language."""
    package = types.ModuleType("pypto")
    package.language, package.ir = slipring.language, types.ModuleType("pypto.ir")
    for name, module in [("pypto", package), ("pypto.language", slipring.language), ("pypto.ir", package.ir)]:
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location(f"reference_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def array(annotation, rng):
    """What is passed for a parameter; `None` where the text leaves its shape open."""
    output = isinstance(annotation, Generic) and "Out" in annotation.word
    inner = annotation.parts if output else annotation
    if not isinstance(inner, Generic):
        return None
    if inner.word.endswith("Scalar"):
        dtype = numpy_type(inner.parts[-1] if isinstance(inner.parts, tuple) else inner.parts)
        return 1.5 if is_float(dtype) else 1
    shape, dtype = inner.parts[0], numpy_type(inner.parts[1])
    if not all(isinstance(extent, int) for extent in shape):
        return None
    if output and "InOut" not in annotation.word:
        return np.zeros(shape, dtype)
    if dtype.name == "float8_e8m0fnu":
        scales = np.exp2(rng.integers(-3, 3, shape)).astype(dtype)
        # Any bytes are as good as packed ones.
        return slipring.packed_scales(scales, inner.parts[2]) if len(inner.parts) > 2 else scales
    # Integers are indices.
    return (rng.standard_normal(shape).astype(np.float32) if is_float(dtype) else rng.integers(0, 4, shape)).astype(dtype)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_run_is_the_reference(path, monkeypatch):
    blocks = [int(line.split()[2]) for line in path.read_text().splitlines() if line.startswith("# blocks:")]
    compared = 0
    for name, kernel in vars(loaded(path, monkeypatch)).items():
        if not isinstance(kernel, Function) or kernel.kind != "kernel":
            continue
        rng = np.random.default_rng(0)
        given = [array(annotation, rng) for _, annotation in kernel.params]
        if any(own is None for own in given):
            continue
        for platform in ("a5", "a2a3"):
            mine, theirs = ([own.copy() if isinstance(own, np.ndarray) else own for own in given] for _ in range(2))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    run = kernel.run(*mine, platform=platform, **({"blocks": blocks[0]} if blocks else {}))
            except KernelError:
                # The other platform runs it.
                continue
            if run.verdict != "clean":
                # A file about indices outside, say.
                continue
            kernel.reference(*theirs, blocks=blocks[0] if blocks else 1)
            for own, one, other in zip(kernel.parameter_names, mine, theirs):
                # Where a platform keeps rings in global memory, their slots hold what was pushed.
                if not isinstance(one, np.ndarray) or kernel.peers and "slot" in own:
                    continue
                finite = np.abs(np.nan_to_num(other.astype(np.float64), posinf=0, neginf=0)).max(initial=1)
                text = difference(one, other, SLACK, SLACK * finite)
                assert text is None, f"`{own}` of {name} on {platform}: {text}"
            compared += 1
    if not compared:
        pytest.skip("no kernel whose arguments the text says")
