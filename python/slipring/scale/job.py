"""The work at each point of a sweep."""

import hashlib

from .points import shown

# Columns after the parameters of a sweep.
COLUMNS = ("verdict", "cycles", "local_memory", "memory", "outputs", "reason", "line")
# Maximum number of compiled kernels that a worker caches.
KEPT = 16
# Parameters that are options of the compilation.
COMPILING = ("platform", "slots", "slot_num")


def first_error(findings):
    """The first error among the findings, else the first finding: code with message, and line."""
    errors = [finding for finding in findings if finding["severity"] == "error"] or findings
    if not errors:
        return None, None
    return f"{errors[0]['code']}: {errors[0]['message']}", errors[0].get("line")


class SweepJob:
    """A kernel, and how each point changes it."""

    def __init__(self, source, arguments, options, kinds, verify):
        self.source, self.arguments, self.options, self.kinds, self.verify = source, arguments, options, kinds, verify

    def open(self):
        """Nothing to prepare: only compiled kernels are cached."""
        self.kept = {}

    def base(self, payload):
        """The columns of the parameters."""
        return {name: shown(value) for name, value in payload[0].items()}

    def fault(self, at, payload, verdict, reason):
        """The row of a point without a result."""
        empty = dict.fromkeys(COLUMNS)
        return {**self.base(payload), **empty, "verdict": verdict, "reason": reason}

    def do(self, at, payload):
        """Computes the row of a point: `payload` holds its parameters, and its arrays if it has its own."""
        from .._slipring import KernelError

        row = {**self.base(payload), **dict.fromkeys(COLUMNS)}
        try:
            run, memory, outputs = self._run(*payload)
        except KernelError as error:
            row["verdict"] = "refused"
            row["reason"], row["line"] = first_error(error.findings)
            return row
        except (TypeError, ValueError) as error:
            row["verdict"], row["reason"] = "refused", str(error)
            return row
        row["verdict"], row["cycles"] = run.verdict, run.cycles
        if memory is not None:
            row["local_memory"], row["memory"] = sum(memory.values()), memory
        if run.complete:
            digest = hashlib.blake2b(digest_size=8)
            for at in outputs:
                digest.update(run.result(at))
            row["outputs"] = digest.hexdigest()
        if run.verdict != "clean":
            row["reason"], row["line"] = first_error(run.findings)
        return row

    def _run(self, point, arrays):
        from .._runs import passed, with_verify

        names, compiling, options, arguments = {}, {}, dict(self.options), dict(self.arguments if arrays is None else arrays)
        places = {"name": names, "compiling": compiling, "option": options, "argument": arguments}
        for name, value in point.items():
            places[self.kinds[name]][name] = value
        kernel, parameters, memory = self._compiled(names, compiling, arguments)
        values, given, _ = passed(kernel, parameters, arguments)
        run = kernel.run(values, with_verify(options, self.verify))
        outputs = [at for at in given if parameters[at][4] != "in"]
        return run, memory, outputs

    def _compiled(self, names, compiling, arguments):
        key, make = self.source.compiling(names, compiling, arguments)
        known = self.kept.get(key)
        if known is None:
            kernel = make()
            uses = kernel.memory_uses()
            memory = None if uses is None else {one["space"]: one["cores"] * one["bytes"] for one in uses}
            known = kernel, kernel.parameters(), memory
            while len(self.kept) >= KEPT:
                self.kept.pop(next(iter(self.kept)))
            self.kept[key] = known
        return known


def _asked(compiling, arguments):
    """The compile options of a point: the depth of rings, arrays, and numbers."""
    from .._compiled import number, tensors

    numbers = [(name, number(value)) for name, value in arguments.items() if number(value) is not None]
    return compiling.get("slots", compiling.get("slot_num")), tensors(arguments), numbers


class FunctionSource:
    """A function of the language: its text and the values of its names."""

    def __init__(self, filename, text, names, name, platform, interpretations=()):
        self.filename, self.text, self.names, self.name, self.platform = filename, text, names, name, platform
        self.interpretations = list(interpretations)

    def facts(self):
        """The facts that identify the source."""
        return (self.text, self.name, self.names.key(), self.platform, self.interpretations)

    def compiling(self, names, compiling, arguments):
        """What the compiled kernel depends on, and how to compile it."""
        from .. import _slipring
        from .._source import plain

        values = {name: plain(value) for name, value in names.items()}
        own = self.names.with_values(values)
        platform = compiling.get("platform", self.platform)
        slots, arrays, numbers = _asked(compiling, arguments)
        key = (platform, slots, tuple((name, repr(values[name])) for name in sorted(names)), tuple(arrays), tuple(numbers))
        told = self.interpretations
        return key, lambda: _slipring.compile(self.filename, self.text, own, self.name, arrays, numbers, platform, told, False, slots)


class FileSource:
    """A kernel or whole program of a file, with the contents that it had when the sweep began."""

    def __init__(self, path, contents, function, platform, interpretations, values):
        self.path, self.contents, self.function, self.platform = path, contents, function, platform
        self.interpretations, self.values = interpretations, values

    def facts(self):
        """The facts that identify the source."""
        return (self.contents, self.function, self.platform, self.interpretations, self.values)

    def compiling(self, names, compiling, arguments):
        """What the compiled kernel depends on, and how to compile it."""
        from .. import _slipring

        platform = compiling.get("platform", self.platform)
        slots, arrays, numbers = _asked(compiling, arguments)
        # A `.pto` text declares its own shapes.
        language = self.path.endswith(".py")
        types = [f"{name}={elem}[{'x'.join(map(str, shape))}]" for name, shape, elem in arrays] if language else []
        types += [f"{name}={value}" for name, value in numbers] if language else []
        values = [*self.values, *(f"{name}={shown(value)}" for name, value in names.items())]
        key = (platform, slots, tuple(values), tuple(types))
        target = (self.function, platform, self.interpretations, slots)
        return key, lambda: _slipring.open(self.path, self.contents, types, values, *target)
