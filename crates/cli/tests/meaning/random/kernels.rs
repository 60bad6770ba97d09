//! Kernels: parameters, functions that they call, regions, and the final stores.

use super::generate::{Kernel, Mode, SLOTS, SPARE, Scope, Writer};

/// An element type, by its name in the language.
fn elem(ty: &str) -> String {
    ty.to_lowercase().replace("fp", "f").replace("int", "i")
}

impl Writer {
    pub fn vector_kernel(mut self) -> Kernel {
        self.rows = self.random.pick(&[1, 2, 8, 16]);
        self.cols = self.random.pick(&[32, 32, 64]);
        if self.plain() && self.ty != "BF16" && self.random.chance(40) {
            self.cols = 16;
        }
        let (rows, cols, stored) = (self.rows, self.cols, self.stored);
        let (read, written) = (rows * SPARE + 8, rows * SLOTS + 8);
        self.define_helpers();
        self.line("@pl.incore");
        self.line("def f(");
        self.depth = 1;
        for name in ["x", "y"] {
            self.line(&format!("{name}: pl.Tensor[[{read}, {cols}], pl.{stored}],"));
        }
        self.line("n: pl.Scalar[pl.INT32],");
        self.line(&format!("out: pl.InOut[pl.Tensor[[{}, {cols}], pl.{stored}]],", written * self.blocks));
        self.depth = 0;
        self.line("):");
        self.depth = 1;
        let mut scope = Scope::default();
        self.begin_blocks(written, &mut scope);
        for _ in 0..2 {
            self.new_tile(&mut scope);
        }
        self.line("s0 = 3");
        scope.numbers.push("s0".into());
        let count = 3 + self.random.below(5);
        self.statements(&mut scope, count, 2);
        self.store_all(&scope);
        let ty = elem(stored);
        let range = if ty.starts_with('i') { ",lo=-50,hi=50" } else { "" };
        let input = |seed: usize| format!("rand:{ty}[{read}x{cols}],seed={seed}{range}");
        let out = format!("full:{ty}[{}x{cols}]=7", written * self.blocks);
        self.launches(&[input(1), input(2)], &out)
    }

    /// The kernel, launched with several counts.
    fn launches(mut self, inputs: &[String], out: &str) -> Kernel {
        let first = self.random.below(5);
        let counts = [first, (first + 1) % 5, (first + 3) % 5];
        let with = |n: &usize| [inputs, &[format!("{n}:i32"), out.to_string()]].concat();
        Kernel { launches: counts.iter().map(with).collect(), text: self.text, blocks: self.blocks as u32 }
    }

    /// Begins the body of a launch of several blocks, each with this many rows of the output.
    fn begin_blocks(&mut self, rows: usize, scope: &mut Scope) {
        if self.blocks == 1 {
            return;
        }
        if self.random.chance(50) {
            self.line(&format!("for block in pl.spmd({}):", self.blocks));
            self.depth += 1;
        } else {
            self.line("block = pl.get_block_idx()");
        }
        self.line(&format!("base = block * {rows}"));
        scope.counters.push("block".into());
    }

    pub fn cube_kernel(mut self) -> Kernel {
        self.mode = self.random.pick(&[Mode::Whole, Mode::Rows, Mode::Rows, Mode::Columns, Mode::Columns]);
        // Some extents are not multiples of a fractal.
        let any = [20, 24, 32, 36, 40, 50, 64];
        let (m, k, n) = (self.random.pick(&any), self.random.pick(&[16, 32, 64]), self.random.pick(&any));
        (self.rows, self.cols) = match self.mode {
            Mode::Rows => (m / 2, n),
            Mode::Columns => (m, n / 2),
            _ => (m, n),
        };
        let operand = self.random.pick(&["FP32", "FP16", "BF16"]);
        self.define_helpers();
        self.line("@pl.incore");
        self.line("def f(");
        self.depth = 1;
        self.line(&format!("a: pl.Tensor[[{m}, {k}], pl.{operand}],"));
        self.line(&format!("b: pl.Tensor[[{k}, {n}], pl.{operand}],"));
        self.line(&format!("v: pl.Tensor[[{n}, {n}], pl.FP32],"));
        self.line(&format!("x: pl.Tensor[[{m}, {n}], pl.FP32],"));
        self.line("n: pl.Scalar[pl.INT32],");
        self.line(&format!("out: pl.InOut[pl.Tensor[[{}, {n}], pl.FP32]],", m * SLOTS * self.blocks));
        self.depth = 0;
        self.line("):");
        self.depth = 1;
        let mut scope = Scope::default();
        self.begin_blocks(m * SLOTS, &mut scope);
        // Names with lanes are only valid inside a region.
        scope.counters.clear();
        let mut product = "p0".to_string();
        if k > 16 && self.random.chance(50) {
            self.line("p0 = pl.matmul(a[:, 0:16], b[0:16, :])");
            self.line(&format!("for k in pl.range(16, {k}, 16):"));
            self.line("    p0 = pl.matmul_acc(p0, a[:, k : k + 16], b[k : k + 16, :])");
        } else {
            self.line("p0 = pl.matmul(a, b)");
        }
        self.accumulate(k);
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
            // The shard itself does not change.
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
        let operand = elem(operand);
        let inputs = [
            format!("rand:{operand}[{m}x{k}],seed=1"),
            format!("rand:{operand}[{k}x{n}],seed=2"),
            format!("rand:f32[{n}x{n}],seed=3"),
            format!("rand:f32[{m}x{n}],seed=4"),
        ];
        let out = format!("full:f32[{}x{n}]=7", m * SLOTS * self.blocks);
        self.launches(&inputs, &out)
    }

    /// Adds further products to the first one: in branches and loops.
    fn accumulate(&mut self, k: usize) {
        for _ in 0..self.random.below(3) {
            let whole = "p0 = pl.matmul_acc(p0, a, b)";
            let part = "p0 = pl.matmul_acc(p0, a[:, 0:16], b[0:16, :])";
            match self.random.below(4) {
                0 => {
                    self.line("if n > 1:");
                    self.line(&format!("    {whole}"));
                }
                1 if k > 16 => {
                    self.line("if n > 2:");
                    self.line(&format!("    {whole}"));
                    self.line("else:");
                    self.line(&format!("    {part}"));
                }
                2 => {
                    let i = self.fresh("i");
                    self.line(&format!("for {i} in pl.range(n):"));
                    self.line(&format!("    {part}"));
                }
                _ => self.line(whole),
            }
        }
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

    /// Functions that kernels call: they rebind their parameters, and some return two results.
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
                // Neither platform can subtract tiles of this type.
                _ if self.ty == "BF16" => self.line("return pl.minimum(t, u + by) + u"),
                _ => self.line("return pl.minimum(t, u + by) - u"),
            }
            self.depth = 0;
        }
        self.two = self.random.chance(40);
        if self.two {
            let number = self.number();
            self.line("@pl.inline");
            self.line("def both(t, u, times):");
            self.depth = 1;
            match self.random.below(3) {
                0 => self.line("return u, t"),
                1 => {
                    self.line("for j in pl.range(times):");
                    self.line(&format!("    t, u = u, t + {number}"));
                    self.line("return t, u");
                }
                _ => {
                    self.line("if times > 1:");
                    self.line("    t = t + u");
                    self.line(&format!("return t, u * {number}"));
                }
            }
            self.depth = 0;
        }
    }

    /// Stores every tile at its own position.
    fn store_all(&mut self, scope: &Scope) {
        for (at, tile) in scope.tiles.iter().enumerate().take(SLOTS) {
            let (place, part) = self.own_place(at);
            let value = self.as_stored(&format!("{tile}{part}"));
            self.line(&format!("out[{place}] = {value}"));
        }
    }

    /// The position of a tile in the output, and the part of it that is stored there.
    pub fn own_place(&self, at: usize) -> (String, String) {
        let (rows, cols) = (self.rows, self.cols);
        let from = |at: usize| self.row(at);
        match self.mode {
            Mode::Alone => (format!("{} : {}, :", from(at * rows), from((at + 1) * rows)), String::new()),
            Mode::Rows => {
                (format!("{0} + lane * {rows} : {0} + lane * {rows} + {rows}, :", from(at * rows * 2)), String::new())
            }
            Mode::Columns => (
                format!("{} : {}, lane * {cols} : lane * {cols} + {cols}", from(at * rows), from((at + 1) * rows)),
                String::new(),
            ),
            Mode::Whole => {
                let half = rows / 2;
                let place = format!("{0} + lane * {half} : {0} + lane * {half} + {half}, :", from(at * rows));
                (place, format!("[lane * {half} : lane * {half} + {half}, :]"))
            }
        }
    }
}
