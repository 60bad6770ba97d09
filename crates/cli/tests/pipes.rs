//! The same kernel through every kind of pipe gives the same bytes.
//!
//! Each random case is Y = X × W, tile by tile: X reaches the Cube core through a ring or directly, and the product
//! goes to the Vector cores through a ring or directly to Y. The kernel is written with every kind of pipe of its
//! platform: frontend ops and pipe values, tagged and counted, freed explicitly and automatically, slots in global
//! memory and on chip, one free signal per tile and one for several. Shapes (including odd ones if they are not
//! halved), depths, landing areas, splits, numbers of tiles and the platform's costs are random. The expected result is
//! computed here in plain loops, from numbers for which every sum is exact.

use std::fmt::Write;

use proptest::prelude::*;
use slipring::Bound;
use slipring_check::Schedules;
use slipring_machine::cost::Milli;
use slipring_machine::{Cost, Platform, built_in};

use crate::ready::Ready;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    C2v,
    V2c,
    Both,
}

#[derive(Clone, Debug)]
struct Case {
    way: Way,
    /// Rows of the Cube core's tile.
    rows: u32,
    cols: u32,
    split: u32,
    slots: u32,
    local: u32,
    tiles: u32,
    period: u32,
    /// True if tiles have more rows and columns than are valid.
    padded: bool,
    /// Extra bytes of a slot beyond its tile, in units of 512.
    spare: u32,
    seed: u32,
}

/// How the pipe is written.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Style {
    /// `aic_initialize_pipe` and so on; `gm`: in global memory.
    Frontend { counted: bool, auto: bool, gm: bool, sparse: bool },
    /// `!pto.tpipe`; `gm`: a direction with `_GM`.
    Tpipe { tagged: bool, auto: bool, gm: bool, sparse: bool },
    /// `initialize_l2l_pipe`, or `initialize_l2g2l_pipe` with `gm`.
    Internal { gm: bool },
}

fn styles(platform: &Platform) -> Vec<Style> {
    let mut list = vec![
        Style::Frontend { counted: false, auto: false, gm: false, sparse: false },
        Style::Frontend { counted: false, auto: true, gm: false, sparse: false },
        Style::Frontend { counted: false, auto: false, gm: true, sparse: false },
        Style::Frontend { counted: true, auto: true, gm: true, sparse: true },
        Style::Frontend { counted: true, auto: false, gm: false, sparse: true },
        Style::Frontend { counted: true, auto: true, gm: false, sparse: false },
        Style::Internal { gm: true },
    ];
    for gm in [false, true] {
        if gm && platform.ring.in_gm {
            continue;
        }
        list.push(Style::Tpipe { tagged: true, auto: true, gm, sparse: false });
        list.push(Style::Tpipe { tagged: true, auto: false, gm, sparse: false });
        list.push(Style::Tpipe { tagged: false, auto: true, gm, sparse: false });
        list.push(Style::Tpipe { tagged: false, auto: false, gm, sparse: true });
        list.push(Style::Tpipe { tagged: false, auto: true, gm, sparse: true });
    }
    if !platform.ring.in_gm {
        list.push(Style::Internal { gm: false });
    }
    list
}

impl Case {
    fn slot_bytes(&self) -> u32 {
        let (rows, cols) = self.layout(self.rows, self.cols, 16);
        (rows * cols * 4).next_multiple_of(512) + 512 * self.spare
    }

    fn lane_shape(&self) -> (u32, u32) {
        match self.split {
            1 => (self.rows / 2, self.cols),
            2 => (self.rows, self.cols / 2),
            _ => (self.rows, self.cols),
        }
    }

    /// Rows and columns of the layout of a tile with these valid extents.
    fn layout(&self, rows: u32, cols: u32, unit: u32) -> (u32, u32) {
        if self.padded { (rows.next_multiple_of(unit), cols.next_multiple_of(unit)) } else { (rows, cols) }
    }

    fn uses(&self, way: Way) -> bool {
        self.way == way || self.way == Way::Both
    }

    /// The kernel: parameters x, w, y, slots.
    fn text(&self, style: Style) -> String {
        let mut t = String::new();
        let (rows, cols) = (self.rows, self.cols);
        let (lane_rows, lane_cols) = self.lane_shape();
        let cube = "blayout=col_major, slayout=row_major";
        let ((m, n), valid) = (self.layout(rows, cols, 16), format!("valid={rows}x{cols}"));
        let square = format!("valid={cols}x{cols}");
        // A lane's tile has less padding than half of the full tile's.
        let (lane_m, lane_n) = self.layout(lane_rows, lane_cols, 8);
        let _ = writeln!(t, "!l1 = !pto.tile_buf<mat, {m}x{n}xf32, {valid}, {cube}>");
        let _ = writeln!(t, "!w1 = !pto.tile_buf<mat, {n}x{n}xf32, {square}, {cube}>");
        let _ = writeln!(t, "!l0a = !pto.tile_buf<left, {m}x{n}xf32, {valid}, {cube}>");
        let _ = writeln!(t, "!l0b = !pto.tile_buf<right, {n}x{n}xf32, {square}, blayout=row_major, slayout=col_major>");
        let _ = writeln!(t, "!l0c = !pto.tile_buf<acc, {m}x{n}xf32, {valid}, {cube}, fractal=1024>");
        let _ = writeln!(t, "!vec = !pto.tile_buf<vec, {lane_m}x{lane_n}xf32, valid=?x?>");
        let _ = writeln!(
            t,
            "!p = !pto.ptr<f32>\n!tv = !pto.tensor_view<?x?xf32>\n!pv = !pto.partition_tensor_view<?x?xf32>"
        );
        if let Style::Tpipe { gm, .. } = style {
            let name = match self.way {
                Way::C2v => "DIR_C2V",
                Way::V2c => "DIR_V2C",
                Way::Both => "DIR_BOTH",
            };
            let gm = if gm { "_GM" } else { "" };
            let _ =
                writeln!(t, "!pipe = !pto.tpipe<2, {name}{gm}, {}, {}, {}>", self.slot_bytes(), self.slots, self.local);
        } else {
            let _ = writeln!(t, "!pipe = !pto.pipe");
        }
        let _ =
            writeln!(t, "module {{\nfunc.func @kernel(%x: !p, %w: !p, %y: !p, %slots: !p) attributes {{pto.entry}} {{");
        for core in ["cube", "vector"] {
            let _ = writeln!(t, "func.call @{core}(%x, %w, %y, %slots) : (!p, !p, !p, !p) -> ()");
        }
        let _ = writeln!(t, "return\n}}");
        self.core(&mut t, style, true);
        self.core(&mut t, style, false);
        let _ = writeln!(t, "}}");
        t
    }

    fn core(&self, t: &mut String, style: Style, cube: bool) {
        let name = if cube { "cube" } else { "vector" };
        let _ = writeln!(
            t,
            "func.func private @{name}(%x: !p, %w: !p, %y: !p, %slots: !p) attributes {{pto.kernel_kind = #pto.kernel_kind<{name}>}} {{"
        );
        let all = self.rows * self.tiles;
        let (lane_rows, lane_cols) = self.lane_shape();
        let numbers =
            [0, 1, self.tiles, self.rows, self.cols, all.max(1), lane_rows, lane_cols, self.rows % 2, self.cols % 2];
        for number in numbers.iter().collect::<std::collections::BTreeSet<_>>() {
            let _ = writeln!(t, "%c{number} = arith.constant {number} : index");
        }
        self.pipe(t, style, cube);
        let cols = self.cols;
        for buffer in ["x", "y"] {
            let _ = writeln!(
                t,
                "%{buffer}v = pto.make_tensor_view %{buffer}, shape = [%c{}, %c{cols}], strides = [%c{cols}, %c1] : !tv",
                all.max(1)
            );
        }
        if cube {
            self.cube_body(t, style);
        } else {
            self.vector_body(t, style);
        }
        let _ = writeln!(t, "return\n}}");
    }

    fn pipe(&self, t: &mut String, style: Style, cube: bool) {
        let (ub, l1) = (65536, 131072);
        let (slots, bytes, both) = (self.slots, self.slot_bytes(), self.way == Way::Both);
        let mask = match self.way {
            Way::C2v => 1,
            Way::V2c => 2,
            Way::Both => 3,
        };
        let period =
            |sparse: bool| if sparse { format!(", period = {}", self.period.min(slots)) } else { String::new() };
        if let Style::Tpipe { tagged, auto, sparse, .. } = style {
            let _ = writeln!(t, "%ub = arith.constant {ub} : i32\n%l1 = arith.constant {l1} : i32");
            let protocol = if tagged { "tagged" } else { "counted" };
            let _ = writeln!(
                t,
                "%pipe = pto.initialize_tpipe {{protocol = #pto.pipe_protocol<{protocol}>, auto_free = {auto}{}}} \
                 (gm_slot_buffer = %slots : !p, c2v_consumer_buf = %ub : i32, v2c_consumer_buf = %l1 : i32) -> !pipe",
                period(sparse)
            );
            return;
        }
        let size = slots * bytes;
        for (name, space, way, consumer) in [("c2v", "vec", Way::C2v, !cube), ("v2c", "mat", Way::V2c, cube)] {
            let peer = if cube { "vector" } else { "cube" };
            let _ = match (self.uses(way), consumer) {
                (false, _) => writeln!(t, "%{name} = arith.constant 0 : i32"),
                (true, true) => writeln!(
                    t,
                    "%{name} = pto.reserve_buffer {{name = \"{name}\", size = {size}, location = #pto.address_space<{space}>, auto = true}} -> i32"
                ),
                (true, false) => writeln!(
                    t,
                    "%{name} = pto.import_reserved_buffer {{name = \"{name}\", peer_func = @{peer}}} -> i32"
                ),
            };
        }
        let _ = match style {
            Style::Frontend { counted, auto, gm, sparse } => {
                let placement = if gm { ", placement = #pto.pipe_placement<gm>" } else { "" };
                let op = if cube { "aic" } else { "aiv" };
                let protocol = if counted { "counted" } else { "tagged" };
                writeln!(
                    t,
                    "pto.{op}_initialize_pipe {{dir_mask = {mask}, slot_size = {bytes}, slot_num = {slots}, \
                     protocol = #pto.pipe_protocol<{protocol}>, auto_free = {auto}{placement}{}}} \
                     (gm_slot_buffer = %slots : !p, c2v_consumer_buf = %c2v : i32, v2c_consumer_buf = %v2c : i32)",
                    period(sparse)
                )
            }
            Style::Internal { gm } => {
                let (op, first) = if gm { ("l2g2l", "%slots : !p, ") } else { ("l2l", "") };
                let local = if gm { format!(", local_slot_num = {}", self.local.min(slots)) } else { String::new() };
                let buffers = match self.way {
                    Way::C2v => "%c2v : i32",
                    Way::V2c => "%v2c : i32",
                    Way::Both => "%c2v : i32, %v2c : i32",
                };
                let _ = both;
                writeln!(
                    t,
                    "%pipe = pto.initialize_{op}_pipe {{dir_mask = {mask}, slot_size = {bytes}, slot_num = {slots}{local}}}({first}{buffers}) -> !pipe"
                )
            }
            Style::Tpipe { .. } => Ok(()),
        };
    }

    fn push(&self, t: &mut String, style: Style, tile: &str, ty: &str, to: &str) {
        let split = self.split;
        let _ = match style {
            Style::Frontend { .. } => writeln!(t, "pto.tpush_to_{to}({tile} : {ty}) {{split = {split}}}"),
            Style::Tpipe { .. } => writeln!(t, "pto.tpush ins({tile} : {ty}) pipe(%pipe : !pipe) {{split = {split}}}"),
            Style::Internal { .. } => writeln!(t, "pto.tpush({tile}, %pipe : {ty}, !pipe) {{split = {split}}}"),
        };
    }

    fn pop(&self, t: &mut String, style: Style, tile: &str, ty: &str, from: &str) {
        let split = self.split;
        if !matches!(style, Style::Frontend { .. }) {
            let _ = writeln!(t, "{tile} = pto.declare_tile -> {ty}");
        }
        let _ = match style {
            Style::Frontend { .. } => writeln!(t, "{tile} = pto.tpop_from_{from} {{split = {split}}} -> {ty}"),
            Style::Tpipe { .. } => writeln!(t, "pto.tpop pipe(%pipe : !pipe) outs({tile} : {ty}) {{split = {split}}}"),
            Style::Internal { .. } => writeln!(t, "pto.tpop({tile}, %pipe : {ty}, !pipe) {{split = {split}}}"),
        };
    }

    fn free(&self, t: &mut String, style: Style, from: &str) {
        let split = self.split;
        let _ = match style {
            Style::Frontend { auto: true, .. } | Style::Tpipe { auto: true, .. } => Ok(()),
            Style::Frontend { .. } => writeln!(t, "pto.tfree_from_{from} {{split = {split}}}"),
            Style::Tpipe { .. } => writeln!(t, "pto.tfree pipe(%pipe : !pipe) {{split = {split}}}"),
            Style::Internal { .. } => writeln!(t, "pto.tfree(%pipe : !pipe) {{split = {split}}}"),
        };
    }

    fn cube_body(&self, t: &mut String, style: Style) {
        let (rows, cols, tiles) = (self.rows, self.cols, self.tiles);
        let _ = writeln!(
            t,
            "%wv = pto.make_tensor_view %w, shape = [%c{cols}, %c{cols}], strides = [%c{cols}, %c1] : !tv
             %wp = pto.partition_view %wv, offsets = [%c0, %c0], sizes = [%c{cols}, %c{cols}] : !tv -> !pv
             %wt = pto.alloc_tile : !w1\n%right = pto.alloc_tile : !l0b\n%left = pto.alloc_tile : !l0a\n%acc = pto.alloc_tile : !l0c
             %own = pto.alloc_tile : !l1
             pto.tload ins(%wp : !pv) outs(%wt : !w1)\npto.tmov ins(%wt : !w1) outs(%right : !l0b)
             scf.for %i = %c0 to %c{tiles} step %c1 {{
             %row = arith.muli %i, %c{rows} : index"
        );
        if self.uses(Way::V2c) {
            self.pop(t, style, "%got", "!l1", "aiv");
            let _ = writeln!(t, "pto.tmov ins(%got : !l1) outs(%left : !l0a)");
            self.free(t, style, "aiv");
        } else {
            let _ = writeln!(
                t,
                "%xp = pto.partition_view %xv, offsets = [%row, %c0], sizes = [%c{rows}, %c{cols}] : !tv -> !pv
                 pto.tload ins(%xp : !pv) outs(%own : !l1)\npto.tmov ins(%own : !l1) outs(%left : !l0a)"
            );
        }
        let _ = writeln!(t, "pto.tmatmul ins(%left, %right : !l0a, !l0b) outs(%acc : !l0c)");
        if self.uses(Way::C2v) {
            self.push(t, style, "%acc", "!l0c", "aiv");
        } else {
            let _ = writeln!(
                t,
                "%yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c{rows}, %c{cols}] : !tv -> !pv
                 pto.tstore ins(%acc : !l0c) outs(%yp : !pv)"
            );
        }
        let _ = writeln!(t, "}}");
    }

    fn vector_body(&self, t: &mut String, style: Style) {
        let (rows, tiles) = (self.rows, self.tiles);
        let (lane_rows, lane_cols) = self.lane_shape();
        if self.split == 0 {
            let _ = writeln!(t, "%lane = arith.muli %c0, %c0 : index");
        } else {
            let _ = writeln!(t, "%lane64 = pto.get_subblock_idx\n%lane = arith.index_cast %lane64 : i64 to index");
        }
        let _ = writeln!(
            t,
            "%one = arith.constant 1.0 : f32\n%vr = arith.addi %c{lane_rows}, %c0 : index\n%vc = arith.addi %c{lane_cols}, %c0 : index
             %r0 = arith.muli %lane, %c{} : index\n%col = arith.muli %lane, %c{} : index
             %in = pto.alloc_tile valid_row = %vr valid_col = %vc : !vec
             %out = pto.alloc_tile valid_row = %vr valid_col = %vc : !vec
             scf.for %i = %c0 to %c{tiles} step %c1 {{
             %base = arith.muli %i, %c{rows} : index\n%row = arith.addi %base, %r0 : index",
            if self.split == 1 { lane_rows } else { 0 },
            if self.split == 2 { lane_cols } else { 0 },
        );
        if self.uses(Way::V2c) {
            let _ = writeln!(
                t,
                "%xp = pto.partition_view %xv, offsets = [%row, %col], sizes = [%vr, %vc] : !tv -> !pv
                 pto.tload ins(%xp : !pv) outs(%in : !vec)"
            );
            self.push(t, style, "%in", "!vec", "aic");
        }
        if self.uses(Way::C2v) {
            self.pop(t, style, "%got", "!vec", "aic");
            let _ = writeln!(
                t,
                "pto.tmuls ins(%got, %one : !vec, f32) outs(%out : !vec)
                 %yp = pto.partition_view %yv, offsets = [%row, %col], sizes = [%vr, %vc] : !tv -> !pv
                 pto.tstore ins(%out : !vec) outs(%yp : !pv)"
            );
            self.free(t, style, "aic");
        }
        let _ = writeln!(t, "}}");
    }
}

/// Small multiples of 1/4: every sum of products of them is exact in `f32`.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let value =
        |i: u32| ((i.wrapping_mul(2_654_435_761).wrapping_add(seed.wrapping_mul(977)) >> 16) % 17) as f32 / 4.0 - 2.0;
    (0..count as u32).map(value).collect()
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

/// Other costs: different timing, the same results.
fn costs(platform: &mut Platform, seed: u32) {
    let mut state = seed;
    let mut next = |most: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        1 + (state >> 16) % most
    };
    for entry in platform.cost.dma.values_mut() {
        entry.cost = Cost { fixed: next(400), num: next(8), den: next(64) };
    }
    for entry in platform.cost.vector.values_mut().chain(platform.cost.op.values_mut()) {
        (entry.cost.head, entry.cost.repeat) = (Milli(next(400_000).into()), Milli(next(8000).into()));
    }
    platform.sync.cross_core_latency = next(200);
    platform.pipes.queue_depth = 1 + next(8);
}

fn expected(case: &Case, x: &[f32], w: &[f32]) -> Vec<f32> {
    let cols = case.cols as usize;
    let cell = |row: usize, col: usize| (0..cols).fold(0.0, |sum, k| sum + x[row * cols + k] * w[k * cols + col]);
    let rows = (case.rows * case.tiles) as usize;
    (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))).map(|(row, col)| cell(row, col)).collect()
}

fn run_case(case: &Case, style: Style, platform: &Platform) -> Result<(), TestCaseError> {
    let text = case.text(style);
    let fail = |what: String| TestCaseError::fail(format!("{style:?} on {}: {what}\n{text}", platform.name));
    let ready = Ready::of("case.pto", &text, platform).map_err(|said| fail(said.join("\n")))?;
    let (rows, cols) = ((case.rows * case.tiles) as usize, case.cols as usize);
    let (x, w) = (numbers(rows.max(1) * cols, case.seed), numbers(cols * cols, case.seed ^ 5));
    let slots = 2 * case.slots * case.slot_bytes();
    let out = vec![0; rows.max(1) * cols * 4];
    let values = [bytes(&x), bytes(&w), out, vec![0xa5; slots as usize]].map(Bound::buffer);
    let (execution, report) = ready.checked(&values, 1);
    if !report.is_clean() || report.scope.schedules != Schedules::All {
        return Err(fail(format!("{:?}\n{:?}", report.scope, report.findings)));
    }
    let got = execution.buffer(&values, 2).unwrap_or_default();
    let want = bytes(&expected(case, &x, &w));
    if got[..want.len()] != want[..] {
        let at = got.iter().zip(&want).position(|(a, b)| a != b).unwrap_or(0) / 4;
        return Err(fail(format!("element {at} (row {}, column {}) is wrong", at / cols, at % cols)));
    }
    Ok(())
}

fn cases() -> impl Strategy<Value = Case> {
    let way = prop_oneof![Just(Way::C2v), Just(Way::V2c), Just(Way::Both)];
    let shape = (1u32..36, 1u32..36, 0u32..3);
    let ring = (1u32..=8, 1u32..=4, 0u32..14, 1u32..=4, (0u32..3, any::<bool>()));
    (way, shape, ring, any::<u32>()).prop_map(
        |(way, (rows, cols, split), (slots, local, tiles, period, (spare, padded)), seed)| {
            // Both directions of a pipe share the flags; split extents are even.
            let slots = if way == Way::Both { slots.min(4) } else { slots };
            let (rows, cols) = (rows + (rows % 2) * u32::from(split == 1), cols + (cols % 2) * u32::from(split == 2));
            Case { way, rows, cols, split, slots, local, tiles, period, padded, spare, seed }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn every_kind_of_pipe_gives_the_same_bytes(case in cases()) {
        for name in ["a5", "a2a3"] {
            let mut platform = built_in(name).unwrap();
            costs(&mut platform, case.seed);
            for style in styles(&platform) {
                run_case(&case, style, &platform)?;
            }
        }
    }
}
