# What the file computes before a kernel is compiled is what Python computes: methods that change, aliases, classes, exceptions.
#
# args: full:f32[8x8]=1.0 zeros:f32[8x8]
# test: run %s
# Python says: 1 + 20 + 300 + 4000 + 50000 + 600000 (each line below says its part)
# out[1]: f32 64*654321.0
from dataclasses import dataclass, field
from functools import lru_cache

import slipring.language as pl

items = [3, 1, 2]
same = items
same += [9]
items.sort(reverse=True)
items.pop()
items[1:2] = []
ONE = 1 if items == [9, 2] and same is items else 0

sizes = {"a": 1}
sizes.update(b=2)
for name, size in sizes.items():
    sizes[name] = size * 10
TWENTY = sizes["b"] if "b" in sizes and list(sizes) == ["a", "b"] else 0


class Box:
    shared = []

    def __init__(self, n):
        self.n = n

    def grow(self, by):
        self.n += by
        Box.shared.append(by)
        return self

    @property
    def twice(self):
        return self.n * 2

    @classmethod
    def of(cls, n):
        return cls(n)

    def __add__(self, other):
        return Box(self.n + other.n)


class Child(Box):
    def grow(self, by):
        return super().grow(by * 2)


grown = Child.of(20).grow(15)
THREE_HUNDRED = (grown + Box(100)).twice if Box.shared == [30] else 0

calls = 0


@lru_cache
def cached(n):
    global calls
    calls += 1
    return n


def guarded(n):
    try:
        if n % 32:
            raise ValueError(f"{n} is no multiple of 32")
        return n
    except ValueError as error:
        return len(str(error))
    finally:
        cached(7)


FOUR_THOUSAND = (guarded(64) + guarded(33) + 13) * 40 * calls


@dataclass
class Point:
    x: int
    tags: list = field(default_factory=list)


first, second = Point(1), Point(1)
first.tags.append(5)
functions = [lambda: iteration for iteration in range(3)]
FIFTY_THOUSAND = 5 * 10**4 if first != second and [f() for f in functions] == [2, 2, 2] else 0
numbers = [-7 // 2, -7 % 3, round(2.675, 2), sum([1, 2], 10), sorted([3, 1], key=lambda x: -x)[0]]
SIX = 600000 if numbers == [-4, 2, 2.67, 13, 3] and f"{3.14159:.2f}|{7:03d}" == "3.14|007" else 0
V = (ONE + TWENTY + THREE_HUNDRED + FOUR_THOUSAND + FIFTY_THOUSAND + SIX) * 1.0


@pl.incore
def k(a: pl.Tensor[[8, 8], pl.FP32], out: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    out[:, :] = a[:, :] * 0.0 + V
