"""Sweeps: a kernel at many points."""

import hashlib
import os
import pickle

from .._arrays import host_array, is_array
from .._memory import apart
from .._runs import OPTIONS
from .job import COLUMNS, COMPILING, FileSource, FunctionSource, SweepJob
from .journal import Journal, identity
from .points import points_of, shown
from .pool import drive, pool_of
from .table import Table


def sweep(
    kernel,
    points,
    arrays=None,
    *,
    where="local",
    workers=None,
    file=None,
    platform=None,
    verify=False,
    timeout=300.0,
    memory=None,
    progress=None,
    logs=None,
    **options,
):
    """Compiles, checks and runs a kernel at every point, and returns a `Table`.

    `points` maps names to values, of which every combination is tried, or is a list of dictionaries. A name is one that
    the kernel's text uses (`TILE`, a mode), a numeric parameter of the kernel, `platform`, `slots` (or `slot_num`: the
    depth of all rings, if the text does not use that name), or an option of `run`. `arrays` are its arguments in order
    or by name, or a function that returns them for a point.

    `where` is `local` (processes on this machine), `ray`, or the address of a Ray cluster. With `file`, the rows are
    stored there, and the same call resumes an interrupted sweep. A point that takes longer than `timeout` seconds or
    more than `memory` bytes, or that ends its process, is retried once, alone; then its row says so. `logs` is a folder
    for the output of workers.
    """
    points = points_of(points)
    source, parameters, given = source_of(kernel, platform)
    for name in points.names:
        if name in COLUMNS or name == "at":
            raise ValueError(f"`{name}` is a column of the table: give the parameter another name")
    kinds = {name: _kind(name, given, parameters) for name in points.names}
    for name in options:
        if name not in OPTIONS:
            raise TypeError(f"a run has no option `{name}`")
    of_point = arrays if callable(arrays) else None
    fixed = {} if of_point else _arguments(parameters, arrays, kinds)
    job = SweepJob(source, fixed, options, kinds, verify)
    title = f"sweep of {os.fspath(kernel) if isinstance(kernel, (str, os.PathLike)) else kernel.__name__}"
    axes = points.axes if hasattr(points, "axes") else points.points
    values = [(name, _digest(value)) for name, value in fixed.items()]

    def own(point):
        return _arguments(parameters, of_point(point), kinds) if of_point else None

    if of_point:
        # A function is identified by its results at the first and the last point: nothing else about it is as reliable.
        values = [[(name, _digest(value)) for name, value in own(points[at]).items()] for at in sorted({0, len(points) - 1})]
    head = {"what": title, "id": identity(source.facts(), _plain(axes), values, sorted(options.items()), verify)}
    journal = Journal(file, head, len(points))

    def payload(number):
        return points[number], own(points[number])

    drive(pool_of(where, pickle.dumps(job), workers, timeout, memory, logs), journal, payload, title, progress, _found)
    return Table(journal, points.names)


def job_of(kernel, points, arrays, platform=None, **options):
    """The job of a sweep in which all points have the same arrays."""
    source, parameters, given = source_of(kernel, platform)
    kinds = {name: _kind(name, given, parameters) for name in points.names}
    return SweepJob(source, _arguments(parameters, arrays, kinds), options, kinds, False)


def _found(text):
    return b'"verdict":"findings"' in text


def _plain(axes):
    if hasattr(axes, "items"):
        return [(name, [shown(value) for value in values]) for name, values in axes.items()]
    return [[(name, shown(value)) for name, value in point.items()] for point in axes]


def _digest(value):
    if hasattr(value, "dtype"):
        return (str(value.dtype), value.shape, hashlib.blake2b(value.tobytes(), digest_size=16).hexdigest())
    return repr(value)


def source_of(kernel, platform, interpretations=()):
    """The source to compile, the names of its parameters, and the values of its text's names: `None` if they are
    unknown."""
    from .._files import File
    from .._kernel import Function, _target

    if isinstance(kernel, Function):
        if kernel.kind == "inline":
            raise TypeError(f"`{kernel.__name__}` is copied into kernels that call it; it is not a kernel itself")
        parts, names = kernel._parts()
        filename, text = names.text(parts)
        platform = _target(platform, None)[0]
        return FunctionSource(filename, text, names, kernel.__name__, platform, interpretations), kernel.parameter_names, names
    if isinstance(kernel, (str, os.PathLike)):
        kernel = File(kernel, platform)
    if isinstance(kernel, File):
        names = [parameter[0] for parameter in kernel.parameters]
        given = (kernel._function, platform or kernel._platform, kernel._interpretations, kernel._values)
        return FileSource(kernel._path, kernel._contents, *given), names, None
    raise TypeError(f"a sweep takes a kernel of the language or a file, not {type(kernel).__name__}")


def _kind(name, names, parameters):
    """The kind of a sweep's parameter."""
    if name in parameters:
        return "argument"
    if names is not None and name in names:
        return "name"
    if name in COMPILING:
        return "compiling"
    if name in OPTIONS:
        return "option"
    if names is None:
        # A constant of the file; if there is none, the file reports it.
        return "name"
    has = [*names, *parameters]
    raise TypeError(f"the kernel has no name `{name}`: it has {', '.join(str(own) for own in has)}; a run has {', '.join(OPTIONS)}")


def _arguments(parameters, arrays, kinds):
    """The arguments that are the same at all points, by name."""
    if hasattr(arrays, "items"):
        given = dict(arrays)
    else:
        open_ones = [name for name in parameters if name not in kinds]
        listed = list(arrays or ())
        if len(listed) != len(open_ones):
            raise TypeError(f"the kernel takes {len(open_ones)} arguments ({', '.join(open_ones)}), {len(listed)} given")
        given = dict(zip(open_ones, listed))
    for name in given:
        if name not in parameters:
            raise TypeError(f"the kernel has no parameter `{name}`: it has {', '.join(parameters)}")
    given = {name: host_array(value) if is_array(value) else value for name, value in given.items()}
    apart(given)
    return given
