"""Host code of a file: what slipring makes of it is what Python makes of it, or an error; never another value."""

import numpy as np
import pytest
import slipring
from host_snippets import KERNEL, python_value, snippet


def slipring_value(path, text):
    """What the kernel of a snippet stores; none where slipring says that it does not know it."""
    path.write_text(text + KERNEL)
    try:
        out = np.zeros((8, 8), np.float32)
        slipring.open(path)(np.ones((8, 8), np.float32), out)
    except slipring.KernelError:
        return None
    return float(out[0, 0])


@pytest.mark.parametrize("unknowns", [False, True])
def test_values_are_those_of_python(tmp_path, unknowns):
    known = 0
    for seed in range(150):
        text = snippet(seed, unknowns)
        wanted, got = python_value(text), slipring_value(tmp_path / "host.py", text)
        # What Python raises over something that slipring does not follow is not a value to be compared with.
        if isinstance(wanted, str) and unknowns:
            continue
        assert got is None or got == wanted, f"seed {seed}, Python says {wanted}, slipring {got}:\n{text}"
        known += got is not None
    assert known > (60 if unknowns else 130)
