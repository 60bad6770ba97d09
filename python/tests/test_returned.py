"""What a call gives: the values that the function returns, whatever their names are bound to."""

import pickle

import numpy as np
import pytest

import slipring.language as pl

SHAPE = (16, 64)
T = pl.Tensor[[16, 64], pl.FP32]


@pl.jit
def rebound(x: pl.Tensor):
    with pl.at(level=pl.Level.CORE_GROUP):
        x = pl.add(x, x)
    return x


@pl.jit
def pair(x: pl.Tensor, y: pl.Tensor):
    with pl.at(level=pl.Level.CORE_GROUP):
        y = x[:, :] * 5.0
        z = y + 1.0
    return y, z


@pl.jit
def passed_and_made(x: pl.Tensor, y: pl.Tensor):
    with pl.at(level=pl.Level.CORE_GROUP):
        z = x[:, :] * 5.0
    return y, z


@pl.jit
def named_again(x: pl.Tensor, o: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        o[:, :] = x[:, :] + 1.0
    t = o
    return t


@pl.jit
def stored_name(x: pl.Tensor, o: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = pl.store(x[:, :] + 1.0, [0, 0], o)
    return t


@pl.jit.incore
def stored(x: T, o: pl.Out[T]):
    return pl.store(pl.load(x, [0, 0], [16, 64]) * 2.0, [0, 0], o)


@pl.jit
def inside(x: pl.Tensor):
    with pl.at(level=pl.Level.CORE_GROUP):
        return x[:, :] + 1.0, x[:, :] + 2.0


@pl.jit
def listed(x: pl.Tensor):
    with pl.at(level=pl.Level.CORE_GROUP):
        t = x[:, :] + 1.0
        u = t * 2.0
    return [t, u]


@pl.jit
def either(x: pl.Tensor, n: pl.Scalar[pl.INT32]):
    with pl.at(level=pl.Level.CORE_GROUP):
        if n > 1:
            return x[:, :] + 1.0
        else:
            return x[:, :] + 2.0


@pl.jit
def reshaped(x: pl.Tensor, o: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        o[:, :] = x[:, :] + 1.0
    return pl.reshape(o, [64, 16])


@pl.jit
def part(x: pl.Tensor, o: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        o[:, :] = x[:, :] + 1.0
    return o[8:16, 16:32]


@pl.jit
def written_then_rebound(x: pl.Tensor, h: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        h[:, :] = x[:, :] + 1.0
        h = h[:, :] * 2.0
    return h


@pl.jit
def kept_of_two(x: pl.Tensor):
    scratch = pl.create_tensor([16, 64], dtype=pl.FP32)
    kept = pl.create_tensor([16, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        scratch[:, :] = x[:, :] + 1.0
        kept[:, :] = scratch[:, :] * 10.0
    return kept


def counted():
    return np.arange(16 * 64, dtype=np.float32).reshape(SHAPE)


def check(found, wanted):
    np.testing.assert_array_equal(np.asarray(found), wanted)


def test_a_parameter_that_is_bound_again():
    x = counted()
    check(rebound(x), x + x)
    check(x, counted())
    y, z = pair(x, 3 * x)
    check(y, 5 * x)
    check(z, 5 * x + 1)
    o = np.empty_like(x)
    check(written_then_rebound(x, o), 2 * (x + 1))
    check(o, x + 1)


def test_a_parameter_that_is_not_bound_again():
    x = counted()
    y = 3 * x
    first, second = passed_and_made(x, y)
    assert first is y
    check(second, 5 * x)


@pytest.mark.parametrize("kernel", [named_again, stored_name], ids=lambda kernel: kernel.__name__)
def test_another_name_of_an_output(kernel):
    x, o = counted(), np.empty(SHAPE, np.float32)
    assert kernel(x, o) is o
    check(o, x + 1)


def test_an_expression_that_is_an_output():
    x, o = counted(), np.empty(SHAPE, np.float32)
    assert stored(x, o) is o
    check(o, 2 * x)


def test_a_return_anywhere():
    x = counted()
    one, two = inside(x)
    check(one, x + 1)
    check(two, x + 2)
    check(either(x, 2), x + 1)
    check(either(x, 1), x + 2)
    one, two = listed(x)
    check(one, x + 1)
    check(two, 2 * (x + 1))


def test_a_part_of_an_output():
    x, o = counted(), np.empty(SHAPE, np.float32)
    check(reshaped(x, o), (x + 1).reshape(64, 16))
    check(part(x, o), (x + 1)[8:16, 16:32])


def test_one_of_several_tensors_of_the_kernel():
    x = counted()
    check(kept_of_two(x), 10 * (x + 1))


def test_the_run_has_the_same_results():
    x = counted()
    run = pair.run(x, x)
    for own in (run, pickle.loads(pickle.dumps(run))):
        y, z = own.returned
        check(y, 5 * x)
        check(z, 5 * x + 1)


@pl.jit.incore
def plus_one(x: T, o: pl.Out[T]):
    o[:, :] = x[:, :] + 1.0
    return o


@pl.jit.incore
def upper_half(x: T, o: pl.Out[T]):
    o[:, :] = x[:, :] + 1.0
    return o[0:8, :]


@pl.jit.incore
def times_two(x: pl.Tensor[[8, 64], pl.FP32], o: pl.Out[pl.Tensor[[8, 64], pl.FP32]]):
    o[:, :] = x[:, :] * 2.0
    return o


@pl.jit
def program_part(x: T):
    t = plus_one(x, pl.create_tensor([16, 64], dtype=pl.FP32))
    u = plus_one(t, pl.create_tensor([16, 64], dtype=pl.FP32))
    return u[8:16, 0:32]


@pl.jit
def program_reshaped(x: T, o: pl.Out[T]):
    t = plus_one(x, pl.create_tensor([16, 64], dtype=pl.FP32))
    o = plus_one(t, o)
    return pl.reshape(o, [64, 16])


@pl.jit
def program_of_a_part(x: T):
    half = upper_half(x, pl.create_tensor([16, 64], dtype=pl.FP32))
    return times_two(half, pl.create_tensor([8, 64], dtype=pl.FP32))


def test_a_part_of_a_tensor_of_a_program():
    x, o = counted(), np.empty(SHAPE, np.float32)
    check(program_part(x), (x + 2)[8:16, 0:32])
    check(program_reshaped(x, o), (x + 2).reshape(64, 16))
    check(program_part.run(x).returned, (x + 2)[8:16, 0:32])


def test_a_kernel_that_returns_a_part_to_a_program():
    x = counted()
    check(program_of_a_part(x), 2 * (x + 1)[0:8])


@pl.jit
def begun(x: pl.Tensor, n: pl.Scalar[pl.FP32]):
    t = pl.create_tensor([16, 64], dtype=pl.FP32, init_value=4.0)
    with pl.at(level=pl.Level.CORE_GROUP):
        t[0:8, :] = t[0:8, :] + x[0:8, :] * n
    return t


def test_a_tensor_of_the_kernel_begins_with_its_value():
    x = counted()
    check(begun(x, 2.0), np.concatenate([4 + 2 * x[:8], np.full((8, 64), 4, np.float32)]))


@pl.jit
def named_as_the_compiler_names(ret0: T, tensor0: T):
    own = pl.create_tensor([16, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP):
        own[:, :] = ret0[:, :] + tensor0[:, :]
        t = ret0[:, :] * tensor0[:, :]
    return own, t


def test_parameters_may_have_the_names_that_results_get():
    x, y = counted(), counted() + 1
    total, product = named_as_the_compiler_names(x, y)
    check(total, x + y)
    check(product, x * y)
