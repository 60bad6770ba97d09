"""What public scripts call `pypto.backend`: which device is meant."""

import enum

from .._slipring import KernelError
from . import runtime


class BackendType(enum.Enum):
    """The devices, by their public names."""

    Ascend910B = "a2a3sim"
    Ascend950 = "a5sim"


def set_backend_type(backend):
    """Configurations that name no platform mean this one."""
    runtime.choose(backend.value)


def reset_for_testing():
    """Forgets the choice."""
    runtime.choose("a2a3sim")


PartialCodegenError = KernelError

__all__ = ["BackendType", "reset_for_testing", "set_backend_type"]
