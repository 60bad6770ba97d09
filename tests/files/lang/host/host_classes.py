# What Python calls when a class is made, and where members are looked for: names of members, classes based on one, descriptors,
# private names, abstract methods, the name of a function after a decorator.
#
# test: run %s
# args: full:f32[16x64]=0.0 zeros:f32[16x64]
# out[1]: f32 1024*5793143
import functools
from abc import ABC, abstractmethod

import slipring.language as pl


class Named:
    def __set_name__(self, owner, name):
        owner.width = 3 if name == "field" else 9


class Base:
    width = 0
    subclasses = 0
    field = Named()

    def __init_subclass__(cls):
        Base.subclasses += 1


class First(Base):
    pass


class Second(Base):
    pass


class Stored:
    def __get__(self, instance, owner):
        return 1 if instance is None else instance.kept + 1

    def __set__(self, instance, value):
        instance.kept = value * 2


class Holder:
    value = Stored()


class Above:
    __secret = 3

    def above(self):
        return self.__secret


class Below(Above):
    __secret = 4

    def below(self):
        return self.__secret


class Shape(ABC):
    @abstractmethod
    def area(self): ...


class Square(Shape):
    def area(self):
        return 5


holder = Holder()
holder.value = 3
try:
    Shape()
    OPEN = 0
except TypeError:
    OPEN = Square().area()


def counted(function):
    @functools.wraps(function)
    def inner(*values):
        return function(*values) + 1

    return inner


@counted
def one(x):
    return x


DIGITS = [Base.width, Below().above() + Holder.value, Holder.value, Below().above(), Above().above() + 6, holder.value, OPEN]
TOTAL = sum(digit * 10**place for place, digit in enumerate(DIGITS)) + 0.0 * one(2) * Base.subclasses
TOTAL = TOTAL if Base.subclasses == 2 and hasattr(Below(), "_Below__secret") else 0.0


@pl.incore
def k(a: pl.Tensor[[16, 64], pl.FP32], out: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    out[:, :] = a[:, :] + TOTAL
