"""Functions of the host: Python that a program calls between its tasks."""

import inspect

from ._arrays import dtype_of, of_bytes


class HostArray:
    """What a function that is given from outside gets for a tensor: its memory, which it may change where the program says so."""

    def __init__(self, buffer, elem, shape):
        self.buffer, self.elem, self.shapes = buffer, elem, tuple(shape)

    @property
    def shape(self):
        """Its extents."""
        return self.shapes

    @property
    def dtype(self):
        """Its type, as numpy has it."""
        return dtype_of(self.elem)

    def tensor(self):
        """It as a tensor of torch, or an array of numpy where there is no torch, over the same memory."""
        return host_tensor(self.buffer, self.elem, self.shapes)


def host_tensor(buffer, elem, shape):
    """Memory as a tensor of torch; as an array of numpy where there is no torch."""
    try:
        import torch
    except ImportError:
        return of_bytes(buffer, dtype_of(elem), tuple(shape))
    return torch.frombuffer(buffer, dtype=getattr(torch, dtype_of(elem).name)).reshape(tuple(shape))


def _of_text(function):
    """A function with a body: called with tensors and numbers, as it is written."""

    def call(args):
        function(*(HostArray(*arg).tensor() if isinstance(arg, tuple) else arg for arg in args))

    return call


def _given(callback):
    """One that is given from outside: called with a list of what it is passed."""

    def call(args):
        callback([HostArray(*arg) if isinstance(arg, tuple) else arg for arg in args])

    return call


def bind_host(functions, callbacks):
    """What runs each function of the host: what is given for it, else its own body.

    Raises `ValueError` where nothing is given for one without a body, `TypeError` for what cannot be called with one argument.
    """
    missing = sorted(name for name, function in functions.items() if function.requires_runtime_binding and name not in callbacks)
    if missing:
        raise ValueError(
            f"nothing is given for {', '.join(f'`{name}`' for name in missing)}: the body is `...`, so what it does is passed to "
            "`prepare(callbacks={...})`"
        )
    bound = {}
    for name, function in functions.items():
        if name not in callbacks:
            bound[name] = _of_text(function.function)
            continue
        callback = callbacks[name]
        if not callable(callback):
            raise TypeError(f"the callback for `{name}` cannot be called: {callback!r}")
        try:
            inspect.signature(callback).bind([])
        except TypeError:
            raise TypeError(f"the callback for `{name}` takes one argument, the list of what it is passed") from None
        except ValueError:
            pass
        bound[name] = _given(callback)
    return bound
