"""Compiled kernels."""

import os
import warnings
import weakref

from . import _slipring
from ._arrays import NEAREST, dtype_of, element_of, extents, host_array, is_array
from ._errors import outside, public
from ._host import bind_host, host_tensor
from ._runs import KernelWarning, start
from ._slipring import KernelError

# pytest omits the frames of this module from tracebacks.
__tracebackhide__ = True


# Maximum number of compiled kernels cached per function or file.
KEPT = 64
# Kernels compiled in this process by folder, for as long as they are referenced.
_FOLDERS = weakref.WeakValueDictionary()
# Marks a whole program, whose cache key also contains its numbers.
WHOLE = object()


class CompileCache:
    """A cache of the most recently compiled kernels and programs."""

    def __init__(self):
        self._list = {}

    def clear(self):
        """Clears the cache."""
        self._list.clear()

    def get(self, key, arguments, load):
        """A kernel or whole program and its parameters, from the cache or from `load`, which takes the numbers among
        the arguments."""
        compiled = self._list.get(key)
        if compiled is not None and compiled is not WHOLE:
            return compiled
        # The tasks of a whole program depend on its numbers.
        texts = ((name, number(value)) for name, value in arguments.items())
        numbers = tuple((name, text) for name, text in texts if text is not None)
        if compiled is WHOLE and (key, numbers) in self._list:
            return self._list[(key, numbers)]
        loaded = load(list(numbers))
        for said in loaded.said():
            # Output of `pl.static_print` is shown once, at compile time.
            if said["code"] == "static-print":
                print(said["message"])
        compiled = (loaded, loaded.parameters())
        if isinstance(loaded, _slipring.Program):
            self._keep(key, WHOLE)
            key = (key, numbers)
        self._keep(key, compiled)
        return compiled

    def _keep(self, key, compiled):
        while len(self._list) >= KEPT:
            self._list.pop(next(iter(self._list)))
        self._list[key] = compiled


def number(value):
    """A number in the compiler's syntax; `None` for other values."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, (int, float)) else None


def tensors(arguments):
    """The arrays among the arguments: parameter, shape, element type."""
    each = ((name, value) for name, value in arguments.items() if hasattr(value, "dtype"))
    return [(name, tuple(extents(value, name)), element_of(value, name)) for name, value in each]


def interpretations(given):
    """The names of interpretations, given as one name or as several."""
    return (given,) if isinstance(given, str) else tuple(given)


def asked_interpretations(kwargs, own):
    """Removes the option `interpretation` from keyword arguments, and its former name `reading`, unless `own` has such
    a parameter."""
    names = ["interpretation", *(["reading"] if "reading" not in own else [])]
    return tuple(name for option in names for name in interpretations(kwargs.pop(option, ())))


class Lowered:
    """A kernel with given shapes: the result of `kernel.lower(…)`. It has been compiled once, so it is free of
    errors."""

    def __init__(self, function, arguments):
        self.function, self.arguments = function, arguments
        self.name = function.name
        parts, self._names = function._parts()
        # The functions that are not inlined; repeated names get a number.
        self.functions = {}
        for part in parts:
            if part.kind != "inline":
                same = sum(own.name == part.name for own in self.functions.values())
                self.functions[f"{part.name}.{same + 1}" if same else part.name] = part

    def get_function(self, name):
        """The function of that name, or `None`."""
        return self.functions.get(name)

    def compile(self, platform, target, distributed=None):
        """Compiles for the platform `target`, which the caller calls `platform`; `distributed` specifies the
        devices."""
        return compiled_for(self.function, self.arguments, target, platform, self, distributed)

    def as_python(self, concise=False):
        """The source text: if possible, a program in which each scope of the function is a separate function; otherwise
        the text of its functions. Both are equivalent to the function. `concise` has no effect."""
        from ._outline import outlined

        text = outlined(self.function, self.arguments)
        if text is None:
            # In a single text, each name must have a single value.
            self._names.flat()
        return text or "\n\n".join(function.as_python() for function in self.functions.values())

    def __str__(self):
        return self.as_python()

    def __repr__(self):
        return f"<slipring program {self.name}: {', '.join(self.functions)}>"


class Compiled:
    """A kernel compiled for shapes and a platform. A call with arrays checks and runs it."""

    def __init__(self, function, arguments, target, platform=None, program=None):
        self._function, self._target = function, target
        self._program, self._arguments = program, arguments
        try:
            self._compiled = function._compile(arguments, target)
        except KernelError as error:
            # Shapes that the text leaves open are set by each call.
            if arguments or not error.waits_for_arguments:
                raise
            self._compiled, self._waits = None, error
        self.platform = platform or (target or "a5" if self._compiled is None else self._kernel.platform)
        self._folder = None
        # Whether to write the program after each pass, once it is compiled.
        self._dumps = False
        # The number of devices it runs on, if given.
        self.devices = None

    @property
    def _kernel(self):
        if self._compiled is None:
            raise self._waits
        return self._compiled[0]

    @property
    def _parameters(self):
        if self._compiled is None:
            raise self._waits
        return self._compiled[1]

    @property
    def name(self):
        """Name of the kernel."""
        return self._function.name if self._compiled is None else self._kernel.name

    @property
    def program(self):
        """The program that was compiled: its `functions`, its text."""
        if self._program is None:
            self._program = Lowered(self._function, self._arguments)
        return self._program

    @property
    def param_names(self):
        """The names of its parameters."""
        return self._function.parameter_names

    @property
    def output_indices(self):
        """The indices of the parameters that it writes."""
        if self._compiled is None:
            directions = self._function.directions
        else:
            directions = {name: direction for name, _, _, _, direction, *_ in self._parameters}
        return [at for at, name in enumerate(self.param_names) if directions.get(name) in ("out", "inout")]

    @property
    def has_return(self):
        """Whether it returns a value."""
        if isinstance(self._compiled and self._kernel, _slipring.Kernel):
            return bool(self._kernel.gives())
        return bool(self._function.text.returned)

    @property
    def text(self):
        """The compiled kernel, as `slipring build` prints it; for a whole program, its tasks."""
        return self._kernel.text()

    @property
    def output_dir(self):
        """A folder with `text`, as `NAME.pto` or `NAME.tasks`; created on first access, and kept."""
        if self._folder is None:
            self.write_to(None, self._dumps)
            return self._written_to(new_folder(self.name))
        return self._folder

    def write_to(self, folder, dumps):
        """Sets `output_dir`, or unsets it, and whether the program after each pass is written below it."""
        self._dumps = dumps
        if folder is not None:
            self._written_to(made_folder(folder))
        elif dumps:
            self._written_to(new_folder(self.name))

    def _written_to(self, folder):
        self._folder = folder
        _FOLDERS[os.path.realpath(folder)] = self
        # If shapes are open, each call has its own text.
        if self._compiled is not None:
            write_text(folder, self.name, self._kernel)
            if self._dumps:
                write_passes(folder, self._kernel)
        return folder

    def parameters(self):
        """Name, element type or `None`, shape or `None`, whether it is a buffer, and direction of each parameter."""
        return self._parameters

    def _suits(self, config):
        """Raises if a configuration is for another platform."""
        if config is not None and config.platform.removesuffix("sim") != self.platform.removesuffix("sim"):
            raise ValueError(f"`{self.name}` is compiled for {self.platform}, not for {config.platform}")

    @public
    def run(self, *args, verify=False, config=None, **options):
        """Runs it and returns the run."""
        self._suits(config)
        refuse_run_of_text(config)
        devices = getattr(config, "devices", None) or self.devices
        if devices is not None:
            options.setdefault("devices", devices)
        called = self._function._host_functions()
        if called and options.get("host") is None:
            options["host"] = bind_host(called, {})
        arguments = self._function._bind(args, {})
        kernel, parameters = self._compiled or self._function._compile(arguments, self._target)
        if self._compiled is None and self._dumps:
            write_passes(self.output_dir, kernel)
        if config is not None:
            write_asked(self.name, kernel, config.save_kernels_dir, dumps_of(config))
        return start(kernel, parameters, arguments, options, verify)

    @public
    def __call__(self, *args, **options):
        """Runs it; outputs are written in place, and findings raise. If the outputs are not passed, they are created
        and returned."""
        config = options.get("config")
        if getattr(config, "codegen_only", False):
            self._suits(config)
            kernel, _ = self._compiled or self._function._compile(self._function._bind(args, {}), self._target)
            write_asked(self.name, kernel, config.save_kernels_dir, dumps_of(config))
            return None
        run, args = self._ran(args, options)
        return self._function._result(run, args, {})

    def _ran(self, args, options):
        """A run that has been shown, checked and written back, and all its arguments."""
        outputs = self.output_indices
        if outputs and self.has_return and len(args) == len(self.param_names) - len(outputs):
            args = self._with_outputs(args, outputs)
        run = self.run(*args, **options)
        run.show()
        run.check()
        run.write()
        return run, args

    def _with_outputs(self, inputs, outputs):
        """All arguments, with new zero arrays for the outputs: torch tensors if the inputs are."""
        import numpy as np

        types = {name: (elem, shape) for name, elem, shape, *_ in self._parameters}
        given, args = iter(inputs), []
        of_torch = any(type(value).__module__.partition(".")[0] == "torch" for value in inputs)
        for at, name in enumerate(self.param_names):
            if at not in outputs:
                args.append(next(given))
                continue
            elem, shape = types[name]
            array = np.zeros([int(extent) for extent in shape], dtype=dtype_of(elem))
            args.append(host_tensor(bytearray(array.nbytes), elem, array.shape) if of_torch else array)
        return args

    def __repr__(self):
        return f"<slipring kernel {self.name} compiled for {self.platform}>"


def compiled_into(folder):
    """The last program that this process compiled into a folder, if it is still referenced."""
    compiled = _FOLDERS.get(os.path.realpath(os.fspath(folder)))
    if compiled is None:
        raise ValueError(f"{os.fspath(folder)} is the folder of nothing that this process compiled and still has")
    return compiled


def new_folder(name):
    """A new folder, below the build folder of the public tools if one is set."""
    import pathlib
    import tempfile

    base = os.environ.get("PYPTO_PROG_BUILD_DIR")
    if base:
        os.makedirs(base, exist_ok=True)
    return pathlib.Path(tempfile.mkdtemp(prefix=f"{name}_", dir=base))


def made_folder(path):
    """Creates a folder if it does not exist."""
    import pathlib

    os.makedirs(path, exist_ok=True)
    return pathlib.Path(path)


def write_text(folder, name, kernel):
    """Writes the text of a compiled kernel as `NAME.pto`; for a whole program, its tasks as `NAME.tasks` and each
    kernel below `kernels`."""
    if isinstance(kernel, _slipring.Kernel):
        (folder / f"{name}.pto").write_text(kernel.text(), encoding="utf-8")
        return
    (folder / f"{name}.tasks").write_text(kernel.text(), encoding="utf-8")
    for own, texts in kernel.passes():
        place = made_folder(folder / "kernels")
        (place / f"{file_name(own)}.pto").write_text(texts[-1][1], encoding="utf-8")


def file_name(name):
    """Converts a name of the language to a file name."""
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in name)


def dumps_of(config):
    """Whether a configuration requests the program after each pass."""
    if config is None:
        return False
    from .pypto._options import dumps

    return dumps(config.dump_passes, "a RunConfig")


def refuse_run_of_text(config):
    """Rejects a run with a configuration that requests only the compiled text."""
    if getattr(config, "codegen_only", False):
        raise ValueError("`run` with `codegen_only`: call `compile`, or the kernel itself, which then makes the text alone")


def write_asked(name, kernel, folder, dumped):
    """Writes the compiled text into a folder, if one is given; with `dumped`, also writes the program after each pass
    and reports where."""
    if folder is None and not dumped:
        return
    place = new_folder(name) if folder is None else made_folder(folder)
    if folder is not None:
        write_text(place, name, kernel)
    if dumped:
        write_passes(place, kernel)
        warnings.warn(f"the program after each pass is written to {place}", KernelWarning, stacklevel=outside())


def write_passes(folder, kernel):
    """Writes the program before the first pass and after each pass: `passes_dump/KERNEL/NN_PASS.pto`."""
    for name, texts in kernel.passes():
        place = made_folder(folder / "passes_dump" / file_name(name))
        for at, (done, text) in enumerate(texts):
            (place / f"{at:02}_{done}.pto").write_text(text, encoding="utf-8")


class DistributedCompiledProgram(Compiled):
    """A compiled host program: it runs on devices, and `prepare` returns a worker for repeated runs."""

    # The devices that were named for it.
    device_ids = (0,)

    def _get_metadata(self):
        """Its parameters, which of them are outputs, and the types of its results, as the public harness requests
        them."""
        from .pypto.ir import ParamDirection, ParamInfo

        words = {"in": ParamDirection.In, "out": ParamDirection.Out, "inout": ParamDirection.InOut}
        known = {name: (elem, shape) for name, elem, shape, *_ in self._parameters}
        directions = {name: words[direction] for name, _, _, _, direction, *_ in self._parameters}
        infos = [ParamInfo(name, directions[name], known[name][1], known[name][0]) for name in self.param_names]
        outputs = self.output_indices
        return infos, outputs, [infos[at].dtype for at in outputs] if self.has_return else []

    @property
    def host_functions(self):
        """The host functions that it calls, by name."""
        return self._function._host_functions()

    def prepare(self, config=None, *, extra_compiled=(), **options):
        """A worker that holds this program and those of `extra_compiled`. `callbacks` are host functions by name."""
        from .pypto.distributed import DistributedWorker

        return DistributedWorker([self, *extra_compiled], config, **options)


def compiled_for(function, arguments, target, platform=None, program=None, distributed=None):
    """A function compiled for arguments and a platform; `distributed` specifies the devices."""
    of_host = function.of_host or distributed is not None
    compiled = (DistributedCompiledProgram if of_host else Compiled)(function, arguments, target, platform, program)
    if distributed is not None:
        compiled.devices, compiled.device_ids = len(distributed.device_ids), tuple(distributed.device_ids)
    return compiled


def bound(names, args, kwargs, name, defaults=None, tensors=()):
    """Each argument by its parameter, arrays as numpy's; a numpy scalar for one of `tensors` is an array of one element.

    Raises `TypeError` for arguments that are too many, unknown, given twice or missing.
    """
    if len(args) > len(names):
        raise TypeError(f"`{name}` takes {len(names)} arguments ({', '.join(names)}), {len(args)} given")
    given = dict(zip(names, args))
    for key, value in kwargs.items():
        if key not in names:
            raise TypeError(f"`{name}` has no parameter `{key}`: it has {', '.join(names)}")
        if key in given:
            raise TypeError(f"two arguments for `{key}`")
        given[key] = value
    for key, value in (defaults or {}).items():
        if key in names:
            given.setdefault(key, value)
    missing = [key for key in names if key not in given]
    if missing:
        raise TypeError(f"`{name}` takes {len(names)} arguments; missing: {', '.join(missing)}")
    return {key: argument(given[key], key in tensors) for key in names}


def argument(value, of_tensor=False):
    """An array as a numpy array; a number as a Python number, because numpy scalars look like arrays."""
    if is_array(value):
        if of_tensor and getattr(value, "shape", None) == ():
            return host_array(value)
        number = not hasattr(value, "__setitem__") or getattr(getattr(value, "dtype", None), "name", "") in NEAREST
        if getattr(value, "shape", None) == () and number:
            item = value.item() if hasattr(value, "item") else value
            return item if isinstance(item, (bool, int, float)) else float(item)
        return host_array(value)
    return value
