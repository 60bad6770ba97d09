use proptest::prelude::*;

use super::*;

fn layouts(elem: Elem, rows: u32, cols: u32) -> Vec<Layout> {
    let mut all = Vec::new();
    for blayout in [BLayout::RowMajor, BLayout::ColMajor] {
        for slayout in [SLayout::NoneBox, SLayout::RowMajor, SLayout::ColMajor] {
            for fractal in [512, 1024] {
                all.push(Layout { elem, rows, cols, blayout, slayout, fractal });
            }
        }
    }
    all
}

/// Bytes with a short period that make finite values of every type, some special ones with `wild`.
fn fill(layout: &Layout, seed: u32, wild: bool) -> Vec<u8> {
    let mut state = seed | 1;
    let mut bytes = vec![0; layout.bytes()];
    for e in bytes.chunks_mut(layout.elem.bytes()) {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let x = ((state >> 8) as f32 / (1 << 20) as f32 - 8.0) * if wild && state >> 27 == 3 { 1e30 } else { 1.0 };
        crate::store_f32(layout.elem, &[x], e);
    }
    bytes
}

fn at<T: Term>(layout: &Layout, bytes: &[u8], row: usize, col: usize) -> T {
    let offset = layout.offset(row as u32, col as u32);
    let mut one = [T::default()];
    T::load(layout.elem, &bytes[offset..offset + layout.elem.bytes()], &mut one);
    one[0]
}

/// The definition: one product after the other.
fn naive<T: Term>(o: &Operands, dst: &mut [u8], layout: &Layout, add: fn(T, T, T) -> T) {
    for i in 0..o.m {
        for j in 0..o.n {
            let to = layout.offset(i as u32, j as u32);
            let mut sum = match o.init {
                Init::Zero => T::default(),
                Init::Acc => T::get(dst[to..to + 4].try_into().unwrap()),
                Init::Bias(b) => T::get(b[4 * j..4 * j + 4].try_into().unwrap()),
            };
            for k in 0..o.k {
                sum = add(at(o.a_layout, o.a, i, k), at(o.b_layout, o.b, k, j), sum);
            }
            dst[to..to + 4].copy_from_slice(&sum.canonical().put());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn same_bits_as_the_definition(
        (mb, kb, nb) in (1u32..4, 1u32..3, 1u32..4),
        cut in (0usize..40, 0usize..40, 0usize..40),
        which in (0usize..12, 0usize..12, 0usize..12),
        elems in (0usize..5, 0usize..5, 0usize..2),
        init in 0usize..3,
        seed: u32,
        wild: bool,
    ) {
        let floats = [Elem::F32, Elem::F16, Elem::BF16, Elem::F8E4M3, Elem::F8E5M2];
        let ints = [Elem::I8, Elem::U8];
        let (a_elem, b_elem, c_elem) = if elems.2 == 0 {
            (floats[elems.0], floats[elems.1], Elem::F32)
        } else {
            (ints[elems.0 % 2], ints[elems.1 % 2], Elem::I32)
        };
        let (rows, mid, cols) = (mb * 64, kb * 64, nb * 64);
        let a_layout = layouts(a_elem, rows, mid)[which.0];
        let b_layout = layouts(b_elem, mid, cols)[which.1];
        let layout = layouts(c_elem, rows, cols)[which.2];
        let (m, k, n) = (rows as usize - cut.0, mid as usize - cut.1, cols as usize - cut.2);
        let (a, b) = (fill(&a_layout, seed, wild), fill(&b_layout, seed ^ 77, wild));
        let bias = fill(&Layout::nd(c_elem, 1, cols), seed ^ 5, false);
        let init = [Init::Zero, Init::Acc, Init::Bias(&bias)][init];
        let mut got = fill(&layout, seed ^ 99, wild);
        let mut want = got.clone();
        let mut scratch = Scratch::default();
        let extents = (m, k, n);
        matmul_tile(&mut scratch, &mut got, &layout, &a, &a_layout, &b, &b_layout, extents, init).unwrap();
        let operands = Operands { a: &a, a_layout: &a_layout, b: &b, b_layout: &b_layout, m, k, n, init };
        if c_elem == Elem::F32 {
            naive(&operands, &mut want, &layout, f32::mul_add);
        } else {
            naive(&operands, &mut want, &layout, |a: i32, b, c| a.wrapping_mul(b).wrapping_add(c));
        }
        prop_assert!(got == want);
    }
}

#[test]
fn threads_change_nothing() {
    let a_layout = Layout::nz(Elem::F16, 304, 144);
    let b_layout = Layout { blayout: BLayout::RowMajor, slayout: SLayout::ColMajor, ..Layout::nz(Elem::F16, 144, 208) };
    let layout = Layout { fractal: 1024, ..Layout::nz(Elem::F32, 304, 208) };
    let (m, k, n) = (300, 130, 200);
    assert!(m * k * n > PARALLEL);
    let (a, b, start) = (fill(&a_layout, 1, false), fill(&b_layout, 2, false), fill(&layout, 3, false));
    let operands = Operands { a: &a, a_layout: &a_layout, b: &b, b_layout: &b_layout, m, k, n, init: Init::Acc };
    let mut want = start.clone();
    naive(&operands, &mut want, &layout, f32::mul_add);
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut got = start.clone();
        pool.install(|| {
            let mut scratch = Scratch::default();
            matmul_tile(&mut scratch, &mut got, &layout, &a, &a_layout, &b, &b_layout, (m, k, n), Init::Acc).unwrap();
        });
        assert!(got == want, "{threads} threads");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Integers of 8 bits in the layouts that products take, of all kinds and with their extremes.
    #[test]
    fn integers_come_to_the_definition(
        (mb, kb, nb) in (1u32..3, 1u32..8, 1u32..5),
        cut in (0usize..15, 0usize..31, 0usize..15),
        (a_signed, b_signed, extreme) in any::<(bool, bool, bool)>(),
        column_boxes: bool,
        init in 0usize..3,
        seed: u32,
    ) {
        let elem = |signed| if signed { Elem::I8 } else { Elem::U8 };
        let blayout = if column_boxes { BLayout::ColMajor } else { BLayout::RowMajor };
        let a_layout = Layout { blayout, ..Layout::nz(elem(a_signed), 16 * mb, 32 * kb) };
        let b_layout = Layout {
            blayout: BLayout::RowMajor,
            slayout: SLayout::ColMajor,
            ..Layout::nz(elem(b_signed), 32 * kb, 16 * nb)
        };
        let layout = Layout { fractal: 1024, ..Layout::nz(Elem::I32, 16 * mb, 16 * nb) };
        let (m, k, n) = (16 * mb as usize - cut.0, 32 * kb as usize - cut.1, 16 * nb as usize - cut.2);
        let mut state = seed | 1;
        let mut bytes = |count: usize| -> Vec<u8> {
            let next = |_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let byte = (state >> 24) as u8;
                if extreme { [0x80, 0x7f, 0xff, 0][usize::from(byte >> 6)] } else { byte }
            };
            (0..count).map(next).collect()
        };
        let (a, b) = (bytes(a_layout.bytes()), bytes(b_layout.bytes()));
        let (mut got, bias) = (bytes(layout.bytes()), bytes(n * 4));
        let mut want = got.clone();
        let init = [Init::Zero, Init::Acc, Init::Bias(&bias)][init];
        let mut scratch = Scratch::default();
        matmul_tile(&mut scratch, &mut got, &layout, &a, &a_layout, &b, &b_layout, (m, k, n), init).unwrap();
        let operands = Operands { a: &a, a_layout: &a_layout, b: &b, b_layout: &b_layout, m, k, n, init };
        naive(&operands, &mut want, &layout, |a: i32, b, c| a.wrapping_mul(b).wrapping_add(c));
        prop_assert!(got == want);
    }
}

#[test]
fn refusals() {
    let mut scratch = Scratch::default();
    let (half, full) = (Layout::nz(Elem::F16, 16, 16), Layout::nd(Elem::F32, 16, 16));
    let (a, mut c) = (vec![0; half.bytes()], vec![0; full.bytes()]);
    let mut go = |a_len: usize, b: &Layout, mkn, init| {
        matmul_tile(&mut scratch, &mut c, &full, &a[..a_len], &half, &a, b, mkn, init)
    };
    let int = Layout::nd(Elem::I8, 16, 32);
    assert_eq!(go(512, &half, (16, 16, 16), Init::Zero), Ok(()));
    assert_eq!(go(512, &half, (0, 0, 0), Init::Zero), Ok(()));
    assert_eq!(go(500, &half, (16, 16, 16), Init::Zero), Err(MatmulError::Extent("A")));
    assert_eq!(go(512, &half, (16, 17, 16), Init::Zero), Err(MatmulError::Extent("A")));
    assert_eq!(go(512, &half, (16, 16, 17), Init::Zero), Err(MatmulError::Extent("B")));
    assert_eq!(go(512, &half, (16, 16, 16), Init::Bias(&[0; 63])), Err(MatmulError::Extent("the bias")));
    let types = MatmulError::Types(Elem::F16, Elem::I8, Elem::F32);
    assert_eq!(go(512, &int, (16, 16, 16), Init::Zero), Err(types));
}

#[test]
fn zero_k_starts_only() {
    let layout = Layout::nd(Elem::F32, 2, 2);
    let bias: Vec<u8> = [1.5f32, 2.5].iter().flat_map(|x| x.to_le_bytes()).collect();
    let mut c = vec![9; layout.bytes()];
    let empty = [0; 16];
    let mut scratch = Scratch::default();
    let extents = (2, 0, 2);
    matmul_tile(&mut scratch, &mut c, &layout, &empty, &layout, &empty, &layout, extents, Init::Bias(&bias)).unwrap();
    assert_eq!(c, [&bias[..], &bias[..]].concat());
}
