# slipring check FILE
import slipring.language as pl
@pl.incore
def nested(x: pl.Tensor[[64, 64], pl.FP32], y: pl.InOut[pl.Tensor[[64, 64], pl.FP32]]):
    for i in pl.range(2):
        for j in pl.range(i, 4):
            pl.store(pl.load(x, [0, 0], [32, 32]), [0, i * 16 + j * 16], y)
            pl.store(pl.load(x, [j * 16, 0], [16, 64]), [0, 0], y)
