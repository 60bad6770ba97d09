//! Products with scales for groups of 32 elements of k, against sums computed by this test in `f64`.
//!
//! Numbers are chosen so that every sum is exact. Scales come from global memory in each order that a view can have.

use std::fmt::Write;

use slipring::Bound;
use slipring_machine::built_in;

use crate::ready::Ready;

/// A short float with 1 sign bit, 1 to 7 exponent bits and 1 to 7 fraction bits, with an exponent near that of 1, from
/// a number.
fn short(elem: &str, seed: usize) -> (u8, f64) {
    let n = (seed as u32).wrapping_mul(2_654_435_761) >> 11;
    if pack(elem) == 2 {
        let values = if elem == SHORTEST[0] { [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0] } else { QUARTERS };
        let value = values[n as usize & 7];
        return ((n & 15) as u8, if n & 8 == 8 { -value } else { value });
    }
    let (mantissa_bits, bias) = if elem == "f8E4M3FN" { (3, 7) } else { (2, 15) };
    let (sign, exponent) = (n & 1, bias - 1 + (n >> 1) % 3);
    let mantissa = (n >> 4) & ((1 << mantissa_bits) - 1);
    let byte = sign << 7 | exponent << mantissa_bits | mantissa;
    let value = (1.0 + f64::from(mantissa) / f64::from(1 << mantissa_bits)) * 2f64.powi(exponent as i32 - bias as i32);
    (byte as u8, if sign == 1 { -value } else { value })
}

const QUARTERS: [f64; 8] = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75];

/// Number of values per element.
fn pack(elem: &str) -> usize {
    if elem.contains("f4E") { 2 } else { 1 }
}

/// One product.
#[derive(Clone, Copy, Debug)]
struct Case {
    shape: [usize; 3],
    valid: [usize; 2],
    elems: [&'static str; 2],
    op: &'static str,
    /// Layouts of the tensors of scales.
    scales: [&'static str; 2],
}

/// Extents and strides of a tensor of scales, and the position of scale `(outer, group)`.
type ScaleView = (Vec<usize>, Vec<usize>, Box<dyn Fn(usize, usize) -> usize>);

fn scale_view(layout: &str, outer: usize, groups: usize) -> ScaleView {
    let pairs = groups / 2;
    let piece = move |o: usize, g: usize| o / 16 * (pairs * 32) + g / 2 * 32 + o % 16 * 2 + g % 2;
    let packed = (vec![1, outer / 16, pairs, 16, 2], vec![outer * groups, pairs * 32, 32, 2, 1]);
    match layout {
        "a" => (vec![outer, groups], vec![groups, 1], Box::new(move |o, g| o * groups + g)),
        "b" => (vec![groups, outer], vec![outer, 1], Box::new(move |o, g| g * outer + o)),
        "mx_a_zz 2" => (vec![outer, groups], vec![groups, 1], Box::new(piece)),
        "mx_b_nn 2" => (vec![groups, outer], vec![outer, 1], Box::new(piece)),
        "mx_a_zz" | "mx_b_nn" => (packed.0, packed.1, Box::new(piece)),
        "mx_a_nd" | "mx_b_dn" => (vec![outer, pairs, 2], vec![groups, 2, 1], Box::new(move |o, g| o * groups + g)),
        _ => {
            let at = move |o: usize, g: usize| g / 2 * outer * 2 + o * 2 + g % 2;
            (vec![pairs, outer, 2], vec![outer * 2, 2, 1], Box::new(at))
        }
    }
}

fn program(case: Case) -> String {
    let Case { shape: [m, k, n], valid: [vm, vn], elems: [ea, eb], op, scales } = case;
    let g = k / 32;
    let (pa, pb) = (pack(ea), pack(eb));
    // Columns of the operands, in elements.
    let (ka, nb, vnb, wide) = (k / pa, n / pb, vn / pb, 64 / pa);
    let boxed = if m == 1 { ", slayout=row_major" } else { ", blayout=col_major, slayout=row_major" };
    let left = ", blayout=col_major, slayout=row_major";
    let mut text = format!(
        "!ml = !pto.tile_buf<mat, {m}x{ka}x{ea}, valid={vm}x{ka}{boxed}>
!mr = !pto.tile_buf<mat, {k}x{nb}x{eb}, valid={k}x{vnb}, blayout=col_major, slayout=row_major>
!msl = !pto.tile_buf<mat, {m}x{g}xf8E8M0, slayout=row_major, fractal=32>
!msr = !pto.tile_buf<mat, {g}x{n}xf8E8M0, blayout=col_major, slayout=col_major, fractal=32>
!mb = !pto.tile_buf<mat, 1x{n}xf32>
!mc = !pto.tile_buf<mat, {m}x{n}xf32>
!l = !pto.tile_buf<left, {m}x{ka}x{ea}, valid={vm}x{ka}{left}>
!other = !pto.tile_buf<left, 16x{wide}x{ea}{left}>
!r = !pto.tile_buf<right, {k}x{nb}x{eb}, valid={k}x{vnb}, slayout=col_major>
!sl = !pto.tile_buf<scaling, {m}x{g}xf8E8M0, slayout=row_major, fractal=32>
!sr = !pto.tile_buf<scaling, {g}x{n}xf8E8M0, blayout=col_major, slayout=col_major, fractal=32>
!acc = !pto.tile_buf<acc, {m}x{n}xf32, valid={vm}x{vn}, blayout=col_major, slayout=row_major, fractal=1024>
!b = !pto.tile_buf<bias, 1x{n}xf32>
module attributes {{pto.target_arch = \"a5\"}} {{
func.func @main(%a: memref<{vm}x{ka}x{ea}>, %b: memref<{k}x{vnb}x{eb}>, %sa: !pto.ptr<f8E8M0>, %sb: !pto.ptr<f8E8M0>,
    %bias: memref<1x{n}xf32>, %out: memref<{vm}x{vn}xf32>) attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
  // Another operand, so that the one that counts lies somewhere.
  %other = pto.alloc_tile : !other
"
    );
    for (name, ty) in [("ml", "ml"), ("mr", "mr"), ("msl", "msl"), ("msr", "msr"), ("mb", "mb")] {
        writeln!(text, "  %{name} = pto.alloc_tile : !{ty}").unwrap();
    }
    for name in ["l", "r", "sl", "sr", "acc"] {
        writeln!(text, "  %{name} = pto.alloc_tile : !{name}").unwrap();
    }
    writeln!(text, "  %bt = pto.alloc_tile : !b").unwrap();
    for (tensor, layout, outer, tile) in [("sa", scales[0], m, "msl"), ("sb", scales[1], n, "msr")] {
        let (dims, strides, _) = scale_view(layout, outer, g);
        let shown = |list: &[usize]| list.iter().map(usize::to_string).collect::<Vec<_>>();
        let view = format!("!pto.tensor_view<{}xf8E8M0>", shown(&dims).join("x"));
        let window = view.replace("tensor_view", "partition_tensor_view");
        let values = |text: &mut String, what: &str, list: &[usize]| {
            let names: Vec<String> = (0..list.len()).map(|at| format!("%{tensor}_{what}{at}")).collect();
            for (name, n) in names.iter().zip(list) {
                writeln!(text, "  {name} = arith.constant {n} : index").unwrap();
            }
            names.join(", ")
        };
        let (shape, steps) = (values(&mut text, "n", &dims), values(&mut text, "s", &strides));
        let zeros = values(&mut text, "z", &vec![0; dims.len()]);
        let word = layout.split(' ').next().unwrap();
        let attr = if word.starts_with("mx") { format!(" {{layout = #pto.layout<{word}>}}") } else { String::new() };
        writeln!(
            text,
            "  %{tensor}_all = pto.make_tensor_view %{tensor}, shape = [{shape}], strides = [{steps}]{attr} : {view}
  %{tensor}_part = pto.partition_view %{tensor}_all, offsets = [{zeros}], sizes = [{shape}] : {view} -> {window}
  pto.tload ins(%{tensor}_part : {window}) outs(%{tile} : !{tile})"
        )
        .unwrap();
    }
    let args = "%l, %sl, %r, %sr : !l, !sl, !r, !sr";
    let product = match op.rsplit('.').next() {
        Some("acc") => {
            let first = op.trim_end_matches(".acc");
            format!(
                "{first} ins({args}) outs(%acc : !acc)\n  {op} ins(%acc, %l, %sl, %r, %sr : !acc, !l, !sl, !r, !sr)"
            )
        }
        Some("bias") => format!("{op} ins(%l, %sl, %r, %sr, %bt : !l, !sl, !r, !sr, !b)"),
        _ => format!("{op} ins({args})"),
    };
    writeln!(
        text,
        "  pto.tload ins(%a : memref<{vm}x{ka}x{ea}>) outs(%ml : !ml)
  pto.tload ins(%b : memref<{k}x{vnb}x{eb}>) outs(%mr : !mr)
  pto.tload ins(%bias : memref<1x{n}xf32>) outs(%mb : !mb)
  pto.tmov ins(%msl : !msl) outs(%sl : !sl)
  pto.tmov ins(%msr : !msr) outs(%sr : !sr)
  pto.tmov ins(%ml : !ml) outs(%l : !l)
  pto.tmov ins(%mr : !mr) outs(%r : !r)
  pto.tmov ins(%mb : !mb) outs(%bt : !b)
  {product} outs(%acc : !acc)
  pto.tstore ins(%acc : !acc) outs(%out : memref<{vm}x{vn}xf32>)
  return\n}}\n}}"
    )
    .unwrap();
    text
}

fn run(case: Case) -> Result<(), String> {
    let text = program(case);
    let Case { shape: [m, k, n], valid: [vm, vn], elems, op, scales } = case;
    let groups = k / 32;
    let a: Vec<(u8, f64)> = (0..vm * k).map(|at| short(elems[0], at)).collect();
    let b: Vec<(u8, f64)> = (0..k * vn).map(|at| short(elems[1], at + 77_777)).collect();
    let scale = |outer: usize, group: usize, seed: usize| 126 + ((outer * 7 + group * 5 + seed) % 3) as u8;
    let tensor = |layout, outer, seed| {
        let (.., at) = scale_view(layout, outer, groups);
        let mut bytes = vec![0u8; outer * groups];
        for (o, g) in (0..outer).flat_map(|o| (0..groups).map(move |g| (o, g))) {
            bytes[at(o, g)] = scale(o, g, seed);
        }
        Bound::buffer(bytes)
    };
    // The first of two values is the lower half of their byte.
    let bytes = |list: &[(u8, f64)]| match pack(elems[0]) {
        2 => Bound::buffer(list.chunks(2).map(|two| two[0].0 | two[1].0 << 4).collect::<Vec<u8>>()),
        _ => Bound::buffer(list.iter().map(|x| x.0).collect::<Vec<u8>>()),
    };
    let floats = |list: Vec<f32>| Bound::buffer(list.into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>());
    let bias: Vec<f32> = (0..n).map(|j| j as f32 - 3.5).collect();
    let values = vec![
        bytes(&a),
        bytes(&b),
        tensor(scales[0], m, 0),
        tensor(scales[1], n, 1),
        floats(bias.clone()),
        floats(vec![0.0; vm * vn]),
    ];
    let ready = Ready::of("scaled", &text, &built_in("a5").unwrap());
    let ran = ready.map_err(|said| format!("{}\n{text}", said.join("\n")))?.run(&values);
    if !ran.result.findings.is_empty() {
        return Err(format!("{:?}\n{text}", ran.result.findings));
    }
    let out = ran.buffer(&values, 5).unwrap();
    for (i, j) in (0..vm).flat_map(|i| (0..vn).map(move |j| (i, j))) {
        let exponent = |byte: u8| 2f64.powi(i32::from(byte) - 127);
        let sum: f64 = (0..k)
            .map(|at| {
                let scales = exponent(scale(i, at / 32, 0)) * exponent(scale(j, at / 32, 1));
                a[i * k + at].1 * b[at * vn + j].1 * scales
            })
            .sum();
        let expected = match op.rsplit('.').next() {
            Some("acc") => 2.0 * sum,
            Some("bias") => sum + f64::from(bias[j]),
            _ => sum,
        };
        let at = (i * vn + j) * 4;
        let found = f32::from_le_bytes(out[at..at + 4].try_into().unwrap());
        if f64::from(found) != expected {
            return Err(format!("{case:?}: element ({i}, {j}) is {found}, not {expected}"));
        }
    }
    Ok(())
}

const SHORT: [&str; 2] = ["f8E4M3FN", "f8E5M2"];
/// Both are stored in pairs.
const SHORTEST: [&str; 2] = ["!pto.f4E2M1x2", "!pto.f4E1M2x2"];

#[test]
fn products_with_scales() {
    let left = ["a", "mx_a_zz 2", "mx_a_zz", "mx_a_nd", "mx_a_dn"];
    let right = ["b", "mx_b_nn 2", "mx_b_nn", "mx_b_nd", "mx_b_dn"];
    let shapes = [([16, 64, 64], [16, 64]), ([32, 128, 64], [32, 64]), ([48, 192, 64], [37, 22])];
    let pairs = |list: [&'static str; 2]| list.into_iter().flat_map(move |a| list.into_iter().map(move |b| [a, b]));
    let mut wrong = Vec::new();
    let mut count = 0;
    for op in ["pto.tmatmul.mx", "pto.tmatmul.mx.acc", "pto.tmatmul.mx.bias"] {
        for (shape, valid) in shapes {
            for elems in pairs(SHORT).chain(pairs(SHORTEST)) {
                // Each order of scales is used with a different product.
                let scales = [left[count % 5], right[(count / 2) % 5]];
                count += 1;
                wrong.extend(run(Case { shape, valid, elems, op, scales }).err());
            }
        }
    }
    for op in ["pto.tgemv.mx", "pto.tgemv.mx.acc", "pto.tgemv.mx.bias"] {
        for elem in [SHORT[0], SHORTEST[0]] {
            let case = Case { shape: [1, 128, 64], valid: [1, 64], elems: [elem; 2], op, scales: ["a", "b"] };
            wrong.extend(run(case).err());
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong: {}",
        wrong.len(),
        wrong.iter().take(2).cloned().collect::<Vec<_>>().join("\n")
    );
}
