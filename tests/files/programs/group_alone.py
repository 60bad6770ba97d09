# A function of type Group that nobody starts: one task of one cluster, as where it is started.
# args: full:bf16[16x128]=1 full:bf16[128x64]=0.5 zeros:f32[16x64]
# test: run %s --arch a5
# check: #0 cube + vec
# out[2]: f32 1024*64
# test: check %s --arch a5
# check: ok
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIC)
    def cube(
        self,
        x: pl.Tensor[[16, 128], pl.BF16],
        y: pl.Tensor[[128, 64], pl.BF16],
        out: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ):
        c2v = pl.import_peer_buffer(name="c2v", peer_func="vec")
        pl.aic_initialize_pipe(c2v, 0, dir_mask=1, slot_size=4096, slot_num=2)
        left = pl.move(pl.load(x, [0, 0], [16, 128], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Left)
        right = pl.move(pl.load(y, [0, 0], [128, 64], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Right)
        pl.tpush_to_aiv(pl.matmul(left, right), split=0)

    @pl.function(type=pl.FunctionType.AIV)
    def vec(
        self,
        x: pl.Tensor[[16, 128], pl.BF16],
        y: pl.Tensor[[128, 64], pl.BF16],
        out: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ) -> pl.Tensor[[16, 64], pl.FP32]:
        c2v = pl.reserve_buffer(name="c2v", size=8192, base=-1)
        pl.aiv_initialize_pipe(c2v, 0, dir_mask=1, slot_size=4096, slot_num=2)
        z: pl.Tile[[16, 64], pl.FP32, pl.MemorySpace.Vec] = pl.tpop_from_aic(split=0)
        r = pl.store(z, [0, 0], out)
        pl.tfree_to_aic(z)
        return r

    @pl.function(type=pl.FunctionType.Group)
    def pair(
        self,
        x: pl.Tensor[[16, 128], pl.BF16],
        y: pl.Tensor[[128, 64], pl.BF16],
        out: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    ) -> pl.Tensor[[16, 64], pl.FP32]:
        self.cube(x, y, out)
        out = self.vec(x, y, out)
        return out
