"""Every op of the language against the reference: types, shapes and special values. An op that compiles has a reference."""

import itertools
import linecache
import os
import warnings
import zlib

import ml_dtypes
import numpy as np
import pytest

import slipring
import slipring.language as pl
from slipring._slipring import KernelError, catalogue
from slipring.reference._bind import ways
from slipring.reference._ops import OPS
from slipring.testing import difference

EVERYTHING = os.environ.get("SLIPRING_MATRIX") == "all"
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-45, -1e-42, 3.4e38, -3.4e38, 1.0, -1.5, 2.5, 65504.0, 6e-8, 7.0, -7.0]
FLOATS = {"FP32": np.float32, "FP16": np.float16, "BF16": ml_dtypes.bfloat16}
WHOLE = {"INT32": np.int32, "INT16": np.int16, "INT8": np.int8, "UINT8": np.uint8, "UINT16": np.uint16, "UINT32": np.uint32}
TYPES = {**FLOATS, **WHOLE}
# Nothing computes with these: they are converted.
CONVERTED = {**TYPES, "FP8E4M3FN": ml_dtypes.float8_e4m3fn, "FP8E5M2": ml_dtypes.float8_e5m2, "INT64": np.int64}
# Refusals that say that a unit has no such op for the type: there is nothing to compare then.
REFUSED = {"tile-elem", "elem-types"}

# Ops that are no function of arrays, and why.
NO_ARRAYS = {
    "two programs that meet": "aiv_initialize_pipe aic_initialize_pipe TPUSH tpush_to_aiv tpush_to_aic TPOP tpop_from_aic tpop_from_aiv "
    "TFREE tfree_to_aic tfree_to_aiv reserve_buffer import_peer_buffer syncall",
    "says what, computes nothing": "func_attr dump_tag no_dep print static_print bar_all sync_src cacheinvalid fence device_assert "
    "MemRef prefetch.make_context prefetch.async_prefetch prefetch.session prefetch.wait",
    "of the machine": "get_block_idx program_id get_block_num get_subblock_idx available_cluster_count available_aiv_count",
    "numbers of the scalar unit": "array.create array.get_element array.update_element dim cdiv num_programs",
    "lanes, which the files of values have": "aiv_shard aic_gather",
}


def special(dtype, seed=0):
    """Every special value with every other one, 16 by 16."""
    if dtype in FLOATS.values():
        each = np.array(SPECIAL, np.float64)
    else:
        limits = np.iinfo(dtype)
        each = np.array([0, 1, 2, 3, 7, 100, limits.max, limits.min, limits.max - 1, limits.min + 1, 5, 64, 33, 17, 11, 12])
    with np.errstate(all="ignore"):
        a, b = np.meshgrid(each, each)
        return [
            np.ascontiguousarray(own).astype(np.float32 if dtype in FLOATS.values() else dtype).astype(dtype) for own in (a, b)
        ]


def plain(dtype, *shape, seed=0, low=-8, high=9):
    rng = np.random.default_rng(seed)
    if dtype in FLOATS.values():
        return rng.standard_normal(shape).astype(np.float32).astype(dtype)
    return rng.integers(max(low, np.iinfo(dtype).min), high, shape).astype(dtype)


def kernel_of(body, parameters):
    """A kernel of a text."""
    text = f"@pl.jit\ndef kernel({parameters}):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    name = f"<matrix-{zlib.crc32(text.encode())}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"pl": pl}
    exec(compile(text, name, "exec"), names)
    return names["kernel"]


def agrees(what, kernel, arguments, platform, rtol=None, atol=None):
    """A run is the reference; `False` where the platform has no such op for the type."""
    mine, theirs = ([own.copy() if hasattr(own, "copy") else own for own in arguments] for _ in range(2))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = kernel.run(*mine, platform=platform)
            run.check()
    except KernelError as error:
        codes = {finding["code"] for finding in error.findings}
        assert codes <= REFUSED, f"{what} on {platform}: {error}"
        return False
    kernel.reference(*theirs)
    for name, one, other in zip(kernel.parameter_names, mine, theirs):
        if hasattr(one, "dtype"):
            text = difference(one, other, rtol, atol)
            assert text is None, f"{what} on {platform}: `{name}`: {text}"
    return True


def family(*params):
    return [entry["names"][0] for entry in catalogue() if entry["params"] in params and not entry["refused"]]


PAIRS = family("lhs/src0, rhs/src1", "lhs, rhs, high_precision=", "lhs, rhs, tmp= | lhs/tile, slope, tmp=", "lhs, rhs")
SINGLE = family("x/input/tile", "x/input/tile, high_precision=", "x/input/tile, high_precision/tmp=")
REDUCED = family("x/input/tile, tmp_tile/tmp=")
SPREAD = family("x/lhs/tile/tensor, values/rhs/row_vec/col_vec, tmp=")
THREE = ["addc", "subc"]
WITH_NUMBER = ["addsc", "subsc"]
# Of these one operand is a number, always.
NUMBERS = (
    "lrelu",
    "rems",
    "xors",
    "divs",
    "adds",
    "subs",
    "muls",
    "maximums",
    "minimums",
    "ands",
    "ors",
    "shls",
    "shrs",
    "fmods",
)


def operands(op, dtype):
    a, b = special(dtype)
    if op in ("shl", "shr"):
        with np.errstate(all="ignore"):
            b = b.astype(np.int64)
        b = np.abs(b) % (8 * np.dtype(dtype).itemsize)
        b = b.astype(dtype)
    if op in ("div", "rem", "fmod") and dtype in WHOLE.values():
        # What a quotient by 0 is nobody says; nor one that no element holds.
        b = np.where(b == 0, np.array(3, dtype), b).astype(dtype)
        b = np.where(b.astype(np.int64) == -1, np.array(5, dtype), b).astype(dtype)
    return a, b


@pytest.mark.parametrize("word", TYPES)
@pytest.mark.parametrize("op", PAIRS)
def test_two_operands(op, word, platform):
    dtype = TYPES[word]
    if op in NUMBERS:
        for number in ("3", "1") if dtype in WHOLE.values() else ("0.5", "-2.0"):
            a, _ = special(dtype)
            kernel = kernel_of(f"out[:, :] = pl.{op}(x[:, :], {number})", "x: pl.Tensor, out: pl.Out[pl.Tensor]")
            agrees(f"pl.{op} of {word} and {number}", kernel, (a, np.zeros_like(a)), platform)
        return
    kernel = kernel_of(f"out[:, :] = pl.{op}(x[:, :], y[:, :])", "x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor]")
    a, b = operands(op, dtype)
    if agrees(f"pl.{op} of {word}", kernel, (a, b, np.zeros_like(a)), platform):
        for shape in [(1, 1), (3, 5), (64, 1)] if EVERYTHING else [(3, 5)]:
            a, b = (plain(dtype, *shape, seed=seed, low=1, high=7) for seed in (1, 2))
            agrees(f"pl.{op} of {word}{list(shape)}", kernel, (a, b, np.zeros_like(a)), platform)


@pytest.mark.parametrize("word", TYPES)
@pytest.mark.parametrize("op", SINGLE)
def test_one_operand(op, word, platform):
    a, _ = special(TYPES[word])
    if op in ("sin", "cos"):
        # Of large numbers the reduction leaves nothing: the manual says in which steps it is done.
        a = np.where(np.abs(a.astype(np.float32)) < 100, a, np.array(np.nan if word in FLOATS else 1, TYPES[word])).astype(
            TYPES[word]
        )
    kernel = kernel_of(f"out[:, :] = pl.{op}(x[:, :])", "x: pl.Tensor, out: pl.Out[pl.Tensor]")
    agrees(f"pl.{op} of {word}", kernel, (a, np.zeros_like(a)), platform)


@pytest.mark.parametrize("word", TYPES)
@pytest.mark.parametrize("op", REDUCED)
def test_reductions(op, word, platform):
    dtype = TYPES[word]
    if op.endswith("mean") and word in WHOLE:
        pytest.skip("a mean is one of floats")
    kernel = kernel_of(f"out[:, :] = pl.{op}(x[:, :])", "x: pl.Tensor, out: pl.Out[pl.Tensor]")
    extremes = "sum" not in op and "prod" not in op and "mean" not in op
    for x in [special(dtype)[0] if extremes else plain(dtype, 16, 16), plain(dtype, 3, 5)]:
        shape = (x.shape[0], 1) if op.startswith("row") else (1, x.shape[1])
        out = np.zeros(shape, np.int32 if "arg" in op else dtype)
        if not agrees(f"pl.{op} of {word}{list(x.shape)}", kernel, (x, out), platform, rtol=0.05 if word == "BF16" else None):
            break


@pytest.mark.parametrize("word", TYPES)
@pytest.mark.parametrize("op", SPREAD)
def test_a_value_for_each_row_or_column(op, word, platform):
    dtype = TYPES[word]
    x, _ = special(dtype)
    values = operands("div" if op.endswith("div") else "", dtype)[1]
    values = values[:, :1] if op.startswith("row") else values[:1, :]
    values = np.ascontiguousarray(values)
    kernel = kernel_of(f"out[:, :] = pl.{op}(x[:, :], y[:, :])", "x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor]")
    agrees(f"pl.{op} of {word}", kernel, (x, values, np.zeros_like(x)), platform)


@pytest.mark.parametrize("word", TYPES)
def test_comparisons_and_choices(word, platform):
    a, b = special(TYPES[word])
    for how in ("==", "!=", "<", "<=", ">", ">="):
        body = f"out[:, :] = pl.sel(x[:, :] {how} y[:, :], x[:, :], y[:, :])"
        kernel = kernel_of(body, "x: pl.Tensor, y: pl.Tensor, out: pl.Out[pl.Tensor]")
        if not agrees(f"{how} of {word}", kernel, (a, b, np.zeros_like(a)), platform):
            break


HALVES = [0.5, 1.5, 2.5, -0.5, 127.5, 128.0, 300.0, -129.0, 40000.0, 2.0**31, -(2.0**31), 1e10, 255.5, 256.0, 3.7, -3.7]
# Between 1.0 and the next number of a shorter type.
BETWEEN = [1.0 + k / 2**n for n in (3, 4, 8, 9, 11, 12) for k in (1, -1)] + [17.0, 19.0, 1e-7, 500.0]


@pytest.mark.parametrize("source", CONVERTED)
@pytest.mark.parametrize("target", CONVERTED)
def test_conversions(source, target, platform):
    dtype = CONVERTED[source]
    a, _ = special(np.int64 if source == "INT64" else TYPES.get(source, np.float32))
    if source not in WHOLE and source != "INT64":
        with np.errstate(all="ignore"):
            a = np.concatenate([a.astype(np.float32), np.array([HALVES, BETWEEN], np.float32)]).astype(dtype)
    for mode in ("round", "rint", "floor", "ceil", "trunc") if EVERYTHING or source == "FP32" else ("round",):
        body = f'out[:, :] = pl.cast(x[:, :], pl.{target}, mode="{mode}")'
        kernel = kernel_of(body, "x: pl.Tensor, out: pl.Out[pl.Tensor]")
        if not agrees(f"{source} to {target} by {mode}", kernel, (a, np.zeros(a.shape, CONVERTED[target])), platform, 0, 0):
            break


# One kernel for each op that is of no family above.
F, I = np.float32, np.int32
ORDER = np.random.default_rng(5).permutation(16).astype(I)
SINGULAR = {
    "zeros": ("out[:, :] = pl.zeros([16, 16], pl.FP32) + x[:, :]", (16, 16), F),
    "ones": ("out[:, :] = pl.ones([16, 16], pl.FP32) + x[:, :]", (16, 16), F),
    "clamp": ("out[:, :] = pl.clamp(x[:, :], -1.0, 1.0)", (16, 16), F),
    "addc": ("out[:, :] = pl.addc(x[:, :], x[:, :], x[:, :])", (16, 16), F),
    "subc": ("out[:, :] = pl.subc(x[:, :], x[:, :], x[:, :])", (16, 16), F),
    "addsc": ("out[:, :] = pl.addsc(x[:, :], 2.0, x[:, :])", (16, 16), F),
    "subsc": ("out[:, :] = pl.subsc(x[:, :], 2.0, x[:, :])", (16, 16), F),
    "cmp": ("out[:, :] = pl.cmp(x[:, :], 0.5, cmp_type=4) * 2.0", (16, 16), F),
    "sel": ("out[:, :] = pl.sel(x[:, :] > 0.0, x[:, :], 3.0)", (16, 16), F),
    "sels": ("out[:, :] = pl.sels(x[:, :] > 0.0, x[:, :], 3.0)", (16, 16), F),
    "create_tile": ("t = pl.create_tile([16, 16], pl.FP32)\nt[:, :] = x[:, :]\nout[:, :] = t", (16, 16), F),
    "full": ("out[:, :] = pl.full([16, 16], pl.FP32, 1.5) + x[:, :]", (16, 16), F),
    "expands": ("out[:, :] = pl.expands(x[:, :], 1.5)", (16, 16), F),
    "ci": ("out[:, :] = pl.ci(3, [1, 16], pl.INT32)", (1, 16), I),
    "reshape": ("out[:, :] = pl.reshape(x[:, :], [8, 32])", (8, 32), F),
    "view": ("out[:, :] = pl.view(x, [8, 32])[:, :]", (8, 32), F),
    "expand_clone": ("out[:, :] = pl.expand_clone(x[2:3, :], x[:, :])", (16, 16), F),
    "broadcast_to": ("out[:, :] = pl.broadcast_to(x[2:3, :], [16, 16])", (16, 16), F),
    "transpose": ("out[:, :] = x[:, :].T", (16, 16), F),
    "slice": ("out[:, :] = pl.slice(x, [4, 8], [2, 8])", (4, 8), F),
    "row_expand": ("out[:, :] = pl.row_expand(x[:, :], x[:, 0:1])", (16, 16), F),
    "col_expand": ("out[:, :] = pl.col_expand(x[:, :], x[3:4, :])", (16, 16), F),
    "set_validshape": ("pl.store(pl.set_validshape(x[:, :], 5, 7), [0, 0], out)", (5, 7), F),
    "fillpad": (
        "t = pl.load(x, [0, 0], [16, 16], valid_shape=[5, 7])\nout[:, :] = pl.fillpad(t, pad_value=pl.PadValue.max)",
        (16, 16),
        F,
    ),
    "fillpad_inplace": (
        "t = pl.load(x, [0, 0], [16, 16], valid_shape=[5, 16])\nout[:, :] = pl.fillpad_inplace(t, pad_value=pl.PadValue.min)",
        (16, 16),
        F,
    ),
    "fillpad_expand": (
        "t = pl.load(x, [0, 0], [8, 16])\nout[:, :] = pl.fillpad_expand(t, [16, 16], pad_value=pl.PadValue.zero)",
        (16, 16),
        F,
    ),
    "tri": ("out[:, :] = pl.tri(-1, [16, 16], dtype=pl.FP32)", (16, 16), F),
    "reinterpret_view": ("out[:, :] = pl.reinterpret_view(pl.load(x, [0, 0], [16, 16]), pl.INT32)", (16, 16), I),
    "concat": ("out[:, :] = pl.concat(x[:, :], x[:, :])", (16, 32), F),
    "gather_row": (
        "t = pl.create_tile([16, 16], pl.FP32)\nfor r in pl.range(16):\n    pl.gather_row(t, x, [r, 0], [15 - r, 0], [1, 16])\nout[:, :] = t",
        (16, 16),
        F,
    ),
    "create_l1": (
        "t = pl.create_l1([16, 16], pl.FP32)\nfor r in pl.range(16):\n    pl.gather_row(t, x, [r, 0], [15 - r, 0], [1, 16])\nout[:, :] = pl.matmul(t, x[:, :])",
        (16, 16),
        F,
    ),
    "gather": ("out[:, :] = pl.gather(x[:, :], -1, n[:, :])", (16, 16), F),
    "gather_mask": ("out[:, :] = pl.gather_mask(x[:, :], 2)", (16, 8), F),
    "gather_compare": (
        'at, count = pl.gather(x[:, :], kvalue=0.5, cmp_mode="gt", out_cols=16)\nout[:, :] = pl.reshape(count, [1, 16])',
        (1, 16),
        I,
    ),
    "gatherb": ("out[:, :] = pl.gatherb(x[:, :], pl.ci(0, [1, 8], pl.UINT32) * 32)", (1, 64), F),
    "scatter": ("out[:, :] = pl.scatter(x[:, :], -1, n[:, :], x[:, :])", (16, 16), F),
    "scatter_mask": ("out[:, :] = pl.scatter_mask(x[:, :], x[:, 0:8], 1)", (16, 16), F),
    "mgather": ("out[:, :] = pl.mgather(x, n[0:1, :])", (16, 16), F),
    "mscatter": ("pl.mscatter(x[0:1, :], n[0:1, :], out)", (1, 16), F),
    "paged_gather": (
        "out[:, :] = pl.paged_gather(x, n[0:1, :], n[1:2, 0:4] % 4, block_size=4, size=16, max_indices=16, space=pl.Mem.Vec)",
        (16, 16),
        F,
    ),
    "scatter_update": ("out[:, :] = pl.scatter_update(x, -2, n[0:1, :], x[:, :])", (16, 16), F),
    "sort32": (
        "t = pl.sort32(pl.reshape(x[:, :], [8, 32]), pl.ci(0, [1, 32], pl.UINT32))\nout[:, :] = pl.gather_mask(t, 1)",
        (8, 32),
        F,
    ),
    "mrgsort": (
        "t = pl.sort32(pl.reshape(x[0:8, :], [1, 128]), pl.ci(0, [1, 128], pl.UINT32))\nout[:, :] = pl.gather_mask(pl.mrgsort(t, block_len=64), 1)",
        (1, 128),
        F,
    ),
    "random": ("out[:, :] = pl.random(1, 2, 3, 4, 5, 6, [16, 16], pl.INT32, rounds=10)", (16, 16), I),
    "matmul": ("out[:, :] = pl.matmul(x[:, :], x[:, :], b_trans=True)", (16, 16), F),
    "matmul_acc": ("out[:, :] = pl.matmul_acc(pl.matmul(x[:, :], x[:, :]), x[:, :], x[:, :])", (16, 16), F),
    "matmul_bias": ("out[:, :] = pl.matmul_bias(x[:, :], x[:, :], x[0:1, :])", (16, 16), F),
    "gemv": ("out[:, :] = pl.gemv(x[0:1, :], x[:, :])", (1, 16), F),
    "gemv_acc": ("out[:, :] = pl.gemv_acc(pl.gemv(x[0:1, :], x[:, :]), x[0:1, :], x[:, :])", (1, 16), F),
    "gemv_bias": ("out[:, :] = pl.gemv_bias(x[0:1, :], x[:, :], x[1:2, :])", (1, 16), F),
    "batch_matmul": ("out[:, :, :] = pl.batch_matmul(y[:, :, :], y[:, :, :])", (2, 16, 16), F),
    "batch_matmul_acc": (
        "out[:, :, :] = pl.batch_matmul_acc(pl.batch_matmul(y[:, :, :], y[:, :, :]), y[:, :, :], y[:, :, :])",
        (2, 16, 16),
        F,
    ),
    "load": ("t = pl.load(x, [8, 8], [16, 16], clamp=True)\npl.store(t, [0, 0], out)", (8, 8), F),
    "store": ("pl.store(x[:, :], [0, 0], out)", (16, 16), F),
    "assemble": ("pl.assemble(out, x[:, :], [0, 0])", (16, 16), F),
    "move": ("out[:, :] = pl.move(pl.load(x, [0, 0], [16, 16]), pl.Mem.Vec)", (16, 16), F),
    "extract": ("out[:, :] = pl.extract(pl.load(x, [0, 0], [16, 16]), 8, 8, [8, 8], target_memory=pl.Mem.Vec)", (8, 8), F),
    "create_tensor": ("w = pl.create_tensor([16, 16], dtype=pl.FP32)\nw[:, :] = x[:, :] * 2.0\nout[:, :] = w[:, :]", (16, 16), F),
    "transpose_view": (
        "t = pl.load(x, [0, 0], [16, 16], target_memory=pl.Mem.Mat)\nout[:, :] = pl.matmul(x[:, :], pl.transpose_view(t))",
        (16, 16),
        F,
    ),
    "read": ("s = pl.read(x, [3, 4])\nout[:, :] = x[:, :] * s", (16, 16), F),
    "write": ("pl.write(out, [0, 0], 2.5)", (1, 1), F),
    "cast": ("out[:, :] = pl.cast(x[:, :], pl.INT32)", (16, 16), I),
}


@pytest.mark.parametrize("op", SINGULAR)
def test_ops_of_no_family(op, platform):
    body, shape, dtype = SINGULAR[op]
    x, y, n = plain(F, 16, 16), plain(F, 2, 16, 16), np.stack([np.roll(ORDER, k) for k in range(16)])
    kernel = kernel_of(body, "x: pl.Tensor, y: pl.Tensor, n: pl.Tensor, out: pl.Out[pl.Tensor]")
    done = agrees(f"pl.{op}", kernel, (x, y, n, np.zeros(shape, dtype)), platform)
    assert done or platform == "a2a3", op


@pytest.mark.parametrize("op", ["matmul_mx", "matmul_mx_acc", "matmul_mx_bias"])
def test_products_with_scales(op):
    calls = {
        "matmul_mx": "pl.matmul_mx(a[:, :], sa[:, :], b[:, :], sb[:, :])",
        "matmul_mx_acc": "pl.matmul_mx_acc(pl.matmul_mx(a[:, :], sa[:, :], b[:, :], sb[:, :]), a[:, :], sa[:, :], b[:, :], sb[:, :])",
        "matmul_mx_bias": "pl.matmul_mx_bias(a[:, :], sa[:, :], b[:, :], sb[:, :], bias[:, :])",
    }
    scales = "sa: pl.Tensor[[32, 2], pl.FP8E8M0, pl.MX_A_ZZ], b: pl.Tensor, sb: pl.Tensor[[2, 32], pl.FP8E8M0, pl.MX_B_NN]"
    kernel = kernel_of(f"out[:, :] = {calls[op]}", f"a: pl.Tensor, {scales}, bias: pl.Tensor, out: pl.Out[pl.Tensor]")
    rng = np.random.default_rng(0)
    e4, e8 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    a, b = (rng.standard_normal(shape).astype(e4) for shape in [(32, 64), (64, 32)])
    sa, sb = (np.exp2(rng.integers(-3, 3, shape)).astype(e8) for shape in [(32, 2), (2, 32)])
    sb = slipring.pack_scales(sb, pl.MX_B_NN)
    assert agrees(op, kernel, (a, sa, b, sb, plain(F, 1, 32), np.zeros((32, 32), F)), "a5")


def test_every_op_has_a_reference_and_stands_in_the_matrix():
    elsewhere = {name for names in NO_ARRAYS.values() for name in names.split()}
    tried = {*PAIRS, *SINGLE, *REDUCED, *SPREAD, *SINGULAR, "matmul_mx", "matmul_mx_acc", "matmul_mx_bias"}
    for entry in catalogue():
        if entry["refused"]:
            continue
        usual = entry["names"][0]
        assert usual in OPS, f"`pl.{usual}` compiles and has no reference"
        assert (usual in tried) != (
            usual in elsewhere
        ), f"`pl.{usual}` stands in no row of the matrix, or is not said to have none"


def test_the_reference_takes_every_argument_of_the_catalogue():
    import inspect

    for entry in catalogue():
        if entry["refused"] or "…" in entry["params"]:
            continue
        op = OPS[entry["names"][0]]
        taken = inspect.signature(op).parameters
        anything = any(own.kind in (own.VAR_KEYWORD,) for own in taken.values())
        for names, _, _ in itertools.chain.from_iterable(ways(entry["params"])):
            assert anything or names[0] in taken, f"the reference of `pl.{entry['names'][0]}` has no `{names[0]}`"
