"""Support for several devices in public scripts: workers that hold compiled programs, and memory that stays on their
devices.

Everything runs in this process, one run after another: a dispatch is complete when `submit` returns, and its handle
reports so.
"""

import enum

from .._arrays import host_array
from .._compiled import DistributedCompiledProgram
from .._host import bind_host
from ._options import said
from .runtime import ChipWorker, DeviceTensor, DistributedConfig, Registration, RunConfig


class OptimizationStrategy(enum.Enum):
    """The optimisation level of the public compiler; it changes no result here."""

    Default = 0
    DebugTileOptimization = 1


class StackedDeviceTensor:
    """A tensor whose parts along its first dimension are on different devices."""

    def __init__(self, shards, full_shape, worker_ids, whole=None):
        self.shards, self.full_shape, self.worker_ids = tuple(shards), tuple(full_shape), tuple(worker_ids)
        self._whole = whole

    @property
    def shape(self):
        """Its extents, the number of parts first."""
        return self.full_shape

    @property
    def dtype(self):
        """The type of its elements."""
        return self.shards[0].dtype

    def __getitem__(self, index):
        first, *rest = index if isinstance(index, tuple) else (index,)
        tail = self.full_shape[1:]
        whole = [slice(None), ...] + [slice(0, extent) for extent in tail]
        if not isinstance(first, int) or isinstance(first, bool):
            raise TypeError(f"a part of a stacked tensor is named by a number, not {first!r}")
        if len(rest) > len(tail) or any(part not in whole for part in rest):
            raise ValueError("a stacked tensor gives whole parts only: `x[i]`, `x[i, ...]`")
        if not 0 <= first < len(self.shards):
            raise IndexError(f"there is no part {first}: it has {len(self.shards)}")
        return self.shards[first]

    def __repr__(self):
        return f"StackedDeviceTensor({list(self.full_shape)}, {self.dtype}, on {list(self.worker_ids)})"


class DistributedRunHandle:
    """A submitted run, which is already complete."""

    def __init__(self, error=None):
        self._error = error

    @property
    def done(self):
        """Always true: runs are complete when `submit` returns."""
        return True

    def result(self, timeout=None):
        """Raises the exception of the run, on each call."""
        if timeout is not None and not timeout >= 0:
            raise ValueError("a timeout is a number of seconds, not below 0")
        if self._error is not None:
            raise self._error

    wait = result


class DistributedWorker(ChipWorker):
    """Devices that hold compiled host programs."""

    def __init__(
        self,
        compiled,
        config=None,
        *,
        persistent=False,
        reset_persistent_windows=None,
        callbacks=None,
        sub_worker_overrides=None,
        inherited_host_tensors=None,
        startup_timeout_s=None,
    ):
        programs = list(compiled) if isinstance(compiled, (list, tuple)) else [compiled]
        if not programs:
            raise ValueError("a worker holds one program or more")
        for program in programs:
            if not isinstance(program, DistributedCompiledProgram):
                raise TypeError(f"a worker holds compiled programs of the host, not {type(program).__name__}")
        if reset_persistent_windows and not persistent:
            raise ValueError("reset_persistent_windows=True needs persistent=True")
        if callbacks is not None and sub_worker_overrides is not None:
            raise ValueError("`callbacks` and `sub_worker_overrides` are the same: give one of them")
        first = programs[0]
        for program in programs[1:]:
            if program.platform != first.platform:
                raise ValueError(f"`{program.name}` is compiled for {program.platform}, `{first.name}` for {first.platform}")
            if program.device_ids != first.device_ids:
                raise ValueError(f"`{program.name}` is for devices {program.device_ids}, `{first.name}` for {first.device_ids}")
        if config is not None and config.platform.removesuffix("sim") != first.platform.removesuffix("sim"):
            raise ValueError(f"`{first.name}` is compiled for {first.platform}, the configuration is for {config.platform}")
        for name, value in (("inherited_host_tensors", inherited_host_tensors), ("startup_timeout_s", startup_timeout_s)):
            said(name, value, "a worker")
        self.devices = len(first.device_ids)
        super().__init__(RunConfig(platform=first.platform) if config is None else config)
        self._programs, self._host = programs, {}
        # The contents of each program's windows, if they are kept between runs: a run that raises does not change them.
        self._windows = {id(program): None for program in programs} if persistent and reset_persistent_windows is False else None
        callbacks = dict(callbacks or sub_worker_overrides or {})
        known = set()
        for program in programs:
            called = program.host_functions
            known |= set(called)
            self._host[id(program)] = bind_host(called, {name: own for name, own in callbacks.items() if name in called})
        unknown = sorted(set(callbacks) - known)
        if unknown:
            raise ValueError(f"callbacks {unknown} are not sub-workers of any program of the worker")

    def _shared(self, value):
        """Converts an argument for a program."""
        if isinstance(value, StackedDeviceTensor):
            for shard in value.shards:
                self._memory(shard)
            return value._whole
        if isinstance(value, DeviceTensor):
            return self._memory(value)
        # A zero-dimensional tensor is a number.
        if hasattr(value, "is_shared") and value.dim() > 0 and not value.is_shared():
            raise TypeError(
                "a tensor of the host that is passed to a worker is shared memory, made before the worker: call `.share_memory_()`"
            )
        return value

    def _run(self, compiled, args, config):
        self._check()
        config = self.config if config is None else config
        if id(compiled) not in self._host:
            raise ValueError("the worker was not prepared with this program")
        if len(args) != len(compiled.param_names):
            raise TypeError(f"`{compiled.name}` takes {len(compiled.param_names)} arguments ({', '.join(compiled.param_names)})")
        host = self._host[id(compiled)]
        options = {"host": host} if host else {}
        args = [self._shared(arg) for arg in args]
        if self._windows is None or getattr(config, "codegen_only", False):
            compiled(*args, config=config, **options)
            return
        run, _ = compiled._ran(args, {"config": config, "windows": self._windows[id(compiled)], **options})
        self._windows[id(compiled)] = run.windows

    def __call__(self, *args, config=None):
        """Runs its only program."""
        if len(self._programs) != 1:
            raise TypeError("a call is ambiguous, as the worker holds several programs: say which, `rt.run(compiled, …)`")
        self._run(self._programs[0], args, config)

    def run(self, compiled, *args, config=None):
        """Runs one of its programs: a checked run, whose outputs are written."""
        self._run(compiled, args, config)

    def submit(self, compiled, *args, config=None):
        """Runs one of its programs; its exception is raised by the handle."""
        self._check()
        try:
            self._run(compiled, args, config)
        except Exception as error:
            return DistributedRunHandle(error)
        return DistributedRunHandle()

    def register(self, compiled):
        """A callable that runs one of its programs."""
        self._check("`register`")
        if id(compiled) not in self._host:
            raise ValueError("the worker was not prepared with this program")
        return Registration(self, compiled)

    def alloc_stacked_tensor(self, host, worker_ids=None):
        """Memory on the devices with a copy of a tensor, whose parts along its first dimension are placed on one device
        each."""
        import numpy as np

        self._check()
        given = host_array(host)
        if given.ndim < 2 or given.shape[0] < 1:
            raise ValueError(f"a stacked tensor has a first dimension for the devices and others: this has {list(given.shape)}")
        ids = list(range(given.shape[0])) if worker_ids is None else [int(number) for number in worker_ids]
        devices = len(self._programs[0].device_ids)
        if len(ids) != given.shape[0] or len(set(ids)) != len(ids) or not all(0 <= number < devices for number in ids):
            raise ValueError(f"{given.shape[0]} parts lie on as many of the {devices} devices, not on {ids}")
        whole = np.array(given)
        shards = [DeviceTensor(self, whole[at]) for at in range(len(ids))]
        self._owned_tensors += shards
        return StackedDeviceTensor(shards, whole.shape, ids, whole)

    def free_stacked_tensor(self, stacked):
        """Frees all parts."""
        for shard in stacked.shards:
            if any(own is shard for own in self._owned_tensors):
                self.free_tensor(shard)

    def copy_stacked_from(self, stacked, host):
        """Copies the contents on the devices to a tensor of the host."""
        given = host_array(host)
        if given.shape != stacked.full_shape or given.dtype != stacked._whole.dtype:
            raise ValueError(f"the tensor is {given.dtype}{list(given.shape)}, what is on the devices {stacked!r}")
        for at, shard in enumerate(stacked.shards):
            given[at] = self._memory(shard)

    def release_inherited_host_tensor_refs(self):
        """Does nothing: no process was forked."""
        self._check()

    def close(self):
        """Frees everything."""
        super().close()
        self._host = {}


def _tensor_from_continuous(part):
    """A tensor over the memory that a host function receives."""
    return part.tensor()


def run(program, *args, config=None):
    """Compiles a program for a configuration, runs it with arguments, and returns it compiled."""
    from . import ir

    compiled = program if hasattr(program, "param_names") else ir.compile(program, config=config)
    compiled(*args, config=config)
    return compiled


__all__ = [
    "DistributedCompiledProgram",
    "DistributedConfig",
    "DistributedRunHandle",
    "DistributedWorker",
    "OptimizationStrategy",
    "StackedDeviceTensor",
    "run",
]
