# c += (a + 1) @ b: the Vector cores prepare the left operand and add up the result, undivided: one of them does it.
import slipring.language as pl

N = 32


@pl.incore
def there_and_back(
    a: pl.Tensor[[N, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    c: pl.InOut[pl.Tensor[[N, N], pl.FP32]],
):
    c[:] = c + pl.matmul(a + 1.0, b)
