# What something that is not followed may have changed is not known from there on, nor is what either arm of a branch changes.
#
# test: check %s
# exit: 2
# check: python -m slipring COMMAND FILE
import os
import random

import slipring.language as pl

SHUFFLED = [1.0, 2.0, 3.0]
ALIAS = SHUFFLED
random.shuffle(ALIAS)
GROWN = [1.0]
COUNT = 1.0
if os.environ.get("MORE"):
    GROWN.append(2.0)
    COUNT = 2.0
PICKED = [1.0]
OTHER = PICKED if os.environ.get("OTHER") else [2.0]
OTHER.append(3.0)
TURNS = [0.0]
for path in os.listdir("."):
    TURNS[0] += 1.0
FINE = [1.0]
len(FINE)


def registered(x):
    global LATER
    LATER = x


LATER = 1.0
random.seed(registered)
LATER = 2.0


@pl.incore
def k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    # error: not-constant `SHUFFLED` is not known
    t1 = a[:, :] + SHUFFLED[0]
    # error: not-constant `GROWN` is not known
    t2 = a[:, :] + len(GROWN)
    # error: not-constant `COUNT` is not known
    t3 = a[:, :] + COUNT
    # error: not-constant `PICKED` is not known
    t4 = a[:, :] + PICKED[0]
    # error: not-constant `TURNS` is not known
    t5 = a[:, :] + TURNS[0]
    # error: not-constant `LATER` is not known
    t6 = a[:, :] + LATER
    out[:, :] = a[:, :] + FINE[0]
