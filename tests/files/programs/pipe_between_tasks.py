# Two kernels that pass tiles through a ring: in a cluster, where `None` may be passed for slots that a platform with rings on chip
# does not need; started one by one they are an error.
# args: full:f16[128x32]=1 full:f16[32x32]=0.5 zeros:f32[128x32]
# test: run %s --arch a5 --func together
# check: #0 cube + vector
# out[2]: f32 4096*32
# test: run %s --arch a2a3 --func together
# exit: 2 with gm-slot-buffer 2
# check: error[gm-slot-buffer]: requires 'gm_slot_buffer': this platform keeps rings in global memory
# test: run %s --arch a5 --func one_by_one
# exit: 2
# check: error[cluster]: `cube` passes tiles to or from `vector`, and is started without it
# check: start both in one `with pl.cluster():`, or in a function of type Group
import pypto.language as pl

SLOT_NUM, SLOT_SIZE = 8, 4096


@pl.incore
def vector(out: pl.Out[pl.Tensor[[128, 32], pl.FP32]], gm_slot_buffer: pl.InOut[pl.Tensor[[256, 32], pl.FP32]]):
    slots = pl.reserve_buffer(name="c2v", size=SLOT_NUM * SLOT_SIZE, base=pl.AUTO)
    aiv_initialize_pipe(DIR_C2V, SLOT_SIZE, gm_slot_buffer, c2v_consumer_buf=slots.base, v2c_consumer_buf=0)
    for i in pl.range(4):
        tile = TPOP(slots)
        out[i * 32 : i * 32 + 32, :] = tile * 2.0
        TFREE(tile)


@pl.incore
def cube(
    a: pl.Tensor[[128, 32], pl.FP16],
    b: pl.Tensor[[32, 32], pl.FP16],
    gm_slot_buffer: pl.InOut[pl.Tensor[[256, 32], pl.FP32]],
):
    slots = pl.import_peer_buffer(name="c2v", peer_func=vector)
    aic_initialize_pipe(DIR_C2V, SLOT_SIZE, gm_slot_buffer, c2v_consumer_buf=slots.base, v2c_consumer_buf=0)
    for i in pl.range(4):
        TPUSH(pl.matmul(a[i * 32 : i * 32 + 32, :], b), slots)


@pl.function(type=pl.FunctionType.Orchestration)
def together(
    a: pl.Tensor[[128, 32], pl.FP16], b: pl.Tensor[[32, 32], pl.FP16], out: pl.Out[pl.Tensor[[128, 32], pl.FP32]]
):
    with pl.cluster():
        cube(a, b, gm_slot_buffer=None)
        vector(out, gm_slot_buffer=None)


@pl.function(type=pl.FunctionType.Orchestration)
def one_by_one(
    a: pl.Tensor[[128, 32], pl.FP16], b: pl.Tensor[[32, 32], pl.FP16], out: pl.Out[pl.Tensor[[128, 32], pl.FP32]]
):
    slots = pl.create_tensor([256, 32], pl.FP32)
    cube(a, b, gm_slot_buffer=slots)
    vector(out, gm_slot_buffer=slots)
