"""Options of the public tools: their valid values, and warnings for options without effect."""

import enum
import numbers
import os
import warnings


def _truth(value):
    return isinstance(value, bool)


def _count(value):
    return isinstance(value, numbers.Integral) and not isinstance(value, bool) and value >= 0


def _level(value):
    return _truth(value) or _count(value)


def _sizes(value):
    return _count(value) or isinstance(value, (list, tuple)) and all(_count(one) for one in value)


def _number(value):
    return isinstance(value, numbers.Real) and not isinstance(value, bool) and value >= 0


def _path(value):
    return isinstance(value, (str, os.PathLike))


def _choice(value):
    return isinstance(value, (enum.Enum, str)) and value != ""


def _names(value):
    return isinstance(value, (list, tuple, set, frozenset)) and all(_choice(one) for one in value)


KINDS = {
    _truth: "True or False",
    _count: "a whole number, not below 0",
    _level: "a level: True, False or a whole number, not below 0",
    _sizes: "a whole number, not below 0, or a list of them",
    _number: "a number, not below 0",
    _path: "a path",
    _choice: "one of the names that the public tools have for it",
    _names: "a list of names",
}

_TOOL = "slipring compiles by itself: no other tool is called"
_MEASURED = "a run with `record=True` has a timeline, and its `facts` all counts"
_RUNTIME = "there is no runtime of a device to set up"
# The check of the value, the value without meaning, and why the option has no effect; `None` if only the script itself
# reads it.
WITHOUT_EFFECT = {
    "strategy": (_choice, "Default", "there is one pipeline of passes"),
    "skip_ptoas": (_truth, False, _TOOL),
    "dump_ptoas_passes": (_truth, False, _TOOL),
    "verification_level": (_choice, None, "the program is always checked after it was compiled"),
    "memory_planner": (_choice, None, "there is one way to place tiles"),
    "diagnostic_phase": (_choice, None, "messages come when a kernel is compiled and when it is run"),
    "disabled_diagnostics": (_names, (), "no message is left out; `warnings.filterwarnings` filters them"),
    "profiling": (_truth, False, _MEASURED),
    "compile_profiling": (_truth, False, "`slipring build --time-passes` measures the passes"),
    "analyze_auto_scopes_for_deps": (_truth, False, "edges always follow from what tasks touch"),
    "enable_pypto_l0c_double_buffer": (_truth, False, "the text decides how many buffers a loop has"),
    "emit_source_loc": (_truth, True, "messages always have the places in the text"),
    "device_id": (_count, 0, "there is one simulated device, whatever its number"),
    "rtol": (_number, None, None),
    "atol": (_number, None, None),
    "save_kernels": (_truth, False, "`compiled.output_dir` has the text"),
    "enable_chip_swimlane": (_level, 0, _MEASURED),
    "enable_dump_args": (_level, 0, "`run.get(name)` has what a run left"),
    "enable_pmu": (_level, 0, _MEASURED),
    "enable_dep_gen": (_truth, False, "`kernel.graph(…)` has the edges"),
    "enable_scope_stats": (_truth, False, _MEASURED),
    "golden_data_dir": (_path, None, "results are compared by the script, or by `slipring.testing`"),
    "aicpu_thread_num": (_count, 0, _RUNTIME),
    "ring_task_window": (_sizes, 0, _RUNTIME),
    "ring_heap": (_sizes, 0, _RUNTIME),
    "ring_dep_pool": (_sizes, 0, _RUNTIME),
    "num_sub_workers": (_count, 0, "functions of the host run in this process"),
    "runtime": (_choice, "tensormap_and_ringbuffer", _RUNTIME),
    "startup_timeout_s": (_number, None, "no process is started"),
    "inherited_host_tensors": (lambda value: isinstance(value, (list, tuple, dict)), (), "no process is forked: every tensor is there"),
}


def said(name, value, by, depth=2):
    """Warns that an option has no effect, if its value would have one in the public tools.

    Raises `TypeError` for an invalid value. `by` names the callee, and `depth` is the number of calls between this
    function and the script.
    """
    takes, silent, why = WITHOUT_EFFECT[name]
    if value is None:
        return
    if not takes(value):
        raise TypeError(f"{by}: `{name}` is {KINDS.get(takes, 'a list')}, not {value!r}")
    plain = value.name if isinstance(value, enum.Enum) else value
    if why is None or plain == silent or (silent == () and not value):
        return
    from .._runs import KernelWarning

    warnings.warn(f"{by}: `{name}={value!r}` has no effect: {why}", KernelWarning, stacklevel=depth + 1)


def dumps(level, by):
    """Whether the program after each pass is to be written."""
    if level is None or isinstance(level, bool):
        return bool(level)
    if isinstance(level, enum.Enum) and type(level).__name__ == "PassDumpLevel":
        return level.value > 0
    raise TypeError(f"{by}: `dump_passes` is True, False or a PassDumpLevel, not {level!r}")


def platform_of(platform, backend_type, by):
    """The name of the requested platform, if any: given directly, or by a backend."""
    from .backend import BackendType
    from .runtime import PLATFORMS, known

    if backend_type is None:
        return platform
    if not isinstance(backend_type, BackendType):
        raise TypeError(f"{by}: `backend_type` is a BackendType, not {backend_type!r}")
    if platform is not None and PLATFORMS[known(platform)] != PLATFORMS[backend_type.value]:
        raise ValueError(f"{by}: the platform is {platform}, the backend {backend_type.name} is {PLATFORMS[backend_type.value]}")
    return backend_type.value if platform is None else platform


__all__ = ["WITHOUT_EFFECT", "dumps", "platform_of", "said"]
