# Lists that a kernel makes and changes: of numbers and of tiles, under two names, inside another list, in loops that are
# written out, and in the body of a loop that makes its own.
# platforms: a5, a2a3
# test: run %s --verify --arg iota:f32[4x8] --arg zeros:f32[4x8] --arg zeros:f32[1x8]
# check: verify clean
# out[1]: f32 0 2 4 6 8 10 12 14 24 27 30 33 36 39 42 45 80 85 90 95 100 105 110 115 168 175 182 189 196 203 210 217
# out[2]: f32 24 25 26 27 28 29 30 31
import slipring.language as pl


@pl.incore
def k(
    x: pl.Tensor[[4, 8], pl.FP32],
    y: pl.Out[pl.Tensor[[4, 8], pl.FP32]],
    z: pl.Out[pl.Tensor[[1, 8], pl.FP32]],
):
    primes = [2.0]
    same = primes
    same += [3.0, 4.0]
    primes.append(7.0)
    both = [primes, 1.0]
    same[2] = 5.0
    rows: list = []
    for i in (0, 1, 2, 3):
        rows.append(x[i : i + 1, :] * both[0][i])
    rows.reverse()
    for i in (3, 2, 1, 0):
        y[i : i + 1, :] = rows.pop(0)
    for i in pl.range(2):
        parts = [x[i : i + 1, :] * 1.0] + [x[3:4, :] * 1.0]
        parts.insert(1, x[i : i + 1, :] * 0.0)
        parts.extend([parts.pop(0)])
        z[:, :] = parts[0] + parts[1] + parts[2] - x[1:2, :] + len(parts) * len(rows) * 1.0 + 0.0 * i
