# A function for the Vector cores that pops under a split gets halves, whatever its attributes say: the whole shape is an error.
#
# platforms: a5, a2a3
# test: check %s
# exit: 2
import slipring.language as pl


@pl.program
class Whole:
    @pl.function(type=pl.FunctionType.AIC, attrs={"split": pl.SplitMode.UP_DOWN})
    def product(
        self,
        a: pl.Tensor[[32, 64], pl.BF16],
        b: pl.Tensor[[64, 32], pl.BF16],
        out: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ):
        there = pl.import_peer_buffer(name="there", peer_func="added")
        pl.aic_initialize_pipe(there, 0, dir_mask=1, slot_size=4096, slot_num=2)
        left = pl.move(pl.load(a, [0, 0], [32, 64], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Left)
        right = pl.move(pl.load(b, [0, 0], [64, 32], target_memory=pl.MemorySpace.Mat), target_memory=pl.MemorySpace.Right)
        # error: ring-shape a tile of 32 × 32 is pushed, but no pop takes 16 × 32
        pl.tpush_to_aiv(pl.matmul(left, right), split=1)

    @pl.function(type=pl.FunctionType.AIV, attrs={"split": pl.SplitMode.UP_DOWN})
    def added(
        self,
        a: pl.Tensor[[32, 64], pl.BF16],
        b: pl.Tensor[[64, 32], pl.BF16],
        out: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    ) -> pl.Tensor[[32, 32], pl.FP32]:
        there = pl.reserve_buffer(name="there", size=8192, base=-1)
        pl.aiv_initialize_pipe(there, 0, dir_mask=1, slot_size=4096, slot_num=2)
        z: pl.Tile[[32, 32], pl.FP32, pl.MemorySpace.Vec] = pl.tpop_from_aic(split=1)
        done = pl.store(pl.add(z, 1.0), [0, 0], out)
        pl.tfree_to_aic(z)
        return done
