"""Keeps every text that the public compiler writes, and the program that it was written from. Runs inside of that
compiler's Python.

As a plugin of pytest (`-p keeper`), or in front of a script: `python -O keeper.py SCRIPT`. `KEEPER_FOLDER` takes two
files for each text: `NUMBER.pto`, and `NUMBER.json` with the test or script that wrote it, the functions in the text,
their parameters, and the earliest form of each of them, among those after each pass, that has the same parameters:
what the text was made from.
"""

import hashlib
import json
import os
import pathlib
import re
import runpy
import sys

from pypto import backend
from pypto import ir as pypto_ir
from pypto.ir import pass_manager
from pypto.pypto_core import codegen, ir, passes

FOLDER = pathlib.Path(os.environ["KEEPER_FOLDER"])
SLOTS = "__gm_pipe_buffer"
# The programs after each pass of the newest run, each after its predecessor.
STAGES = []
# A test emits a text several times if it checks several things.
SEEN = set()


def install():
    """Puts the keeping into the compiler."""
    run, generate = pass_manager.PassManager.run_passes, codegen.PTOCodegen.generate

    def run_passes(self, program, *args, **kwargs):
        STAGES[:] = [("source", program)]
        names = iter(self.get_pass_names())
        context = passes.PassContext.current()
        instruments = list(context.get_instruments()) if context else []
        instruments.append(
            passes.CallbackInstrument(after_pass=lambda _, after: STAGES.append((next(names, "?"), after)), name="Keeper")
        )
        if context is None:
            outer = passes.PassContext(instruments, passes.get_default_verification_level(), passes.get_default_diagnostic_phase())
        else:
            outer = passes.PassContext(
                instruments,
                context.get_verification_level(),
                context.get_diagnostic_phase(),
                context.get_disabled_diagnostics(),
                context.get_memory_planner(),
                context.get_enable_pypto_l0c_double_buffer(),
                context.get_runtime(),
            )
        with outer:
            return run(self, program, *args, **kwargs)

    def kept(self, program, *args, **kwargs):
        text = generate(self, program, *args, **kwargs)
        keep(text, program)
        return text

    pass_manager.PassManager.run_passes = run_passes
    codegen.PTOCodegen.generate = kept


def pytest_runtest_setup(item):
    """Lets each test choose its platform: a process has one, unless it is told that it is tested."""
    backend.reset_for_testing()


def keep(text, program):
    """Writes a text and what is known of it."""
    name = os.environ.get("PYTEST_CURRENT_TEST", os.environ.get("KEEPER_NAME", "")).partition(" (")[0]
    number = hashlib.sha256(f"{name}\n{text}".encode()).hexdigest()[:16]
    if number in SEEN:
        return
    SEEN.add(number)
    functions = [about(function, program) for function in program.functions.values()]
    (FOLDER / f"{number}.pto").write_text(text, encoding="utf-8")
    note = {"name": name, "functions": functions}
    (FOLDER / f"{number}.json").write_text(json.dumps(note, indent=1), encoding="utf-8")


def about(function, program):
    """Name, kind, parameters and earliest form of a function."""
    parameters = [parameter.name_hint for parameter in function.params]
    directions = [str(direction).rpartition(".")[2].lower() for direction in function.param_directions]
    types = [pypto_ir.python_print(parameter.type) for parameter in function.params]
    # Whether the launch uses both Vector cores, which a text does not state.
    both = bool(dict(function.attrs).get("dual_aiv_dispatch"))
    found = {"both_lanes": both, "name": function.name, "kind": str(function.func_type).rpartition(".")[2], "parameters": parameters, "directions": directions, "types": types}
    # A mixed function is split into two, which take an additional slot buffer.
    whole = function.name.removesuffix("_aic").removesuffix("_aiv")
    own = [plain(name) for name in parameters if name != SLOTS]
    for stage, before in [*own_stages(function), ("as it is", program)]:
        earlier = before.get_function(whole) or before.get_function(function.name)
        if earlier is None or [plain(parameter.name_hint) for parameter in earlier.params if parameter.name_hint != SLOTS] != own:
            continue
        try:
            found["source"] = pypto_ir.python_print(ir.Program([earlier], earlier.name, before.span))
            named = [parameter.name_hint for parameter in earlier.params]
            found.update(stage=stage, of=earlier.name, named=named)
        except Exception as error:
            found["unprinted"] = f"{type(error).__name__}: {error}"
        break
    return found


def plain(name):
    """The name of a parameter as the author wrote it."""
    return re.sub(r"__ssa_v\d+$", "", name)


def own_stages(function):
    """The programs that a function came from: those of the newest run, if it ended with this function."""
    last = STAGES[-1][1].get_function(function.name) if STAGES else None
    return STAGES if last is not None and ir.structural_equal(last, function) else []


FOLDER.mkdir(parents=True, exist_ok=True)
install()

def only_compiles(platform):
    """Lets a script compile what it runs, for this platform, and run nothing: there is no device, and asserts of its
    results are left out by `python -O`."""
    from pypto.ir import compiled_program, distributed_compiled_program
    from pypto.runtime import RunConfig

    for module in (compiled_program, distributed_compiled_program):
        for found in vars(module).values():
            if isinstance(found, type) and found.__module__ == module.__name__ and "__call__" in vars(found):
                found.__call__ = lambda self, *args, **kwargs: None
    made, compiled = RunConfig.__init__, pypto_ir.compile
    RunConfig.__init__ = lambda self, *args, **kwargs: made(self, *args, **{**kwargs, "platform": platform})
    pypto_ir.compile = lambda *args, **kwargs: compiled(*args, **{**kwargs, "platform": platform})


if __name__ == "__main__":
    only_compiles(os.environ["KEEPER_PLATFORM"])
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")
