//! Parts of tiles (`pto.subset`, slices in the language) through every kind of op that reads or writes one.
//!
//! Each kernel loads a tile in which neighbours differ in both directions, applies one op to a part of it, or into a
//! part of a second tile with the same numbers, and stores the result. The result is compared with plain arithmetic on
//! integers that are exact in every type.

use slipring::Bound;
use slipring_machine::{Platform, built_in};

use crate::ready::Ready;

/// A result: rows and columns, numbers row by row.
type Matrix = (usize, usize, Vec<i64>);

/// Element types: name in texts, in the language, bytes.
const TYPES: [(&str, &str, usize); 4] =
    [("f32", "FP32", 4), ("f16", "FP16", 2), ("i32", "INT32", 4), ("i16", "INT16", 2)];

const ROWS: usize = 8;
const COLS: usize = 48;

fn source() -> Vec<i64> {
    (0..(ROWS * COLS) as i64).map(|i| i * 7 % 127).collect()
}

fn bytes(values: &[i64], ty: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for &n in values {
        let single = (n as f32).to_bits();
        match ty {
            "f32" => out.extend(single.to_le_bytes()),
            "f16" if n == 0 => out.extend([0; 2]),
            // Sign, an exponent with another bias, the upper ten bits of the fraction.
            "f16" => {
                let half = (single >> 16 & 0x8000) + (((single >> 23 & 255) - 112) << 10) + (single >> 13 & 0x3ff);
                out.extend((half as u16).to_le_bytes());
            }
            "i32" => out.extend((n as i32).to_le_bytes()),
            _ => out.extend((n as i16).to_le_bytes()),
        }
    }
    out
}

fn number(n: i64, ty: &str) -> String {
    if ty.starts_with('f') { format!("{n}.0") } else { n.to_string() }
}

/// Runs a file on both platforms with all checks and compares the last buffer.
fn run(name: &str, what: &str, text: &str, buffers: &[Vec<u8>], want: &[u8]) {
    for platform in ["a5", "a2a3"].map(|name| built_in(name).unwrap()) {
        let got = result(name, what, text, &platform, buffers);
        if got[..want.len()] != *want {
            let at = got.iter().zip(want).position(|(a, b)| a != b);
            panic!("{what} on {}: byte {at:?} is wrong\n{text}", platform.name);
        }
    }
}

fn result(name: &str, what: &str, text: &str, platform: &Platform, buffers: &[Vec<u8>]) -> Vec<u8> {
    let ready =
        Ready::of(name, text, platform).unwrap_or_else(|said| panic!("{what} on {}: {said:?}\n{text}", platform.name));
    let values: Vec<Bound<'static>> = buffers.iter().cloned().map(Bound::buffer).collect();
    let (execution, report) = ready.checked(&values, 1);
    assert!(report.is_clean(), "{what} on {}: {:?}\n{text}", platform.name, report.findings);
    execution.buffer(&values, values.len() - 1).unwrap_or_default().to_vec()
}

/// A part of the tile: first row, first column, rows, columns.
#[derive(Clone, Copy, Debug)]
struct Part(usize, usize, usize, usize);

impl Part {
    fn at(self, i: usize, j: usize) -> i64 {
        source()[(self.0 + i) * COLS + self.1 + j]
    }

    fn map(self, f: impl Fn(usize, usize) -> i64) -> Matrix {
        let numbers = (0..self.2).flat_map(|i| (0..self.3).map(move |j| (i, j))).map(|(i, j)| f(i, j)).collect();
        (self.2, self.3, numbers)
    }

    /// The full tile with this part replaced.
    fn replaced(self, f: impl Fn(usize, usize) -> i64) -> Matrix {
        let mut all = source();
        for (i, j) in (0..self.2).flat_map(|i| (0..self.3).map(move |j| (i, j))) {
            all[(self.0 + i) * COLS + self.1 + j] = f(i, j);
        }
        (ROWS, COLS, all)
    }

    fn rows(self, f: impl Fn(&[i64]) -> i64) -> Matrix {
        let row = |i| f(&(0..self.3).map(|j| self.at(i, j)).collect::<Vec<_>>());
        (self.2, 1, (0..self.2).map(row).collect())
    }

    fn columns(self, f: impl Fn(&[i64]) -> i64) -> Matrix {
        let column = |j| f(&(0..self.2).map(|i| self.at(i, j)).collect::<Vec<_>>());
        (1, self.3, (0..self.3).map(column).collect())
    }
}

fn most(list: &[i64]) -> i64 {
    list.iter().copied().max().unwrap_or(0)
}

fn sum(list: &[i64]) -> i64 {
    list.iter().sum()
}

/// The statements of a kernel in the language that set `y`, and the resulting value of `y`.
fn statements(part: Part, ty: &str) -> Vec<(String, Matrix)> {
    let Part(r, c, h, w) = part;
    let p = format!("t[{r}:{}, {c}:{}]", r + h, c + w);
    let (five, limit) = (number(5, ty), number(60, ty));
    let least = |i: usize| (0..w).map(|j| part.at(i, j)).min().unwrap_or(0);
    let x = source();
    let half = (w / 2).max(1);
    let mut list = vec![
        (format!("y[:] = {p}"), part.map(|i, j| part.at(i, j))),
        (format!("y[:] = {p} + {five}"), part.map(|i, j| part.at(i, j) + 5)),
        (format!("{p} = {p} + {five}\n    y[:] = t"), part.replaced(|i, j| part.at(i, j) + 5)),
        (format!("{p} = x[0:{h}, 0:{w}]\n    y[:] = t"), part.replaced(|i, j| x[i * COLS + j])),
        (format!("y[:] = pl.transpose({p}, 0, 1)"), Part(0, 0, w, h).map(|i, j| part.at(j, i))),
        (format!("y[:] = pl.row_max({p})"), part.rows(most)),
        (format!("y[:] = pl.row_sum({p})"), part.rows(sum)),
        (format!("y[:] = pl.col_max({p})"), part.columns(most)),
        (format!("y[:] = pl.col_sum({p})"), part.columns(sum)),
        (format!("y[:] = pl.row_expand_add({p}, pl.row_min({p}))"), part.map(|i, j| part.at(i, j) + least(i))),
        (
            format!("y[:] = pl.row_expand_add({p}, t[{r}:{}, 3:4])", r + h),
            part.map(|i, j| part.at(i, j) + x[(r + i) * COLS + 3]),
        ),
        (
            format!("y[:] = pl.col_expand_sub({p}, t[5:6, {c}:{}])", c + w),
            part.map(|i, j| part.at(i, j) - x[5 * COLS + c + j]),
        ),
        (
            format!("q = {p}\n    y[:] = pl.sels(pl.cmps(q, {limit}, cmp_type=\"gt\"), q, {five})"),
            part.map(|i, j| if part.at(i, j) > 60 { part.at(i, j) } else { 5 }),
        ),
        (format!("y[:] = {p}[0:1, 0:{half}]"), Part(r, c, 1, half).map(|i, j| part.at(i, j))),
        (
            format!("q = pl.set_validshape({p} + {five}, 1, {w})\n    y[:] = pl.fillpad(q)"),
            part.map(|i, j| if i == 0 { part.at(i, j) + 5 } else { 0 }),
        ),
    ];
    // Lines that are multiples of 32 bytes, or a single column, are also tested with another shape.
    if w == 16 || w == 1 {
        let count = h * w;
        list.push((format!("y[:] = pl.reshape({p}, [1, {count}])"), (1, count, part.map(|i, j| part.at(i, j)).2)));
    }
    list
}

#[test]
fn slices_in_the_language() {
    let parts = [
        Part(0, 0, 8, 16),
        Part(2, 8, 4, 16),
        Part(0, 16, 8, 24),
        Part(1, 24, 3, 6),
        Part(0, 5, 8, 6),
        Part(0, 7, 8, 1),
    ];
    for (ty, name, size) in TYPES {
        for part in parts {
            // A column of 8 elements forms one line of 32 bytes if each has four bytes.
            let skip = |text: &str| text.contains("reshape") && part.3 == 1 && size != 4;
            for (body, (rows, cols, want)) in statements(part, ty).into_iter().filter(|(text, _)| !skip(text)) {
                let text = format!(
                    "import slipring.language as pl\n\n\n@pl.incore\ndef f(x: pl.Tensor[[{ROWS}, {COLS}], pl.{name}], \
                     y: pl.Out[pl.Tensor[[{rows}, {cols}], pl.{name}]]):\n    t = pl.load(x, [0, 0], [{ROWS}, {COLS}])\n    {body}\n"
                );
                let want = bytes(&want, ty);
                run("parts.py", &body, &text, &[bytes(&source(), ty), vec![0; want.len()]], &want);
            }
        }
    }
}

/// The ops of a text on `%p`, a part of `%t`; `%q`, the same part of `%u`; and `%d`, a tile of that size. For each: the
/// stored tile, its type, and its expected contents.
fn ops(part: Part, ty: &str, size: usize) -> Vec<(String, &'static str, String, Matrix)> {
    let Part(r, c, h, w) = part;
    let x = source();
    let (own, all) = ("!d".to_string(), "!t".to_string());
    let same = || part.map(|i, j| part.at(i, j));
    let row = format!("!pto.tile_buf<vec, 1x{w}x{ty}>");
    let column = format!("!pto.tile_buf<vec, 16x1x{ty}, valid={h}x1, blayout=col_major>");
    let open = format!("!pto.tile_buf<vec, {h}x{w}x{ty}, valid=?x?>");
    let padded = format!("!pto.tile_buf<vec, {h}x{w}x{ty}, pad=1>");
    let bits = format!("!pto.tile_buf<vec, {h}x{w}x{}>", if size == 4 { "i32" } else { "i16" });
    let mask = format!("!pto.tile_buf<vec, {h}x32xui8>");
    let few = |i: usize, j: usize| if i < 1 && j < 5 { part.at(i, j) } else { 0 };
    let get = |at: usize, n: i64| {
        let text = format!(
            "%g = pto.tgetval ins(%p, %c{at} : !d, index) outs : {ty}\npto.tsetval ins(%c2, %g : index, {ty}) outs(%q : !d)"
        );
        (text, "%u", all.clone(), part.replaced(move |i, j| if (i, j) == (0, 2) { n } else { part.at(i, j) }))
    };
    let mut list = vec![
        (String::new(), "%p", own.clone(), same()),
        ("pto.tmov ins(%p : !d) outs(%d : !d)".into(), "%d", own.clone(), same()),
        ("pto.tload ins(%xq : !dv) outs(%q : !d)".into(), "%u", all.clone(), part.replaced(|i, j| x[i * COLS + j + 3])),
        (
            "pto.tload ins(%xq : !dv) outs(%d : !d)\npto.tmov ins(%d : !d) outs(%q : !d)".into(),
            "%u",
            all.clone(),
            part.replaced(|i, j| x[i * COLS + j + 3]),
        ),
        (
            format!("pto.tadds ins(%p, %five : !d, {ty}) outs(%d : !d)"),
            "%d",
            own.clone(),
            part.map(|i, j| part.at(i, j) + 5),
        ),
        (
            "pto.tadd ins(%p, %q : !d, !d) outs(%q : !d)".into(),
            "%u",
            all.clone(),
            part.replaced(|i, j| 2 * part.at(i, j)),
        ),
        (
            format!("%k = pto.subset %u[%c1, %c{c}] sizes [1, {w}] : !t\npto.tcolmax ins(%p : !d) outs(%k : {row})"),
            "%u",
            all.clone(),
            Part(1, c, 1, w).replaced(|_, j| part.columns(most).2[j]),
        ),
        (
            format!("%k = pto.alloc_tile : {column}\npto.trowsum ins(%p, %tmp : !d, !t) outs(%k : {column})"),
            "%k",
            column.clone(),
            part.rows(sum),
        ),
        (
            format!("%k = pto.subset %t[%c1, %c{c}] sizes [1, {w}] : !t\npto.tcolexpand ins(%k : {row}) outs(%q : !d)"),
            "%u",
            all.clone(),
            part.replaced(|_, j| x[COLS + c + j]),
        ),
        (format!("pto.textract ins(%t, %c{r}, %c{c} : !t, index, index) outs(%d : !d)"), "%d", own.clone(), same()),
        (
            format!(
                "%m = pto.alloc_tile : {mask}\npto.tcmps ins(%p, %limit {{cmpMode = #pto<cmp gt>}} : !d, {ty}) outs(%m : {mask})\n\
                 pto.tsels ins(%m, %p, %tmp, %five : {mask}, !d, !t, {ty}) outs(%q : !d)"
            ),
            "%u",
            all.clone(),
            part.replaced(|i, j| if part.at(i, j) > 60 { part.at(i, j) } else { 5 }),
        ),
        (
            format!("%b = pto.treshape %p : !d -> {bits}\n%e = pto.treshape %b : {bits} -> !d"),
            "%e",
            own.clone(),
            same(),
        ),
        ("%e = pto.bind_tile %p : !d -> !d".into(), "%e", own.clone(), same()),
        (
            format!(
                "%e = pto.bind_tile %p, %c1, %c5 : !d -> {open}\n%f = pto.alloc_tile : {padded}\npto.tfillpad ins(%e : {open}) outs(%f : {padded})"
            ),
            "%f",
            padded.clone(),
            part.map(few),
        ),
        get(3, part.at(0, 3)),
        // Elements are counted in memory order: the second row begins one row of the full tile later.
        get(COLS, part.at(1, 0)),
    ];
    // The headers of the A5 cannot insert 16-bit integers.
    if ty != "i16" {
        list.push((
            "pto.tinsert ins(%p, %c0, %c16 : !d, index, index) outs(%u : !t)".into(),
            "%u",
            all,
            Part(0, 16, h, w).replaced(|i, j| part.at(i, j)),
        ));
    }
    if size == 4 {
        let turned = format!("!pto.tile_buf<vec, {w}x8x{ty}, valid={w}x{h}>");
        list.push((
            format!("%k = pto.alloc_tile : {turned}\npto.ttrans ins(%p, %tmp : !d, !t) outs(%k : {turned})"),
            "%k",
            turned.clone(),
            Part(0, 0, w, h).map(|i, j| part.at(j, i)),
        ));
    }
    list
}

#[test]
fn subsets_in_texts() {
    for (ty, _, size) in TYPES {
        for part in [Part(2, 8, 4, 16), Part(0, 32, 8, 16), Part(5, 0, 2, 32)] {
            let Part(r, c, h, w) = part;
            for (body, tile, of, (rows, cols, want)) in ops(part, ty, size) {
                let constants: std::collections::BTreeSet<_> =
                    [0, 1, 2, 3, 5, 16, r, c, h, w, ROWS, COLS, rows, cols].into();
                let mut text = format!(
                    "!t = !pto.tile_buf<vec, {ROWS}x{COLS}x{ty}>\n!d = !pto.tile_buf<vec, {h}x{w}x{ty}>\n!tv = !pto.tensor_view<?x?x{ty}>\n\
                     !pv = !pto.partition_tensor_view<{ROWS}x{COLS}x{ty}>\n!dv = !pto.partition_tensor_view<{h}x{w}x{ty}>\n\
                     !ov = !pto.partition_tensor_view<{rows}x{cols}x{ty}>\n!ptr = !pto.ptr<{ty}>\n\
                     func.func @kernel(%x: !ptr, %y: !ptr) attributes {{pto.entry, pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n"
                );
                constants.iter().for_each(|n| text.push_str(&format!("%c{n} = arith.constant {n} : index\n")));
                text.push_str(&format!(
                    "%five = arith.constant {} : {ty}\n%limit = arith.constant {} : {ty}\n\
                     %xv = pto.make_tensor_view %x, shape = [%c{ROWS}, %c{COLS}], strides = [%c{COLS}, %c1] : !tv\n\
                     %yv = pto.make_tensor_view %y, shape = [%c{rows}, %c{cols}], strides = [%c{cols}, %c1] : !tv\n\
                     %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c{ROWS}, %c{COLS}] : !tv -> !pv\n\
                     %xq = pto.partition_view %xv, offsets = [%c0, %c3], sizes = [%c{h}, %c{w}] : !tv -> !dv\n\
                     %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c{rows}, %c{cols}] : !tv -> !ov\n\
                     %t = pto.alloc_tile : !t\n%u = pto.alloc_tile : !t\n%tmp = pto.alloc_tile : !t\n%d = pto.alloc_tile : !d\n\
                     pto.tload ins(%xp : !pv) outs(%t : !t)\npto.tload ins(%xp : !pv) outs(%u : !t)\n\
                     %p = pto.subset %t[%c{r}, %c{c}] sizes [{h}, {w}] : !t\n%q = pto.subset %u[%c{r}, %c{c}] sizes [{h}, {w}] : !t\n\
                     {body}\npto.tstore ins({tile} : {of}) outs(%yp : !ov)\nreturn\n}}\n",
                    number(5, ty),
                    number(60, ty),
                ));
                let want = bytes(&want, ty);
                run("parts.pto", &body, &text, &[bytes(&source(), ty), vec![0; want.len()]], &want);
            }
        }
    }
}
