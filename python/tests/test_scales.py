"""Scales of products with scales."""

import copy
import pickle

import numpy as np
import pytest
import slipring
import slipring.language as pl

ml_dtypes = pytest.importorskip("ml_dtypes")
E8 = ml_dtypes.float8_e8m0fnu


def test_bytes_lie_where_the_manual_has_them():
    m, groups = 48, 4
    scales = np.arange(m * groups, dtype=np.uint8).reshape(m, groups)
    by_rows = slipring.pack_scales(scales, pl.MX_A_ZZ).reshape(-1)
    by_columns = slipring.pack_scales(scales.T, "MX_B_NN").reshape(-1)
    for i in range(m):
        for g in range(groups):
            at = ((i // 16) * (groups // 2) + g // 2) * 32 + i % 16 * 2 + g % 2
            assert by_rows[at] == scales[i, g] and by_columns[at] == scales[i, g]
    assert slipring.pack_scales(scales.view(E8), pl.MX_A_ZZ).dtype == E8


@pytest.mark.parametrize("shape", [(32, 64, 32), (32, 128, 48), (64, 192, 16)])
def test_packed_scales_give_the_product(shape):
    m, k, n = shape
    rng = np.random.default_rng(0)

    @pl.jit
    def product(
        a: pl.Tensor,
        a_scale: pl.Tensor[[m, k // 32], pl.FP8E8M0, pl.MX_A_ZZ],
        b: pl.Tensor,
        b_scale: pl.Tensor[[k // 32, n], pl.FP8E8M0, pl.MX_B_NN],
        out: pl.Out[pl.Tensor],
    ):
        out[:, :] = pl.matmul_mx(a[:, :], a_scale[:, :], b[:, :], b_scale[:, :])

    # Whole numbers and powers of two: sums are exact in any order.
    a = rng.integers(-4, 5, (m, k)).astype(ml_dtypes.float8_e4m3fn)
    b = rng.integers(-4, 5, (k, n)).astype(ml_dtypes.float8_e4m3fn)
    a_scale, b_scale = (np.exp2(rng.integers(-2, 3, s)) for s in ((m, k // 32), (k // 32, n)))
    left = a.astype(np.float64) * np.repeat(a_scale, 32, 1)
    right = b.astype(np.float64) * np.repeat(b_scale, 32, 0)
    out = np.zeros((m, n), np.float32)
    packed = slipring.pack_scales(a_scale.astype(E8), pl.MX_A_ZZ), slipring.pack_scales(b_scale.astype(E8), pl.MX_B_NN)
    run = product.run(a, packed[0], b, packed[1], out, platform="a5", verify=True)
    assert run.verdict == "clean" and np.array_equal(out, left @ right)
    said = [finding for finding in run.findings if finding["code"] == "packed-scales"]
    assert len(said) == (1 if k == 64 else 2) and all("pack_scales" in one["help"] for one in said)


def test_an_array_that_does_not_say_how_it_lies_is_refused():
    @pl.jit
    def product(
        a: pl.Tensor,
        a_scale: pl.Tensor[[16, 4], pl.FP8E8M0, pl.MX_A_ZZ],
        b: pl.Tensor,
        b_scale: pl.Tensor[[4, 16], pl.FP8E8M0, pl.MX_B_NN],
        out: pl.Out[pl.Tensor],
    ):
        out[:, :] = pl.matmul_mx(a[:, :], a_scale[:, :], b[:, :], b_scale[:, :])

    a, b = (np.ones(s, ml_dtypes.float8_e4m3fn) for s in ((16, 128), (128, 16)))
    out = np.zeros((16, 16), np.float32)
    natural = np.exp2(np.arange(64).reshape(16, 4) % 5 - 2).astype(E8)
    left, right = slipring.pack_scales(natural, pl.MX_A_ZZ), slipring.pack_scales(natural.T.copy(), pl.MX_B_NN)
    # Plain arrays, parts and copies of packed ones, and those of the other operand.
    for scales, said in (
        ((natural, right), "`a_scale`.*pack_scales"),
        ((left, natural.T.copy()), "`b_scale`.*pack_scales"),
        ((np.array(left), right), "`a_scale`.*packed_scales"),
        ((slipring.packed_scales(left, pl.MX_B_NN), right), "packed as pl.MX_A_ZZ, and these are packed as pl.MX_B_NN"),
    ):
        for ways in (product.run, product, product.prove):
            with pytest.raises(TypeError, match=said):
                ways(a, scales[0], b, scales[1], out, platform="a5")
    assert not out.any()
    by_hand = slipring.packed_scales(np.array(left), "MX_A_ZZ")
    for kept in (pickle.loads(pickle.dumps(by_hand)), by_hand.copy(), copy.deepcopy(by_hand)):
        assert kept.slipring_layout == "MX_A_ZZ" and np.array_equal(kept.view(np.uint8), by_hand.view(np.uint8))
    assert by_hand[:1].slipring_layout is None
    product.run(a, by_hand, b, right, out, platform="a5")
    expected = np.repeat(natural.astype(np.float64), 32, 1) @ np.repeat(natural.astype(np.float64).T, 32, 0)
    assert np.array_equal(out, expected)


def test_what_cannot_be_packed_is_refused():
    bytes_of = lambda *shape: np.zeros(shape, np.uint8)
    for scales, layout, said in (
        (bytes_of(16, 3), pl.MX_A_ZZ, "multiples of 64"),
        (bytes_of(8, 2), pl.MX_A_ZZ, "multiples of 16"),
        # Rows and columns exchanged.
        (bytes_of(32, 4), pl.MX_B_NN, "multiples of 16"),
        (bytes_of(16, 2), "MX_A_ND", "not as 'MX_A_ND'"),
        (bytes_of(2, 2, 16, 2), pl.MX_A_ZZ, "an array"),
        (np.zeros((16, 2), np.float32), pl.MX_A_ZZ, "float8_e8m0fnu"),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            slipring.pack_scales(scales, layout)
