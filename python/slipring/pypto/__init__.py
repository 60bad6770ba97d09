"""Runs public scripts on slipring: `python -m slipring.pypto script.py`, or `slipring.pypto.install()` before their
imports.

Provides the modules that they import, for this process only: `pypto.language` is `slipring.language`; `pypto.runtime`
has `RunConfig`, `ChipWorker` and `benchmark`; `pypto.ir` has `compile`; `pypto.backend` selects a backend. A call
`kernel(…, config=RunConfig(platform="a5sim"))` is a checked run on that platform.
"""

import sys
import types

from .._words import Word
from . import backend, debug, distributed, ir, messages, passes, runner, runtime
from .runtime import PLATFORMS, RunConfig


# Element types that are also available as `pypto.DT_FP32` and so on.
TYPES = """
BF16 BOOL FP16 FP32 FP4 FP8E4M3FN FP8E5M2 FP8E8M0 HF4 HF8 INDEX INT16 INT32 INT4 INT64 INT8 UINT16 UINT32 UINT4 UINT64 UINT8
""".split()


class _Missing(types.ModuleType):
    """A module of which only some names are provided."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"slipring has no `{self.__name__}.{name}`")


def _module(name, **names):
    module = _Missing(name)
    module.__dict__.update(names)
    module.__path__ = []
    return module


class _Finder:
    """Reports modules of the public tools that are not provided."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        """Raises for a missing module of the public tools; returns nothing for others."""
        if name.startswith("pypto."):
            raise ModuleNotFoundError(f"slipring has no module `{name}`", name=name)


def install(platform=None):
    """Makes the imports of public scripts work in this process. `platform` is the default platform of `RunConfig`."""
    from .. import _kernel, _scales
    from ..language import distributed as of_devices
    from . import _language

    _scales.AS_ON_DEVICE[:] = [True]
    if platform is not None:
        # The default platform; without it, kernels keep their previous default.
        _kernel.PUBLIC[:] = [True]
        runtime.choose(platform)
    parts = {
        "pypto.language": _language.module(),
        "pypto.language.distributed": of_devices,
        "pypto.runtime": _module(
            "pypto.runtime",
            **{name: getattr(runtime, name) for name in runtime.__all__},
            **{name: getattr(distributed, name) for name in ("DistributedRunHandle", "DistributedWorker", "StackedDeviceTensor", "run")},
            **{name: getattr(runner, name) for name in ("RunResult", "ScalarSpec", "TensorSpec")},
        ),
        "pypto.runtime.distributed_runner": _module(
            "pypto.runtime.distributed_runner",
            DistributedRunHandle=distributed.DistributedRunHandle,
            DistributedWorker=distributed.DistributedWorker,
            _tensor_from_continuous=distributed._tensor_from_continuous,
        ),
        "pypto.runtime.runner": _module(
            "pypto.runtime.runner",
            **{name: getattr(runner, name) for name in runner.__all__},
            _DfxOpts=runtime.DfxOptions,
            execute_compiled=runtime.execute_compiled,
        ),
        "pypto.runtime.tensor_spec": _module(
            "pypto.runtime.tensor_spec",
            **{name: getattr(runner, name) for name in ("SCALAR_CTYPE_MAP", "ScalarSpec", "TensorSpec")},
        ),
        "pypto.passes": _module("pypto.passes", **{name: getattr(passes, name) for name in passes.__all__}),
        "pypto.pypto_core": _module("pypto.pypto_core"),
        "pypto.pypto_core.passes": _module("pypto.pypto_core.passes", **{name: getattr(passes, name) for name in passes.__all__}),
        "pypto.ir": _module("pypto.ir", **{name: getattr(ir, name) for name in ir.__all__}),
        "pypto.ir.distributed_compiled_program": _module(
            "pypto.ir.distributed_compiled_program",
            DistributedCompiledProgram=distributed.DistributedCompiledProgram,
            DistributedConfig=runtime.DistributedConfig,
        ),
        "pypto.ir.pass_manager": _module(
            "pypto.ir.pass_manager", OptimizationStrategy=distributed.OptimizationStrategy, PassManager=ir.PassManager
        ),
        "pypto.debug": _module("pypto.debug", **{name: getattr(debug, name) for name in debug.__all__}),
        "pypto.backend": _module("pypto.backend", **{name: getattr(backend, name) for name in backend.__all__}),
        "pypto.backend.pto_backend": _module("pypto.backend.pto_backend", PartialCodegenError=backend.PartialCodegenError),
    }
    of_types = {f"DT_{name}": getattr(Word("pl"), name) for name in TYPES}
    top = _module("pypto", DataType=Word("pl"), **of_types, **{name: getattr(messages, name) for name in messages.__all__})
    for name, module in parts.items():
        outer, _, inner = name.rpartition(".")
        setattr(parts.get(outer, top), inner, module)
    sys.modules.update({"pypto": top, **parts})
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)


__all__ = ["PLATFORMS", "RunConfig", "install"]
