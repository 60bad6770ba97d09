"""Kernels as people write them who come from Triton, Pallas or numpy: what they wrote first is right on both platforms."""

import numpy as np
import pytest

import slipring.language as pl

f16, f32 = np.float16, np.float32
rng = np.random.default_rng(1)
CASES = {}


def normal(*shape, dtype=f32):
    return rng.standard_normal(shape).astype(dtype)


def case(name, kernel, arguments, wanted, tol=2e-3, **options):
    """A kernel, what is passed to it, and what its outputs are to hold, by position."""
    CASES[name] = kernel, arguments, wanted, tol, options


def softmax(s):
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pl.jit
def gelu(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    for i in pl.range(0, x.shape[0], 32):
        t = x[i : i + 32, :]
        u = 0.7978845608 * (t + 0.044715 * t * t * t)
        y[i : i + 32, :] = 0.5 * t * (1.0 + pl.tanh(u))


X = normal(50, 96)
case("gelu by tanh", gelu, [X, np.zeros_like(X)], {1: 0.5 * X * (1 + np.tanh(0.7978845608 * (X + 0.044715 * X**3)))})


@pl.jit
def gated(g: pl.Tensor, u: pl.Tensor, y: pl.Out[pl.Tensor], z: pl.Out[pl.Tensor]):
    a = g[:, :]
    y[:, :] = a * pl.sigmoid(a) * u[:, :]
    z[:, :] = pl.silu(a) * u[:, :]


G, U = normal(33, 128), normal(33, 128)
case("a gate, and silu", gated, [G, U, np.zeros_like(G), np.zeros_like(G)], {n: G / (1 + np.exp(-G)) * U for n in (2, 3)})


@pl.jit
def rope(x: pl.Tensor, inv: pl.Tensor, y: pl.Out[pl.Tensor]):
    half = x.shape[1] // 2
    for p in pl.range(x.shape[0]):
        a = inv[0:1, :] * p
        c, s = pl.cos(a), pl.sin(a)
        lo, hi = x[p : p + 1, 0:half], x[p : p + 1, half:]
        y[p : p + 1, 0:half] = lo * c - hi * s
        y[p : p + 1, half:] = hi * c + lo * s


R, inverse = normal(24, 64), (10000.0 ** (-np.arange(32) / 32)).astype(f32)[None]
A = np.arange(24)[:, None] * inverse
wanted = np.concatenate([R[:, :32] * np.cos(A) - R[:, 32:] * np.sin(A), R[:, 32:] * np.cos(A) + R[:, :32] * np.sin(A)], 1)
case("a float times a counter", rope, [R, inverse, np.zeros_like(R)], {2: wanted})


@pl.jit
def histogram(x: pl.Tensor, h: pl.Out[pl.Tensor]):
    t = x[:, :]
    for b in pl.range(16):
        h[0:1, b : b + 1] = pl.col_sum(pl.row_sum(pl.where(t == b, 1.0, 0.0)))


V = rng.integers(0, 16, (8, 128)).astype(np.int32)
case("one and zero of integers compared", histogram, [V, np.zeros((1, 16), f32)], {1: np.bincount(V.ravel(), minlength=16)[None]})


@pl.jit
def gemm(a: pl.Tensor, b: pl.Tensor, c: pl.Out[pl.Tensor]):
    M, K = a.shape
    N = b.shape[1]
    for i in pl.range(0, M, 32):
        for j in pl.range(0, N, 32):
            acc = pl.zeros([32, 32], pl.FP32)
            for k in pl.range(0, K, 32):
                acc += a[i : i + 32, k : k + 32] @ b[k : k + 32, j : j + 32]
            c[i : i + 32, j : j + 32] = acc


A, B = normal(50, 70, dtype=f16), normal(70, 41, dtype=f16)
case("a product whose three extents have tails", gemm, [A, B, np.zeros((50, 41), f32)], {2: A.astype(f32) @ B.astype(f32)}, 1e-2)


@pl.jit
def causal(q: pl.Tensor, k: pl.Tensor, v: pl.Tensor, o: pl.Out[pl.Tensor]):
    B = 32
    for i in pl.range(0, q.shape[0], B):
        m = pl.full([B, 1], pl.FP32, -1e30)
        l = pl.zeros([B, 1], pl.FP32)
        acc = pl.zeros([B, 64], pl.FP32)
        for j in pl.range(0, i + B, B):
            s = (q[i : i + B, :] @ k[j : j + B, :].T) * 0.125
            rows = pl.arange(0, B)[:, None] + i
            cols = pl.arange(0, B)[None, :] + j
            s = pl.where(rows >= cols, s, -1e30)
            top = pl.maximum(m, pl.row_max(s))
            p = pl.exp(s - top)
            keep = pl.exp(m - top)
            l = l * keep + pl.row_sum(p)
            acc = acc * keep + p.to(pl.FP16) @ v[j : j + B, :]
            m = top
        o[i : i + B, :] = acc / l


q, k, v = (normal(64, 64, dtype=f16) for _ in range(3))
scores = np.where(np.tril(np.ones((64, 64), bool)), q.astype(f32) @ k.astype(f32).T * 0.125, -1e30)
case("causal attention with new axes", causal, [q, k, v, np.zeros((64, 64), f32)], {3: softmax(scores) @ v.astype(f32)}, 1e-2)


@pl.jit
def decode(q: pl.Tensor, k: pl.Tensor, v: pl.Tensor, lens: pl.Tensor, o: pl.Out[pl.Tensor]):
    for b in pl.range(q.shape[0]):
        n = lens[b]
        s = pl.matmul(q[b, :, :], k[b, 0:n, :], b_trans=True) * 0.125
        e = pl.exp(s - pl.row_max(s))
        p = e / pl.row_sum(e)
        o[b, :, :] = pl.matmul(pl.cast(p, pl.FP16), v[b, 0:n, :])


Q, K, W = normal(3, 16, 64, dtype=f16), normal(3, 48, 64, dtype=f16), normal(3, 48, 64, dtype=f16)
lens = np.array([48, 5, 33], np.int32)
wanted = np.stack([softmax(Q[b].astype(f32) @ K[b, :n].astype(f32).T * 0.125) @ W[b, :n].astype(f32) for b, n in enumerate(lens)])
case("keys up to a length of the run", decode, [Q, K, W, lens, np.zeros((3, 16, 64), f32)], {4: wanted}, 1e-2)


@pl.jit
def experts(x: pl.Tensor, w: pl.Tensor, off: pl.Tensor, y: pl.Out[pl.Tensor]):
    for e in pl.range(w.shape[0]):
        lo, hi = off[e], off[e + 1]
        for i in pl.range(lo, hi, 16):
            n = pl.min(16, hi - i)
            t = pl.load(x, [i, 0], [16, 64], valid_shape=[n, 64])
            y[i : i + n, :] = pl.matmul(t, w[e])


T, E, off = normal(50, 64, dtype=f16), normal(3, 64, 32, dtype=f16), np.array([0, 20, 20, 50], np.int32)
wanted = np.concatenate([T[lo:hi].astype(f32) @ E[e].astype(f32) for e, (lo, hi) in enumerate(zip(off, off[1:]))])
case("products of groups, stored up to their ends", experts, [T, E, off, np.zeros((50, 32), f32)], {3: wanted}, 1e-2)


@pl.jit
def lengths(x: pl.Tensor, off: pl.Tensor, y: pl.Out[pl.Tensor], mean: pl.Out[pl.Tensor]):
    for s in pl.range(off.shape[0] - 1):
        lo, hi = off[s], off[s + 1]
        t = x[lo:hi, :]
        e = pl.exp(t - pl.col_max(t))
        y[lo:hi, :] = e / pl.col_sum(e)
        mean[s : s + 1, :] = pl.col_sum(t) / (hi - lo)


S, ends = normal(30, 64), np.array([0, 3, 10, 30], np.int32)
parts = [S[lo:hi] for lo, hi in zip(ends, ends[1:])]
wanted = {2: np.concatenate([softmax(part.T).T for part in parts]), 3: np.stack([part.mean(0) for part in parts])}
case("sequences of several lengths", lengths, [S, ends, np.zeros_like(S), np.zeros((3, 64), f32)], wanted)


@pl.jit
def windows(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    for i in pl.range(x.shape[0]):
        lo = pl.max(0, i - 3)
        y[i : i + 1, :] = pl.col_sum(x[lo : i + 1, :])


case("a window that begins at the edge", windows, [S, np.zeros_like(S)], {1: np.stack([S[max(0, i - 3) : i + 1].sum(0) for i in range(30)])})


@pl.jit
def ends_of(x: pl.Tensor, n: pl.Scalar[pl.INT32], first: pl.InOut[pl.Tensor], rest: pl.InOut[pl.Tensor], chunks: pl.InOut[pl.Tensor]):
    first[:n] = x[:n] + 1.0
    rest[n:, :] = x[n:, :] * 2.0
    for i in pl.range(0, n, 8):
        end = pl.min(i + 8, n)
        chunks[i:end, :] = x[i:end, :]


first, rest, chunks = (np.zeros_like(S) for _ in range(3))
first[:21], rest[21:], chunks[:21] = S[:21] + 1, S[21:] * 2, S[:21]
case("a prefix, a suffix, and parts of a prefix", ends_of, [S, 21, *(np.zeros_like(S) for _ in range(3))], {2: first, 3: rest, 4: chunks})


@pl.jit
def added(x: pl.Tensor, y: pl.Tensor, z: pl.Out[pl.Tensor]):
    B = 256
    p = pl.program_id(0)
    z[p * B : (p + 1) * B] = x[p * B : (p + 1) * B] + y[p * B : (p + 1) * B]


a, b = normal(1000), normal(1000)
for blocks in (4, 5):
    case(f"a tail of {blocks} blocks", added, [a, b, np.zeros(1000, f32)], {2: a + b}, blocks=blocks)


@pl.jit
def plane(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    n = pl.cdiv(x.shape[1], 32)
    p = pl.program_id(0)
    i, j = p // n, p % n
    y[i * 16 : (i + 1) * 16, j * 32 : (j + 1) * 32] = x[i * 16 : (i + 1) * 16, j * 32 : (j + 1) * 32] + 1.0


P = normal(40, 70)
case("blocks in two dimensions", plane, [P, np.zeros_like(P)], {1: P + 1}, blocks=9)


@pl.jit
def strided(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    for i in pl.range(pl.program_id(0) * 16, x.shape[0], pl.num_programs(0) * 16):
        y[i : i + 16, :] = pl.exp(x[i : i + 16, :])


case("a loop by the number of blocks", strided, [P, np.zeros_like(P)], {1: np.exp(P)}, blocks=3)


@pl.jit
def turned(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    for i in pl.range(0, x.shape[0], 32):
        for j in pl.range(0, x.shape[1], 32):
            y[j : j + 32, i : i + 32] = pl.transpose(x[i : i + 32, j : j + 32])


case("a transpose with tails", turned, [P, np.zeros((70, 40), f32)], {1: P.T})


@pl.jit
def one_hot(ids: pl.Tensor, y: pl.Out[pl.Tensor]):
    y[:, :] = pl.where(pl.arange(0, 32)[None, :] == ids[:, None], 1.0, 0.0)


ids = rng.integers(0, 32, 16).astype(np.int32)
case("one-hot rows", one_hot, [ids, np.zeros((16, 32), f32)], {1: np.eye(32)[ids]})


@pl.jit
def methods(x: pl.Tensor, top: pl.Out[pl.Tensor], at: pl.Out[pl.Tensor], bounded: pl.Out[pl.Tensor]):
    t = x[:, :]
    top[:, :] = t.row_max()
    at[:, :] = t.row_argmax()
    bounded[:, :] = t.clip(-1.0, 1.0).astype(pl.FP16)


M = normal(16, 64)
arguments = [M, np.zeros((16, 1), f32), np.zeros((16, 1), np.int32), np.zeros((16, 64), f16)]
case("ops as methods", methods, arguments, {1: M.max(1, keepdims=True), 2: M.argmax(1)[:, None], 3: np.clip(M, -1, 1)})


@pytest.mark.parametrize("name", CASES)
def test_it_is_right_as_it_was_written(name, platform):
    kernel, arguments, wanted, tol, options = CASES[name]
    mine, theirs = ([own.copy() if hasattr(own, "copy") else own for own in arguments] for _ in range(2))
    kernel.run(*mine, platform=platform, verify=True, **options).check()
    kernel.reference(*theirs, blocks=options.get("blocks", 1))
    for at, value in wanted.items():
        for own in (mine, theirs):
            np.testing.assert_allclose(own[at].astype(f32), np.asarray(value).astype(f32), rtol=tol, atol=tol)


def test_functions_that_meet_in_pipes(monkeypatch):
    """They take each other's parameters, and the reference runs them together."""
    import importlib.util
    import pathlib

    loaded = {}
    for name in ("pipes_by_hand", "two_lanes"):
        spec = importlib.util.spec_from_file_location(name, pathlib.Path("examples/lang") / f"{name}.py")
        loaded[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded[name])
    a, b, slots, out = normal(128, 64, dtype=f16), normal(64, 64, dtype=f16), np.zeros((64, 64), f32), np.zeros((128, 64), f32)
    cube = loaded["pipes_by_hand"].cube
    assert cube.parameter_names == ["a", "b", "gm_slot_buffer", "out"]
    for launch in (lambda *all: cube.run(*all).check(), cube.reference):
        out[...] = 0
        launch(a, b, slots, out)
        np.testing.assert_allclose(out, 2 * a.astype(f32) @ b.astype(f32), rtol=1e-3, atol=1e-3)
    cube = loaded["two_lanes"].cube
    a, w = normal(16, 64, dtype=f16), rng.integers(-128, 128, (256, 64)).astype(np.int8)
    tensors = {"a": a, "w_slots": np.zeros((256, 64), f16), "s_slots": np.zeros((32, 64), f32), "w": w, "out": np.zeros((64, 64), f32)}
    weights = (w.astype(f16) * f16(0.03125)).astype(f32).reshape(4, 64, 64)
    for launch in (lambda **all: cube.run(**all).check(), cube.reference):
        tensors["out"][...] = 0
        launch(**tensors)
        np.testing.assert_allclose(tensors["out"], np.concatenate([softmax(a.astype(f32) @ own) for own in weights]), rtol=2e-3, atol=2e-3)
