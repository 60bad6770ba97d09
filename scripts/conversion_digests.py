#!/usr/bin/env python3
"""Digests of all conversions from types of at most 16 bits, by numbers that slipring did not compute.

    pip install numpy ml_dtypes en_dtypes
    python3 scripts/conversion_digests.py > crates/tile/src/convert/digests.txt

The value of every code comes from ml_dtypes (en_dtypes for HiFloat8 and the 4-bit type with two mantissa bits). A result
is the neighbour that the mode picks among all values of the target, found by search in exact arithmetic. Where a
library converts itself (ml_dtypes to nearest even, en_dtypes to HiFloat8 to nearest away), the search is checked
against it. A line holds the source, the target and one digest for each mode R A F C Z O; a digest covers all source
codes without saturation, with it, and with it keeping NaN. Every NaN counts as 2^64 - 1.
"""

import functools
import sys

import en_dtypes
import ml_dtypes
import numpy as np

FLOATS = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "!pto.hif8": en_dtypes.hifloat8,
    "!pto.f4E2M1x2": ml_dtypes.float4_e2m1fn,
    "!pto.f4E1M2x2": en_dtypes.float4_e1m2,
}
INTS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
        "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64}
ORDER = ["f32", "f16", "bf16", "f8E4M3FN", "f8E5M2", "f8E8M0FNU", "!pto.hif8", "!pto.f4E2M1x2", "!pto.f4E1M2x2",
         "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"]
SOURCES = [t for t in ORDER if t not in ("f32", "i32", "i64", "ui32", "ui64")]
MODES = "RAFCZO"
OFF, ON, KEEP_NAN = range(3)
NAN = -1
PACKED = ("!pto.f4E2M1x2", "!pto.f4E1M2x2")


def bits(name):
    return 4 if name in PACKED else 8 * np.dtype(FLOATS.get(name) or INTS[name]).itemsize


def container(name):
    return {4: np.uint8, 8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}[bits(name)]


def source_values(name):
    """The values of all codes of a source, exact in float64 or int64; of a packed type those of all bytes."""
    if name in PACKED:
        pairs = np.arange(256, dtype=np.uint8)
        codes = np.stack([pairs & 15, pairs >> 4], axis=1).reshape(-1)
    else:
        codes = np.arange(1 << bits(name), dtype=np.uint32).astype(container(name))
    if name in FLOATS:
        return codes.view(FLOATS[name]).astype(np.float32).astype(np.float64)
    return codes.view(INTS[name]).astype(np.int64)


class Target:
    """The magnitudes of a float type in ascending order."""

    def __init__(self, name):
        self.name, self.bits = name, bits(name)
        self.e8m0 = name == "f8E8M0FNU"
        self.sign = 0 if self.e8m0 else 1 << (self.bits - 1)
        codes = np.arange(255 if self.e8m0 else self.sign, dtype=np.int64)
        values = codes.astype(container(name)).view(FLOATS[name]).astype(np.float32).astype(np.float64)
        finite = np.isfinite(values)
        order = np.argsort(values[finite], kind="stable")
        self.values, self.codes = values[finite][order], codes[finite][order]
        every = np.arange(1 << self.bits, dtype=np.uint32).astype(container(name))
        every = every.view(FLOATS[name]).astype(np.float32)
        self.has_nan, self.has_inf = bool(np.isnan(every).any()), bool(np.isinf(every).any())
        self.inf = int(np.flatnonzero(np.isposinf(every))[0]) if self.has_inf else None
        # The value that would follow the largest one if there were more codes.
        self.beyond = 2.0 ** np.floor(np.log2(self.values[-1]))
        top = self.values[self.values >= self.beyond]
        # HiFloat8's last exponent has two mantissas, the second of which is infinity.
        step = top[1] - top[0] if len(top) > 1 else self.beyond * (0.5 if name == "!pto.hif8" else 1.0)
        self.beyond = self.values[-1] + step

    def convert(self, x, mode, saturation):
        a = np.abs(x)
        infinite = np.isinf(a)
        a = np.where(np.isnan(a), 0.0, a)
        low = np.searchsorted(self.values, a, side="right") - 1
        below_all = low < 0
        low = np.maximum(low, 0)
        n = len(self.values)
        ladder = np.append(self.values, self.beyond)
        below, above = ladder[low], ladder[low + 1]
        exact = (below == a) | below_all
        last = self.codes[low] & 1
        if self.e8m0:
            last = np.ones_like(last)  # the mantissa, always 1
        negative = np.signbit(x)
        half = (below + above) / 2
        up = {
            "R": (a > half) | ((a == half) & (last == 1)),
            "A": a >= half,
            "F": negative,
            "C": ~negative,
            "Z": np.zeros_like(negative),
            "O": (last == 0) & (low < n - 1),
        }[mode] & ~exact & ~infinite
        rank = low + up
        over = (rank >= n) | infinite
        # Far out of range, only the modes that round away from zero overflow.
        far = (low == n - 1) & (a >= self.beyond) & ~infinite
        if mode in "RA":
            over |= far
        if saturation == OFF and self.has_inf:
            overflow = self.inf
        elif saturation == OFF and self.has_nan:
            overflow = NAN
        else:
            overflow = int(self.codes[-1])
        code = np.where(over, overflow, self.codes[np.minimum(rank, n - 1)])
        code = np.where(negative & (code != NAN) & self.has_sign(code), code | self.sign, code)
        if self.e8m0:
            return np.where(x > 0, code, NAN)
        nan = NAN if self.has_nan and saturation != ON else 0
        return np.where(np.isnan(x), nan, code)

    def has_sign(self, code):
        return (code != 0) | (self.name != "!pto.hif8")


def to_float(x, name, mode, saturation):
    x = x.astype(np.float64)
    if name == "f32":
        # Exact for every source.
        return np.where(np.isnan(x), NAN, x.astype(np.float32).view(np.int32).astype(np.int64) & 0xFFFFFFFF).astype(np.uint64)
    codes = target(name).convert(x, mode, saturation).astype(np.int64)
    if saturation == OFF:
        check(x, name, mode, codes)
    return codes.astype(np.uint64)


@functools.cache
def target(name):
    return Target(name)


def check(x, name, mode, codes):
    """Against the libraries' own conversions."""
    library = (mode == "R" and name != "!pto.hif8" and name != "!pto.f4E1M2x2") or (mode == "A" and name == "!pto.hif8")
    if not library:
        return
    with np.errstate(all="ignore"):
        want = x.astype(np.float32).astype(FLOATS[name])
    value = codes.astype(container(name)).view(FLOATS[name]).astype(np.float32)
    value = np.where(codes == NAN, np.nan, value)
    want = want.astype(np.float32)
    # Between the two smallest powers, ml_dtypes always rounds up, even where the lower one is closer.
    excepted = (name == "f8E8M0FNU") & (x > 2.0**-127) & (x < 2.0**-126)
    same = (value == want) | np.isnan(x) | excepted | (np.isnan(value) & np.isnan(want))
    assert same.all(), (name, mode, x[~same][:5], value[~same][:5], want[~same][:5])


def to_int(x, name, mode, saturation):
    info = np.iinfo(INTS[name])
    if x.dtype == np.int64:
        whole = x
        if saturation != OFF:
            whole = np.clip(x, max(info.min, -(1 << 62)), min(info.max, 1 << 62))
        return whole.view(np.uint64) & np.uint64((1 << bits(name)) - 1)
    floor = np.floor(np.where(np.isfinite(x), x, 0.0))
    rest = np.where(np.isfinite(x), x, 0.0) - floor
    odd = np.mod(floor, 2.0) != 0
    up = {
        "R": (rest > 0.5) | ((rest == 0.5) & odd),
        "A": (rest > 0.5) | ((rest == 0.5) & (x > 0)),
        "F": np.zeros_like(odd),
        "C": rest > 0,
        "Z": (rest > 0) & (x < 0),
        "O": (rest > 0) & ~odd,
    }[mode]
    whole = floor + up
    low, high = (info.min, info.max) if saturation != OFF or bits(name) == 64 else (-(1 << 63), (1 << 63) - 1)
    result = []
    for value, original in zip(whole.tolist(), x.tolist()):
        if original != original:
            integer = 0
        elif original in (float("inf"), float("-inf")):
            integer = high if original > 0 else low
        else:
            integer = min(max(int(value), low), high)
        result.append(integer & ((1 << bits(name)) - 1))
    return np.array(result, dtype=np.uint64)


def mix(x):
    """SplitMix64's finaliser."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def digest(parts):
    codes = np.concatenate(parts)
    places = np.arange(len(codes), dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return int(mix(codes + places).sum(dtype=np.uint64))


def main():
    np.seterr(invalid="ignore", over="ignore")
    for source in SOURCES:
        x = source_values(source)
        for target in ORDER:
            if target == source:
                continue
            row = []
            for mode in MODES:
                convert = to_float if target in FLOATS else to_int
                row.append(digest([convert(x, target, mode, s) for s in (OFF, ON, KEEP_NAN)]))
            print(source, target, *(f"{d:016x}" for d in row))
        print(source, file=sys.stderr)


if __name__ == "__main__":
    main()
