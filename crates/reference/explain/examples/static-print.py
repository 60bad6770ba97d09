# slipring check FILE
import slipring.language as pl
COUNT = 2
@pl.incore
def f(x: pl.Tensor[[COUNT, 16, 16], pl.FP32], y: pl.Out[pl.Tensor[[16, 16], pl.FP32]]):
    pl.static_print(f"the input is {x}")
    all_of_it = pl.load(x, [0, 0, 0], [COUNT, 16, 16])
    one: pl.Tile[[16, 16], pl.FP32] = all_of_it[1]
    y = pl.store(one, [0, 0], y)
