# Attention over pages of keys and values: the orchestration reads how long each request is and where its pages lie. With a query of
# zeros all valid keys weigh the same.
#
# platforms: a5, a2a3
# test: run %s --verify --arg zeros:bf16[32x64] --arg rand:bf16[256x64] --arg full:bf16[256x64]=0.5 --arg iota:i32[6] --arg full:i32[2]=70 --arg zeros:f32[32x64]
# exit: 0
# check: kernels clean
# check: tasks clean
# check: verify clean
# check: read table (b = 0, q = 0, n = 1)
# check: update (b = 1, q = 0, n = 2)
# out[5]: f32 2048*0.5
import pypto.language as pl

BATCH, HEADS, DIM, BLOCK, BLOCKS = 2, 16, 64, 32, 3
QT = 16


@pl.program
class Paged:
    @pl.function(type=pl.FunctionType.InCore)
    def qk(
        self,
        qi: pl.Tensor[[QT, DIM], pl.BF16],
        kj: pl.Tensor[[BLOCK, DIM], pl.BF16],
        sij: pl.Out[pl.Tensor[[QT, BLOCK], pl.FP32]],
    ) -> pl.Tensor[[QT, BLOCK], pl.FP32]:
        q = pl.load(qi, [0, 0], [QT, DIM], target_memory=pl.MemorySpace.Mat)
        k = pl.load(kj, [0, 0], [BLOCK, DIM], target_memory=pl.MemorySpace.Mat)
        kt = pl.transpose_view(k)
        ql = pl.move(q, target_memory=pl.MemorySpace.Left)
        kr = pl.move(kt, target_memory=pl.MemorySpace.Right)
        s = pl.matmul(ql, kr)
        sij = pl.store(s, [0, 0], sij)
        return sij

    @pl.function(type=pl.FunctionType.InCore)
    def softmax(
        self,
        sij: pl.Tensor[[QT, BLOCK], pl.FP32],
        scale: pl.Scalar[pl.FP32],
        valid: pl.Scalar[pl.INDEX],
        pij: pl.Out[pl.Tensor[[QT, BLOCK], pl.BF16]],
        mi: pl.Out[pl.Tensor[[QT, 1], pl.FP32]],
        li: pl.Out[pl.Tensor[[QT, 1], pl.FP32]],
    ) -> tuple[pl.Tensor[[QT, BLOCK], pl.BF16], pl.Tensor[[QT, 1], pl.FP32], pl.Tensor[[QT, 1], pl.FP32]]:
        s = pl.load(sij, [0, 0], [QT, BLOCK], valid_shape=[QT, valid])
        s = pl.fillpad(s, pad_value=pl.PadValue.min)
        s = pl.mul(s, scale)
        tmp = pl.create_tile([QT, BLOCK], dtype=pl.FP32, target_memory=pl.MemorySpace.Vec)
        m = pl.row_max(s, tmp)
        e = pl.exp(pl.row_expand_sub(s, m))
        p16 = pl.cast(e, target_type=pl.BF16)
        p = pl.cast(p16, target_type=pl.FP32)
        l = pl.row_sum(p, tmp)
        pij = pl.store(p16, [0, 0], pij)
        mi = pl.store(m, [0, 0], mi)
        li = pl.store(l, [0, 0], li)
        return pij, mi, li

    @pl.function(type=pl.FunctionType.InCore)
    def pv(
        self,
        pij: pl.Tensor[[QT, BLOCK], pl.BF16],
        vj: pl.Tensor[[BLOCK, DIM], pl.BF16],
        oi: pl.Out[pl.Tensor[[QT, DIM], pl.FP32]],
    ) -> pl.Tensor[[QT, DIM], pl.FP32]:
        p = pl.load(pij, [0, 0], [QT, BLOCK], target_memory=pl.MemorySpace.Mat)
        v = pl.load(vj, [0, 0], [BLOCK, DIM], target_memory=pl.MemorySpace.Mat)
        o = pl.matmul(pl.move(p, target_memory=pl.MemorySpace.Left), pl.move(v, target_memory=pl.MemorySpace.Right))
        oi = pl.store(o, [0, 0], oi)
        return oi

    @pl.function(type=pl.FunctionType.InCore)
    def update(
        self,
        mij: pl.Tensor[[QT, 1], pl.FP32],
        lij: pl.Tensor[[QT, 1], pl.FP32],
        oij: pl.Tensor[[QT, DIM], pl.FP32],
        mi: pl.InOut[pl.Tensor[[QT, 1], pl.FP32]],
        li: pl.InOut[pl.Tensor[[QT, 1], pl.FP32]],
        oi: pl.InOut[pl.Tensor[[QT, DIM], pl.FP32]],
        dst: pl.Out[pl.Tensor[[QT, DIM], pl.FP32]],
        is_first: pl.Scalar[pl.INDEX],
        is_last: pl.Scalar[pl.INDEX],
    ) -> tuple[
        pl.Tensor[[QT, 1], pl.FP32],
        pl.Tensor[[QT, 1], pl.FP32],
        pl.Tensor[[QT, DIM], pl.FP32],
        pl.Tensor[[QT, DIM], pl.FP32],
    ]:
        mn = pl.load(mij, [0, 0], [QT, 1])
        ln = pl.load(lij, [0, 0], [QT, 1])
        on = pl.load(oij, [0, 0], [QT, DIM])
        if is_first == 1:
            mi = pl.store(mn, [0, 0], mi)
            li = pl.store(ln, [0, 0], li)
            oi = pl.store(on, [0, 0], oi)
            if is_last == 1:
                dst = pl.store(pl.row_expand_div(on, ln), [0, 0], dst)
            else:
                zero = pl.full([QT, DIM], dtype=pl.FP32, value=0.0)
                dst = pl.store(zero, [0, 0], dst)
        else:
            m = pl.load(mi, [0, 0], [QT, 1])
            l = pl.load(li, [0, 0], [QT, 1])
            o = pl.load(oi, [0, 0], [QT, DIM])
            mr = pl.reshape(m, [1, QT])
            mnr = pl.reshape(mn, [1, QT])
            lr = pl.reshape(l, [1, QT])
            lnr = pl.reshape(ln, [1, QT])
            mu = pl.maximum(mr, mnr)
            a = pl.exp(pl.sub(mr, mu))
            b = pl.exp(pl.sub(mnr, mu))
            lu = pl.add(pl.mul(a, lr), pl.mul(b, lnr))
            ou = pl.add(
                pl.row_expand_mul(o, pl.reshape(a, [QT, 1])), pl.row_expand_mul(on, pl.reshape(b, [QT, 1]))
            )
            mi = pl.store(pl.reshape(mu, [QT, 1]), [0, 0], mi)
            li = pl.store(pl.reshape(lu, [QT, 1]), [0, 0], li)
            if is_last == 1:
                dst = pl.store(pl.row_expand_div(ou, pl.reshape(lu, [QT, 1])), [0, 0], dst)
                oi = pl.store(ou, [0, 0], oi)
            else:
                oi = pl.store(ou, [0, 0], oi)
                zero = pl.full([QT, DIM], dtype=pl.FP32, value=0.0)
                dst = pl.store(zero, [0, 0], dst)
        return mi, li, oi, dst

    @pl.function(type=pl.FunctionType.Orchestration)
    def attention(
        self,
        query: pl.Tensor[[BATCH * HEADS, DIM], pl.BF16],
        keys: pl.Tensor[[8 * BLOCK, DIM], pl.BF16],
        values: pl.Tensor[[8 * BLOCK, DIM], pl.BF16],
        table: pl.Tensor[[BATCH * BLOCKS], pl.INT32],
        lens: pl.Tensor[[BATCH], pl.INT32],
        out: pl.Out[pl.Tensor[[BATCH * HEADS, DIM], pl.FP32]],
    ) -> pl.Tensor[[BATCH * HEADS, DIM], pl.FP32]:
        batch, heads, blocks, size = BATCH, HEADS, BLOCKS, BLOCK
        rounds = (heads + QT - 1) // QT
        for b in pl.range(batch):
            seq: pl.Scalar[pl.INT32] = pl.tensor.read(lens, [b])
            count = (seq + size - 1) // size
            for q in pl.range(rounds):
                at = b * heads + q * QT
                oi: pl.Tensor[[QT, DIM], pl.FP32] = pl.create_tensor([QT, DIM], dtype=pl.FP32)
                li = pl.create_tensor([QT, 1], dtype=pl.FP32)
                mi = pl.create_tensor([QT, 1], dtype=pl.FP32)
                for n, (m_, l_, o_) in pl.range(count, init_values=(mi, li, oi)):
                    qi = pl.slice(query, [QT, DIM], [at, 0])
                    block = pl.tensor.read(table, [b * blocks + n])
                    valid = pl.min(size, seq - n * size)
                    row = block * size
                    kj = pl.slice(keys, [BLOCK, DIM], [row, 0])
                    vj = pl.slice(values, [BLOCK, DIM], [row, 0])
                    sij = pl.create_tensor([QT, BLOCK], dtype=pl.FP32)
                    sij = self.qk(qi, kj, sij)
                    pij = pl.create_tensor([QT, BLOCK], dtype=pl.BF16)
                    mij = pl.create_tensor([QT, 1], dtype=pl.FP32)
                    lij = pl.create_tensor([QT, 1], dtype=pl.FP32)
                    pij, mij, lij = self.softmax(sij, 0.125, valid, pij, mij, lij)
                    oij = pl.create_tensor([QT, DIM], dtype=pl.FP32)
                    oij = self.pv(pij, vj, oij)
                    if n == 0:
                        first: pl.Scalar[pl.INDEX] = pl.yield_(1)
                    else:
                        first: pl.Scalar[pl.INDEX] = pl.yield_(0)
                    last = 1 if n == count - 1 else 0
                    view = pl.slice(out, [QT, DIM], [at, 0])
                    m_, l_, o_, view = self.update(mij, lij, oij, m_, l_, o_, view, first, last)
                    mi, li, oi = pl.yield_(m_, l_, o_)
        return out
