//! The text of a random kernel, from a seed.

use std::fmt::Write as _;

/// Kinds of statement that are made. All others always are.
#[derive(Clone, Copy, Debug)]
pub struct Classes {
    /// Names that stand for windows of tensors, bound anew.
    pub windows: bool,
    /// Tiles of several names that are written in part.
    pub aliases: bool,
    /// Parts of the columns of tiles.
    pub columns: bool,
    /// Divided extents that are no whole number of fractals.
    pub uneven: bool,
}

impl Classes {
    pub const ALL: Classes = Classes { windows: true, aliases: true, columns: true, uneven: true };
    /// What the compiler is held to.
    pub const KEPT: Classes = Classes { windows: true, aliases: true, columns: true, uneven: true };
}

/// A kernel and its arguments.
pub struct Kernel {
    pub text: String,
    pub args: Vec<String>,
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
}

/// How a kernel's Vector work is divided.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    /// One Vector core only.
    Alone,
    Whole,
    Rows,
    Columns,
}

/// Names that may be used at a place.
#[derive(Clone, Default)]
struct Scope {
    /// Tiles of the kernel's shape.
    tiles: Vec<String>,
    /// Windows of tensors of that shape.
    windows: Vec<String>,
    /// Integers, from 0 to 7.
    counters: Vec<String>,
    /// Other integers.
    numbers: Vec<String>,
}

struct Writer {
    random: Random,
    classes: Classes,
    text: String,
    depth: usize,
    names: usize,
    /// Extents of tiles.
    rows: usize,
    cols: usize,
    float: bool,
    ty: &'static str,
    mode: Mode,
    /// True if this kernel writes parts of tiles, false if several names may stand for one.
    parts: bool,
    shared: bool,
    helpers: usize,
}

/// Rows of the tensors that Vector work reads, in tiles.
const SPARE: usize = 2;
/// Tiles that the output has room for.
const SLOTS: usize = 8;

/// The kernel of a seed.
pub fn kernel(seed: u64, classes: Classes) -> Kernel {
    let mut random = Random(seed.wrapping_mul(0x5851_f42d_4c95_7f2d) ^ 0x1234_5678);
    let cube = random.chance(40);
    let (ty, float) = match random.below(if cube { 1 } else { 10 }) {
        0..=6 => ("FP32", true),
        7 => ("FP16", true),
        _ => ("INT32", false),
    };
    let parts = random.chance(50);
    let mut w = Writer {
        classes,
        text: String::new(),
        depth: 0,
        names: 0,
        rows: 0,
        cols: 0,
        float,
        ty,
        mode: Mode::Alone,
        parts: parts || classes.aliases,
        shared: !parts || classes.aliases,
        helpers: 0,
        random,
    };
    w.line("import slipring.language as pl");
    if cube { w.cube_kernel() } else { w.vector_kernel() }
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(self.depth));
    }

    fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    // ---- kernels ----

    fn vector_kernel(mut self) -> Kernel {
        self.rows = self.random.pick(&[1, 2, 8, 16]);
        self.cols = self.random.pick(&[16, 32, 64]);
        let (rows, cols, ty) = (self.rows, self.cols, self.ty);
        self.define_helpers();
        self.line("@pl.incore");
        self.line("def f(");
        self.depth = 1;
        for name in ["x", "y"] {
            self.line(&format!("{name}: pl.Tensor[[{}, {cols}], pl.{ty}],", rows * SPARE + 8));
        }
        self.line("n: pl.Scalar[pl.INT32],");
        self.line(&format!("out: pl.InOut[pl.Tensor[[{}, {cols}], pl.{ty}]],", rows * SLOTS + 8));
        self.depth = 0;
        self.line("):");
        self.depth = 1;
        let mut scope = Scope::default();
        for _ in 0..2 {
            self.new_tile(&mut scope);
        }
        self.line("s0 = 3");
        scope.numbers.push("s0".into());
        let count = 3 + self.random.below(5);
        self.statements(&mut scope, count, 2);
        self.store_all(&scope);
        let elem = ty.to_lowercase().replace("fp", "f").replace("int", "i");
        let input = |seed: usize| match elem.as_str() {
            "i32" => format!("rand:i32[{}x{cols}],seed={seed},lo=-50,hi=50", rows * SPARE + 8),
            elem => format!("rand:{elem}[{}x{cols}],seed={seed}", rows * SPARE + 8),
        };
        let n = self.random.below(5);
        let args = vec![input(1), input(2), format!("{n}:i32"), format!("full:{elem}[{}x{cols}]=7", rows * SLOTS + 8)];
        Kernel { text: self.text, args }
    }

    fn cube_kernel(mut self) -> Kernel {
        self.mode = self.random.pick(&[Mode::Whole, Mode::Rows, Mode::Rows, Mode::Columns, Mode::Columns]);
        let even: &[usize] = &[32, 64];
        let any: &[usize] = if self.classes.uneven { &[20, 24, 32, 36, 40, 50, 64] } else { even };
        let (m, k, n) = (self.random.pick(any), self.random.pick(&[16, 32, 64]), self.random.pick(any));
        (self.rows, self.cols) = match self.mode {
            Mode::Rows => (m / 2, n),
            Mode::Columns => (m, n / 2),
            _ => (m, n),
        };
        let operand = self.random.pick(&["FP32", "FP16"]);
        self.define_helpers();
        self.line("@pl.incore");
        self.line("def f(");
        self.depth = 1;
        self.line(&format!("a: pl.Tensor[[{m}, {k}], pl.{operand}],"));
        self.line(&format!("b: pl.Tensor[[{k}, {n}], pl.{operand}],"));
        self.line(&format!("v: pl.Tensor[[{n}, {n}], pl.FP32],"));
        self.line(&format!("x: pl.Tensor[[{m}, {n}], pl.FP32],"));
        self.line("n: pl.Scalar[pl.INT32],");
        self.line(&format!("out: pl.InOut[pl.Tensor[[{}, {n}], pl.FP32]],", m * SLOTS));
        self.depth = 0;
        self.line("):");
        self.depth = 1;
        let mut scope = Scope::default();
        let mut product = "p0".to_string();
        if k > 16 && self.random.chance(50) {
            self.line("p0 = pl.matmul(a[:, 0:16], b[0:16, :])");
            self.line(&format!("for k in pl.range(16, {k}, 16):"));
            self.line("    p0 = pl.matmul_acc(p0, a[:, k : k + 16], b[k : k + 16, :])");
        } else {
            self.line("p0 = pl.matmul(a, b)");
        }
        let stages = 1 + self.random.below(3);
        for stage in 0..stages {
            let looped = stage > 0 && self.random.chance(40);
            if looped {
                let count = 1 + self.random.below(3);
                let i = self.fresh("i");
                self.line(&format!("for {i} in pl.range({count}):"));
                self.depth += 1;
            }
            let mut inner = scope.clone();
            let gathered = self.fresh("g");
            self.region_head();
            let shard = self.fresh("t");
            self.line(&format!("{shard} = pl.aiv_shard({product})"));
            // The shard itself stays what it is.
            let first = self.fresh("t");
            self.line(&format!("{first} = {shard} * 0.5"));
            inner.tiles.push(first);
            let count = 1 + self.random.below(4);
            self.statements(&mut inner, count, 1);
            let what = self.tile(&inner, 1);
            self.line(&format!("{gathered} = pl.aic_gather({what} * 0.25)"));
            self.depth -= 1;
            let next = self.fresh("p");
            self.line(&format!("{next} = pl.matmul({gathered}, v)"));
            if looped {
                self.region_head();
                let target = self.random.pick(&inner.tiles[..scope.tiles.len().max(1)]);
                self.line(&format!("{target} = {target} + pl.aiv_shard({next}) * 0.125"));
                self.depth -= 2;
            } else {
                product = next;
                scope.tiles = inner.tiles;
            }
        }
        self.region_head();
        let mut last = scope.clone();
        let shard = self.fresh("t");
        self.line(&format!("{shard} = pl.aiv_shard({product}) + 1.0"));
        last.tiles.push(shard);
        self.store_all(&last);
        self.depth = 0;
        let elem = if operand == "FP32" { "f32" } else { "f16" };
        let count = self.random.below(4);
        let args = vec![
            format!("rand:{elem}[{m}x{k}],seed=1"),
            format!("rand:{elem}[{k}x{n}],seed=2"),
            format!("rand:f32[{n}x{n}],seed=3"),
            format!("rand:f32[{m}x{n}],seed=4"),
            format!("{count}:i32"),
            format!("full:f32[{}x{n}]=7", m * SLOTS),
        ];
        Kernel { text: self.text, args }
    }

    fn region_head(&mut self) {
        let mode = match self.mode {
            Mode::Rows => "UP_DOWN",
            Mode::Columns => "LEFT_RIGHT",
            _ => "NONE",
        };
        self.line(&format!("for lane in pl.split_aiv(2, mode=pl.SplitMode.{mode}):"));
        self.depth += 1;
    }

    /// Functions that kernels call: they bind their parameters anew, and some write a part of one.
    fn define_helpers(&mut self) {
        self.helpers = self.random.below(3);
        for at in 0..self.helpers {
            let (number, body) = (self.number(), self.random.below(4));
            self.line("@pl.inline");
            self.line(&format!("def h{at}(t, u, by={number}):"));
            self.depth = 1;
            match body {
                0 => {
                    self.line("t = t * by");
                    self.line("return t + u");
                }
                1 => {
                    self.line("t, u = u, t");
                    self.line("for j in pl.range(2):");
                    self.line("    t = t + u");
                    self.line("return t - by");
                }
                2 => {
                    self.line("if by > 1:");
                    self.line("    u = u + by");
                    self.line("return pl.maximum(t, u)");
                }
                _ => self.line("return pl.minimum(t, u + by) - u"),
            }
            self.depth = 0;
        }
    }

    /// Writes every tile to a place of its own.
    fn store_all(&mut self, scope: &Scope) {
        for (at, tile) in scope.tiles.clone().iter().enumerate().take(SLOTS) {
            let (place, part) = self.own_place(at);
            self.line(&format!("out[{place}] = {tile}{part}"));
        }
    }

    /// Where the tile of a number lies in the output, and which part of it is stored there.
    fn own_place(&self, at: usize) -> (String, String) {
        let (rows, cols) = (self.rows, self.cols);
        match self.mode {
            Mode::Alone => (format!("{} : {}, :", at * rows, (at + 1) * rows), String::new()),
            Mode::Rows => {
                (format!("{0} + lane * {rows} : {0} + lane * {rows} + {rows}, :", at * rows * 2), String::new())
            }
            Mode::Columns => {
                (format!("{} : {}, lane * {cols} : lane * {cols} + {cols}", at * rows, (at + 1) * rows), String::new())
            }
            Mode::Whole => {
                let half = rows / 2;
                let part = format!("lane * {half} : lane * {half} + {half}, :");
                (format!("{0} + {part}", at * rows).replace(": lane", &format!(": {} + lane", at * rows)), {
                    format!("[{part}]")
                })
            }
        }
    }

    // ---- statements ----

    fn new_tile(&mut self, scope: &mut Scope) {
        let name = self.fresh("t");
        let value = self.computed(scope, 2);
        self.line(&format!("{name} = {value}"));
        scope.tiles.push(name);
    }

    fn statements(&mut self, scope: &mut Scope, count: usize, deeper: usize) {
        for _ in 0..count {
            self.statement(scope, deeper);
        }
    }

    fn statement(&mut self, scope: &mut Scope, deeper: usize) {
        if scope.tiles.is_empty() {
            return self.new_tile(scope);
        }
        match self.random.below(if deeper > 0 { 20 } else { 13 }) {
            0 | 1 => {
                let (name, value) = (self.random.pick(&scope.tiles), self.computed(scope, 2));
                self.line(&format!("{name} = {value}"));
            }
            2 if scope.tiles.len() < SLOTS - 2 => self.new_tile(scope),
            3 if scope.tiles.len() > 1 => {
                let (a, b) = (self.random.pick(&scope.tiles), self.random.pick(&scope.tiles));
                if a != b {
                    self.line(&format!("{a}, {b} = {b}, {a}"));
                }
            }
            4 => {
                let (a, b) = (self.random.pick(&scope.tiles), self.random.pick(&scope.tiles));
                if a != b && self.shared {
                    self.line(&format!("{a} = {b}"));
                }
            }
            5 | 6 if self.parts => self.write_part(scope),
            7 => {
                let (name, value) = (self.random.pick(&scope.tiles), self.computed(scope, 1));
                let op = if self.random.chance(70) { "+=" } else { "-=" };
                self.line(&format!("{name} {op} {value}"));
            }
            8 => self.store(scope),
            9 if !scope.numbers.is_empty() => {
                let (name, by) = (self.random.pick(&scope.numbers), self.index(scope));
                let update = self.random.pick(&["{} + {by}", "{} * 2 - {by}", "{by} - {}", "max({}, {by}) + 1"]);
                let value = update.replace("{}", &name).replace("{by}", &by);
                self.line(&format!("{name} = ({value}) % 11"));
            }
            10 | 11 if self.classes.windows && self.mode == Mode::Alone => {
                let (from, of) = (self.random.below(8), self.random.pick(&["x", "y"]));
                let value = format!("{of}[{from} : {}, :]", from + self.rows);
                if !scope.windows.is_empty() && self.random.chance(60) {
                    let name = self.random.pick(&scope.windows);
                    let other = self.random.pick(&scope.windows);
                    match self.random.below(3) {
                        0 if name != other => self.line(&format!("{name}, {other} = {other}, {name}")),
                        1 => {
                            let by = self.computed(scope, 1);
                            self.line(&format!("{name} = {name} + {by}"));
                        }
                        _ => self.line(&format!("{name} = {value}")),
                    }
                } else if self.random.chance(30) {
                    let name = self.random.pick(&scope.tiles);
                    self.line(&format!("{name} = {value}"));
                } else {
                    let name = self.fresh("w");
                    self.line(&format!("{name} = {value}"));
                    scope.windows.push(name);
                }
            }
            12 if self.classes.columns && self.mode == Mode::Alone => {
                let (tile, half) = (self.random.pick(&scope.tiles), self.cols / 2);
                let (from, to) = (self.random.below(2) * half, self.random.below(SLOTS) * self.rows);
                let rows = self.rows;
                let number = self.number();
                self.line(&format!(
                    "out[{to} : {}, {from} : {}] = {tile}[:, {from} : {}] + {number}",
                    to + rows,
                    from + half,
                    from + half
                ));
            }
            13..=16 => self.repeat(scope, deeper),
            17..=19 => self.branch(scope, deeper),
            _ => {
                let (name, value) = (self.random.pick(&scope.tiles), self.computed(scope, 2));
                self.line(&format!("{name} = {value}"));
            }
        }
    }

    /// Assigns to a part of a tile.
    fn write_part(&mut self, scope: &Scope) {
        let tile = self.random.pick(&scope.tiles);
        if self.classes.columns && self.random.chance(40) && self.mode == Mode::Alone {
            let half = self.cols / 2;
            let (from, to) = (self.random.below(2) * half, self.random.below(2) * half);
            let other = self.random.pick(&scope.tiles);
            let number = self.number();
            self.line(&format!("{tile}[:, {from} : {}] = {other}[:, {to} : {}] * {number}", from + half, to + half));
            return;
        }
        let size = 1 + self.random.below(self.rows.min(4));
        let (from, to) = (self.random.below(self.rows - size + 1), self.random.below(self.rows - size + 1));
        let other = self.random.pick(&scope.tiles);
        let number = self.number();
        self.line(&format!("{tile}[{to} : {}, :] = {other}[{from} : {}, :] + {number}", to + size, from + size));
    }

    /// Stores a tile, or adds it to what is there.
    fn store(&mut self, scope: &Scope) {
        let value = self.computed(scope, 1);
        let op = if self.random.chance(30) { "+=" } else { "=" };
        if self.mode != Mode::Alone {
            let at = self.random.below(SLOTS);
            let (place, part) = self.own_place(at);
            let tile = self.random.pick(&scope.tiles);
            let value = if part.is_empty() { value } else { format!("{tile}{part}") };
            return self.line(&format!("out[{place}] {op} {value}"));
        }
        let rows = self.rows;
        let first = match (scope.counters.is_empty(), self.random.chance(50)) {
            (false, true) => self.random.pick(&scope.counters),
            _ => self.random.below((SLOTS - 1) * rows + 8).to_string(),
        };
        self.line(&format!("out[{first} : {first} + {rows}, :] {op} {value}"));
    }

    fn repeat(&mut self, scope: &mut Scope, deeper: usize) {
        let (i, count) = (self.fresh("i"), 1 + self.random.below(4));
        let head = match self.random.below(9) {
            7 => format!("pl.range({count}, {})", self.random.pick(&["n", "0", "4"])),
            8 => "range(2, 2)".into(),
            0 => format!("range({count})"),
            1 => format!("pl.range({count})"),
            2 => format!("pl.range(1, {}, 2)", 2 * count + 1),
            3 => format!("pl.unroll({count})"),
            4 => format!("pl.pipeline({}, stage=2)", count + 1),
            5 => format!("pl.pipeline({}, stage=3)", count + 2),
            _ => "pl.range(n)".into(),
        };
        self.line(&format!("for {i} in {head}:"));
        self.depth += 1;
        let mut inner = scope.clone();
        inner.counters.push(i);
        let count = 1 + self.random.below(4);
        self.statements(&mut inner, count, deeper - 1);
        self.line("pass");
        self.depth -= 1;
    }

    fn condition(&mut self, scope: &Scope) -> String {
        let limit = self.random.below(5);
        if matches!(self.mode, Mode::Rows | Mode::Columns) && self.random.chance(30) {
            return "lane > 0".into();
        }
        match (scope.counters.is_empty(), self.random.below(4)) {
            (false, 0) => format!("{} % 2 == 0", self.random.pick(&scope.counters)),
            (false, 1) => format!("{} < n", self.random.pick(&scope.counters)),
            (_, 2) if !scope.numbers.is_empty() => format!("{} > {limit}", self.random.pick(&scope.numbers)),
            _ => format!("n {} {limit}", self.random.pick(&["==", "!=", "<", ">="])),
        }
    }

    fn branch(&mut self, scope: &mut Scope, deeper: usize) {
        let condition = self.condition(scope);
        self.line(&format!("if {condition}:"));
        let new = self.random.chance(30).then(|| self.fresh("t"));
        let arms = if new.is_some() || self.random.chance(50) { 2 } else { 1 };
        for arm in 0..arms {
            if arm == 1 {
                self.line("else:");
            }
            self.depth += 1;
            let mut inner = scope.clone();
            let count = 1 + self.random.below(3);
            self.statements(&mut inner, count, deeper - 1);
            match &new {
                Some(name) => {
                    let value = self.computed(&inner, 1);
                    self.line(&format!("{name} = {value}"));
                }
                None => self.line("pass"),
            }
            self.depth -= 1;
        }
        scope.tiles.extend(new);
    }

    // ---- expressions ----

    fn number(&mut self) -> String {
        let n = 1 + self.random.below(3);
        if self.float { self.random.pick(&["0.5", "1.0", "1.5", "0.25", "2"]).into() } else { n.to_string() }
    }

    /// A small integer that is not negative.
    fn index(&mut self, scope: &Scope) -> String {
        match scope.counters.is_empty() || self.random.chance(50) {
            true => self.random.below(4).to_string(),
            false => self.random.pick(&scope.counters),
        }
    }

    /// A name of a tile, or something computed.
    fn tile(&mut self, scope: &Scope, depth: usize) -> String {
        if !scope.windows.is_empty() && self.random.chance(25) {
            return self.random.pick(&scope.windows);
        }
        if scope.tiles.is_empty() || depth > 0 && self.random.chance(50) {
            return self.computed(scope, depth.saturating_sub(1));
        }
        self.random.pick(&scope.tiles)
    }

    /// What a kernel reads from its parameters: a tile that is loaded.
    fn loaded(&mut self, scope: &Scope) -> String {
        let (rows, cols) = (self.rows, self.cols);
        match self.mode {
            Mode::Alone => {
                let of = self.random.pick(&["x", "y", "x", "y", "out"]);
                let first = self.index(scope);
                format!("pl.load({of}, [{first}, 0], [{rows}, {cols}])")
            }
            Mode::Whole => {
                "pl.load(x, [0, 0], [{r}, {c}])".replace("{r}", &rows.to_string()).replace("{c}", &cols.to_string())
            }
            Mode::Rows => format!("pl.load(x, [lane * {rows}, 0], [{rows}, {cols}])"),
            Mode::Columns => format!("pl.load(x, [0, lane * {cols}], [{rows}, {cols}])"),
        }
    }

    /// A new tile: something computed or loaded.
    fn computed(&mut self, scope: &Scope, depth: usize) -> String {
        if scope.tiles.is_empty() || self.random.chance(12) {
            return self.loaded(scope);
        }
        let a = self.tile(scope, depth);
        match self.random.below(16) {
            12 if self.ty == "FP32" => {
                let (b, how) = (self.tile(scope, 0), self.random.pick(&["eq", "ne", "lt", "le", "gt", "ge"]));
                match self.random.chance(50) {
                    true => format!("pl.sel(pl.cmp({a}, {b}, cmp_type=\"{how}\"), {b}, {a})"),
                    false => {
                        let (x, y) = (self.number(), self.number());
                        format!("pl.sels(pl.cmps({a}, {x}, cmp_type=\"{how}\"), {b}, {y})")
                    }
                }
            }
            13 if self.mode == Mode::Alone => {
                let (rows, cols, number) = (self.rows, self.cols, self.number());
                format!("pl.reshape(pl.reshape({a} + 0, [{}, 16]) * {number}, [{rows}, {cols}])", rows * cols / 16)
            }
            14 if self.ty == "FP32" => format!("pl.cast(pl.cast({a}, pl.FP16), pl.FP32)"),
            0 | 1 => format!("({a} + {})", self.tile(scope, depth)),
            2 => format!("({a} - {})", self.tile(scope, depth)),
            3 => format!("({a} * {})", self.number()),
            4 => format!("({} - {a})", self.number()),
            5 => format!("pl.maximum({a}, {})", self.tile(scope, depth)),
            6 => format!("(-{a})"),
            7 => format!("pl.relu({a} + {})", self.number()),
            8 if self.float && self.mode != Mode::Columns => {
                let b = self.random.pick(&scope.tiles);
                let what = self
                    .random
                    .pick(&["pl.row_expand_sub(#, pl.row_max($))", "pl.row_expand_add(#, pl.row_sum($) * 0.125)"]);
                what.replace('#', &a).replace('$', &b)
            }
            9 if self.float && self.mode != Mode::Rows => {
                let b = self.random.pick(&scope.tiles);
                format!("pl.col_expand_add({a}, pl.col_max({b}))")
            }
            10 if self.helpers > 0 => {
                let helper = self.random.below(self.helpers);
                let b = self.computed(scope, 0);
                // What is passed has no other name that the function could change.
                match self.random.chance(30) {
                    true => format!("h{helper}({a} + 0, {b}, by={})", self.number()),
                    false => format!("h{helper}({a} + 0, {b})"),
                }
            }
            11 if self.ty == "FP32" && !scope.numbers.is_empty() => {
                format!("({a} * pl.cast({} % 3, pl.FP32))", self.random.pick(&scope.numbers))
            }
            _ => format!("({a} + {})", self.number()),
        }
    }
}
