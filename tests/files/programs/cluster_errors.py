# What goes wrong in a cluster: a tensor that both cores of it touch without an order, a pop that nobody pushes for, kernels that are
# not one for each kind of core.
#
# platforms: a5, a2a3
# test: run %s --func race
# exit: 1 with race, task-unwritten
# check: error[race]
# test: run %s --func stuck
# exit: 1
# check: error[deadlock]
# test: run %s --func alike
# exit: 2
# check: error[cluster]
# check: `twice`, for vector
import pypto.language as pl

N = 64


@pl.program
class Wrong:
    @pl.function(type=pl.FunctionType.InCore)
    def product(
        self,
        a: pl.Tensor[[N, N], pl.FP16],
        b: pl.Tensor[[N, N], pl.FP16],
        out: pl.Out[pl.Tensor[[N, N], pl.FP32]],
    ) -> pl.Tensor[[N, N], pl.FP32]:
        out = pl.store(pl.matmul(pl.load(a, [0, 0], [N, N], target_memory=pl.Mem.Mat), pl.load(b, [0, 0], [N, N], target_memory=pl.Mem.Mat)), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.InCore)
    def twice(
        self, x: pl.Tensor[[N, N], pl.FP32], out: pl.Out[pl.Tensor[[N, N], pl.FP32]]
    ) -> pl.Tensor[[N, N], pl.FP32]:
        out = pl.store(pl.mul(pl.load(x, [0, 0], [N, N]), 2.0), [0, 0], out)
        return out

    @pl.function(type=pl.FunctionType.AIC)
    def pushes_nothing(self, a: pl.Tensor[[N, N], pl.FP16], slots: pl.InOut[pl.Tensor[[2 * N, N], pl.FP32]]):
        peer = pl.import_peer_buffer(name="c2v", peer_func="pops")
        pl.aic_initialize_pipe(dir_mask=1, slot_size=N * N * 4, c2v_consumer_buf=peer, gm_slot_buffer=slots, slot_num=2)

    @pl.function(type=pl.FunctionType.AIV)
    def pops(
        self, slots: pl.InOut[pl.Tensor[[2 * N, N], pl.FP32]], out: pl.Out[pl.Tensor[[N, N], pl.FP32]]
    ) -> pl.Tensor[[N, N], pl.FP32]:
        own = pl.reserve_buffer(name="c2v", size=2 * N * N * 4, base=pl.AUTO)
        pl.aiv_initialize_pipe(dir_mask=1, slot_size=N * N * 4, c2v_consumer_buf=own, gm_slot_buffer=slots, slot_num=2)
        tile = pl.tpop_from_aic(shape=[N, N], dtype=pl.FP32, split=0)
        out = pl.store(tile, [0, 0], out)
        pl.tfree_to_aic(tile)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def race(
        self,
        a: pl.Tensor[[N, N], pl.FP16],
        middle: pl.Out[pl.Tensor[[N, N], pl.FP32]],
        out: pl.Out[pl.Tensor[[N, N], pl.FP32]],
    ) -> pl.Tensor[[N, N], pl.FP32]:
        with pl.cluster():
            middle = self.product(a, a, middle)
            out = self.twice(middle, out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def stuck(
        self, a: pl.Tensor[[N, N], pl.FP16], out: pl.Out[pl.Tensor[[N, N], pl.FP32]]
    ) -> pl.Tensor[[N, N], pl.FP32]:
        slots = pl.create_tensor([2 * N, N], dtype=pl.FP32)
        with pl.cluster():
            self.pushes_nothing(a, slots)
            out = self.pops(slots, out)
        return out

    @pl.function(type=pl.FunctionType.Orchestration)
    def alike(
        self, x: pl.Tensor[[N, N], pl.FP32], middle: pl.Out[pl.Tensor[[N, N], pl.FP32]], out: pl.Out[pl.Tensor[[N, N], pl.FP32]]
    ) -> pl.Tensor[[N, N], pl.FP32]:
        with pl.cluster():
            middle = self.twice(x, middle)
            out = self.twice(x, out)
        return out
