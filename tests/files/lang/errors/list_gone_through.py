# A list that changes while a loop goes through it, and an index that changes one and is needed twice. Copies may be gone through.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(x: pl.Tensor[[4, 8], pl.FP32], y: pl.Out[pl.Tensor[[4, 8], pl.FP32]]):
    total = 0
    grows = [1, 2, 3]
    # error: value-kind this list changes while the loop goes through it
    for number in grows:
        total = total + number
        if number == 1:
            grows.append(9)
    changed = [1, 2]
    for at, number in enumerate(changed):
        changed[at] = number + 1
    # error: value-kind this list changes while the loop goes through it
    for at, number in enumerate(changed):
        changed[1] = number + at + 5
    last = [1, 2]
    # error: value-kind this list changes while the loop goes through it
    for a, b in zip([1, 2], last):
        if a == 2:
            last.pop()
    popped = [1, 2, 3]
    # error: value-kind this list changes while the loop goes through it
    rest = [popped.pop() for number in popped]
    twice = [1, 2, 3, 0]
    # error: value-kind this index changes a list, and is needed twice
    twice[twice.pop()] += 10
    copied = [1, 2, 3]
    for number in copied[:]:
        copied.append(number)
    y[:, :] = x[:, :] + (total + len(rest) + len(copied))
