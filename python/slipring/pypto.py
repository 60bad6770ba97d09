"""Public scripts on slipring: `python -m slipring.pypto script.py`, or `slipring.pypto.install()` in front of their imports.

Provides the modules that they import, for this process only: `pypto.language` is `slipring.language`; `pypto.runtime` has `RunConfig`.
A call `kernel(…, config=RunConfig(platform="a5sim"))` is a checked run on that platform.
"""

import sys
import types

# The names of platforms in public scripts.
PLATFORMS = {"a2a3": "a2a3", "a2a3sim": "a2a3", "a5": "a5", "a5sim": "a5"}


# Fields of a public configuration that say how the public tools work, and change no result.
WITHOUT_EFFECT = """
device_id rtol atol strategy backend_type dump_passes save_kernels save_kernels_dir enable_chip_swimlane enable_dump_args enable_pmu
enable_dep_gen enable_scope_stats compile_profiling diagnostic_phase disabled_diagnostics golden_data_dir aicpu_thread_num
ring_task_window ring_heap ring_dep_pool analyze_auto_scopes_for_deps memory_planner dump_ptoas_passes
""".split()


class RunConfig:
    """How a public script runs a kernel. Only the platform counts here; the other public fields are kept and do nothing, but for those
    that ask for something else than a run on one device, which are refused."""

    def __init__(self, platform="a2a3sim", **others):
        if platform not in PLATFORMS:
            raise ValueError(f"there is no platform `{platform}`: there are {', '.join(PLATFORMS)}")
        for name, value in others.items():
            if name in ("codegen_only", "distributed_config"):
                if value:
                    raise NotImplementedError(f"slipring does not do what `{name}` of a RunConfig asks for")
            elif name not in WITHOUT_EFFECT:
                raise TypeError(f"a RunConfig has no field `{name}`")
        self.platform = platform
        self.__dict__.update(others)

    def __repr__(self):
        return f"RunConfig({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class _Missing(types.ModuleType):
    """A module of which only some names are here."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"slipring has no `{self.__name__}.{name}`")


def install():
    """Makes `import pypto.language` and `from pypto.runtime import RunConfig` work in this process."""
    from . import language

    top, runtime = _Missing("pypto"), _Missing("pypto.runtime")
    top.__path__ = []
    runtime.RunConfig = RunConfig
    top.language, top.runtime = language, runtime
    sys.modules.update({"pypto": top, "pypto.language": language, "pypto.runtime": runtime})


def main():
    """Runs a script with these modules."""
    if len(sys.argv) < 2:
        sys.exit("usage: python -m slipring.pypto script.py [arguments]")
    import os
    import runpy

    install()
    script = sys.argv[1]
    sys.argv = sys.argv[1:]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    # The module that scripts see is the one of the package, not this one under the name `__main__`.
    from slipring.pypto import main as run

    run()
