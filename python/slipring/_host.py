"""Host functions: Python code that a program calls between its tasks."""

import inspect

from ._arrays import dtype_of, of_bytes


class HostArray:
    """The argument for a tensor of a host function given from outside: its memory, writable if the program declares
    so."""

    def __init__(self, buffer, elem, shape):
        self.buffer, self.elem, self.shapes = buffer, elem, tuple(shape)

    @property
    def shape(self):
        """Its extents."""
        return self.shapes

    @property
    def dtype(self):
        """Its numpy type."""
        return dtype_of(self.elem)

    def tensor(self):
        """A torch tensor, or a numpy array if torch is not installed, over the same memory."""
        return host_tensor(self.buffer, self.elem, self.shapes)


def host_tensor(buffer, elem, shape):
    """Memory as a torch tensor, or as a numpy array if torch is not installed."""
    try:
        import torch
    except ImportError:
        return of_bytes(buffer, dtype_of(elem), tuple(shape))
    return torch.frombuffer(buffer, dtype=getattr(torch, dtype_of(elem).name)).reshape(tuple(shape))


def _of_text(function):
    """Wraps a function with a body: it is called with tensors and numbers, as written."""

    def call(args):
        function(*(HostArray(*arg).tensor() if isinstance(arg, tuple) else arg for arg in args))

    return call


def _given(callback):
    """Wraps a function given from outside: it is called with a list of its arguments."""

    def call(args):
        callback([HostArray(*arg) if isinstance(arg, tuple) else arg for arg in args])

    return call


def bind_host(functions, callbacks):
    """The callable for each host function: the one given from outside, else its own body.

    Raises `ValueError` if a function has neither, and `TypeError` for objects that cannot be called with one argument.
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
