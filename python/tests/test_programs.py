"""Functions that start several kernels are whole programs: tasks, their edges, their races."""

import numpy as np
import pytest

import slipring
import slipring.testing
import slipring.language as pl


@pl.jit
def twice(a: pl.Tensor, out: pl.Out[pl.Tensor]):
    middle = pl.create_tensor([64, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="first"):
        middle[:] = pl.add(a[:, :], a[:, :])
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="second"):
        out[:] = pl.add(middle[:, :], middle[:, :])
    return out


@pl.jit
def chain(a: pl.Tensor, n: pl.Scalar[pl.INT32]):
    out = pl.create_tensor([64, 64], dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="copy"):
        out[:] = pl.add(a[:, :], 0.0)
    for _ in pl.range(n):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="more"):
            out[:] = pl.add(out[:, :], 1.0)
    return out


@pl.program
class Sums:
    @pl.function(type=pl.FunctionType.InCore)
    def sum(self, a: pl.Tensor[[64, 64], pl.FP32], b: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        x = pl.load(a, [0, 0], [64, 64])
        y = pl.load(b, [0, 0], [64, 64])
        return pl.store(pl.add(x, y), [0, 0], out)

    @pl.function(type=pl.FunctionType.Orchestration)
    def both(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
        middle = pl.create_tensor([64, 64], dtype=pl.FP32)
        middle = self.sum(a, a, middle)
        out = self.sum(middle, a, out)
        return out


def numbers():
    return np.random.default_rng(0).standard_normal((64, 64), dtype=np.float32), np.zeros((64, 64), np.float32)


@pytest.mark.parametrize("platform", ["a5", "a2a3"])
def test_scopes_are_tasks(platform):
    a, out = numbers()
    run = twice.run(a, out, platform=platform, verify=True)
    assert (run.verdict, run.platform) == ("clean", platform)
    assert [task["name"] for task in run.tasks] == ["first", "second"]
    assert run.tasks[1]["after"] == [0] and run.tasks[1]["start"] >= run.tasks[0]["end"]
    assert np.array_equal(out, 4 * a)
    assert any(check["tool"] == "verify" and check["verdict"] == "clean" for check in run.checks)
    assert "first" in run._repr_html_() and "<svg" in run._repr_html_()


def test_a_call_writes_in_place_and_gives_back_what_was_passed():
    a, out = numbers()
    assert twice(a, out) is out
    assert np.array_equal(out, 4 * a)


def test_tasks_follow_from_numbers():
    a, _ = numbers()
    for n in (0, 3, 1):
        assert np.array_equal(chain(a, n), sum_of(a, n))
        assert len(chain.run(a, n).tasks) == n + 1


def sum_of(a, n):
    for _ in range(n):
        a = a + np.float32(1)
    return a


def test_an_orchestration_of_a_class():
    a, out = numbers()
    run = Sums.both.run(a, out)
    assert run.verdict == "clean" and len(run.tasks) == 2
    assert np.array_equal(out, (a + a) + a)


def test_a_graph_is_shown():
    a, out = numbers()
    text = twice.graph(a, out)
    assert "2 tasks" in text and "middle" in text
    assert twice.graph_svg(a, out).startswith("<svg")


@pl.jit
def race(a: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.manual_scope():
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="first"):
            out[:] = pl.add(a[:, :], 1.0)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="second"):
            out[:] = pl.add(a[:, :], 2.0)


def test_a_race_of_tasks_raises_and_leaves_the_outputs():
    a, out = numbers()
    with pytest.raises(slipring.KernelError, match="first.*second|second.*first") as raised:
        race(a, out)
    assert any(finding["code"] == "task-race" for finding in raised.value.findings)
    assert not out.any()


def test_what_is_a_kernels_is_refused_by_name():
    a, out = numbers()
    for option in ("blocks", "gm_slack"):
        with pytest.raises(TypeError, match=f"`{option}=` is for a kernel, and this is a whole program: .*`(clusters|function)=`"):
            twice.run(a, out, **{option: 2})
    run = twice.run(a, out, order=5, clusters=2)
    for ask in (lambda: run.memory_map, lambda: twice.rings(a, out)):
        with pytest.raises(TypeError, match="whole program"):
            ask()


@pl.jit
def one(a: pl.Tensor, out: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        out[:] = pl.add(a[:, :], a[:, :])


def test_what_is_a_programs_is_refused_by_name():
    a, out = numbers()
    with pytest.raises(TypeError, match="`clusters=` is for whole programs"):
        one.run(a, out, clusters=2)
    with pytest.raises(TypeError, match="one kernel"):
        one.graph(a, out)


def test_the_reference_knows_whole_programs():
    a, out = numbers()
    slipring.testing.assert_agrees(twice, (a, out), rtol=0, atol=0)
    slipring.testing.assert_agrees(Sums.both, (a, out), rtol=0, atol=0)
