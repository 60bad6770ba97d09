# Two blocks add their parts of a sum over k: the order of the additions decides the last bits, which is no difference.
#
# args: rand:f16[32x256],seed=1 rand:f16[256x32],seed=2 zeros:f32[32x32]
# blocks: 2
# test: run %s --arch a5 --verify
# check: race    clean
# check: verify  clean  same bytes as the sequential semantics: a, b, o (up to the order of its atomic additions)
# test: run %s --arch a2a3 --verify
# check: verify  clean  same bytes as the sequential semantics: a, b, o (up to the order of its atomic additions)
import slipring.language as pl


@pl.incore
def split_k(
    a: pl.Tensor[[32, 256], pl.FP16],
    b: pl.Tensor[[256, 32], pl.FP16],
    o: pl.InOut[pl.Tensor[[32, 32], pl.FP32]],
):
    block = pl.get_block_idx()
    for i in pl.range(2):
        k = (block * 2 + i) * 64
        p = pl.matmul(a[:, k : k + 64], b[k : k + 64, :])
        pl.store(p, [0, 0], o, atomic=pl.AtomicType.Add)
