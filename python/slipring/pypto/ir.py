"""What public scripts call `pypto.ir`: programs, and compiling them."""

import enum

from .._kernel import Function, Lowered
from .._kernel import Program as _Class
from .distributed import OptimizationStrategy
from .runtime import PLATFORMS, DistributedConfig, RunConfig, chosen, known

Program, Function = Lowered, Function


class PassDumpLevel(enum.Enum):
    """How much is written after each pass: nothing here, `slipring build --print-ir-after all` prints it."""

    NONE = 0
    CONCISE = 1
    EXPLICIT = 2


# Options of `compile` that say how the public tools work, and change no result.
WITHOUT_EFFECT = """
output_dir strategy dump_passes backend_type skip_ptoas verification_level memory_planner diagnostic_phase disabled_diagnostics profiling
analyze_auto_scopes_for_deps enable_pypto_l0c_double_buffer emit_source_loc dump_ptoas_passes
""".split()


def compile(program, platform=None, config=None, **options):
    """Compiles what `kernel.lower(…)` gave, or a class with the decorator `@pl.program`."""
    distributed = options.pop("distributed_config", None)
    for name in options:
        if name not in WITHOUT_EFFECT:
            raise TypeError(f"ir.compile: no option `{name}`")
    if distributed is None:
        distributed = getattr(config, "distributed_config", None)
    if distributed is not None and not isinstance(distributed, DistributedConfig):
        raise TypeError("`distributed_config` is a DistributedConfig")
    name = known(platform or (config.platform if isinstance(config, RunConfig) else chosen()))
    if isinstance(program, _Class):
        entries = program.entries()
        if len(entries) > 1 and all(function.kind is None for function in entries):
            each = {function.name: function.lower().compile(name, PLATFORMS[name], distributed) for function in entries}
            return CompiledOrchestrations(program.name, each)
        program = program.lower()
    if not isinstance(program, Lowered):
        raise TypeError(f"ir.compile takes a program, or what `kernel.lower(…)` gives, not {type(program).__name__}")
    return program.compile(name, PLATFORMS[name], distributed)


class CompiledOrchestrations:
    """A compiled program with several orchestrations: `compiled["name"]` or `compiled.name` is one of them."""

    def __init__(self, name, each):
        self.name, self._each = name, each

    @property
    def orchestration_names(self):
        """The names of the orchestrations, in the order of the text."""
        return list(self._each)

    def __getitem__(self, name):
        if name not in self._each:
            raise KeyError(f"there is no orchestration `{name}`: there are {', '.join(self._each)}")
        return self._each[name]

    def __getattr__(self, name):
        each = self.__dict__.get("_each", {})
        if name in each:
            return each[name]
        raise AttributeError(f"a compiled program has no attribute '{name}'")

    def __call__(self, *_, **__):
        raise TypeError(f"the program has several orchestrations: select one explicitly, {', '.join(self._each)}")


def serialize(function):
    """A function as bytes: its text."""
    return function.as_python().encode()


def deserialize(data):
    """The function that `serialize` wrote."""
    from . import _language

    return _language.parse(data.decode())


__all__ = ["Function", "OptimizationStrategy", "PassDumpLevel", "Program", "compile", "deserialize", "serialize"]
