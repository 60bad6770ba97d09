# c += (a + 1) @ b: the Vector cores prepare the left operand and add up the result, each in its half of the rows.
import slipring.language as pl

N = 32
HALF = N // 2
DOWN = pl.SplitMode.UP_DOWN


@pl.incore
def there_and_back(
    a: pl.Tensor[[N, N], pl.FP32],
    b: pl.Tensor[[N, N], pl.FP32],
    c: pl.InOut[pl.Tensor[[N, N], pl.FP32]],
):
    for lane in pl.split_aiv(2, mode=DOWN):
        row = lane * HALF
        left = pl.aic_gather(a[row : row + HALF, :] + 1.0)
    product = pl.matmul(left, b)
    for lane in pl.split_aiv(2, mode=DOWN):
        row = lane * HALF
        c[row : row + HALF, :] += pl.aiv_shard(product)
