# What Python refuses as a key raises its `TypeError` wherever a key is asked for, also inside a tuple; the dict stays as it was.
#
# args: full:f32[8x8]=1.0 zeros:f32[8x8]
# test: run %s
# Python says: 255 ways refused, of 8 bits, and one entry left
# out[1]: f32 64*256.0
import slipring.language as pl

known = {"a": 1}
members = {1}


def entry(key):
    return known[key]


def stored(key):
    known[key] = 2


def deleted(key):
    del known[key]


def inside(key):
    return key in known


def written(key):
    return {key: 1}


def added(key):
    members.add(key)


def asked(key):
    return known.get(key)


def refused(way, key):
    try:
        way(key)
    except TypeError:
        return 1
    return 0


WAYS = [entry, stored, deleted, inside, written, added, asked]
TOTAL = sum(refused(way, [1]) << at for at, way in enumerate(WAYS))
TOTAL += refused(deleted, (1, [2])) << 7
TOTAL += len(known)


@pl.incore
def f(x: pl.Tensor[[8, 8], pl.FP32], y: pl.Out[pl.Tensor[[8, 8], pl.FP32]]):
    tile = pl.load(x, [0, 0], [8, 8])
    pl.store(pl.mul(tile, TOTAL * 1.0), [0, 0], y)
