# Tiles pushed and popped by hand in a kernel for both kinds of core: two pipes, both directions of one of them, and a popped tile that
# a loop carries to its next iteration, where its slot is given back.
#
# platforms: a5, a2a3
# test: run %s --verify
# check: memory clean
# check: race clean
# check: init clean
# check: verify clean
# out[2]: f32 16*30.5 16*94.5 16*158.5 16*222.5 16*286.5 16*350.5 16*414.5 16*478.5 16*542.5 16*606.5 16*670.5 16*734.5 16*798.5 16*862.5 16*926.5 16*990.5 16*1054.5 16*1118.5 16*1182.5 16*1246.5 16*1310.5 16*1374.5 16*1438.5 16*1502.5 16*1566.5 16*1630.5 16*1694.5 16*1758.5 16*1822.5 16*1886.5 16*1950.5 16*2014.5 16*2078.5 16*2142.5 16*2206.5 16*2270.5 16*2334.5 16*2398.5 16*2462.5 16*2526.5 16*2590.5 16*2654.5 16*2718.5 16*2782.5 16*2846.5 16*2910.5 16*2974.5 16*3038.5 16*3102.5 16*3166.5 16*3230.5 16*3294.5 16*3358.5 16*3422.5 16*3486.5 16*3550.5 16*3614.5 16*3678.5 16*3742.5 16*3806.5 16*3870.5 16*3934.5 16*3998.5 16*4062.5
# out[3]: f32 16*6208.0 16*6336.0 16*6464.0 16*6592.0 16*6720.0 16*6848.0 16*6976.0 16*7104.0 16*7232.0 16*7360.0 16*7488.0 16*7616.0 16*7744.0 16*7872.0 16*8000.0 16*8128.0
# args: iota:f32[64x16] full:f32[16x16]=0.25 zeros:f32[64x16] zeros:f32[16x16]
import slipring.language as pl


@pl.incore
def pipelined(
    x: pl.Tensor[[64, 16], pl.FP32],
    w: pl.Tensor[[16, 16], pl.FP32],
    y: pl.Out[pl.Tensor[[64, 16], pl.FP32]],
    z: pl.Out[pl.Tensor[[16, 16], pl.FP32]],
):
    pl.tpush_to_aiv(pl.matmul(x[0:16, :], w), id=1)
    t = pl.tpop_from_aic(id=1)
    for i in pl.range(1, 4):
        row = i * 16
        pl.tpush_to_aiv(pl.matmul(x[row : row + 16, :], w), id=1)
        ahead = pl.tpop_from_aic(id=1)
        before = row - 16
        y[before : before + 16, :] = t + 0.5
        pl.tfree_to_aic(t, id=1)
        t = ahead
    y[48:64, :] = t + 0.5
    pl.tpush_to_aic(t * 0.5)
    pl.tfree_to_aic(t, id=1)
    s = pl.tpop_from_aiv()
    u = pl.matmul(s, w)
    pl.tfree_to_aiv(s)
    pl.tpush_to_aiv(u)
    v = pl.tpop_from_aic()
    z[:] = v + 4.0
    pl.tfree_to_aic(v)
