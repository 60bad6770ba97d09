"""The counterparts of `pypto.runtime.runner` and `pypto.runtime.tensor_spec` for public tests: tensor specifications,
compilation and run in one call, and test results."""

import dataclasses

from .runtime import RunConfig

# Scalar types by name.
SCALAR_CTYPE_MAP = {
    "int64": "ctypes.c_int64",
    "int32": "ctypes.c_int32",
    "uint64": "ctypes.c_uint64",
    "uint32": "ctypes.c_uint32",
    "float": "ctypes.c_float",
    "double": "ctypes.c_double",
}


@dataclasses.dataclass
class TensorSpec:
    """A tensor: its name, extents and type, its initial contents (nothing for zeros, a number, a tensor, or a function
    that returns one), and whether it is an output."""

    name: str
    shape: list
    dtype: object
    init_value: object = None
    is_output: bool = False

    def create_tensor(self):
        """The tensor."""
        import torch

        value = self.init_value
        if value is None:
            return torch.zeros(self.shape, dtype=self.dtype)
        if isinstance(value, (int, float)):
            return torch.full(self.shape, value, dtype=self.dtype)
        if isinstance(value, torch.Tensor):
            return value.to(dtype=self.dtype)
        if value in (torch.randn, torch.rand, torch.zeros, torch.ones):
            return value(self.shape, dtype=self.dtype)
        if callable(value):
            return torch.as_tensor(value(), dtype=self.dtype)
        raise TypeError(f"the tensor `{self.name}` begins with a {type(value).__name__}: nothing, a number, a tensor or a function is taken")


@dataclasses.dataclass
class ScalarSpec:
    """A scalar: its name, its value and the name of its type."""

    name: str
    value: int | float
    ctype: str = "int64"

    def __post_init__(self):
        if self.ctype not in SCALAR_CTYPE_MAP:
            raise ValueError(f"the scalar `{self.name}` has the type {self.ctype!r}: there are {', '.join(SCALAR_CTYPE_MAP)}")


@dataclasses.dataclass
class RunResult:
    """The result of a test: whether it passed, and why not."""

    __test__ = False

    passed: bool
    test_name: str | None = None
    error: str | None = None
    execution_time: float | None = None
    profile: dict | None = None

    def __str__(self):
        words = ["PASS" if self.passed else "FAIL"] + [text for text in (self.test_name, self.error) if text]
        return ": ".join(words)


def run(program, *tensors, config=None):
    """Compiles a program for a configuration, runs it with tensors if there are any, and returns the compiled
    program."""
    from . import ir

    config = RunConfig() if config is None else config
    compiled = ir.compile(program, config=config)
    if tensors and not config.codegen_only:
        compiled(*tensors, config=config)
    return compiled


__all__ = ["SCALAR_CTYPE_MAP", "RunConfig", "RunResult", "ScalarSpec", "TensorSpec", "run"]
