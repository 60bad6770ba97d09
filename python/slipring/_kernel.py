"""Functions of the kernel language: what they consist of, and their calls."""

import functools
import itertools
import warnings
from types import FunctionType

from . import _slipring
from ._arrays import is_array
from ._compiled import CompileCache, Lowered, asked_interpretations, bound, compiled_for, dumps_of, refuse_run_of_text, tensors, write_asked
from ._errors import outside, public
from ._host import bind_host
from ._html import Facts, Graph
from ._names import Names
from ._progress import Progress
from ._runs import OPTIONS, IdleRun, KernelFacts, KernelWarning, block_count, nothing_to_do, only_empty, options_of, passed, start
from ._slipring import KernelError
from ._words import Generic
from ._source import _MISSING, FunctionName, Members, Text, identity, is_constant, look_up, plain, written

# pytest omits the frames of this module from tracebacks.
__tracebackhide__ = True

# Not empty if public scripts run: their default platform then applies.
PUBLIC = []

# The built-in platforms.
BUILT_IN = ("a5", "a2a3")
# The directions of parameters by their annotations, without the module's name.
DIRECTIONS = {"Out": "out", "InOut": "inout"}


def _helper(function):
    """Wraps a plain function that a kernel calls."""
    part = Function(function, "inline")
    part.decorator = "pl.inline"
    return part


_NUMBERS = itertools.count()


class Function:
    """A function of the kernel language: a kernel, or a part of one. A call with arrays compiles it for them, checks it
    and runs it."""

    def __init__(self, function, kind="kernel", local=None):
        functools.update_wrapper(self, function)
        self.function = function
        self.kind = kind
        self.local = local or {}
        self.owner = None
        # The instance to which the method is bound, and parameters with constant values.
        self.instance, self.constants = None, {}
        # The decorator for a plain function without one in its text.
        self.decorator = None
        # Whether it runs on the host, and whether its parameters need not be declared as outputs.
        self.of_host = self.is_opaque = False
        # Functions of one text are ordered by creation.
        self.number = next(_NUMBERS)
        self._written = written(function)
        self._text = None
        self._compiled = CompileCache()

    @property
    def text(self):
        """The text and the location of the function."""
        if self._text is None:
            self._text = Text(self.function, self._written, self.decorator)
        return self._text

    def __get__(self, instance, owner=None):
        if instance is None or self.owner is not None or self.function.__code__.co_varnames[:1] != ("self",):
            return self
        return self._with(instance=instance)

    @property
    def _cache(self):
        """The compile cache, under the name by which public tests clear it."""
        return self._compiled

    def _with(self, **changes):
        """A copy of the function with changes; the compile cache is shared, as its key covers the changes."""
        other = object.__new__(Function)
        other.__dict__.update(self.__dict__)
        other.__dict__.update(changes)
        return other

    def __getitem__(self, blocks):
        """`kernel[blocks](…)`: launches this number of blocks."""
        grid = blocks if isinstance(blocks, tuple) else (blocks,)
        if len(grid) != 1:
            raise TypeError(f"a launch has one axis of blocks, not {len(grid)}: `{self.__name__}[n](…)`")
        return functools.partial(self, blocks=block_count(grid[0]))

    def __reduce__(self):
        """A kernel is pickled by name, as functions are."""
        import sys

        found = sys.modules.get(self.__module__)
        for part in self.__qualname__.split("."):
            found = getattr(found, part, None)
        if self.instance is not None:
            return getattr, (self.instance, self.__name__)
        if not isinstance(found, Function) or found.function is not self.function:
            import pickle

            raise pickle.PicklingError(f"`{self.__qualname__}` cannot be imported from `{self.__module__}`, so it does not pickle")
        return self.__qualname__

    def _parts(self):
        """The functions that it consists of, itself first, and the values of the names of each."""
        parts, own_names, waiting, seen = [], [], [self], set()
        while waiting:
            part = waiting.pop()
            if identity(part) in seen:
                continue
            seen.add(identity(part))
            names = {}
            parts.append(part)
            own_names.append(names)
            if part.instance is not None:
                names["self"] = Members(part.instance, {})
            if part.kind == "python":
                continue
            own = part.owner.functions if part.owner is not None else {}
            waiting += [own[name] for name in part.text.siblings if name in own]
            for name in part.text.used:
                value = look_up(name, part.function, part.local)
                if name == "self" and part.instance is not None:
                    value = part.instance
                members = part.text.members.get(name, ())
                host = part.kind in (None, "helper")
                # A function that launches kernels is not part of a kernel.
                if not is_constant(value):
                    of_python = _along(value, members, FunctionType)
                    waiting += [Function(own, "helper") if host else _helper(own) for own in of_python]
                    waiting += [own for own in _functions(value, members) if own.kind is not None or host]
                if isinstance(value, FunctionType) and (host or value.__name__ == name):
                    # A Python function that launches kernels is followed together with its caller; one that a kernel
                    # calls is inlined, as if it were decorated `@pl.inline`.
                    waiting.append(Function(value, "helper") if host else _helper(value))
                    names[name] = FunctionName(value)
                    continue
                inner = value
                while isinstance(inner, functools.partial):
                    inner = inner.func
                if inner is not value and isinstance(inner, FunctionType):
                    waiting.append(Function(inner, "helper") if host else _helper(inner))
                if isinstance(value, FunctionType):
                    names[name] = Members(value, {})
                    continue
                value = plain(value, members) if value is not _MISSING else _MISSING
                if value is not _MISSING:
                    names[name] = value
        for name, value in self.constants.items():
            given = plain(value)
            if given is _MISSING:
                raise TypeError(f"`{name}` is a constant of `{self.__name__}`, and a {type(value).__name__} is given")
            own_names[0][f"constexpr${name}"] = given
        first, *others = zip(parts, own_names)
        parts, own_names = zip(first, *sorted(others, key=lambda each: each[0].number))
        names = Names()
        names.close(parts, own_names)
        return list(parts), names

    def _special(self, arguments):
        """The function specialised for the constants among the arguments: parameters annotated `pl.constexpr`."""
        own = {name: arguments[name] for name in self.constant_names if name in arguments}
        return self._with(constants={**self.constants, **own}) if own else self

    @functools.cached_property
    def constant_names(self):
        """The parameters that are constants: `TILE: pl.constexpr = 64`."""
        notes = self.function.__annotations__
        words = {name: str(getattr(note, "__slipring_path__", note)) for name, note in notes.items()}
        return [name for name in self.parameter_names if words.get(name, "").rpartition(".")[2] == "constexpr"]

    @property
    def defaults(self):
        """The default values of parameters."""
        function = self.function
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        last = function.__defaults__ or ()
        return {**dict(zip(names[len(names) - len(last) :], last)), **(function.__kwdefaults__ or {}), **self.constants}

    @public
    def compile(self, *args, platform=None, config=None, **kwargs):
        """The kernel compiled for arguments of these shapes and types; without arguments, for those of its
        annotations."""
        target, name = _target(platform, config)
        distributed = getattr(config, "distributed_config", None)
        compiled = compiled_for(self, self._bind(args, kwargs) if args or kwargs else {}, target, name, distributed=distributed)
        if config is not None:
            compiled.write_to(config.save_kernels_dir, dumps_of(config))
        return compiled

    @public
    def lower(self, *args, platform=None, config=None, **kwargs):
        """Compiles for these arguments, which reports errors, and returns the program: its `functions`, its text.
        Without a platform, any platform that accepts the program is used."""
        arguments = self._bind(args, kwargs) if args or kwargs else {}
        target, first = _target(platform, config)[0], None
        targets = [target] if platform is not None or config is not None else [target, *BUILT_IN]
        for target in dict.fromkeys(targets):
            try:
                self._compile(arguments, target)
                return Lowered(self, arguments)
            except KernelError as error:
                # Without arguments, shapes that the text leaves open are set by each call.
                if error.waits_for_arguments and not arguments:
                    return Lowered(self, arguments)
                first = first or error
        raise first

    @property
    def name(self):
        """Its name."""
        return self.__name__

    @property
    def __slipring_function__(self):
        return self.__name__

    @property
    def func_type(self):
        """The kind of the function, as the language names it."""
        from . import language

        names = {"kernel": "InCore", "cube": "AIC", "vector": "AIV", "inline": "Inline", "python": "Opaque", None: "Orchestration"}
        return getattr(language.FunctionType, names[self.kind])

    @property
    def directions(self):
        """`in`, `out` or `inout` for each parameter, by its annotation."""
        return {name: _parameter(self._annotations.get(name))[0] for name in self.parameter_names}

    @property
    def params(self):
        """The names and annotations of its parameters."""
        return [(name, self._annotations.get(name)) for name in self.parameter_names]

    @property
    def return_types(self):
        """The annotations of its return values."""
        back = self.function.__annotations__.get("return")
        return [] if back is None else list(getattr(back, "__args__", [back]))

    def as_python(self):
        """Its text."""
        return "".join(self.text.lines)

    @property
    def requires_runtime_binding(self):
        """Whether it is a host function whose body is `...`: its implementation is supplied when a worker is
        prepared."""
        return self.kind == "python" and self.text.is_open

    def _host_functions(self):
        """The host functions that it calls, by name."""
        return _of_host(self._parts())

    def _bind(self, args, kwargs):
        """Binds each argument to its parameter."""
        if self.kind == "inline":
            raise TypeError(f"`{self.__name__}` is copied into kernels that call it; it is not a kernel itself")
        if self.kind == "python":
            raise TypeError(f"`{self.__name__}` is Python of the host, which a program calls; it is not a kernel")
        return bound(self.parameter_names, args, kwargs, self.__name__, self.defaults, self.tensor_names)

    @property
    def own_parameters(self):
        """The names of the parameters in its text."""
        code = self.function.__code__
        return [name for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if name != "self"]

    @functools.cached_property
    def peers(self):
        """The functions connected to this one by pipes: they are launched together with it, and it imports their
        buffers."""
        if self.kind in (None, "inline", "python", "helper") or not _has_pipe(self):
            return []
        parts, _ = self._parts()
        kernels = [part for part in parts if part.kind not in (None, "inline", "python", "helper")]
        return [part for part in kernels if part.function is not self.function and _has_pipe(part)]

    @property
    def parameter_names(self):
        """The names of its parameters, followed by those of the functions connected by pipes."""
        if not self.peers:
            return self.own_parameters
        return list(dict.fromkeys(name for part in (self, *self.peers) for name in part.own_parameters))

    @property
    def _annotations(self):
        """The annotations of all its parameters."""
        return {**{name: own for part in self.peers for name, own in part.function.__annotations__.items()}, **self.function.__annotations__}

    @functools.cached_property
    def tensor_names(self):
        """The parameters that are tensors by their annotations, which may be texts: `"pl.Out[pl.Tensor]"`."""
        return {name for name, own in self._annotations.items() if _parameter(own)[1]}

    def _compile(self, arguments, platform, interpretations=(), parts=None):
        """The kernel compiled for arguments, and its parameters; `parts` are its parts, if already known."""
        special = self._special(arguments)
        try:
            return special._compile_for(arguments, platform, interpretations, parts if special is self else None)
        except KernelError as error:
            missing = [name for name, value in arguments.items() if value is None and name not in special.constants]
            if error.waits_for_arguments and missing:
                raise TypeError(f"`None` was passed for `{missing[0]}`, which is a tensor: pass an array for it") from None
            if error.waits_for_arguments:
                for name, value in arguments.items():
                    if name in self.tensor_names and not hasattr(value, "dtype"):
                        kind = type(value).__name__
                        raise TypeError(f"`{name}` is a tensor, and a {kind} is given: pass an array for it") from None
            # A value that must be constant may be a scalar argument: compile for that value, as pypto does.
            scalars = {name: value for name, value in arguments.items() if type(value) is int and name not in special.constants}
            if not scalars or not any(finding["code"] in ("not-constant", "slice-extent") for finding in error.findings):
                raise
            try:
                return special._with(constants={**special.constants, **scalars})._compile_for(arguments, platform, interpretations)
            except KernelError:
                raise error from None

    def _compile_for(self, arguments, platform, interpretations=(), parts=None):
        parts, names = parts or self._parts()
        passed = tensors(arguments)
        key = (
            platform,
            interpretations,
            tuple(part.text.key for part in parts),
            names.key(),
            tuple(passed),
        )

        def load(numbers):
            filename, text = names.text(parts)
            host = self.kind is None
            # A 0-d array is one element of a tensor.
            numbers = [(name, text) for name, text in numbers if name not in self.tensor_names]
            return _slipring.compile(filename, text, names, self.__name__, passed, numbers, platform, list(interpretations), host)

        return self._compiled.get(key, arguments, load)

    @public
    def __call__(self, *args, **kwargs):
        """Runs the kernel; outputs are written in place. Its results are returned as arrays.

        Raises `KernelError` for findings; the outputs are then left unchanged.
        """
        from .reference import active

        evaluator = active()
        if evaluator is not None:
            own = (self.owner,) if self.function.__code__.co_varnames[:1] == ("self",) else ()
            own = own or ((self.instance,) if self.instance is not None else ())
            return evaluator.inlined(self, own, args, kwargs)
        if getattr(kwargs.get("config"), "codegen_only", False):
            self.compile(*args, **kwargs)
            return None
        run = self.run(*args, **kwargs)
        run.show()
        run.check()
        run.write()
        return self._result(run, args, kwargs)

    def _result(self, run, args, kwargs):
        """The result of a call: returned outputs as they were passed, and newly created results as arrays."""
        return run.given_back({**dict(zip(self.parameter_names, args)), **kwargs})

    @public
    def run(self, *args, platform=None, verify=False, **kwargs):
        """Runs the kernel and gives the run: what was found is not an exception here. Outputs are written unless the run stopped
        before its end.

        `platform` is a5 or a2a3; `verify` compares with the sequential semantics; `interpretation` names the other interpretations
        where public sources disagree. Further options: OPTIONS.

        With `device` (`p100`, `p150`, a file of a board) it runs through the command queue of that board (`docs/queue.md`), with
        the delays that the seed `delays` chooses: the verdict and what it leaves are those of the board.

        With `where` (`local`, `ray`, the address of a cluster) the blocks of a launch are run by `workers` processes there, with the
        same outcome; the run's `pieces` says in how many parts, or why in one.
        """
        where, workers = kwargs.pop("where", None), kwargs.pop("workers", None)
        options = options_of(kwargs, self.parameter_names)
        config = kwargs.pop("config", None)
        refuse_run_of_text(config)
        if getattr(config, "devices", None) is not None:
            options.setdefault("devices", config.devices)
        parts = self._parts()
        called = _of_host(parts)
        if called and options.get("host") is None:
            options["host"] = bind_host(called, {})
        platform, _ = _target(platform, config)
        interpretation = asked_interpretations(kwargs, self.parameter_names)
        arguments = self._bind(args, kwargs)
        try:
            kernel, parameters = self._compile(arguments, platform, interpretation, parts)
        except KernelError as error:
            if not only_empty(error) or not nothing_to_do(arguments, self.directions):
                raise
            named = KernelFacts(self.__name__, platform or "a5")
            return IdleRun(named, {name: value for name, value in arguments.items() if is_array(value)}, self.text.returned)
        if config is not None:
            write_asked(self.name, kernel, config.save_kernels_dir, dumps_of(config))
        if where is None and workers is not None:
            raise TypeError("`workers` are those of `where`: it has no effect alone")
        if where is not None:
            from .scale.launch import launch

            return launch(self, (platform, interpretation), (kernel, parameters), arguments, options, verify, where, workers)
        return start(kernel, parameters, arguments, options, verify)

    @public
    def benchmark(self, *args, platforms=BUILT_IN, **kwargs):
        """Measures it on each platform: rows with `platform`, `cycles`, `error_percent` (the error of the cycles;
        `None` for an `estimate`), `estimate`, `blocks` and `verdict`. The arrays are left unchanged."""
        from ._tune import benchmark

        return benchmark(self, args, platforms, kwargs)

    @public
    def graph(self, *args, platform=None, **kwargs):
        """The tasks of a whole program and their dependencies as text, for arguments of these shapes and numbers."""
        program = self._program(args, kwargs, platform)
        graph = Graph(program.text())
        graph.svg = program.svg()
        return graph

    @public
    def graph_svg(self, *args, platform=None, **kwargs):
        """The tasks and dependencies as an SVG; empty for a graph with a cycle."""
        return self._program(args, kwargs, platform).svg()

    def _program(self, args, kwargs, platform):
        kernel, _ = self._compile(self._bind(args, kwargs) if args or kwargs else {}, _target(platform, None)[0])
        if not isinstance(kernel, _slipring.Program):
            raise TypeError(f"`{self.__name__}` is one kernel: only a function that starts several has tasks")
        return kernel

    @public
    def rings(self, *args, sweep=None, platform=None, **kwargs):
        """The occupancy of the rings, and their waits; `sweep=(1, 8)` also runs with these depths. Facts with a
        `text`."""
        kernel, values, options = self._alone(args, kwargs, platform, "whose kernels have rings")
        facts, text = kernel.rings(values, sweep, options)
        return Facts(facts, text=text)

    @public
    def prove(self, *args, timings=None, platform=None, **kwargs):
        """Proves properties for all schedules, all contents of the arrays and all trip counts (`docs/proof.md`): facts
        with a `verdict` (proved, doubtful, violated or not-proved), its `scope`, `reasons`, a `witness`, `findings`,
        and a `text`. Outputs are left unchanged.

        `timings` is the number of random schedules tried if a finding needs a witness or one run does not decide.
        """
        kernel, values, options = self._alone(args, kwargs, platform, "whose kernels are proved one by one")
        with Progress(self.__name__) as progress:
            facts, text = kernel.prove(values, timings, options, progress)
        return Facts(facts, text=text)

    @public
    def debug(self, *args, schedule=(), platform=None, **kwargs):
        """Runs the kernel once and returns a session for stepping through the run, forwards and backwards
        (`docs/debugger.md`). The arrays are left unchanged. `schedule` is a list of delayed operations, as `slipring
        prove` writes them.
        """
        from ._debug import Session

        kernel, values, options = self._alone(args, kwargs, platform, "whose kernels are gone through one by one")
        if schedule:
            options["schedule"] = schedule
        with Progress(self.__name__) as progress:
            inner = kernel.debug(values, options, progress)
        shapes = {name: value[2] for (name, *_), value in zip(kernel.parameters(), values) if isinstance(value, tuple)}
        return Session(inner, shapes)

    def _alone(self, args, kwargs, platform, why_not):
        """The kernel compiled for arguments, its arguments, and the options of its runs."""
        options = options_of(kwargs, self.parameter_names)
        interpretation = asked_interpretations(kwargs, self.parameter_names)
        arguments = self._bind(args, kwargs)
        kernel, parameters = self._compile(arguments, platform, interpretation)
        if isinstance(kernel, _slipring.Program):
            raise TypeError(f"`{self.__name__}` is a whole program, {why_not}: ask them")
        return kernel, passed(kernel, parameters, arguments)[0], options

    @public
    def reference(self, *args, blocks=1, **kwargs):
        """Runs the Python function itself on numpy tiles, without the compiler, once per block: outputs are written in
        place."""
        from . import reference

        return reference.run(self, self._bind(args, kwargs), blocks)

    def __repr__(self):
        return f"<slipring kernel {self.__qualname__}>"

    def _repr_html_(self):
        from ._html import kernel

        return kernel(self)


Function.run.__doc__ = Function.run.__doc__.replace("OPTIONS", ", ".join(OPTIONS))


def _parameter(annotation):
    """The direction of a parameter with this annotation, which may be a text, and whether it is a tensor."""
    if isinstance(annotation, str):
        word, _, inside = annotation.partition("[")
        annotation = Generic(word.strip(), inside.rstrip("] ")) if inside else word.strip()
    inside = annotation.parts if isinstance(annotation, Generic) else None
    kind = str(annotation if inside is None else annotation.word).rpartition(".")[2]
    if kind in DIRECTIONS:
        return DIRECTIONS[kind], _parameter(inside)[1]
    return "in", kind == "Tensor"


def _of_host(parts):
    """The host functions among the parts of a function, by name."""
    return {part.name: part for part in parts[0] if part.kind == "python"}


def _has_pipe(function):
    """Whether a function has its own end of a pipe."""
    return any("_initialize_pipe" in line for line in function.text.lines)


def _functions(value, members):
    """The functions of the language that a name denotes: directly, in a container, or as a member that is used."""
    if isinstance(value, Function):
        yield value
    elif isinstance(value, functools.partial):
        for item in (value.func, *value.args, *value.keywords.values()):
            yield from _functions(item, ())
    elif isinstance(value, (tuple, list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _functions(item, ())
    if not isinstance(value, Function):
        yield from _along(value, members, Function)


def _along(value, members, kind):
    """The members of a value that are of a kind: the first such object along each member chain."""
    for chain in members:
        found = value
        for name in chain:
            found = getattr(found, name, None)
            if isinstance(found, kind):
                yield found
                break


def _target(platform, config):
    """The requested platform, and the caller's name for it. Public scripts specify it in a configuration."""
    if config is None and (platform is not None or not PUBLIC):
        return platform, platform
    from .pypto.runtime import PLATFORMS, RunConfig, chosen, known

    if config is not None and not isinstance(config, RunConfig):
        raise TypeError(f"`config` is a RunConfig, not {type(config).__name__}")
    name = config.platform if config is not None else chosen()
    if platform is not None and PLATFORMS[known(platform)] != PLATFORMS[name]:
        raise ValueError(f"the platform is {platform}, that of the configuration {name}")
    return PLATFORMS[name], name


__all__ = ["Function"]
