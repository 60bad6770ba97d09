# A decoder layer of a small model as a whole program: hidden 1024, 16 heads of 64, 128 tokens, 2816 in the middle of the
# feed-forward part; weights in f16, sums in f32. 188 tasks of nine kernels. `--set HIDDEN=256 --set HEADS=4 --set
# MIDDLE=512`, with arguments of these shapes, makes it smaller.
#
# args: rand:f32[128x1024] rand:f16[1024x1024],lo=-0.05,hi=0.05 rand:f16[1024x1024],lo=-0.05,hi=0.05 rand:f16[1024x1024],lo=-0.05,hi=0.05 rand:f16[1024x1024],lo=-0.05,hi=0.05 rand:f16[1024x2816],lo=-0.05,hi=0.05 rand:f16[1024x2816],lo=-0.05,hi=0.05 rand:f16[2816x1024],lo=-0.05,hi=0.05 zeros:f32[128x1024]
import pypto.language as pl

TOKENS = 128
HIDDEN = 1024
HEADS = 16
HEAD = HIDDEN // HEADS
MIDDLE = 2816
ROWS = 16
QUERIES = 64
N = 128
K = 256


@pl.jit.incore
def norm(x: pl.Tensor[[ROWS, HIDDEN], pl.FP32], out: pl.Out[pl.Tensor[[ROWS, HIDDEN], pl.FP16]]):
    t = pl.load(x, [0, 0], [ROWS, HIDDEN])
    mean = pl.mul(pl.row_sum(pl.mul(t, t)), 1.0 / HIDDEN)
    out[:] = pl.cast(pl.row_expand_div(t, pl.sqrt(pl.add(mean, 1e-5))), pl.FP16)
    return out


@pl.jit.incore
def linear(x: pl.Tensor, w: pl.Tensor, out: pl.Out[pl.Tensor]):
    acc = pl.matmul(x[:, 0:K], w[0:K, :], out_dtype=pl.FP32)
    for k in pl.range(K, HIDDEN, K):
        acc = pl.matmul_acc(acc, x[:, k : k + K], w[k : k + K, :])
    pl.store(acc, [0, 0], out)
    return out


@pl.jit.incore
def down(x: pl.Tensor, w: pl.Tensor, out: pl.Out[pl.Tensor]):
    acc = pl.matmul(x[:, 0:K], w[0:K, :], out_dtype=pl.FP32)
    for k in pl.range(K, MIDDLE, K):
        acc = pl.matmul_acc(acc, x[:, k : k + K], w[k : k + K, :])
    pl.store(acc, [0, 0], out)
    return out


@pl.jit.incore
def attend(q: pl.Tensor, k: pl.Tensor, v: pl.Tensor, out: pl.Out[pl.Tensor]):
    s = pl.mul(pl.matmul(q[:, :], k[:, :], b_trans=True, out_dtype=pl.FP32), 0.125)
    e = pl.exp(pl.row_expand_sub(s, pl.row_max(s)))
    p = pl.cast(pl.row_expand_div(e, pl.row_sum(e)), pl.FP16)
    out[:] = pl.matmul(p, v[:, :], out_dtype=pl.FP32)
    return out


@pl.jit.incore
def narrow(x: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:] = pl.cast(x[:, :], pl.FP16)
    return out


@pl.jit.incore
def residual(x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor]):
    out[:] = pl.add(x[:, :], y[:, :])
    return out


@pl.jit.incore
def gated(gate: pl.Tensor, up: pl.Tensor, out: pl.Out[pl.Tensor]):
    g = pl.load(gate, [0, 0], [ROWS, MIDDLE // 4])
    s = pl.div(g, pl.add(pl.exp(pl.mul(g, -1.0)), 1.0))
    out[:] = pl.cast(pl.mul(s, pl.load(up, [0, 0], [ROWS, MIDDLE // 4])), pl.FP16)
    return out


@pl.jit
def layer(
    x: pl.Tensor[[TOKENS, HIDDEN], pl.FP32],
    wq: pl.Tensor[[HIDDEN, HIDDEN], pl.FP16],
    wk: pl.Tensor[[HIDDEN, HIDDEN], pl.FP16],
    wv: pl.Tensor[[HIDDEN, HIDDEN], pl.FP16],
    wo: pl.Tensor[[HIDDEN, HIDDEN], pl.FP16],
    wg: pl.Tensor[[HIDDEN, MIDDLE], pl.FP16],
    wu: pl.Tensor[[HIDDEN, MIDDLE], pl.FP16],
    wd: pl.Tensor[[MIDDLE, HIDDEN], pl.FP16],
    out: pl.Out[pl.Tensor[[TOKENS, HIDDEN], pl.FP32]],
):
    h = pl.create_tensor([TOKENS, HIDDEN], dtype=pl.FP16)
    for r in pl.parallel(0, TOKENS, ROWS):
        norm(x[r : r + ROWS, :], h[r : r + ROWS, :])
    parts = [pl.create_tensor([TOKENS, HIDDEN], dtype=pl.FP16) for _ in range(3)]
    for part, w in zip(parts, [wq, wk, wv]):
        for n in pl.parallel(0, HIDDEN, N):
            linear(h, w[:, n : n + N], part[:, n : n + N])
    q, k, v = parts
    attended = pl.create_tensor([TOKENS, HIDDEN], dtype=pl.FP32)
    for i in pl.parallel(HEADS):
        c = i * HEAD
        for r in pl.parallel(0, TOKENS, QUERIES):
            own = attended[r : r + QUERIES, c : c + HEAD]
            attend(q[r : r + QUERIES, c : c + HEAD], k[:, c : c + HEAD], v[:, c : c + HEAD], own)
    a = pl.create_tensor([TOKENS, HIDDEN], dtype=pl.FP16)
    for r in pl.parallel(0, TOKENS, ROWS):
        narrow(attended[r : r + ROWS, :], a[r : r + ROWS, :])
    o = pl.create_tensor([TOKENS, HIDDEN], dtype=pl.FP32)
    for n in pl.parallel(0, HIDDEN, N):
        linear(a, wo[:, n : n + N], o[:, n : n + N])
    y = pl.create_tensor([TOKENS, HIDDEN], dtype=pl.FP32)
    for r in pl.parallel(0, TOKENS, ROWS):
        residual(x[r : r + ROWS, :], o[r : r + ROWS, :], y[r : r + ROWS, :])
        norm(y[r : r + ROWS, :], h[r : r + ROWS, :])
    gate = pl.create_tensor([TOKENS, MIDDLE], dtype=pl.FP32)
    up = pl.create_tensor([TOKENS, MIDDLE], dtype=pl.FP32)
    for n in pl.parallel(0, MIDDLE, N):
        linear(h, wg[:, n : n + N], gate[:, n : n + N])
        linear(h, wu[:, n : n + N], up[:, n : n + N])
    m = pl.create_tensor([TOKENS, MIDDLE], dtype=pl.FP16)
    for r in pl.parallel(0, TOKENS, ROWS):
        for c in pl.parallel(0, MIDDLE, MIDDLE // 4):
            d = c + MIDDLE // 4
            gated(gate[r : r + ROWS, c:d], up[r : r + ROWS, c:d], m[r : r + ROWS, c:d])
    f = pl.create_tensor([TOKENS, HIDDEN], dtype=pl.FP32)
    for n in pl.parallel(0, HIDDEN, N):
        down(m, wd[:, n : n + N], f[:, n : n + N])
    for r in pl.parallel(0, TOKENS, ROWS):
        residual(y[r : r + ROWS, :], f[r : r + ROWS, :], out[r : r + ROWS, :])
    return out
