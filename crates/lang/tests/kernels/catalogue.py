# Ops of every family, one after another.
import slipring.language as pl


@pl.jit
def catalogue(
    a: pl.Tensor[[32, 64], pl.FP32],
    b: pl.Tensor[[32, 64], pl.FP32],
    n: pl.Tensor[[32, 64], pl.INT32],
    rows: pl.Scalar[pl.INDEX],
    o: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
    m: pl.Out[pl.Tensor[[32, 64], pl.INT32]],
    s: pl.Out[pl.Tensor[[32, 1], pl.FP32]],
):
    x, y, k = pl.load(a, [0, 0], [32, 64]), pl.load(b, [0, 0], [32, 64]), pl.load(n, [0, 0], [32, 64])
    mask = pl.cmp(x, y, cmp_type="lt")
    z = pl.sel(mask, x, y)
    z = pl.sels(pl.cmps(z, 0.0, cmp_type=4), z, 0.5)
    z = pl.addc(z, x, y)
    z = pl.subsc(z, 2.0, x)
    z = pl.lrelu(pl.prelu(z, y), 0.125)
    z = pl.part_max(pl.rem(z, 3.0), pl.fmod(y, 2.0))
    z = pl.max(z, pl.min(x, y))
    j = pl.xor(pl.xors(k, 5), pl.arange(0, [32, 64], dtype=pl.INT32))
    m[:] = pl.add(j, pl.reinterpret_view(z, pl.INT32))
    part = pl.load(a, [0, 0], [32, 64], valid_shape=[rows, 48])
    e = pl.exp(pl.sub(part, 1.0))
    s[:] = pl.row_sum(pl.fillpad(e, pl.PadValue.zero))
    narrow = pl.set_validshape(z, 16, 64)
    z = pl.add(pl.fillpad(narrow, pl.PadValue.max), pl.tri(0, [32, 64], dtype=pl.FP32))
    nz = pl.move(z, pl.Mem.Vec, blayout=pl.TileLayout.col_major, slayout=pl.TileLayout.row_major)
    z = pl.move(nz, pl.Mem.Vec)
    big = pl.full([32, 64], pl.FP32, 0.0)
    big = pl.gather_row(big, a, [3, 0], [7, 0], [1, 64])
    pl.system.bar_all()
    pl.store(pl.add(z, big), [0, 0], o, atomic=pl.AtomicType.Add)


@pl.jit
def products(
    a: pl.Tensor[[32, 64], pl.FP16],
    b: pl.Tensor[[64, 32], pl.FP16],
    v: pl.Tensor[[1, 64], pl.FP16],
    o: pl.Out[pl.Tensor[[32, 32], pl.FP32]],
    w: pl.Out[pl.Tensor[[1, 32], pl.FP32]],
):
    w[:] = pl.gemv(v, b)
    l1 = pl.load(a, [0, 0], [32, 64], target_memory=pl.Mem.Mat)
    r1 = pl.load(b, [0, 0], [64, 32], target_memory=pl.Mem.Mat)
    acc = pl.matmul(
        pl.extract(l1, 0, 0, [32, 32], target_memory=pl.Mem.Left), pl.extract(r1, 0, 0, [32, 32], target_memory=pl.Mem.Right)
    )
    acc = pl.matmul_acc(
        acc,
        pl.extract(l1, 0, 32, [32, 32], target_memory=pl.Mem.Left),
        pl.extract(r1, 32, 0, [32, 32], target_memory=pl.Mem.Right),
    )
    o[:] = acc
