"""What public scripts know of `pypto.passes`: names of choices that change no result here. There is one pipeline of passes."""

import enum


class MemoryPlanner(enum.Enum):
    """How the public compiler places tiles."""

    PYPTO = 0
    DSA_RP = 1
    PTOAS = 2


class DiagnosticPhase(enum.Enum):
    """When the public compiler says what it found."""

    NONE = 0
    PRE_PIPELINE = 1
    POST_PASS = 2
    POST_PIPELINE = 3


__all__ = ["DiagnosticPhase", "MemoryPlanner"]
