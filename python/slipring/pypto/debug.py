"""The counterpart of `pypto.debug` for public scripts: the semantics of a program as Python on torch tensors."""

import textwrap

from .._compiled import Lowered
from .._kernel import Function
from .._program import Program
from .._outline import constants

FORM = '''"""What `{name}` means, on tensors of torch: its text, read op by op without the compiler."""

import torch

TEXT = {text!r}


def {name}({parameters}):
    """Writes the outputs in place."""
    from slipring.pypto.debug import meaning

    for tensor in ({each}):
        assert not isinstance(tensor, torch.Tensor) or tensor.device.type == "cpu"
{checks}    meaning(TEXT, "{path}", ({each}))
'''


def torch_codegen(program, check_shapes=False):
    """Python code that does on torch tensors what a program, or one of its functions, means. It supports the ops that
    `kernel.reference` supports; others raise when it is run. With `check_shapes`, it asserts the shapes for which the
    program is written."""
    if not isinstance(program, (Lowered, Function, Program)):
        raise TypeError(f"torch_codegen takes a program or a function, not {type(program).__name__}")
    if isinstance(program, Program):
        program = program.lower()
    function, arguments = (program.function, program.arguments) if isinstance(program, Lowered) else (program, {})
    parts, _ = function._parts()
    owner = function.owner.name if function.owner is not None else ""
    outside = [textwrap.dedent(part.as_python()) for part in reversed(parts) if part.owner is None]
    inside = [textwrap.indent(textwrap.dedent(part.as_python()), "    ") for part in reversed(parts) if part.owner is not None]
    text = constants(function) + "\n\n".join(outside)
    if inside:
        text += f"\n\n@pl.program\nclass {owner}:\n" + "\n".join(inside)
    shapes = {name: tuple(array.shape) for name, array in arguments.items() if hasattr(array, "shape")} if check_shapes else {}
    checks = "".join(f"    assert tuple({name}.shape) == {shape}\n" for name, shape in shapes.items())
    names = function.parameter_names
    each = "".join(f"{name}, " for name in names)
    path = f"{owner}.{function.name}" if owner else function.name
    return FORM.format(name=function.name, path=path, text=text, parameters=", ".join(names), each=each, checks=checks)


def meaning(text, name, args):
    """Runs a function of a text, or of a class in it, on arrays, op by op; its outputs are written in place."""
    import linecache

    from . import _language

    filename = f"<meaning of {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names = {"pl": _language.module(), "__name__": filename}
    exec(compile(text, filename, "exec"), names)
    owner, _, own = name.rpartition(".")
    (getattr(names[owner], own) if owner else names[own]).reference(*args)


__all__ = ["torch_codegen"]
