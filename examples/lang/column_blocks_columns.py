# c += a @ b by blocks of columns: the Cube core multiplies, the Vector cores add. Each Vector core has half of the columns of a block.
import slipring.language as pl

M, K, N, BLOCK = 32, 64, 512, 64


@pl.incore
def column_blocks(
    a: pl.Tensor[[M, K], pl.FP32],
    b: pl.Tensor[[K, N], pl.FP32],
    c: pl.InOut[pl.Tensor[[M, N], pl.FP32]],
):
    for j in pl.range(0, N, BLOCK):
        product = pl.matmul(a, b[:, j : j + BLOCK])
        for lane in pl.split_aiv(2, mode=pl.SplitMode.LEFT_RIGHT):
            col = j + lane * (BLOCK // 2)
            c[:, col : col + BLOCK // 2] += pl.aiv_shard(product)
