"""Runs of kernels and of whole programs."""

import builtins
import warnings

from . import _slipring
from ._arrays import dtype_of, element_of, extents, flat_bytes, of_bytes, part_of, write_back
from ._errors import outside, public
from ._memory import places
from ._progress import Progress
from ._scales import check_packed

# pytest omits the frames of this module from tracebacks.
__tracebackhide__ = True

# The library's run options: for each, whether it is an argument if a kernel has a parameter of that name.
OPTIONS = dict(_slipring.options())
# Default options of runs.
DEFAULTS = {}


class KernelWarning(UserWarning):
    """A finding of a run that is not an error."""


def passed(kernel, parameters, arguments):
    """The argument of each parameter, and the arrays by index."""
    values, arrays, returned = [], {}, []
    for at, (name, elem, shape, is_buffer, direction, packed) in enumerate(parameters):
        if name not in arguments and is_buffer and shape is not None:
            # A tile that the kernel returns.
            import numpy as np

            array = np.zeros([int(extent) for extent in shape], dtype=dtype_of(elem))
            if direction == "inout":
                array = of_bytes(_beginning(kernel, parameters, arguments, at), array.dtype, array.shape).copy()
            returned.append(array)
        elif name not in arguments:
            raise TypeError(f"no argument for `{name}`")
        else:
            array = arguments[name]
        if not hasattr(array, "dtype"):
            if is_buffer or not isinstance(array, (bool, int, float)):
                what = "an array" if is_buffer else "a number"
                raise TypeError(f"`{name}` is {what} in the kernel, and a {type(array).__name__} is given")
            values.append(_number(name, elem, array))
        elif not is_buffer:
            if array.shape != ():
                raise TypeError(f"`{name}` is a number in the kernel, and an array of shape {array.shape} is given")
            values.append(_number(name, elem, array.item()))
        else:
            if packed is not None:
                check_packed(name, array, packed)
            values.append((flat_bytes(array), element_of(array, name), extents(array, name)))
            arrays[at] = array
    for at, place in places(parameters, arrays).items():
        values[at] += place
    return values, arrays, returned


def _beginning(kernel, parameters, arguments, at):
    """The bytes with which a tensor that the kernel makes begins: `pl.create_tensor(…, init_value=4.0)`."""
    texts = []
    for name, elem, shape, is_buffer, *_ in parameters:
        if name not in arguments:
            continue
        # Only the beginning of the kernel's own tensors is asked for.
        number = f"0:{elem}" if elem else "false"
        contents = f"zeros:{elem}[{'x'.join(map(str, shape))}]" if is_buffer and shape is not None else number
        texts.append(f"{name}={contents}")
    return kernel.arguments(texts, 0)[at][3]


def _number(name, elem, value):
    """Converts a number to the type of a parameter: booleans become 0 and 1. Raises `TypeError` if the type does not
    have the value."""
    if elem == "i1" or not isinstance(elem, str) or elem[:1] not in "fbiu":
        return value
    if elem[0] in "fb":
        value = float(value)
        if elem == "f32" and abs(value) != float("inf") and abs(value) > 3.4028235677973366e38:
            raise TypeError(f"`{name}` is a number of f32 in the kernel, and {value!r} is beyond the largest of them")
        return value
    if isinstance(value, float):
        raise TypeError(f"`{name}` is a whole number ({elem}) in the kernel, and {value!r} is given")
    bits = int(elem.lstrip("ui") or 64)
    least, most = (0, 2**bits - 1) if elem.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if not least <= value <= most:
        raise TypeError(f"`{name}` is a number of {elem} in the kernel, from {least} to {most}, and {value} is given")
    return int(value)


def block_count(blocks):
    """A number of blocks. Raises `ValueError` if it is invalid."""
    if isinstance(blocks, bool) or not hasattr(blocks, "__index__"):
        raise TypeError(f"`blocks` is a whole number, not {blocks!r}")
    if blocks.__index__() < 1:
        raise ValueError(f"a launch has one block or more, not {blocks}")
    return blocks.__index__()


def options_of(kwargs, own):
    """Removes the run options from keyword arguments, except for parameters in `own`."""
    return {name: kwargs.pop(name) for name, yields in OPTIONS.items() if name in kwargs and not (yields and name in own)}


def start(kernel, parameters, arguments, options, verify):
    """Runs a compiled kernel or whole program for arguments by parameter."""
    options = with_verify(options, verify)
    on_board = options.get("device") is not None
    values, arrays, returned = passed(kernel, parameters, arguments)
    for at, array in arrays.items():
        name, _, _, _, direction, _ = parameters[at]
        if direction in ("out", "inout") and not array.flags.writeable:
            raise TypeError(f"`{name}` is an output of the kernel, and the array is read-only")
    is_program = isinstance(kernel, _slipring.Program)
    with Progress(kernel.name) as progress:
        if on_board and not is_program:
            inner = kernel.run_on_board(values, options, progress)
        else:
            inner = kernel.run(values, options if on_board else {**DEFAULTS, **options}, progress)
    kind = ProgramRun if is_program else BoardRun if on_board else Run
    return kind(inner, kernel, parameters, arrays, returned)


def with_verify(options, verify):
    """Options with `verify`, if requested."""
    return dict(options) if verify is False else {**options, "verify": verify}


def only_empty(error):
    """Whether arrays with an extent of 0 are the only reason why a kernel does not compile."""
    return all(said["code"] == "empty-tensor" for said in error.findings if said["severity"] == "error")


def nothing_to_do(arguments, directions):
    """Whether every output has an extent of 0, so that there is nothing to compute."""
    outputs = [value for name, value in arguments.items() if directions.get(name) != "in" and hasattr(value, "size")]
    return bool(outputs) and all(value.size == 0 for value in outputs)


class Idle:
    """A run without work."""

    verdict, complete, cycles, report = "clean", True, 0, ""
    findings, checks, printed = [], [], []

    @property
    def facts(self):
        return {"flags": "none", "findings": [], "cycles": 0, "printed": [], "checks": []}

    def timeline(self):
        return [], 0

    def text(self, stats=False):
        return "nothing to do: every output has an extent of 0\n"

    def check(self):
        pass

    def trace(self, path):
        raise ValueError("the run had nothing to do: it has no trace")


class KernelFacts:
    """What a run knows of its kernel where there is none: it was not compiled, or the run was pickled."""

    def __init__(self, name, platform, layout=(), given=()):
        self.name, self.platform = name, platform
        self._layout, self._given = list(layout), list(given)

    @classmethod
    def of(cls, kernel):
        """The facts about a kernel; a whole program has neither a layout of memories nor results."""
        layout = kernel.memory_map() if hasattr(kernel, "memory_map") else ()
        return cls(kernel.name, kernel.platform, layout, kernel.gives() if hasattr(kernel, "gives") else ())

    def gives(self):
        return self._given

    def memory_map(self):
        return self._layout


class Said:
    """The results of a run without its kernel: the part that is pickled."""

    def __init__(self, inner, arrays):
        names = ("verdict", "complete", "cycles", "findings", "report", "checks", "facts", "printed")
        self.__dict__.update({name: getattr(inner, name) for name in names})
        self.results = {at: inner.result(at) for at in arrays} if inner.complete else {}
        self.texts = {stats: inner.text(stats) for stats in (False, True)}
        self.events = inner.timeline() if hasattr(inner, "timeline") else ([], 0)
        self.given = inner.returned() if hasattr(inner, "returned") else []
        self.kept = inner.windows() if hasattr(inner, "windows") else []

    def result(self, at):
        return self.results[at]

    def text(self, stats=False):
        return self.texts[stats]

    def timeline(self):
        return self.events

    def returned(self):
        return self.given

    def windows(self):
        return self.kept

    def trace(self, path):
        raise ValueError("a run that was pickled has no trace: write it where the kernel ran")

    def check(self):
        if self.verdict != "clean":
            from ._slipring import KernelError

            error = KernelError(self.report)
            first = next((finding for finding in self.findings if finding["severity"] == "error"), {})
            error.findings, error.waits_for_arguments = self.findings, False
            error.filename, error.lineno = None, first.get("line")
            raise error


def single(back):
    """The returned values as one result: `None`, a value, or several."""
    return None if not back else back[0] if len(back) == 1 else tuple(back)


class Run:
    """A run of a kernel: its findings, its cycles, and its results."""

    def __init__(self, inner, kernel, parameters, arrays, returned):
        self._inner = inner
        self._kernel = kernel
        self._parameters = parameters
        self._arrays = arrays
        self._returned = returned
        self._written = False
        if self.complete and self.verdict == "clean":
            self.write()

    def __getstate__(self):
        """The pickled state of a run: all its facts and results, but not the record from which its timeline is
        traced."""
        state = dict(self.__dict__)
        state["_inner"], state["_kernel"] = Said(self._inner, self._arrays), KernelFacts.of(self._kernel)
        return state

    def write(self):
        """Copies the outputs into the arrays that were passed; does nothing for a run that stopped early."""
        if self._written or not self.complete:
            return
        self._written = True
        for at, array in self._arrays.items():
            name, _, _, _, direction, _ = self._parameters[at]
            if direction == "in":
                continue
            left = self._inner.result(at)
            if array.flags.writeable:
                write_back(array, left)
            elif flat_bytes(array).tobytes() != left:
                raise TypeError(f"the kernel has written to `{name}`, and the array is read-only")

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
        """`clean`, `findings`, or `partly` for a run that stopped. `checks` lists what was checked."""
        return self._inner.verdict

    @property
    def complete(self):
        """Whether every block completed."""
        return self._inner.complete

    @property
    def flags(self):
        """The source of the flags between the pipes of a core: `inserted` by the compiler, `by hand`, or `none`."""
        return self._inner.facts["flags"]

    @property
    def cycles(self):
        """Cycles of the launch."""
        return self._inner.cycles

    @property
    def findings(self):
        """The findings: dictionaries with `severity`, `code`, `message`, `line`, `column`, `label`, `also`, `notes`,
        `help`."""
        return self._inner.findings

    @property
    def report(self):
        """The findings as the command line writes them."""
        return self._inner.report

    @property
    def checks(self):
        """The verdict of each tool, and its scope."""
        return self._inner.checks

    @property
    def facts(self):
        """All facts, as in `slipring run --json`."""
        return self._inner.facts

    @property
    def printed(self):
        """The printed output of the kernel, line by line."""
        return self._inner.printed

    @property
    def timeline(self):
        """Events as (block, core, pipe, op, start, end, line), ordered by their ends."""
        return self._inner.timeline()[0]

    def trace(self, path):
        """Writes the timeline to a file: in Perfetto's own format if its name ends in `.pftrace`, else in Chrome's
        JSON. Needs `record=True`."""
        contents = self._inner.trace(str(path))
        with builtins.open(path, "wb") as file:
            file.write(contents)

    @property
    def memory_map(self):
        """The layout of the local memories."""
        return self._kernel.memory_map()

    @property
    def returned(self):
        """The results of the kernel: `None`, an array, or several; arguments that are returned are written in place."""
        return self.given_back({self._parameters[at][0]: array for at, array in self._arrays.items()})

    def given_back(self, passed):
        """The results, given the argument of each parameter."""
        return single([None if given is None else self._given(given, passed) for given in self._kernel.gives()])

    def _given(self, given, passed):
        at, part = given
        name = self._parameters[at][0]
        return part_of(passed[name] if name in passed else self._arrays[at], part)

    def get(self, name):
        """A buffer after the run, as a new array."""
        for at, array in self._arrays.items():
            if self._parameters[at][0] == name:
                return of_bytes(self._inner.result(at), array.dtype, array.shape).copy()
        raise KeyError(name)

    def show(self):
        """Prints the output of the kernel."""
        for line in self.printed:
            print(line)

    @public
    def check(self):
        """Raises `KernelError` if an error was found; other findings become warnings."""
        self._inner.check()
        for finding in self.findings:
            if finding["severity"] == "warning":
                warnings.warn(f"{finding['message']} ({finding['code']})", KernelWarning, stacklevel=outside())

    def text(self, stats=False):
        """The summary as the command line prints it."""
        return self._inner.text(stats)

    def __repr__(self):
        from ._html import figure

        return f"<slipring run of {self.kernel} on {self.platform}: {self.verdict}, {figure(self)}>"

    def _repr_html_(self):
        from ._html import run

        return run(self)


class IdleRun(Run):
    """A run without work: every output has an extent of 0."""

    def __init__(self, kernel, arrays, names):
        super().__init__(Idle(), kernel, [], {}, [])
        self._passed, self._names = arrays, names

    def given_back(self, passed):
        """The results, given the argument of each parameter: the kernel was not compiled, so they are taken from the
        names in its text."""
        passed = {**self._passed, **passed}
        return single([passed.get(name) for name in self._names])


class BoardRun(Run):
    """A run of a kernel through the command queue of a board: `cycles` are those of the board, and `trace` writes its
    timeline."""

    @property
    def timeline(self):
        """Always empty: the timeline of a board is written by `trace`."""
        raise TypeError("a run on a board has the timeline of the board: run it with `record=True`, and write it with `trace(path)`")

    def _repr_html_(self):
        from ._html import outcome

        return f"<div>{outcome(self)}</div>"


class ProgramRun(Run):
    """A run of a whole program: tasks of several kernels on the clusters of the platform.

    It has the attributes of a kernel's run, except for the memory map. `tasks` lists when each task ran, `timeline` on
    which cluster, and `facts` holds everything.
    """

    @property
    def tasks(self):
        """The tasks, ordered by start: dictionaries with `task`, `name`, `iteration`, `line`, `blocks`, `after`,
        `ready`, `start`, `end` (cycles), `clusters`, `skipped`."""
        return self.facts["tasks"]

    @property
    def timeline(self):
        """Tasks as (cluster, task, start, end, line), ordered by start."""
        each = self.tasks
        return [(cluster, task["name"], task["start"], task["end"], task["line"]) for task in each for cluster in task["clusters"]]

    @property
    def memory_map(self):
        """Always empty: only kernels have local memory."""
        raise TypeError("local memory is a kernel's: this is a run of a whole program")

    @property
    def windows(self):
        """The contents after the run of each window that devices share: `windows=` of the next run, if devices keep
        them."""
        return self._inner.windows()

    def given_back(self, passed):
        """The results, given the argument of each parameter."""
        back = []
        for at, elem, shape, contents, part in self._inner.returned():
            if at is None:
                back.append(part_of(of_bytes(contents, dtype_of(elem), tuple(shape)).copy(), part))
            else:
                back.append(self._given((at, part), passed))
        return single(back)

    def _repr_html_(self):
        from ._html import program

        return program(self)
