"""Selection of configurations by cycles: `@pl.autotune`, and `kernel.benchmark`."""

import functools
import json
import os
import pathlib

from ._compiled import argument
from ._errors import public
from ._html import table
from ._memory import copies

__tracebackhide__ = True


class Config(dict):
    """A set of constants for a kernel, and a number of blocks: `pl.Config({"TILE": 64}, blocks=4)`."""

    def __init__(self, constants=None, *, blocks=None, **more):
        super().__init__({**(constants or {}), **more})
        self.blocks = blocks

    def options(self):
        return {} if self.blocks is None else {"blocks": self.blocks}

    def __repr__(self):
        each = [f"{name}={value!r}" for name, value in self.items()]
        return f"Config({', '.join(each + ([f'blocks={self.blocks}'] if self.blocks is not None else []))})"


class Rows(list):
    """Rows of a measurement: dictionaries with the same keys."""

    def __repr__(self):
        return "\n".join(", ".join(f"{name} {value}" for name, value in row.items()) for row in self)

    def _repr_html_(self):
        return table(list(self[0]), [list(row.values()) for row in self]) if self else ""


def benchmark(kernel, args, platforms, kwargs):
    """Runs a kernel on platforms, on copies of its arrays."""
    rows = Rows()
    for platform in (platforms,) if isinstance(platforms, str) else platforms:
        named = dict(zip(kwargs, copies(tuple(kwargs.values()))))
        run = kernel.run(*copies(args), platform=platform, **named)
        run.check()
        error = run.facts["evidence"]["error_percent"]
        blocks = kwargs.get("blocks") or 1
        row = {"platform": platform, "cycles": run.cycles, "error_percent": error, "estimate": error is None, "blocks": blocks}
        rows.append({**row, "verdict": run.verdict})
    return rows


def cache_file():
    """The file in which choices are stored: `SLIPRING_AUTOTUNE`, else a file in the user's cache."""
    named = os.environ.get("SLIPRING_AUTOTUNE")
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(named or os.path.join(base, "slipring", "autotune.json"))


class Tuned:
    """A kernel with configurations: each call runs the one that took the fewest cycles for similar arguments."""

    def __init__(self, kernel, configs, key):
        functools.update_wrapper(self, kernel)
        self.kernel, self.configs, self.key = kernel, [config if isinstance(config, Config) else Config(config) for config in configs], key
        unknown = sorted({name for config in self.configs for name in config} - set(kernel.parameter_names))
        if unknown or not self.configs:
            what = f"`{kernel.__name__}` has no parameter `{unknown[0]}`" if unknown else "there is no configuration"
            raise TypeError(f"{what}: `@pl.autotune([pl.Config({{'TILE': 64}})], key=['x'])`")
        missing = [name for name in key if name not in kernel.parameter_names]
        if missing:
            raise TypeError(f"`{kernel.__name__}` has no parameter `{missing[0]}`")
        # The index of the best configuration, by key.
        self.chosen = {}

    def _key(self, args, kwargs, platform):
        given = {**dict(zip(self.kernel.parameter_names, args)), **kwargs}

        def part(name):
            value = argument(given.get(name))
            return f"{value.dtype}{list(value.shape)}" if hasattr(value, "dtype") else repr(value)

        names = self.key or [name for name in self.kernel.parameter_names if name in given]
        text = "".join(self.kernel.text.lines)
        return json.dumps([self.kernel.__name__, text, platform, [part(name) for name in names], [repr(own) for own in self.configs]])

    @public
    def tune(self, *args, platform=None, **kwargs):
        """The configuration with the fewest cycles for these arguments: from the cache, or found by running each on
        copies of them. Configurations that do not compile or have findings are excluded."""
        key = self._key(args, kwargs, platform)
        if key not in self.chosen:
            kept = _read()
            if key not in kept:
                kept[key] = self._measure(args, kwargs, platform)
                _write(kept)
            self.chosen[key] = kept[key]
        return self.configs[self.chosen[key]]

    def _measure(self, args, kwargs, platform):
        from . import KernelError

        cycles, first = {}, None
        for at, config in enumerate(self.configs):
            named = dict(zip(kwargs, copies(tuple(kwargs.values()))))
            try:
                run = self.kernel.run(*copies(args), platform=platform, **named, **config, **config.options())
                run._inner.check()
                cycles[at] = run.cycles
            except KernelError as error:
                first = first or error
        if not cycles:
            raise first
        return min(cycles, key=cycles.get)

    @public
    def run(self, *args, platform=None, **kwargs):
        """Runs the best configuration, and returns the run."""
        config = self.tune(*args, platform=platform, **kwargs)
        return self.kernel.run(*args, platform=platform, **kwargs, **config, **config.options())

    @public
    def __call__(self, *args, **kwargs):
        config = self.tune(*args, **kwargs)
        return self.kernel(*args, **kwargs, **config, **config.options())

    def __repr__(self):
        return f"<slipring kernel {self.kernel.__qualname__} with {len(self.configs)} configurations>"


def _read():
    try:
        kept = json.loads(cache_file().read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def _write(kept):
    file = cache_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        beside = file.with_name(f"{file.name}.{os.getpid()}")
        beside.write_text(json.dumps(kept))
        beside.replace(file)
    except OSError:
        # If the file cannot be written, the next process measures again.
        pass


def autotune(configs, key=()):
    """`@pl.autotune([pl.Config({"TILE": 32}), …], key=["x"])` above `@pl.jit`: finds the best constants by running the
    kernel with each configuration, for each new value of the parameters in `key` (arrays: shape and type). Choices are
    stored in a file."""
    return lambda kernel: Tuned(kernel, list(configs), list(key))
