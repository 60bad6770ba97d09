# Lists are changed where the kernel made them, and nowhere else.
#
# test: check %s
# exit: 2
import slipring.language as pl

OUTSIDE = [1.0]


@pl.inline
def grow(values):
    # error: value-kind this list cannot be changed here
    values.append(1.0)


@pl.incore
def k(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INDEX]):
    a = [1.0]
    places = [1, 2]
    for i in pl.range(4):
        # error: value-kind this list cannot be changed here
        a.append(2.0)
        # error: value-kind this list cannot be changed here
        places[0] = 2
    b = [1.0]
    if n > 3:
        # error: value-kind this list cannot be changed here
        b += [2.0]
    c = [1.0]
    grow(c)
    # error: value-kind this list cannot be changed here
    OUTSIDE.append(2.0)
    d = [1.0]
    # error: bounds there are 1 values, not one at 3
    d.pop(3)
    e = [1.0]
    # error: value-kind a list cannot hold itself
    e.append(e)
    f = [1.0]
    # error: argument `append` of a list does not take 2 values
    f.append(1.0, 2.0)
    g = [1.0]
    # error: argument `extend` takes what is listed, not the number 1
    g.extend(1.0)
    # A tuple stays what it is.
    t = (1.0, 2.0)
    # error: value-kind this list cannot be changed here
    t.append(3.0)
    y[:] = x * 2.0


KNOWN = {"a": 1.0}


@pl.incore
def dicts(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: value-kind a dict in a kernel holds constants, not a tile
    a = {"t": x[0:32, :] * 2.0}
    b = {"n": 1.0}
    for i in pl.range(4):
        # error: subscript a key of a dict is a constant, not a scalar of type INDEX
        b[i] = 2.0
    c = {"n": 1.0}
    for i in pl.range(4):
        # error: value-kind this dict cannot be changed here
        c["n"] = 2.0
    # error: value-kind this dict cannot be changed here
    KNOWN.update(a=2.0)
    d = {"n": 1.0}
    # error: subscript the dict has no such key
    d.pop("m")
    e = {"n": 1.0}
    # error: argument a dict takes the entries of a dict, not of a list of one value
    e.update([1.0])
    f = {"n": 1.0}
    # error: argument `clear` of a dict does not take what is given
    f.clear(1)
    y[:] = x * 2.0


@pl.incore
def comprehensions(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], n: pl.Scalar[pl.INDEX]):
    # error: condition a condition of a list is known when it is made, this is a scalar of type INDEX
    rows = [i for i in range(4) if n]
    # error: not-constant
    more = [i for i in range(n)]
    # error: undefined-name `j` is not defined
    last = [j for j in range(2)] + [j]
    y[:] = x * 2.0


@pl.incore
def sizes(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    a = [1.0]
    b = [a] * 3000
    for i in pl.unroll(2):
        # error: too-large a list that changes is one of more than 4096 values, or lies in one
        a.extend(a)
    c = [1.0]
    d = c
    for i in pl.unroll(101):
        # error: too-large a list of more than 65536 values, or more than 100 lists inside each other
        c = [c]
    # A change is made in each list that holds the one that changes.
    d.append(2.0)
    y[:] = x * 2.0
