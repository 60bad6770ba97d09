"""What public scripts call `pypto.debug`: the meaning of a program as Python on tensors of torch."""

from .._compiled import Lowered
from .._kernel import Function
from .._outline import constants

FORM = '''"""What `{name}` means, on tensors of torch: its text, read op by op without the compiler."""

import torch

TEXT = {text!r}


def {name}({parameters}):
    """Writes the outputs in place."""
    from slipring.pypto.debug import meaning

    for tensor in ({each}):
        assert not isinstance(tensor, torch.Tensor) or tensor.device.type == "cpu"
{checks}    meaning(TEXT, "{name}", ({each}))
'''


def torch_codegen(program, check_shapes=False):
    """Python that does with tensors of torch what a program, or one of its functions, means. It knows the ops that
    `kernel.reference` knows; others raise when it is run. With `check_shapes` it asserts the shapes that the program is meant for."""
    if not isinstance(program, (Lowered, Function)):
        raise TypeError(f"torch_codegen takes a program or a function, not {type(program).__name__}")
    function, arguments = (program.function, program.arguments) if isinstance(program, Lowered) else (program, {})
    parts, _ = function._parts()
    text = constants(function) + "\n\n".join(part.as_python() for part in reversed(parts))
    shapes = {name: tuple(array.shape) for name, array in arguments.items() if hasattr(array, "shape")} if check_shapes else {}
    checks = "".join(f"    assert tuple({name}.shape) == {shape}\n" for name, shape in shapes.items())
    names = function.parameter_names
    each = "".join(f"{name}, " for name in names)
    return FORM.format(name=function.name, text=text, parameters=", ".join(names), each=each, checks=checks)


def meaning(text, name, args):
    """Runs the function of a text on arrays, op by op; its outputs are written in place."""
    import linecache

    from . import _language

    filename = f"<meaning of {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names = {"pl": _language.module(), "__name__": filename}
    exec(compile(text, filename, "exec"), names)
    names[name].reference(*args)


__all__ = ["torch_codegen"]
