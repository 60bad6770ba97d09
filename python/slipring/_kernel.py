"""Kernels of Python: decorators, calls, runs."""

import builtins
import functools
import warnings

from . import _slipring
from ._arrays import dtype_of, element_of, extents, flat_bytes, host_array, is_array, of_bytes, write_back
from ._slipring import KernelError
from ._compiled import Compiled, Lowered, bound
from ._progress import Progress
from ._source import _MISSING, Text, look_up, plain, surroundings, together

# Options of a run that are the engine's.
OPTIONS = (
    "blocks",
    "check",
    "clusters",
    "events",
    "gm_slack",
    "launches",
    "max_cycles",
    "max_memory",
    "max_output",
    "max_steps",
    "order",
    "record",
    "strict",
    "timing",
)
# Options of runs that say nothing else.
DEFAULTS = {}
# Not empty where public scripts run: their default platform counts where nobody names one.
PUBLIC = []
# Compiled kernels that a function keeps.
KEPT = 64
# Stands for a function that is a whole program, which is compiled for its numbers too.
WHOLE = object()


class KernelWarning(UserWarning):
    """What a run found that is no error."""


def _kind(path, options):
    """What a decorator makes of a function: `None` for host code."""
    kind = options.get("type")
    if kind is not None:
        name = getattr(kind, "__slipring_path__", str(kind)).rpartition(".")[2]
        return {"InCore": "kernel", "Opaque": "kernel", "AIC": "cube", "AIV": "vector", "Inline": "inline"}.get(name)
    return {"pl.inline": "inline", "pl.jit.inline": "inline", "pl.jit.host": None}.get(path, "kernel")


class Decorator:
    """`@pl.jit`, `@pl.incore`, `@pl.function(type=…)`: makes a kernel of a function."""

    def __init__(self, path):
        self.__slipring_path__ = path
        self.__doc__ = f"`@{path}` makes a kernel of a function."

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        part = Decorator(f"{self.__slipring_path__}.{name}")
        self.__dict__[name] = part
        return part

    def __call__(self, function=None, /, **options):
        if function is None:
            return functools.partial(self._make, options=options, depth=2)
        return self._make(function, options, 3)

    def _make(self, function, options, depth):
        if isinstance(function, type):
            return Program(function)
        if isinstance(function, Function):
            return function
        kind = _kind(self.__slipring_path__, options)
        return Function(function, kind, surroundings(depth))

    def __repr__(self):
        return self.__slipring_path__


class Function:
    """A function of the kernel language: a kernel, or a part of one. Called with arrays it is compiled for them, checked and run."""

    def __init__(self, function, kind="kernel", local=None):
        functools.update_wrapper(self, function)
        self.function = function
        self.kind = kind
        self.local = local or {}
        self.owner = None
        self._text = None
        self._compiled = {}

    @property
    def text(self):
        """The text of the function and where it stands."""
        if self._text is None:
            self._text = Text(self.function)
        return self._text

    def __get__(self, instance, owner=None):
        return self

    def _parts(self):
        """The functions that it is made of, itself first, and what the names of all of them stand for."""
        parts, names, waiting = [], {}, [self]
        while waiting:
            part = waiting.pop()
            if part in parts:
                continue
            parts.append(part)
            own = part.owner.functions if part.owner is not None else {}
            waiting += [own[name] for name in part.text.siblings if name in own]
            for name in part.text.used:
                value = look_up(name, part.function, part.local)
                if isinstance(value, Function):
                    if value.kind is not None:
                        waiting.append(value)
                    continue
                value = plain(value) if value is not _MISSING else _MISSING
                if value is not _MISSING:
                    names.setdefault(name, value)
        return parts, names

    def compile(self, *args, platform=None, config=None, **kwargs):
        """The kernel compiled for arguments of these shapes and types; for those of its annotations if none are given."""
        target, name = _target(platform, config)
        return Compiled(self, self._bind(args, kwargs) if args or kwargs else {}, target, name)

    def lower(self, *args, platform=None, config=None, **kwargs):
        """Compiles for these arguments, so that what is wrong is said, and gives the program: its `functions`, its text."""
        arguments = self._bind(args, kwargs) if args or kwargs else {}
        self._compile(arguments, _target(platform, config)[0])
        return Lowered(self, arguments)

    @property
    def name(self):
        """Its name."""
        return self.__name__

    @property
    def func_type(self):
        """What kind of function it is, as the language names it."""
        from . import language

        names = {"kernel": "InCore", "cube": "AIC", "vector": "AIV", "inline": "Inline", None: "Orchestration"}
        return getattr(language.FunctionType, names[self.kind])

    @property
    def params(self):
        """The names and annotations of its parameters."""
        return [(name, self.function.__annotations__.get(name)) for name in self.parameter_names]

    @property
    def return_types(self):
        """The annotations of what it returns."""
        back = self.function.__annotations__.get("return")
        return [] if back is None else list(getattr(back, "__args__", [back]))

    def as_python(self):
        """Its text."""
        return "".join(self.text.lines)

    def _bind(self, args, kwargs):
        """Each argument by its parameter."""
        if self.kind == "inline":
            raise TypeError(f"`{self.__name__}` is copied into kernels that call it; it is no kernel itself")
        return bound(self.parameter_names, args, kwargs, self.__name__)

    @property
    def parameter_names(self):
        """The names of its parameters."""
        code = self.function.__code__
        return [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name != "self"]

    def _compile(self, arguments, platform):
        parts, names = self._parts()
        tensors = []
        for name, value in arguments.items():
            if hasattr(value, "dtype"):
                tensors.append((name, extents(value, name), element_of(value, name)))
        key = (
            platform,
            tuple(part.text.key for part in parts),
            tuple(sorted((name, repr(value)) for name, value in names.items())),
            tuple((name, tuple(shape), elem) for name, shape, elem in tensors),
        )
        compiled = self._compiled.get(key)
        if compiled is WHOLE or compiled is None:
            # The tasks of a whole program follow from its numbers.
            numbers = tuple((name, _number(value)) for name, value in arguments.items() if _number(value) is not None)
            whole = self._compiled.get((key, numbers))
            if whole is not None:
                return whole
            classes = {part.text: part.owner.name for part in parts if part.owner is not None}
            filename, text = together([part.text for part in parts], classes)
            kernel = _slipring.program(filename, text, names, self.__name__, tensors, list(numbers), platform)
            if kernel is not None:
                self._keep(key, WHOLE)
                key = (key, numbers)
            elif self.kind is None:
                raise TypeError(f"`{self.__name__}` is host code and submits no task: slipring runs kernels and whole programs")
            else:
                kernel = _slipring.compile(filename, text, names, self.__name__, tensors, platform)
            compiled = (kernel, kernel.parameters())
            self._keep(key, compiled)
        return compiled

    def _keep(self, key, compiled):
        while len(self._compiled) >= KEPT:
            self._compiled.pop(next(iter(self._compiled)))
        self._compiled[key] = compiled

    def __call__(self, *args, **kwargs):
        """Runs the kernel; its outputs are written in place. What it returns comes back as arrays.

        Raises `KernelError` for findings; the outputs are then as they were.
        """
        from .reference import active

        if active() is not None:
            own = (self.owner,) if self.function.__code__.co_varnames[:1] == ("self",) else ()
            return self.function(*own, *args, **kwargs)
        run = self.run(*args, **kwargs)
        run.check()
        run.write()
        return self._result(run, args, kwargs)

    def _result(self, run, args, kwargs):
        """What a call gives back: outputs that the function returns as they were passed, and what it makes as arrays."""
        passed = {**dict(zip(self.parameter_names, args)), **kwargs}
        if isinstance(run, ProgramRun):
            return run.given_back(passed)
        made = iter(run._returned)
        back = [passed[name] if name in passed else next(made, None) for name in self.text.returned]
        return None if not back else back[0] if len(back) == 1 else tuple(back)

    def run(self, *args, platform=None, verify=False, **kwargs):
        """Runs the kernel and gives the run: what was found is no exception here. Outputs are written unless the run stopped
        before its end.

        `platform` is a5 or a2a3; `verify` compares with the sequential meaning. Further options: blocks, check, strict, timing,
        launches, gm_slack, events, record, max_steps, max_cycles, max_memory, max_output.
        """
        options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs}
        platform, _ = _target(platform, kwargs.pop("config", None))
        arguments = self._bind(args, kwargs)
        kernel, parameters = self._compile(arguments, platform)
        return start(kernel, parameters, arguments, options, verify)

    def graph(self, *args, platform=None, **kwargs):
        """The tasks of a whole program and what orders them, as text, for arguments of these shapes and numbers."""
        return self._program(args, kwargs, platform).text()

    def graph_svg(self, *args, platform=None, **kwargs):
        """The same as a picture; empty for a graph with a cycle."""
        return self._program(args, kwargs, platform).svg()

    def _program(self, args, kwargs, platform):
        kernel, _ = self._compile(self._bind(args, kwargs) if args or kwargs else {}, _target(platform, None)[0])
        if not isinstance(kernel, _slipring.Program):
            raise TypeError(f"`{self.__name__}` is one kernel: only a function that starts several has tasks")
        return kernel

    def rings(self, *args, sweep=None, platform=None, **kwargs):
        """How full the rings are and who waits for whom; `sweep=(1, 8)` also runs with these depths. Facts with a `text`."""
        options = {name: kwargs.pop(name) for name in OPTIONS if name in kwargs}
        arguments = self._bind(args, kwargs)
        kernel, parameters = self._compile(arguments, platform)
        if isinstance(kernel, _slipring.Program):
            raise TypeError(f"`{self.__name__}` is a whole program, whose kernels have rings: ask them")
        facts, text = kernel.rings(_passed(parameters, arguments)[0], sweep, options)
        return {**facts, "text": text}

    def reference(self, *args, blocks=1, **kwargs):
        """Runs the Python function itself on numpy tiles, without the compiler, once for each block: outputs are written in place."""
        from . import reference

        return reference.run(self, self._bind(args, kwargs), blocks)

    def __repr__(self):
        return f"<slipring kernel {self.__qualname__}>"

    def _repr_html_(self):
        from ._html import kernel

        return kernel(self)


def _target(platform, config):
    """The platform that is meant, and the name that the caller has for it. Public scripts say it by a configuration."""
    if config is None and (platform is not None or not PUBLIC):
        return platform, platform
    from .pypto.runtime import PLATFORMS, chosen

    name = config.platform if config is not None else chosen()
    return PLATFORMS[name], name


class Program:
    """A class of kernels: `@pl.program`. Its functions are its attributes."""

    def __init__(self, cls):
        functools.update_wrapper(self, cls, updated=())
        self.functions = {name: value for name, value in vars(cls).items() if isinstance(value, Function)}
        for function in self.functions.values():
            function.owner = self

    @property
    def name(self):
        """Its name."""
        return self.__name__

    def lower(self, *args, **kwargs):
        """The program of its entry: the function of the host part, or its only kernel."""
        kernels = [function for function in self.functions.values() if function.kind != "inline"]
        entries = [function for function in kernels if function.kind is None] or kernels
        if len(entries) != 1:
            raise TypeError(f"the program has {len(entries)} functions to begin with: {', '.join(self.functions)}")
        return entries[0].lower(*args, **kwargs)

    def __getattr__(self, name):
        functions = self.__dict__.get("functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"the program has no function `{name}`")


def _number(value):
    """A number as the compiler takes it; `None` for what is none."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else None


def _passed(parameters, arguments):
    """What is passed for each parameter, and the arrays by their positions."""
    passed, arrays, returned = [], {}, []
    for at, (name, elem, shape, is_buffer, _) in enumerate(parameters):
        if name not in arguments and is_buffer and shape is not None:
            # A tile that the kernel returns.
            import numpy as np

            array = np.zeros([int(extent) for extent in shape], dtype=dtype_of(elem))
            returned.append(array)
        elif name not in arguments:
            raise TypeError(f"no argument for `{name}`")
        else:
            array = arguments[name]
        if not hasattr(array, "dtype"):
            if is_buffer or not isinstance(array, (bool, int, float)):
                what = "an array" if is_buffer else "a number"
                raise TypeError(f"`{name}` is {what} in the kernel, and a {type(array).__name__} is given")
            passed.append(array)
        elif not is_buffer:
            if array.shape != ():
                raise TypeError(f"`{name}` is a number in the kernel, and an array of shape {array.shape} is given")
            passed.append(array.item())
        else:
            passed.append((flat_bytes(array), element_of(array, name), extents(array, name)))
            arrays[at] = array
    return passed, arrays, returned


def start(kernel, parameters, arguments, options, verify):
    passed, arrays, returned = _passed(parameters, arguments)
    for at, array in arrays.items():
        name, _, _, _, direction = parameters[at]
        if direction in ("out", "inout") and not array.flags.writeable:
            raise TypeError(f"`{name}` is an output of the kernel, and the array is read-only")
    with Progress(kernel.name) as progress:
        inner = kernel.run(passed, {**DEFAULTS, **options}, verify, progress)
    kind = ProgramRun if isinstance(kernel, _slipring.Program) else Run
    return kind(inner, kernel, parameters, arrays, returned)


class Run:
    """A run of a kernel: what was found, how long it took, and what it left."""

    def __init__(self, inner, kernel, parameters, arrays, returned):
        self._inner = inner
        self._kernel = kernel
        self._parameters = parameters
        self._arrays = arrays
        self._returned = returned
        self._written = False
        if self.complete and self.verdict == "clean":
            self.write()

    def write(self):
        """Writes the outputs into the arrays that were passed; nothing for a run that stopped before its end."""
        if self._written or not self.complete:
            return
        self._written = True
        for at, array in self._arrays.items():
            direction = self._parameters[at][4]
            if direction == "in" or not array.flags.writeable:
                continue
            write_back(array, self._inner.result(at))

    @property
    def kernel(self):
        """Name of the kernel."""
        return self._kernel.name

    @property
    def platform(self):
        """Name of the platform."""
        return self._kernel.platform

    @property
    def verdict(self):
        """`clean`, `findings`, or `partly` for a run that stopped. `checks` says what was looked at."""
        return self._inner.verdict

    @property
    def complete(self):
        """Whether every block ran to its end."""
        return self._inner.complete

    @property
    def cycles(self):
        """Cycles of the launch."""
        return self._inner.cycles

    @property
    def findings(self):
        """What was found: dictionaries with `severity`, `code`, `message`, `line`, `column`, `label`, `also`, `notes`, `help`."""
        return self._inner.findings

    @property
    def report(self):
        """The findings as the command line writes them."""
        return self._inner.report

    @property
    def checks(self):
        """What each tool says, and what the verdict covers."""
        return self._inner.checks

    @property
    def facts(self):
        """Everything that `slipring run --json` has."""
        return self._inner.facts

    @property
    def printed(self):
        """What the kernel printed, line by line."""
        return self._inner.printed

    @property
    def timeline(self):
        """Events as (block, core, pipe, op, start, end, line), in the order of their ends."""
        return self._inner.timeline()[0]

    def trace(self, path):
        """Writes the timeline to a file: Perfetto's own form if its name ends in `.pftrace`, else Chrome's JSON. Needs `record=True`."""
        contents = self._inner.trace(str(path))
        with builtins.open(path, "wb") as file:
            file.write(contents)

    @property
    def memory_map(self):
        """What lies where in the local memories."""
        return self._kernel.memory_map()

    @property
    def returned(self):
        """What the kernel returns: `None`, an array, or several."""
        returned = self._returned
        return None if not returned else returned[0] if len(returned) == 1 else tuple(returned)

    def get(self, name):
        """A buffer after the run, as a new array."""
        for at, array in self._arrays.items():
            if self._parameters[at][0] == name:
                return of_bytes(self._inner.result(at), array.dtype, array.shape).copy()
        raise KeyError(name)

    def check(self):
        """Raises `KernelError` if an error was found; warns of the others."""
        self._inner.check()
        for finding in self.findings:
            if finding["severity"] == "warning":
                warnings.warn(f"{finding['message']} ({finding['code']})", KernelWarning, stacklevel=3)

    def text(self, stats=False):
        """The summary as the command line prints it."""
        return self._inner.text(stats)

    def __repr__(self):
        return f"<slipring run of {self.kernel} on {self.platform}: {self.verdict}, {self.cycles} cycles>"

    def _repr_html_(self):
        from ._html import run

        return run(self)


class ProgramRun(Run):
    """A run of a whole program: tasks of several kernels on the clusters of the platform.

    It has what the run of a kernel has, but for the timeline and the memory map, which are those of a kernel: `tasks` says when
    each task ran, and `facts` all of it.
    """

    @property
    def tasks(self):
        """Each task in the order of their starts: dictionaries with `task`, `name`, `turn`, `line`, `blocks`, `after`, `ready`,
        `start`, `end` (cycles), `clusters`, `skipped`."""
        return self.facts["tasks"]

    @property
    def timeline(self):
        """Tasks as (cluster, task, start, end, line), in the order of their starts."""
        each = self.tasks
        return [(cluster, task["name"], task["start"], task["end"], task["line"]) for task in each for cluster in task["clusters"]]

    @property
    def memory_map(self):
        raise TypeError("local memory is a kernel's: this is a run of a whole program")

    def trace(self, path):
        raise TypeError("a trace is a kernel's: `tasks` says when each task of a whole program ran")

    @property
    def returned(self):
        """What the program returns: `None`, an array, or several; those that were passed are written in place."""
        return self.given_back({self._parameters[at][0]: array for at, array in self._arrays.items()})

    def given_back(self, passed):
        """The same, with what was passed for each parameter."""
        back = []
        for at, elem, shape, contents in self._inner.returned():
            own = of_bytes(contents, dtype_of(elem), tuple(shape)).copy() if at is None else passed[self._parameters[at][0]]
            back.append(own)
        return None if not back else back[0] if len(back) == 1 else tuple(back)

    def _repr_html_(self):
        from ._html import program

        return program(self)


class File:
    """A kernel of a file: `.py` of the language, or `.pto` text. Called with arrays it is checked and run."""

    def __init__(self, path, platform, function):
        self._kernel = _slipring.open(str(path), platform, function)
        self._parameters = self._kernel.parameters()
        self.__name__ = self._kernel.name

    @property
    def parameters(self):
        """Name, element type, shape, whether it is a buffer, and direction of each parameter."""
        return self._parameters

    def run(self, *args, verify=False, **options):
        """Runs it and gives the run. Buffers without a declared direction are outputs, too."""
        if len(args) != len(self._parameters):
            raise TypeError(f"the kernel takes {len(self._parameters)} arguments, {len(args)} given")
        names = [parameter[0] for parameter in self._parameters]
        arguments = {name: host_array(arg) if is_array(arg) else arg for name, arg in zip(names, args)}
        return start(self._kernel, self._parameters, arguments, options, verify)

    def __call__(self, *args, **options):
        run = self.run(*args, **options)
        run.check()
        run.write()


def open(path, platform=None, function=None):
    """Reads a kernel from a file: the kernel language if its name ends in `.py`, else `.pto` text."""
    return File(path, platform, function)


__all__ = ["Decorator", "File", "Function", "KernelError", "KernelWarning", "Program", "Run", "open"]
