# c += (a + 1) @ b: the Vector cores prepare the left operand and add up the result, each in its half of the columns.
import slipring.language as pl

N = 32
HALF = N // 2
ACROSS = pl.SplitMode.LEFT_RIGHT


@pl.incore
def there_and_back(
    a: pl.Tensor[[N, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    c: pl.InOut[pl.Tensor[[N, N], pl.FP32]],
):
    for lane in pl.split_aiv(2, mode=ACROSS):
        col = lane * HALF
        left = pl.aic_gather(a[:, col : col + HALF] + 1.0)
    product = pl.matmul(left, b)
    for lane in pl.split_aiv(2, mode=ACROSS):
        col = lane * HALF
        c[:, col : col + HALF] += pl.aiv_shard(product)
