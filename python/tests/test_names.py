"""What a program calls is found as Python finds it: other names of kernels, members, lists, helpers that start kernels."""

import types

import numpy as np
import pytest

import slipring
import slipring.language as pl


@pl.function(type=pl.FunctionType.InCore)
def plus(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:] = pl.load(a, [0, 0], [16, 64]) + 1.0
    return out


def make(number):
    @pl.function(type=pl.FunctionType.InCore)
    def more(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        out[:] = pl.load(a, [0, 0], [16, 64]) + number
        return out

    return more


alias = plus
made = make(2.0)
listed = [plus, made]
group = types.SimpleNamespace(kernel=made)


def helper(kernel, a, out):
    return kernel(a, out)


@pl.program
class Names:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[16, 64], pl.FP32],
        o1: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o2: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o3: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o4: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        o5: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ):
        o1 = alias(a, o1)
        o2 = made(a, o2)
        o3 = listed[0](a, o3)
        o4 = helper(listed[1], a, o4)
        o5 = group.kernel(a, o5)
        return o5


def tensors(count):
    return np.ones((16, 64), np.float32), [np.zeros((16, 64), np.float32) for _ in range(count)]


def test_other_names_start_kernels():
    a, outs = tensors(5)
    run = Names.main.run(a, *outs)
    run.check()
    run.write()
    assert [out[0, 0] for out in outs] == [2, 3, 2, 3, 3]
    assert len(run.tasks) == 5


@pl.program
class Undefined:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
        plus(a, out)
        return nothing_of_that_name(a, out)  # noqa: F821


def test_an_undefined_name_is_an_error():
    a, (out,) = tensors(1)
    with pytest.raises(slipring.KernelError, match="`nothing_of_that_name` is not defined"):
        Undefined.main(a, out)


three, four = make(3.0), make(4.0)


@pl.program
class Different:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[16, 64], pl.FP32],
        first: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        second: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ):
        first = three(a, first)
        return four(a, second)


def test_kernels_of_one_text_have_their_own_constants():
    a, outs = tensors(2)
    Different.main(a, *outs)
    assert [(out == a + number).all() for out, number in zip(outs, (3, 4))] == [True, True]


def test_one_text_for_all_has_one_meaning_for_each_name():
    """What is written out as one text cannot have two constants of one name."""
    a, outs = tensors(2)
    with pytest.raises(slipring.KernelError, match="`number` stands for 3.0 and, in another function of the program, for 4.0"):
        Different.main.lower(a, *outs).as_python()
    from slipring.pypto.debug import torch_codegen

    with pytest.raises(slipring.KernelError, match="`number` stands for"):
        torch_codegen(Different)


@pl.program
class Unwritten:
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        a: pl.Tensor[[16, 64], pl.FP32],
        out: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
        other: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ):
        return plus(a, out)


def test_an_output_that_no_task_writes_is_an_error():
    a, outs = tensors(2)
    with pytest.raises(slipring.KernelError, match="no task of the program writes it"):
        Unwritten.main(a, *outs)


def test_a_program_takes_no_other_arguments():
    with pytest.raises(TypeError, match="no argument `strict`"):
        pl.program(strict=True)(type("P", (), {}))
