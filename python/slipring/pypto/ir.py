"""What public scripts call `pypto.ir`: programs, and compiling them."""

import enum

from .._kernel import Function, Lowered
from .._kernel import Program as _Class
from .runtime import PLATFORMS, RunConfig, chosen, known

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
    for name, value in options.items():
        if name not in WITHOUT_EFFECT:
            if name == "distributed_config" and value is None:
                continue
            what = f"slipring does not do what `{name}` asks for" if name == "distributed_config" else f"no option `{name}`"
            raise (NotImplementedError if name == "distributed_config" else TypeError)(f"ir.compile: {what}")
    name = known(platform or (config.platform if isinstance(config, RunConfig) else chosen()))
    if isinstance(program, _Class):
        program = program.lower()
    if not isinstance(program, Lowered):
        raise TypeError(f"ir.compile takes a program, or what `kernel.lower(…)` gives, not {type(program).__name__}")
    return program.compile(name, PLATFORMS[name])


def serialize(function):
    """A function as bytes: its text."""
    return function.as_python().encode()


def deserialize(data):
    """The function that `serialize` wrote."""
    from . import _language

    return _language.parse(data.decode())


__all__ = ["Function", "PassDumpLevel", "Program", "compile", "deserialize", "serialize"]
