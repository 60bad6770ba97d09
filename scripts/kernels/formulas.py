"""What each kernel of `examples/lang` computes, in numpy and float64.

`KERNELS` maps the name of a file to its parameters and its formula. Arrays of bf16 are float32 arrays of numbers that bf16 holds.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

EXACT = 1e-5  # all arithmetic in f32
NARROW = 4e-3  # an intermediate is rounded to f16 or bf16: half a unit of bf16 is 2**-9


@dataclass
class Param:
    """A tensor: its extents, its element type (`f32`, `f16`, `bf16`, or `i32` for numbers below `limit`), and whether the kernel
    reads and writes it."""
    shape: tuple
    elem: str = "f32"
    out: bool = False
    read: bool = True
    limit: int = 0


@dataclass
class Kernel:
    """A formula takes the arrays that are read, by name, and gives those that are written. The largest difference that is
    accepted is `tolerance` times the largest magnitude of the expected result."""
    params: dict
    formula: Callable
    tolerance: float = EXACT


def bf16(x):
    """Rounded to bf16, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return bits.astype(np.uint32).view(np.float32).astype(np.float64)


def f16(x):
    """Rounded to f16."""
    return np.asarray(x, np.float32).astype(np.float16).astype(np.float64)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def attention_step(q, kv):
    x = q @ kv.T / np.sqrt(512)
    mi = x.max(axis=1, keepdims=True)
    p = np.exp(x - mi)
    return {"mi": mi, "li": p.sum(axis=1, keepdims=True), "oi": bf16(p) @ kv}


def of(*shape, elem="f32"):
    return Param(shape, elem)


def out(*shape, elem="f32"):
    return Param(shape, elem, out=True, read=False)


def inout(*shape, elem="f32"):
    return Param(shape, elem, out=True)


ATTENTION = Kernel(
    {"q": of(64, 128, elem="f16"), "k": of(512, 128, elem="f16"), "v": of(512, 128, elem="f16"), "out": out(64, 128)},
    lambda q, k, v: {"out": softmax(q @ k.T / np.sqrt(128)) @ v},
    NARROW,
)
ATTENTION_STEP = Kernel(
    {"q": of(64, 512, elem="bf16"), "kv": of(128, 512, elem="bf16"), "mi": out(64, 1), "li": out(64, 1), "oi": out(64, 512)},
    attention_step,
    NARROW,
)
ROUND_TRIP = Kernel(
    {"a": of(64, 64), "b": of(64, 64), "v": of(64, 64), "out": out(64, 64)},
    lambda a, b, v: {"out": (a @ b * 2) @ v},
)
SUM_BY_DIFFERENCE = Kernel(
    {"a": of(32, 32), "b": of(32, 32), "c": out(32, 32)},
    lambda a, b: {"c": (a + b) @ (a - b)},
)
THERE_AND_BACK = Kernel(
    {"a": of(32, 32), "b": of(32, 32), "c": inout(32, 32)},
    lambda a, b, c: {"c": c + (a + 1) @ b},
)
COLUMN_BLOCKS = Kernel(
    {"a": of(32, 64), "b": of(64, 512), "c": inout(32, 512)},
    lambda a, b, c: {"c": c + a @ b},
)

# Slots of a ring in global memory, whose contents afterwards are unspecified.
SLOTS = Param((64, 64), read=False)

KERNELS = {
    "1_vector_add": Kernel(
        {"a": of(64, 128), "b": of(64, 128), "c": out(64, 128)},
        lambda a, b: {"c": a + b},
    ),
    "2_matmul": Kernel(
        {"a": of(64, 256, elem="f16"), "b": of(64, 256, elem="f16"), "c": out(64, 64)},
        lambda a, b: {"c": a @ b.T},
    ),
    "3_matmul_softmax": Kernel(
        {"a": of(64, 128, elem="f16"), "b": of(128, 64, elem="f16"), "out": out(64, 64)},
        lambda a, b: {"out": softmax(a @ b)},
    ),
    "4_vector_to_matmul": SUM_BY_DIFFERENCE,
    "5_attention_step": ATTENTION_STEP,
    "5_attention_step_loop_mode": ATTENTION_STEP,
    "5_attention_step_automatic": ATTENTION_STEP,
    "5_attention_step_none": ATTENTION_STEP,
    "5_attention_step_whole": ATTENTION_STEP,
    "6_attention": ATTENTION,
    "6_attention_ahead": ATTENTION,
    "column_blocks_columns": COLUMN_BLOCKS,
    "column_blocks_rows": COLUMN_BLOCKS,
    "column_blocks_whole": COLUMN_BLOCKS,
    "gather_rows": Kernel(
        {
            "q": of(16, 512, elem="bf16"),
            "idx": Param((128,), "i32", limit=1024),
            "pool": of(1024, 512, elem="bf16"),
            "scores": out(16, 128),
        },
        lambda q, idx, pool: {"scores": q @ pool[idx].T},
    ),
    "lane_stores": Kernel(
        {"a": of(64, 64), "b": of(64, 64), "out": out(64, 64)},
        lambda a, b: {"out": a @ b * 2},
    ),
    "linear": Kernel(
        {"x": of(128, 256, elem="f16"), "w": of(256, 128, elem="f16"), "bias": of(1, 128), "y": out(128, 128)},
        lambda x, w, bias: {"y": x @ w + bias},
    ),
    "pipes_by_hand": Kernel(
        {"a": of(128, 64, elem="f16"), "b": of(64, 64, elem="f16"), "gm_slot_buffer": SLOTS, "out": out(128, 64)},
        lambda a, b: {"out": a @ b * 2},
    ),
    "pure_vector": Kernel(
        {"a": of(64, 128), "b": out(64, 128)},
        lambda a: {"b": np.exp(a)},
    ),
    "round_trip_automatic_columns": ROUND_TRIP,
    "round_trip_automatic_rows": ROUND_TRIP,
    "round_trip_by_hand": ROUND_TRIP,
    "round_trip_columns": ROUND_TRIP,
    "round_trip_none": ROUND_TRIP,
    "round_trip_rows": ROUND_TRIP,
    "round_trip_whole": ROUND_TRIP,
    "there_and_back": THERE_AND_BACK,
    "there_and_back_columns": THERE_AND_BACK,
    "there_and_back_whole": THERE_AND_BACK,
    "vector_to_matmul_columns": SUM_BY_DIFFERENCE,
    "vector_to_matmul_whole": SUM_BY_DIFFERENCE,
}
