# A product on the Cube core. The inner extent is taken in steps, which are added up in the accumulator.
import slipring.language as pl

M, N, K, STEP = 64, 64, 256, 64


@pl.incore
def matmul(
    a: pl.Tensor[[M, K], pl.FP16],
    b: pl.Tensor[[N, K], pl.FP16],
    c: pl.Out[pl.Tensor[[M, N], pl.FP32]],
):
    acc = pl.matmul(a[:, 0:STEP], b[:, 0:STEP], b_trans=True)
    for k in pl.range(STEP, K, STEP):
        acc = pl.matmul_acc(acc, a[:, k : k + STEP], b[:, k : k + STEP], b_trans=True)
    c[:] = acc
