"""The trials of a campaign at a seed, and their oracles. Each trial returns `(outcome, class, reason, key)`.

An outcome is `agrees`, `reported` (the tools themselves report that the program is wrong), `refused`, or `finding`;
findings with the same key count as one.
"""

import re

from .job import first_error

# Limits on runs of arbitrary programs.
BOUNDS = {"max_steps": 1 << 22, "max_memory": 1 << 28, "max_cycles": 1 << 32}


def _schedules(run):
    """Whether a verdict covers all schedules."""
    return any(check["tool"] == "scope" and check["detail"].startswith("all schedules") for check in run.checks)


def _left(run, count):
    """The contents of a run's buffers."""
    left = []
    for at in range(count):
        try:
            left.append(run.result(at))
        except TypeError:
            # A number.
            left.append(None)
    return left


def read(name, text, platform):
    """The kernel of a text; raises `Skip` for a whole program."""
    from .. import _slipring

    kernel = _slipring.open(name, text.encode(), [], [], None, platform)
    if not isinstance(kernel, _slipring.Kernel):
        raise Skip("it is a whole program")
    return kernel


class Trial:
    """A method of testing programs."""

    needs_programs = True
    options = {"events": 0}

    def ready(self, name, text, platform):
        """Data kept for a program, independent of the seed; raises `KernelError` or `Skip`."""
        kernel = read(name, text, platform)
        run = kernel.run(None, {**BOUNDS, **self.options})
        if run.verdict != "clean" or not _schedules(run):
            raise Skip("its own verdict is not clean for all schedules")
        return kernel, _left(run, len(kernel.parameters()))

    def text(self, name, text, platform, seed):
        """The program for a seed, for display."""
        return text


class Skip(Exception):
    """A program that a campaign skips."""


class Timings(Trial):
    """A program that is clean for all schedules gives the same bytes, and stays clean, under other durations."""

    def do(self, ready, name, text, platform, seed):
        kernel, wanted = ready
        run = kernel.run(None, {**BOUNDS, **self.options, "timing": f"random:{seed}"})
        if run.verdict != "clean":
            reason = first_error(run.findings)[0]
            return "finding", "timing", f"at durations random:{seed}: {reason}", f"{name} {platform} {reason}"
        if _left(run, len(kernel.parameters())) != wanted:
            return "finding", "timing", f"other bytes at durations random:{seed}", f"{name} {platform} bytes"
        return "agrees", "timing", None, None


class Mutants(Trial):
    """A program with changed synchronisation that is reported clean for all schedules must give the bytes of the
    original under any durations. Reports of the tools are not findings: the bytes cannot show whether a report was
    necessary."""

    # Number of durations tried for each.
    TIMINGS = 6
    slow = ("AIC", "AIV0", "AIV1", "AIV0.MTE2", "AIV0.V", "AIV0.MTE3", "AIC.MTE2", "AIC.MTE1", "AIC.M", "AIC.FIX")

    def ready(self, name, text, platform):
        kernel, wanted = super().ready(name, text, platform)
        # The compiled program, whose text contains every wait and flag.
        return kernel.text(), wanted

    def text(self, name, text, platform, seed):
        from .mutants import mutant

        changed = mutant(read(name, text, platform).text(), seed)
        return changed[2] if changed else text

    def do(self, ready, name, text, platform, seed):
        from .mutants import mutant

        compiled, wanted = ready
        changed = mutant(compiled, seed)
        if changed is None:
            return "refused", "nothing to change", "nothing in its text synchronises", None
        kind, line, own = changed
        label = kind if kind.count(",") == 0 else "two at once"
        kernel = read("mutant.pto", own, platform)
        run = kernel.run(None, {**BOUNDS, **self.options})
        if run.verdict != "clean":
            return "reported", label, first_error(run.findings)[0], None
        if not _schedules(run):
            return "reported", label, "clean for this schedule only", None
        wrong = self.refuted(kernel, wanted, seed)
        if wrong:
            return "finding", label, f"called clean, with line {line} {kind}: {wrong}", f"{name} {platform} {kind} {line}"
        return "agrees", label, None, None

    def refuted(self, kernel, wanted, seed):
        """A fault that some durations reveal without any checks; `None` if there is none."""
        timings = [f"random:{seed * self.TIMINGS + number}" for number in range(self.TIMINGS)]
        for timing in ["platform", *timings, *(f"slow:{who}" for who in self.slow)]:
            other = kernel.run(None, {**BOUNDS, **self.options, "check": "none", "timing": timing})
            if not other.complete:
                return f"it does not complete at durations {timing}"
            if _left(other, len(wanted)) != wanted:
                return f"other bytes at durations {timing}"
        return None


class Fuzz(Trial):
    """Every text gets an answer: a run, or an error that states what is wrong, in bounded time and memory."""

    def ready(self, name, text, platform):
        return None

    def text(self, name, text, platform, seed):
        from .mutants import garbled

        return garbled(text, seed)

    def do(self, ready, name, text, platform, seed):
        kernel = read(name, self.text(name, text, platform, seed), platform)
        run = kernel.run(None, {**BOUNDS, **self.options, "max_output": 1 << 16})
        return "agrees", f"ran, {run.verdict}", None, None


class Random(Trial):
    """Random kernels of the language, compared with the Python reference, the sequential semantics and the other
    platform."""

    needs_programs = False

    def ready(self, name, text, platform):
        return None

    def text(self, name, text, platform, seed):
        from .randoms import text_of

        return text_of(seed)[0]

    def do(self, ready, name, text, platform, seed):
        from ..testing import difference
        from .randoms import arrays_of, kernel_of, text_of

        own, rows, columns = text_of(seed)
        kernel = kernel_of(own, f"<random {seed}>")
        a, b, wanted = arrays_of(rows, columns, seed)
        kernel.reference(a, b, wanted)
        for platform in ("a5", "a2a3"):
            out = arrays_of(rows, columns, seed)[2]
            run = kernel.run(a, b, out, platform=platform, verify=True, **BOUNDS)
            if run.verdict != "clean":
                reason = first_error(run.findings)[0]
                return "finding", "random", f"on {platform}: {reason}", f"{platform} {reason.split(':')[0]}"
            wrong = difference(out, wanted, rtol=1e-4, atol=1e-4 * max(1.0, float(abs(wanted).max())))
            if wrong:
                return "finding", "random", f"on {platform}, not as the reference: {wrong}", f"{platform} reference"
        return "agrees", "random", None, None


TRIALS = {"timings": Timings, "mutants": Mutants, "fuzz": Fuzz, "random": Random}
NUMBER = re.compile(r"\d+")


def trial_of(kind):
    """The trial of a name: one of `TRIALS`, or a custom `module:Class`."""
    if kind in TRIALS:
        return TRIALS[kind]
    module, colon, name = kind.partition(":")
    if not colon:
        raise ValueError(f"`{kind}` is not a campaign: there are {', '.join(TRIALS)}, and classes as `module:Class`")
    import importlib

    return getattr(importlib.import_module(module), name)


class CampaignJob:
    """A trial of programs with seeds: a point is the index of a program, a platform and a seed."""

    def __init__(self, kind, programs):
        self.kind, self.programs = kind, programs

    def open(self):
        """Nothing to prepare: only ready programs are cached."""
        self.trial, self.kept = trial_of(self.kind)(), {}

    def base(self, payload):
        """The columns that identify the trial."""
        which, platform, seed = payload
        name = self.programs[which][0] if which is not None else None
        return {"program": name, "platform": platform, "seed": seed}

    def row(self, payload, outcome, kind, reason, key):
        """A row."""
        return {**self.base(payload), "outcome": outcome, "class": kind, "reason": reason, "key": key}

    def fault(self, at, payload, verdict, reason):
        """The row of a point that ended its process: the tool itself failed."""
        # The same location in the tool is the same finding, whatever numbers the message contains.
        return self.row(payload, "finding", verdict, reason, f"{verdict} {NUMBER.sub('#', reason)}")

    def do(self, at, payload):
        """The row of a point."""
        from .._slipring import KernelError

        which, platform, seed = payload
        name, text = self.programs[which] if which is not None else (None, None)
        try:
            ready = self._ready(which, name, text, platform)
            return self.row(payload, *self.trial.do(ready, name, text, platform, seed))
        except KernelError as error:
            return self.row(payload, "refused", "refused", first_error(error.findings)[0] or str(error), None)
        except (Skip, TypeError, ValueError, OSError) as error:
            return self.row(payload, "refused", "refused", str(error), None)

    def _ready(self, which, name, text, platform):
        known = self.kept.get((which, platform))
        if known is None:
            try:
                known = self.trial.ready(name, text, platform), None
            except Exception as error:
                known = None, error
            self.kept = {(which, platform): known}
        if known[1] is not None:
            raise known[1]
        return known[0]
