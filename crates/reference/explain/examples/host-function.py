# slipring run FILE --func kernel
import slipring.language as pl
@pl.incore
def kernel(a: pl.Tensor[[1, 8], pl.FP32], b: pl.Out[pl.Tensor[[1, 8], pl.FP32]]):
    b[:] = a + 1
@pl.function(type=pl.FunctionType.Orchestration)
def main(a: pl.Tensor[[1, 8], pl.FP32]):
    b = pl.create_tensor([1, 8], pl.FP32)
