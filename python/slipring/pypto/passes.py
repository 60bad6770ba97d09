"""The counterpart of `pypto.passes` for public scripts: names of choices that change no result here. There is only one
pass pipeline."""

import enum


class MemoryPlanner(enum.Enum):
    """The public compiler's strategy for placing tiles."""

    PYPTO = 0
    DSA_RP = 1
    PTOAS = 2


class DiagnosticPhase(enum.Enum):
    """When the public compiler reports diagnostics."""

    NONE = 0
    PRE_PIPELINE = 1
    POST_PASS = 2
    POST_PIPELINE = 3


__all__ = ["DiagnosticPhase", "MemoryPlanner"]
