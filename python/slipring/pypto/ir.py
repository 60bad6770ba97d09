"""The counterpart of `pypto.ir` for public scripts: programs and their compilation."""

import dataclasses
import enum
import os

from .._compiled import Compiled as CompiledProgram
from .._kernel import Function, Lowered
from .._program import Program as _Class
from ._options import dumps, platform_of, said
from .distributed import OptimizationStrategy
from .runtime import PLATFORMS, DistributedConfig, RunConfig, chosen, known

Program, Function = Lowered, Function


class PassDumpLevel(enum.Enum):
    """Whether the program is written after each pass, in the format of `slipring build --print-ir-after all`: always
    completely."""

    NONE = 0
    CONCISE = 1
    EXPLICIT = 2


class ParamDirection(enum.Enum):
    """Whether a parameter is read, written or both."""

    In = 0
    Out = 1
    InOut = 2


@dataclasses.dataclass
class ParamInfo:
    """A parameter of a compiled program: name, direction, extents (`None` for a number) and the type of its elements."""

    name: str
    direction: ParamDirection
    shape: list | None
    dtype: object


# Options of `compile` that change no result.
KEPT = """
strategy skip_ptoas verification_level memory_planner diagnostic_phase disabled_diagnostics profiling analyze_auto_scopes_for_deps
enable_pypto_l0c_double_buffer emit_source_loc dump_ptoas_passes
""".split()


def compile(program, platform=None, config=None, *, output_dir=None, dump_passes=None, backend_type=None, **options):
    """Compiles the result of `kernel.lower(…)`, or a class with the decorator `@pl.program`.

    `output_dir` is a folder for the compiled text; with `dump_passes`, the program after each pass is written below it,
    as `passes_dump/KERNEL/NN_PASS.pto`. Options that change no result cause a warning if given.
    """
    distributed = options.pop("distributed_config", None)
    for name in options:
        if name not in KEPT:
            raise TypeError(f"ir.compile: no option `{name}`")
        said(name, options[name], "ir.compile")
    if config is not None and not isinstance(config, RunConfig):
        raise TypeError(f"ir.compile: `config` is a RunConfig, not {type(config).__name__}")
    if distributed is None:
        distributed = getattr(config, "distributed_config", None)
    if distributed is not None and not isinstance(distributed, DistributedConfig):
        raise TypeError("`distributed_config` is a DistributedConfig")
    named = platform_of(platform, backend_type, "ir.compile")
    if None not in (named, config) and PLATFORMS[known(named)] != PLATFORMS[config.platform]:
        raise ValueError(f"ir.compile: the platform is {named}, that of the configuration {config.platform}")
    name = known(named if named is not None else config.platform if config is not None else chosen())
    dump = dumps(getattr(config, "dump_passes", None) if dump_passes is None else dump_passes, "ir.compile")
    output_dir = getattr(config, "save_kernels_dir", None) if output_dir is None else output_dir
    folder = None if output_dir is None else os.fspath(output_dir)

    def written(compiled, *inner):
        compiled.write_to(None if folder is None else os.path.join(folder, *inner), dump)
        return compiled

    if isinstance(program, _Class):
        entries = program.entries()
        if len(entries) > 1 and all(function.kind is None for function in entries):
            target = PLATFORMS[name]
            each = [own.lower(platform=target).compile(name, target, distributed) for own in entries]
            # A separate folder for each, because kernels of different programs may share a name.
            return CompiledOrchestrations(program.name, {own.name: written(own, "next_levels", own.name) for own in each})
        program = program.lower(platform=PLATFORMS[name])
    if not isinstance(program, Lowered):
        raise TypeError(f"ir.compile takes a program, or what `kernel.lower(…)` gives, not {type(program).__name__}")
    return written(program.compile(name, PLATFORMS[name], distributed))


def python_print(node, prefix="pl", concise=False):
    """A function or a program as text, in which the language is `pl`. `concise` has no effect here."""
    if prefix != "pl":
        raise ValueError(f"python_print: the language is `pl` in the text, not `{prefix}`")
    if not isinstance(node, (Function, Lowered, _Class)):
        raise TypeError(f"python_print takes a function or a program, not {type(node).__name__}")
    return node.as_python()


class PassManager:
    """The public compiler's pass pipeline. Here there is only one, whatever the strategy: a program that has passed it
    is compiled, and thus free of errors."""

    def __init__(self, strategy=OptimizationStrategy.Default):
        if not isinstance(strategy, OptimizationStrategy):
            raise TypeError(f"a PassManager takes an OptimizationStrategy, not {strategy!r}")
        self.strategy = strategy

    @classmethod
    def get_strategy(cls, strategy=OptimizationStrategy.Default):
        """The passes of a strategy."""
        said("strategy", strategy, "PassManager.get_strategy")
        return cls(strategy)

    def run_passes(self, program):
        """Compiles a program or a function for the selected platform, and returns it with its text."""
        if isinstance(program, Lowered):
            return program
        if not isinstance(program, (_Class, Function)):
            raise TypeError(f"run_passes takes a program or a function, not {type(program).__name__}")
        return program.lower(platform=PLATFORMS[chosen()])


class CompiledOrchestrations:
    """A compiled program with several orchestrations, available as `compiled["name"]` or `compiled.name`."""

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
    """A function or a program as bytes: its text."""
    return function.as_python().encode()


def deserialize(data):
    """The function or program that `serialize` wrote."""
    import ast

    from . import _language

    text = data.decode()
    is_program = any(isinstance(stmt, ast.ClassDef) for stmt in ast.parse(text).body)
    return (_language.parse_program if is_program else _language.parse)(text)


__all__ = """
CompiledProgram Function OptimizationStrategy ParamDirection PassDumpLevel PassManager Program compile deserialize python_print serialize
""".split()
