# slipring run FILE
import pypto.language as pl
@pl.incore
def vector(out: pl.Out[pl.Tensor[[128, 32], pl.FP32]], gm_slot_buffer: pl.InOut[pl.Tensor[[256, 32], pl.FP32]]):
    slots = pl.reserve_buffer(name="c2v", size=SLOT_NUM * SLOT_SIZE, base=pl.AUTO)
@pl.incore
def cube(
    a: pl.Tensor[[128, 32], pl.FP16],
    b: pl.Tensor[[32, 32], pl.FP16],
    gm_slot_buffer: pl.InOut[pl.Tensor[[256, 32], pl.FP32]],
):
    slots = pl.import_peer_buffer(name="c2v", peer_func=vector)
@pl.function(type=pl.FunctionType.Orchestration)
def one_by_one(
    a: pl.Tensor[[128, 32], pl.FP16], b: pl.Tensor[[32, 32], pl.FP16], out: pl.Out[pl.Tensor[[128, 32], pl.FP32]]
):
    slots = pl.create_tensor([256, 32], pl.FP32)
    cube(a, b, gm_slot_buffer=slots)
