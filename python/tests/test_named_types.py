"""Types that names of Python stand for: kernels take them as the command line takes them from a file."""

import numpy as np
import pytest

import slipring.language as sl
from slipring import KernelError

N = 32
T = sl.Tensor[[N, 64], sl.FP32]
O = sl.Out[T]
M = sl.dynamic("M")
OPEN = sl.Tensor[[M, 64], sl.FP32]
LONG = sl.Tensor[[2 * N, 64], sl.FP32]


@sl.incore
def named(a: T, out: O):
    out[:, :] = a[:, :] * 2.0


@sl.incore
def opened(a: OPEN, out: sl.Out[OPEN]):
    out[:N, :] = a[:N, :] + 1.0


@sl.incore
def other(a: LONG, out: O):
    out[:, :] = a[:N, :] * 2.0


def test_types_by_name():
    a, out = np.ones((N, 64), np.float32), np.zeros((N, 64), np.float32)
    named(a, out)
    assert (out == 2).all()
    opened(a, out)
    assert (out == 2).all()


def test_types_of_a_closure():
    types = []
    for rows in (16, 48):
        local = sl.Tensor[[rows, 64], sl.FP32]

        @sl.incore
        def inner(a: local, out: sl.Out[local]):
            out[:, :] = a[:, :] + 1.0

        a, out = np.full((rows, 64), rows, np.float32), np.zeros((rows, 64), np.float32)
        inner(a, out)
        types.append(out[0, 0])
    assert types == [17, 49]


def test_a_type_is_held_against_what_is_passed():
    a, out = np.ones((N, 64), np.float32), np.zeros((N, 64), np.float32)
    with pytest.raises((KernelError, TypeError, ValueError), match="64"):
        other(a, out)
