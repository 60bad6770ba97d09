# Once a function has a region, nothing crosses outside of regions by itself.
#
# test: check %s
# exit: 2
import slipring.language as pl


@pl.incore
def f(a: pl.Tensor[[64, 64], pl.FP16], y: pl.Out[pl.Tensor[[64, 64], pl.FP32]], z: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    c = pl.matmul(a, a)
    for lane in pl.split_aiv(2, mode=pl.SplitMode.UP_DOWN):
        y[lane * 32 : lane * 32 + 32, :] = pl.aiv_shard(c)
    # error: needs-shard the Vector cores read a tile of the Cube core that was not handed to them
    # error: vector-outside `texp` is Vector work outside every region
    z[:] = pl.exp(c)
