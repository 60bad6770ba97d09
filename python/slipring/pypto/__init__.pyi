"""Runs public scripts on slipring: `python -m slipring.pypto script.py`, or `slipring.pypto.install()` before their
imports."""

import os
from typing import Any

from . import backend as backend
from . import debug as debug
from . import distributed as distributed
from . import ir as ir
from . import messages as messages
from . import passes as passes
from . import runner as runner
from . import runtime as runtime

PLATFORMS: dict[str, str]

class RunConfig:
    """How a public script runs a kernel."""

    platform: str
    device_id: int
    rtol: float
    atol: float
    strategy: Any
    backend_type: Any
    dump_passes: Any
    save_kernels: bool
    save_kernels_dir: str | os.PathLike[str] | None
    codegen_only: bool
    enable_chip_swimlane: int
    enable_dump_args: int
    enable_pmu: int
    enable_dep_gen: bool
    enable_scope_stats: bool
    compile_profiling: bool
    diagnostic_phase: Any
    disabled_diagnostics: Any
    golden_data_dir: Any
    aicpu_thread_num: int | None
    ring_task_window: Any
    ring_heap: Any
    ring_dep_pool: Any
    distributed_config: Any
    analyze_auto_scopes_for_deps: bool
    memory_planner: Any
    dump_ptoas_passes: bool

    def __init__(
        self,
        platform: str | None = ...,
        device_id: int = ...,
        rtol: float = ...,
        atol: float = ...,
        strategy: Any = ...,
        backend_type: Any = ...,
        dump_passes: Any = ...,
        save_kernels: bool = ...,
        save_kernels_dir: str | os.PathLike[str] | None = ...,
        codegen_only: bool = ...,
        enable_chip_swimlane: int = ...,
        enable_dump_args: int = ...,
        enable_pmu: int = ...,
        enable_dep_gen: bool = ...,
        enable_scope_stats: bool = ...,
        compile_profiling: bool = ...,
        diagnostic_phase: Any = ...,
        disabled_diagnostics: Any = ...,
        golden_data_dir: Any = ...,
        aicpu_thread_num: int | None = ...,
        ring_task_window: Any = ...,
        ring_heap: Any = ...,
        ring_dep_pool: Any = ...,
        distributed_config: Any = ...,
        analyze_auto_scopes_for_deps: bool = ...,
        memory_planner: Any = ...,
        dump_ptoas_passes: bool = ...,
    ) -> None: ...
    @property
    def devices(self) -> int | None: ...

def install(platform: str | None = ...) -> None:
    """Makes the imports of public scripts work in this process."""
