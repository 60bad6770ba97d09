# A Cube and a Vector kernel of one cluster are one task: they run at the same time and pass tiles through a ring.
#
# platforms: a5, a2a3
# test: run %s --func ring --verify --arg full:f16[32x64]=0.5 --arg full:f16[64x64]=0.25 --arg full:f32[32x64]=3 --arg zeros:f32[32x64] --arg zeros:f32[32x64]
# exit: 0
# check: 2 tasks with 1 edge
# check: kernels clean
# check: tasks clean
# check: verify clean
# check: cube + vector
# check: after_it
# out[3]: f32 2048*11.0
# out[4]: f32 2048*22.0
# test: run %s --func grouped --verify --arg full:f16[32x64]=0.5 --arg full:f16[64x64]=0.25 --arg full:f32[32x64]=3 --arg zeros:f32[32x64] --arg zeros:f32[32x64]
# exit: 0
# check: 2 tasks with 1 edge
# check: verify clean
# out[3]: f32 2048*11.0
# out[4]: f32 2048*22.0
# test: graph %s --func ring
# exit: 0
# check: ring: 2 tasks, 1 edge
# check: cube + vector
# test: check %s
# exit: 0
import pypto.language as pl

ROWS, N = 32, 64
SLOT = ROWS * N * 4


@pl.program
class Clusters:
    @pl.function(type=pl.FunctionType.AIC)
    def cube(
        self,
        a: pl.Tensor[[ROWS, N], pl.FP16],
        b: pl.Tensor[[N, N], pl.FP16],
        slots: pl.InOut[pl.Tensor[[2 * ROWS, N], pl.FP32]],
    ):
        peer = pl.import_peer_buffer(name="c2v", peer_func="vector")
        pl.aic_initialize_pipe(dir_mask=1, slot_size=SLOT, c2v_consumer_buf=peer, gm_slot_buffer=slots, slot_num=2)
        pl.tpush_to_aiv(pl.matmul(a, b), split=1)

    @pl.function(type=pl.FunctionType.AIV)
    def vector(
        self,
        bias: pl.Tensor[[ROWS, N], pl.FP32],
        slots: pl.InOut[pl.Tensor[[2 * ROWS, N], pl.FP32]],
        out: pl.Out[pl.Tensor[[ROWS, N], pl.FP32]],
    ) -> pl.Tensor[[ROWS, N], pl.FP32]:
        own = pl.reserve_buffer(name="c2v", size=2 * SLOT, base=pl.AUTO)
        pl.aiv_initialize_pipe(dir_mask=1, slot_size=SLOT, c2v_consumer_buf=own, gm_slot_buffer=slots, slot_num=2)
        row = pl.get_subblock_idx() * (ROWS // 2)
        half = pl.tpop_from_aic(shape=[ROWS // 2, N], dtype=pl.FP32, split=1)
        sum = pl.add(half, pl.load(bias, [row, 0], [ROWS // 2, N]))
        pl.tfree_to_aic(half)
        out = pl.store(sum, [row, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def after_it(
        self, x: pl.Tensor[[ROWS, N], pl.FP32], out: pl.Out[pl.Tensor[[ROWS, N], pl.FP32]]
    ) -> pl.Tensor[[ROWS, N], pl.FP32]:
        out = pl.store(pl.mul(pl.load(x, [0, 0], [ROWS, N]), 2.0), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def ring(
        self,
        a: pl.Tensor[[ROWS, N], pl.FP16],
        b: pl.Tensor[[N, N], pl.FP16],
        bias: pl.Tensor[[ROWS, N], pl.FP32],
        sum: pl.Out[pl.Tensor[[ROWS, N], pl.FP32]],
        out: pl.Out[pl.Tensor[[ROWS, N], pl.FP32]],
    ) -> pl.Tensor[[ROWS, N], pl.FP32]:
        slots = pl.create_tensor([2 * ROWS, N], dtype=pl.FP32)
        with pl.cluster():
            self.cube(a, b, slots)
            sum = self.vector(bias, slots, sum)
        out = self.after_it(sum, out)
        return out

    @pl.function(type=pl.FunctionType.Group)
    def both(
        self,
        a: pl.Tensor[[ROWS, N], pl.FP16],
        b: pl.Tensor[[N, N], pl.FP16],
        bias: pl.Tensor[[ROWS, N], pl.FP32],
        slots: pl.InOut[pl.Tensor[[2 * ROWS, N], pl.FP32]],
        sum: pl.Out[pl.Tensor[[ROWS, N], pl.FP32]],
    ) -> pl.Tensor[[ROWS, N], pl.FP32]:
        self.cube(a, b, slots)
        sum = self.vector(bias, slots, sum)
        return sum

    @pl.function(type=pl.FunctionType.Orchestration)
    def grouped(
        self,
        a: pl.Tensor[[ROWS, N], pl.FP16],
        b: pl.Tensor[[N, N], pl.FP16],
        bias: pl.Tensor[[ROWS, N], pl.FP32],
        sum: pl.Out[pl.Tensor[[ROWS, N], pl.FP32]],
        out: pl.Out[pl.Tensor[[ROWS, N], pl.FP32]],
    ) -> pl.Tensor[[ROWS, N], pl.FP32]:
        slots = pl.create_tensor([2 * ROWS, N], dtype=pl.FP32)
        with pl.manual_scope():
            sum, first = pl.submit(self.both, a, b, bias, slots, sum)
            out, second = pl.submit(self.after_it, sum, out, deps=[first])
        return out
