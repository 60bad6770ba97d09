"""Kernels that are compiled and not run yet."""

import os
import warnings
import weakref

from . import _slipring
from ._arrays import NEAREST, dtype_of, element_of, extents, host_array, is_array
from ._errors import outside, public
from ._host import bind_host, host_tensor
from ._runs import KernelWarning, start
from ._slipring import KernelError

# pytest leaves the frames of this module out.
__tracebackhide__ = True


# Compiled kernels that a function or a file keeps.
KEPT = 64
# What was compiled in this process, by its folder, as long as somebody has it.
_FOLDERS = weakref.WeakValueDictionary()
# Stands for a whole program, which is compiled for its numbers too.
WHOLE = object()


class CompileCache:
    """What was compiled, by what for; the newest of it."""

    def __init__(self):
        self._list = {}

    def clear(self):
        """Forgets all of it."""
        self._list.clear()

    def get(self, key, arguments, load):
        """A kernel or whole program and its parameters: kept, or made by `load` of the numbers among the arguments."""
        compiled = self._list.get(key)
        if compiled is not None and compiled is not WHOLE:
            return compiled
        # The tasks of a whole program follow from its numbers.
        texts = ((name, number(value)) for name, value in arguments.items())
        numbers = tuple((name, text) for name, text in texts if text is not None)
        if compiled is WHOLE and (key, numbers) in self._list:
            return self._list[(key, numbers)]
        loaded = load(list(numbers))
        for said in loaded.said():
            # What `pl.static_print` says is said once, when the kernel is compiled.
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
    """A number as the compiler takes it; `None` for what is none."""
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
    """The names of interpretations as they are given: one, or several."""
    return (given,) if isinstance(given, str) else tuple(given)


def asked_interpretations(kwargs, own):
    """Takes the option `interpretation` out of keyword arguments. `reading` is its former name, where no parameter in `own` has it."""
    names = ["interpretation", *(["reading"] if "reading" not in own else [])]
    return tuple(name for option in names for name in interpretations(kwargs.pop(option, ())))


class Lowered:
    """A kernel with the shapes that it is meant for: what `kernel.lower(…)` gives. It has been compiled once, so it is known to be right."""

    def __init__(self, function, arguments):
        self.function, self.arguments = function, arguments
        self.name = function.name
        parts, self._names = function._parts()
        # The functions that remain when those that are copied into others are gone; a second one of a name has a number.
        self.functions = {}
        for part in parts:
            if part.kind != "inline":
                same = sum(own.name == part.name for own in self.functions.values())
                self.functions[f"{part.name}.{same + 1}" if same else part.name] = part

    def get_function(self, name):
        """The function of that name; `None` where it has none."""
        return self.functions.get(name)

    def compile(self, platform, target, distributed=None):
        """Compiles for the platform `target`, which the caller calls `platform`; `distributed` says which devices there are."""
        return compiled_for(self.function, self.arguments, target, platform, self, distributed)

    def as_python(self, concise=False):
        """Its text: a program in which the scopes of its function are functions of their own, where that can be written so; else the
        text of its functions. It runs as the function does. `concise` leaves nothing out here."""
        from ._outline import outlined

        text = outlined(self.function, self.arguments)
        if text is None:
            # In one text each name has one meaning.
            self._names.flat()
        return text or "\n\n".join(function.as_python() for function in self.functions.values())

    def __str__(self):
        return self.as_python()

    def __repr__(self):
        return f"<slipring program {self.name}: {', '.join(self.functions)}>"


class Compiled:
    """A kernel that is compiled for shapes and a platform. Called with arrays it is checked and run."""

    def __init__(self, function, arguments, target, platform=None, program=None):
        self._function, self.program, self._target = function, program, target
        try:
            self._compiled = function._compile(arguments, target)
        except KernelError as error:
            # Each call has the shapes that the text leaves open.
            if arguments or not error.waits_for_arguments:
                raise
            self._compiled, self._waits = None, error
        self.platform = platform or (target or "a5" if self._compiled is None else self._kernel.platform)
        self._folder = None
        # Whether the program after each pass is written, once it is compiled.
        self._dumps = False
        # How many devices it runs on, where that was said.
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
    def param_names(self):
        """The names of its parameters."""
        return self._function.parameter_names

    @property
    def output_indices(self):
        """Which of the parameters it writes."""
        if self._compiled is None:
            directions = self._function.directions
        else:
            directions = {name: direction for name, _, _, _, direction, *_ in self._parameters}
        return [at for at, name in enumerate(self.param_names) if directions.get(name) in ("out", "inout")]

    @property
    def has_return(self):
        """True if it gives something back."""
        return bool(self._function.text.returned)

    @property
    def text(self):
        """The compiled kernel, as `slipring build` prints it; of a whole program its tasks."""
        return self._kernel.text()

    @property
    def output_dir(self):
        """A folder with `text`, as `NAME.pto` or `NAME.tasks`; made when it is asked for, and kept."""
        if self._folder is None:
            self.write_to(None, self._dumps)
            return self._written_to(new_folder(self.name))
        return self._folder

    def write_to(self, folder, dumps):
        """Says which folder is `output_dir`, or none, and whether the program after each pass is written below it."""
        self._dumps = dumps
        if folder is not None:
            self._written_to(made_folder(folder))
        elif dumps:
            self._written_to(new_folder(self.name))

    def _written_to(self, folder):
        self._folder = folder
        _FOLDERS[os.path.realpath(folder)] = self
        # Without shapes the text is that of each call.
        if self._compiled is not None:
            write_text(folder, self.name, self._kernel)
            if self._dumps:
                write_passes(folder, self._kernel)
        return folder

    def parameters(self):
        """Name, element type or `None`, shape or `None`, whether it is a buffer, and direction of each parameter."""
        return self._parameters

    def _suits(self, config):
        """Raises where a configuration is for another platform."""
        if config is not None and config.platform.removesuffix("sim") != self.platform.removesuffix("sim"):
            raise ValueError(f"`{self.name}` is compiled for {self.platform}, not for {config.platform}")

    @public
    def run(self, *args, verify=False, config=None, **options):
        """Runs it and gives the run."""
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
        """Runs it; its outputs are written in place, findings raise. Without its outputs it makes them and gives them back."""
        config = options.get("config")
        if getattr(config, "codegen_only", False):
            self._suits(config)
            kernel, _ = self._compiled or self._function._compile(self._function._bind(args, {}), self._target)
            write_asked(self.name, kernel, config.save_kernels_dir, dumps_of(config))
            return None
        run, args = self._ran(args, options)
        return self._function._result(run, args, {})

    def _ran(self, args, options):
        """A run that is shown, checked and written, and all its arguments."""
        outputs = self.output_indices
        if outputs and self.has_return and len(args) == len(self.param_names) - len(outputs):
            args = self._with_outputs(args, outputs)
        run = self.run(*args, **options)
        run.show()
        run.check()
        run.write()
        return run, args

    def _with_outputs(self, inputs, outputs):
        """All arguments, with new arrays of zeros for the outputs: tensors of torch where the inputs are."""
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
    """What this process compiled into a folder, the last of it, and still has."""
    compiled = _FOLDERS.get(os.path.realpath(os.fspath(folder)))
    if compiled is None:
        raise ValueError(f"{os.fspath(folder)} is the folder of nothing that this process compiled and still has")
    return compiled


def new_folder(name):
    """A folder that nobody had, below the one that the public tools build in, where that is said."""
    import pathlib
    import tempfile

    base = os.environ.get("PYPTO_PROG_BUILD_DIR")
    if base:
        os.makedirs(base, exist_ok=True)
    return pathlib.Path(tempfile.mkdtemp(prefix=f"{name}_", dir=base))


def made_folder(path):
    """A folder that is there."""
    import pathlib

    os.makedirs(path, exist_ok=True)
    return pathlib.Path(path)


def write_text(folder, name, kernel):
    """Writes the text of a compiled kernel, `NAME.pto`; of a whole program its tasks, `NAME.tasks`, and below `kernels` each kernel."""
    if isinstance(kernel, _slipring.Kernel):
        (folder / f"{name}.pto").write_text(kernel.text(), encoding="utf-8")
        return
    (folder / f"{name}.tasks").write_text(kernel.text(), encoding="utf-8")
    for own, texts in kernel.passes():
        place = made_folder(folder / "kernels")
        (place / f"{file_name(own)}.pto").write_text(texts[-1][1], encoding="utf-8")


def file_name(name):
    """A name of the language as one of a file."""
    return "".join(c if c.isalnum() or c in "_-" else "_" for c in name)


def dumps_of(config):
    """True if a configuration asks for the program after each pass."""
    if config is None:
        return False
    from .pypto._options import dumps

    return dumps(config.dump_passes, "a RunConfig")


def refuse_run_of_text(config):
    """Refuses to run with a configuration that asks for the compiled text alone."""
    if getattr(config, "codegen_only", False):
        raise ValueError("`run` with `codegen_only`: call `compile`, or the kernel itself, which then makes the text alone")


def write_asked(name, kernel, folder, dumped):
    """Writes the compiled text into a folder, where one is given; with `dumped` also the program after each pass, and says where."""
    if folder is None and not dumped:
        return
    place = new_folder(name) if folder is None else made_folder(folder)
    if folder is not None:
        write_text(place, name, kernel)
    if dumped:
        write_passes(place, kernel)
        warnings.warn(f"the program after each pass is written to {place}", KernelWarning, stacklevel=outside())


def write_passes(folder, kernel):
    """Writes the program as it was read and after each pass: `passes_dump/KERNEL/NN_PASS.pto`."""
    for name, texts in kernel.passes():
        place = made_folder(folder / "passes_dump" / file_name(name))
        for at, (done, text) in enumerate(texts):
            (place / f"{at:02}_{done}.pto").write_text(text, encoding="utf-8")


class DistributedCompiledProgram(Compiled):
    """A compiled program of the host: it runs on devices, and `prepare` gives a worker for many runs of it."""

    # The devices that were named for it.
    device_ids = (0,)

    def _get_metadata(self):
        """Its parameters, which of them are outputs, and the types of what it gives back: as the public harness asks for them."""
        from .pypto.ir import ParamDirection, ParamInfo

        words = {"in": ParamDirection.In, "out": ParamDirection.Out, "inout": ParamDirection.InOut}
        known = {name: (elem, shape) for name, elem, shape, *_ in self._parameters}
        directions = {name: words[direction] for name, _, _, _, direction, *_ in self._parameters}
        infos = [ParamInfo(name, directions[name], known[name][1], known[name][0]) for name in self.param_names]
        outputs = self.output_indices
        return infos, outputs, [infos[at].dtype for at in outputs] if self.has_return else []

    @property
    def host_functions(self):
        """The functions of the host that it calls, by name."""
        return self._function._host_functions()

    def prepare(self, config=None, *, extra_compiled=(), **options):
        """A worker that holds this program, and those of `extra_compiled`. `callbacks` are functions of the host by name."""
        from .pypto.distributed import DistributedWorker

        return DistributedWorker([self, *extra_compiled], config, **options)


def compiled_for(function, arguments, target, platform=None, program=None, distributed=None):
    """A function compiled for arguments and a platform; `distributed` says which devices there are."""
    of_host = function.of_host or distributed is not None
    compiled = (DistributedCompiledProgram if of_host else Compiled)(function, arguments, target, platform, program)
    if distributed is not None:
        compiled.devices, compiled.device_ids = len(distributed.device_ids), tuple(distributed.device_ids)
    return compiled


def bound(names, args, kwargs, name, defaults=None):
    """Each argument by its parameter, arrays as numpy's.

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
    return {key: argument(given[key]) for key in names}


def argument(value):
    """An array as numpy's; a number as Python's: numpy has scalars that look like arrays."""
    if is_array(value):
        number = not hasattr(value, "__setitem__") or getattr(getattr(value, "dtype", None), "name", "") in NEAREST
        if getattr(value, "shape", None) == () and number:
            item = value.item() if hasattr(value, "item") else value
            return item if isinstance(item, (bool, int, float)) else float(item)
        return host_array(value)
    return value
