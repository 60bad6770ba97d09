"""Campaigns: their findings, and that the oracles can find any."""

import os
import pathlib
import shlex
import subprocess
import sys

import pytest

import slipring
from scale_jobs import Odd
from slipring.scale.mutants import changes, garbled, mutant
from slipring.scale.trials import Mutants, read
from test_scale import SOURCES

pytestmark = pytest.mark.once


FILES = ["examples/sync/1_flags.pto", "examples/pipes/two_lanes.pto"]


def replayed(command):
    words = shlex.split(command)
    run = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": SOURCES})
    return run.returncode, run.stdout


def test_findings_have_seeds_are_merged_and_replayed(tmp_path):
    files = ["examples/lang/double.py", "examples/lang/pure_vector.py"]
    report = slipring.campaign(Odd, files, seeds=range(10), platforms=["a5"], workers=2, file=tmp_path / "two")
    assert len(report) == 20
    assert report.counts == {"crashed": {"finding": 2}, "even": {"agrees": 8}, "odd": {"finding": 10}}
    # Seeds 1, 5, 9 of both files are one finding, so are 3 and 7, and the two crashes.
    assert [(f["seed"], f["times"], f["program"]) for f in report.findings] == [(1, 6, files[0]), (3, 4, files[0]), (6, 2, files[0])]
    assert "place.rs:12: seed 6" in report.findings[2]["reason"]
    assert report.findings[0]["replay"] == "python -m slipring.scale replay scale_jobs:Odd examples/lang/double.py --platform a5 --seed 1"
    assert replayed(report.findings[0]["replay"]) == (1, "finding (odd): 1 is odd\n")
    assert "seed 1 (6 times): 1 is odd" in str(report)
    slipring.campaign(Odd, files, seeds=range(10), platforms=["a5"], workers=1, file=tmp_path / "one")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("kind", ["timings", "mutants", "fuzz", "random"])
def test_each_kind_has_no_findings_here(kind):
    report = slipring.campaign(kind, FILES, seeds=range(12), workers=2)
    assert report.findings == [], str(report)
    tried = {outcome for counts in report.counts.values() for outcome in counts}
    assert {"timings": {"agrees"}, "mutants": {"reported"}, "fuzz": {"refused"}, "random": {"agrees"}}[kind] <= tried
    with pytest.raises(ValueError, match="not a campaign"):
        slipring.campaign("mutant", FILES)


@pytest.mark.parametrize(
    "words",
    [
        "sweep examples/lang/6_attention.py FOO=1",
        "sweep examples/lang/6_attention.py TILE=",
        "sweep examples/lang/6_attention.py TILE=64 --function nothing",
        "sweep nosuch.py TILE=48",
        "campaign nosuch examples/sync --seeds 3",
        "campaign mutants examples/sync --seeds 5 --where mars",
    ],
)
def test_a_command_line_that_names_nothing_ends_as_bad_input(words):
    env = {**os.environ, "PYTHONPATH": SOURCES}
    run = subprocess.run([sys.executable, "-m", "slipring.scale", *words.split()], capture_output=True, text=True, env=env)
    assert run.returncode == 2, run.stderr
    assert run.stderr.startswith("error: ") and "Traceback" not in run.stderr, run.stderr


def test_the_oracle_of_mutants_refutes_what_the_tools_report():
    trial, refuted, reported = Mutants(), 0, 0
    name = FILES[0]
    text, wanted = trial.ready(name, pathlib.Path(name).read_text(), "a5")
    every = changes(text)
    assert len({mutant(text, seed)[2] for seed in range(len(every))}) == len({"\n".join(make()) + "\n" for _, _, make in every})
    for seed in range(24):
        kind, line, own = mutant(text, seed)
        try:
            kernel = read("mutant.pto", own, "a5")
        except slipring.KernelError:
            continue
        if kernel.run(None, {}).verdict == "clean":
            continue
        reported += 1
        refuted += trial.refuted(kernel, wanted, seed) is not None
    assert reported > 5 and refuted > reported // 3, (reported, refuted)
    assert "," in mutant(text, len(every))[0], "then come two changes at once"


def test_garbled_texts_are_the_same_for_a_seed():
    text = pathlib.Path(FILES[0]).read_text()
    texts = [garbled(text, seed) for seed in range(50)]
    assert texts == [garbled(text, seed) for seed in range(50)] and len(set(texts)) > 45
