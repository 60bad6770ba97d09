"""Campaigns: programs tested with many seeds against an oracle."""

import os
import pathlib
import pickle
import shlex

from .journal import Journal, identity
from .pool import drive, pool_of
from .trials import CampaignJob, trial_of

PLATFORMS = ("a5", "a2a3")


def campaign(
    kind,
    programs=(),
    seeds=range(100),
    *,
    where="local",
    workers=None,
    file=None,
    platforms=PLATFORMS,
    timeout=60.0,
    memory=None,
    progress=None,
    logs=None,
):
    """Tests every program on every platform with every seed, and returns a `Report`.

    `kind` is `timings` (other durations give the same bytes), `mutants` (synchronisation is changed in one place, and a
    clean verdict must be right), `fuzz` (every text gets an answer) or `random` (random kernels against the Python
    reference; it takes no programs), or a custom class (a subclass of `slipring.scale.Trial`) in a module that workers
    can import. `programs` are files (`.py` of the language, `.pto`) or folders of them; programs that are not clean
    themselves count as refused.

    `where`, `workers`, `file`, `timeout`, `memory`, `progress` and `logs` are those of `sweep`: with `file`, an
    interrupted campaign resumes.
    """
    if isinstance(kind, type):
        kind = f"{kind.__module__}:{kind.__qualname__}"
    trial = trial_of(kind)
    seeds = range(seeds) if isinstance(seeds, int) else seeds
    own = trial.needs_programs
    texts = _texts(programs) if own else []
    if own and not texts:
        raise ValueError(f"a campaign of {kind} takes programs: files or folders")
    subjects = [(which, platform) for which in range(len(texts)) for platform in platforms] if own else [(None, None)]
    title = f"campaign of {kind}"
    head = {"what": title, "id": identity(kind, texts, subjects, seeds if isinstance(seeds, range) else list(seeds))}
    journal = Journal(file, head, len(subjects) * len(seeds))

    def payload(number):
        subject, seed = divmod(number, len(seeds))
        return (*subjects[subject], seeds[seed])

    job = pickle.dumps(CampaignJob(kind, texts))
    drive(pool_of(where, job, workers, timeout, memory, logs), journal, payload, title, progress, _found)
    return Report(kind, journal, dict(texts))


def _found(text):
    return b'"outcome":"finding"' in text


def _texts(programs):
    """Names and texts of the programs, with folders expanded to their files in order."""
    if isinstance(programs, (str, os.PathLike)):
        programs = [programs]
    texts = []
    for program in programs:
        path = pathlib.Path(program)
        files = sorted(p for end in ("*.py", "*.pto") for p in path.rglob(end)) if path.is_dir() else [path]
        texts += [(str(name), name.read_text(encoding="utf-8")) for name in files]
    return texts


class Report:
    """The results of a campaign: `findings`, ordered by first occurrence, and `counts` of outcomes by class."""

    def __init__(self, kind, journal, texts):
        self.kind, self._journal = kind, journal
        self.counts, merged = {}, {}
        for number in range(len(journal.at)):
            row = journal.row(number)
            counts = self.counts.setdefault(row["class"], {})
            counts[row["outcome"]] = counts.get(row["outcome"], 0) + 1
            if row["outcome"] != "finding":
                continue
            known = merged.get(row["key"])
            if known:
                known["times"] += 1
                continue
            finding = {name: row[name] for name in ("program", "platform", "seed", "class", "reason")}
            merged[row["key"]] = {**finding, "times": 1, "replay": replay_command(kind, row)}
        self.counts = dict(sorted(self.counts.items()))
        self.findings = list(merged.values())

    def __len__(self):
        return len(self._journal.at)

    @property
    def path(self):
        """The file with a row for each seed of each program."""
        return self._journal.path

    @property
    def rows(self):
        """All rows, in order."""
        return (self._journal.row(number) for number in range(len(self)))

    def __str__(self):
        outcomes = ("agrees", "reported", "refused", "finding")
        cells = [["", "tried", *outcomes]]
        for name, counts in self.counts.items():
            cells.append([name, str(sum(counts.values())), *(str(counts.get(outcome, 0)) for outcome in outcomes)])
        totals = [sum(counts.get(outcome, 0) for counts in self.counts.values()) for outcome in outcomes]
        cells.append(["all", str(len(self)), *map(str, totals)])
        widths = [max(len(row[at]) for row in cells) for at in range(len(cells[0]))]
        lines = ["  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]).rstrip() for row in cells]
        for finding in self.findings:
            where = " on ".join(word for word in (finding["program"], finding["platform"]) if word)
            times = f" ({finding['times']} times)" if finding["times"] > 1 else ""
            lines += ["", f"{where or self.kind}, seed {finding['seed']}{times}: {finding['reason']}", f"  {finding['replay']}"]
        return "\n".join(lines)

    def __repr__(self):
        return f"<slipring campaign of {self.kind}: {len(self)} tried, {len(self.findings)} findings>"


def replay_command(kind, row):
    """The command that repeats the test of a seed on this machine."""
    words = ["python", "-m", "slipring.scale", "replay", kind]
    if row["program"] is not None:
        words += [row["program"], "--platform", row["platform"]]
    return shlex.join([*words, "--seed", str(row["seed"])])
