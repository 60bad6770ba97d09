"""The pytest plugin: fixtures for platforms, findings as failures that show the text, and how much is checked.

    def test_softmax(platform):             # once on each platform
        slipring.testing.assert_agrees(softmax, (x, y), platforms=[platform])
"""

import pytest


def pytest_addoption(parser):
    group = parser.getgroup("slipring")
    group.addoption(
        "--slipring-check",
        default=None,
        metavar="TOOLS",
        help="which tools watch the runs of kernels: all, none, or a list of memory, sync, init, race",
    )
    group.addoption(
        "--slipring-platform",
        action="append",
        default=None,
        metavar="NAME",
        help="run tests that use the fixture `platform` on this platform only; may be given several times",
    )


def pytest_configure(config):
    tools = config.getoption("--slipring-check")
    if tools is not None:
        from . import _runs

        _runs.DEFAULTS["check"] = tools


def pytest_generate_tests(metafunc):
    if "platform" in metafunc.fixturenames and not _own(metafunc, "platform"):
        chosen = metafunc.config.getoption("--slipring-platform")
        metafunc.parametrize("platform", chosen or ["a5", "a2a3"])


def _own(metafunc, name):
    """Whether a test parametrises the name itself, or has a fixture of that name."""
    marks = metafunc.definition.iter_markers("parametrize")
    if any(name in str(mark.args[0]).replace(" ", "").split(",") for mark in marks):
        return True
    return bool(metafunc._arg2fixturedefs.get(name))

