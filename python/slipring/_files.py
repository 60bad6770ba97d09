"""Kernels and whole programs from files."""

import builtins
import os

from . import _slipring
from ._arrays import dtype_of, element_of, extents, host_array, is_array, marked, of_bytes
from ._compiled import CompileCache, bound, interpretations, tensors
from ._runs import options_of, start
from ._slipring import KernelError

MOST_BYTES = 64 << 20


class File:
    """A kernel or whole program of a file: `.py` of the language, or `.pto` text. A call with arrays checks and runs
    it; open shapes are taken from the arrays."""

    def __init__(self, path, platform=None, function=None, interpretation=(), values=None, reading=()):
        self._path, self._platform, self._function = os.fspath(path), platform, function
        self._interpretations = [*interpretations(interpretation), *interpretations(reading)]
        self._values = [f"{name}={value}" for name, value in (values or {}).items()]
        with builtins.open(path, "rb") as file:
            self._contents = file.read(MOST_BYTES + 1)
        if len(self._contents) > MOST_BYTES:
            raise ValueError(f"{self._path!r} has more than {MOST_BYTES} bytes, which is the limit for a text")
        self._compiled = CompileCache()
        self._own = self._error = None
        try:
            self._own = self._load({})
        except KernelError as error:
            # A call supplies the missing shapes and numbers.
            if not error.waits_for_arguments:
                raise
            self._error = error

    def _load(self, arguments):
        """The kernel or program for arguments by position or name, and its parameters."""

        def text(name, value, numbers):
            if hasattr(value, "dtype") and value.shape != ():
                value = f"{element_of(value, name)}[{'x'.join(map(str, extents(value, name)))}]"
            else:
                value = numbers.get(name, value)
            return f"{name}={value}" if isinstance(name, str) else str(value)

        def load(numbers):
            return self._open([text(name, value, dict(numbers)) for name, value in arguments.items()])

        return self._compiled.get(tuple(tensors(arguments)), arguments, load)

    def _open(self, texts):
        """The kernel or program for arguments in the syntax of the command line."""
        return _slipring.open(self._path, self._contents, texts, self._values, self._function, self._platform, self._interpretations)

    def _known(self):
        """The kernel or program without arguments. Raises the error that prevents compilation, if any."""
        if self._own is None:
            raise self._error
        return self._own

    @property
    def __name__(self):
        return self._known()[0].name

    @property
    def parameters(self):
        """Name, element type, shape, whether it is a buffer, and direction of each parameter."""
        return self._known()[1]

    def arguments(self, *texts, seed=0):
        """The arrays and numbers that the command line passes for these texts (`"rand:f32[64x64]"`, `"n=4:i64"`), one
        for each parameter. Without texts, those of the file's own line, else random ones of the declared shapes."""
        kernel = self._open(list(texts))
        given = [_argument(*given) for given in kernel.arguments(list(texts), seed)]
        # A generated array has the layout of its parameter.
        layouts = [parameter[5] for parameter in kernel.parameters()]
        return [value if layout is None else marked(value, layout) for value, layout in zip(given, layouts)]

    def run(self, *args, verify=False, **kwargs):
        """Runs it and returns the run. Buffers without a declared direction are treated as outputs. `where` and
        `workers` are as for `Function.run`."""
        where, workers = kwargs.pop("where", None), kwargs.pop("workers", None)
        options = options_of(kwargs, [parameter[0] for parameter in self._own[1]] if self._own else ())
        given = {name: host_array(arg) if is_array(arg) else arg for name, arg in [*enumerate(args), *kwargs.items()]}
        kernel, parameters = self._load(given)
        arguments = bound(_to_pass(kernel, parameters, args, kwargs), args, kwargs, kernel.name)
        if where is None and workers is not None:
            raise TypeError("`workers` are those of `where`: it has no effect alone")
        if where is not None:
            from .scale.launch import launch

            return launch(self, (self._platform, self._interpretations), (kernel, parameters), arguments, options, verify, where, workers)
        return start(kernel, parameters, arguments, options, verify)

    def __call__(self, *args, **kwargs):
        """Runs it; outputs are written in place, and findings raise. Its results are returned as arrays."""
        run = self.run(*args, **kwargs)
        run.show()
        run.check()
        run.write()
        return run.given_back({name: value for name, value in zip((own[0] for own in run._parameters), args)} | kwargs)


def _to_pass(kernel, parameters, args, kwargs):
    """The names of the parameters to pass: those that the kernel makes itself may be left out."""
    made = set(kernel.made()) if isinstance(kernel, _slipring.Kernel) else ()
    return [name for at, (name, *_) in enumerate(parameters) if at not in made or at < len(args) or name in kwargs]


def _argument(elem, shape, is_buffer, contents):
    """Converts bytes to an array or a number."""
    if is_buffer:
        dtype = dtype_of(elem or "ui8")
        count = len(contents) // dtype.itemsize
        return of_bytes(contents, dtype, tuple(shape) if shape is not None else (count,)).copy()
    if elem is None:
        return contents[0] != 0
    dtype = dtype_of(elem)
    return of_bytes(contents[: dtype.itemsize], dtype, (1,))[0].item()


def open(path, platform=None, function=None, interpretation=(), values=None, reading=()):
    """Reads a kernel or whole program from a file: the kernel language if its name ends in `.py`, else `.pto` text.

    `function` selects one of several, `interpretation` names alternative interpretations where public sources disagree
    (formerly `reading`), and `values` sets constants of the file and parameters of functions that build kernels.
    """
    return File(path, platform, function, interpretation, values, reading)


__all__ = ["File", "open"]
