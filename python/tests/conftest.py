"""Tests that do not depend on the interpreter run with one of several."""

import os

import pytest


def pytest_collection_modifyitems(items):
    """Skips what is marked `once` where the tests run with a further Python, which `SLIPRING_FURTHER_PYTHON` says."""
    if "SLIPRING_FURTHER_PYTHON" in os.environ:
        once = pytest.mark.skip(reason="runs with the first Python only")
        for item in items:
            if item.get_closest_marker("once"):
                item.add_marker(once)
