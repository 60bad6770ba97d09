# Iterations that overlap are written out: so many are refused, however they are nested.
#
# test: check %s
# exit: 2
import slipring.language as pl

@pl.incore
def f(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    for a in pl.pipeline(32, stage=16):
        for b in pl.pipeline(32, stage=16):
            for c in pl.pipeline(32, stage=16):
                for d in pl.pipeline(32, stage=16):
                    for e in pl.pipeline(32, stage=16):
                        # error: too-large more than 65536 statements are compiled for this file
                        y[:] = x
