# slipring check FILE
WRONG = (lambda f: f(f))(lambda f: f(f))
def k(a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    out[:, :] = a[:, :] + DEEP
