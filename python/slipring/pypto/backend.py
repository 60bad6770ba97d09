"""The counterpart of `pypto.backend` for public scripts: selects the device."""

import enum

from .._slipring import KernelError
from . import runtime


class BackendType(enum.Enum):
    """The devices, by their public names."""

    Ascend910B = "a2a3sim"
    Ascend950 = "a5sim"


def set_backend_type(backend):
    """Sets the platform of configurations that name none."""
    runtime.choose(backend.value)


def reset_for_testing():
    """Resets the selection."""
    runtime.choose("a2a3sim")


PartialCodegenError = KernelError

__all__ = ["BackendType", "reset_for_testing", "set_backend_type"]
