"""Random kernels of the language, limited to what the Python reference supports, so that their results can be
checked."""

import linecache
import random

import numpy as np

HEAD = '''import slipring.language as pl

@pl.jit
def {name}(a: pl.Tensor, b: pl.Tensor, out: pl.Out[pl.Tensor]):
'''


def text_of(seed):
    """The text of a kernel, and the rows and columns of its arrays."""
    chance = random.Random(seed)
    tile = chance.choice((8, 16, 32))
    rows, columns = tile * chance.randint(1, 3), chance.choice((16, 32, 64, 128))
    lines = [f"    for at in pl.range(0, {rows}, {tile}):"]
    names = ["x", "y"]
    lines.append(f"        x = a[at : at + {tile}, :]")
    lines.append(f"        y = b[at : at + {tile}, :]")
    narrow = []
    indent = "        "
    for number in range(chance.randint(2, 9)):
        name = f"t{number}"
        one, two = chance.choice(names), chance.choice(names)
        way = chance.randrange(8)
        if way == 0:
            value = f"pl.{chance.choice(('add', 'sub', 'maximum', 'minimum'))}({one}, {two})"
        elif way == 1:
            value = f"pl.mul({one}, {chance.choice((0.5, -1.0, 0.25, 1.5))})"
        elif way == 2:
            value = f"pl.add({one}, {chance.choice((1.0, -0.5, 3.0))})"
        elif way == 3:
            value = f"pl.{chance.choice(('neg', 'abs'))}({one})"
        elif way == 4:
            value = f"pl.exp(pl.minimum({one}, 1.0))"
        elif way == 5:
            lines.append(f"{indent}r{number} = pl.{chance.choice(('row_max', 'row_sum', 'row_min'))}({one})")
            narrow.append(f"r{number}")
            continue
        elif way == 6 and narrow:
            value = f"pl.{chance.choice(('row_expand_sub', 'row_expand_mul'))}({one}, {chance.choice(narrow)})"
        else:
            bound = chance.randint(1, 3)
            lines.append(f"{indent}{name} = pl.mul({one}, 1.0)")
            lines.append(f"{indent}for i{number} in pl.range({bound}):")
            lines.append(f"{indent}    {name} = pl.add(pl.mul({name}, 0.5), {two})")
            names.append(name)
            continue
        lines.append(f"{indent}{name} = {value}")
        names.append(name)
    lines.append(f"{indent}out[at : at + {tile}, :] = {names[-1]}")
    return HEAD.format(name="kernel") + "\n".join(lines) + "\n", rows, columns


def kernel_of(text, filename):
    """The kernel of a text; the compiler, which reads the text, and Python see the same one."""
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    space = {"__name__": "slipring_random"}
    exec(compile(text, filename, "exec"), space)
    return space["kernel"]


def arrays_of(rows, columns, seed):
    """Inputs, and an empty output."""
    chance = np.random.default_rng(seed)
    a, b = (chance.uniform(-1, 1, (rows, columns)).astype(np.float32) for _ in range(2))
    return a, b, np.zeros((rows, columns), np.float32)
