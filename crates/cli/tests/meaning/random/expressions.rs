//! Expressions: loads and computations.

use super::generate::{Mode, Scope, Writer};

impl Writer {
    pub fn number(&mut self) -> String {
        let n = 1 + self.random.below(3);
        if self.float { self.random.pick(&["0.5", "1.0", "1.5", "0.25", "2"]).into() } else { n.to_string() }
    }

    /// A small non-negative integer.
    pub fn index(&mut self, scope: &Scope) -> String {
        match scope.counters.is_empty() || self.random.chance(50) {
            true => self.random.below(4).to_string(),
            false => self.random.pick(&scope.counters),
        }
    }

    /// The name of a tile, or a computation.
    pub fn tile(&mut self, scope: &Scope, depth: usize) -> String {
        if !scope.windows.is_empty() && self.random.chance(25) {
            return self.random.pick(&scope.windows);
        }
        if scope.tiles.is_empty() || depth > 0 && self.random.chance(50) {
            return self.computed(scope, depth.saturating_sub(1));
        }
        self.random.pick(&scope.tiles)
    }

    /// A tile loaded from a parameter.
    fn loaded(&mut self, scope: &Scope) -> String {
        let (rows, cols) = (self.rows, self.cols);
        match self.mode {
            Mode::Alone => {
                let of = self.random.pick(&["x", "y", "x", "y", "out"]);
                let mut first = self.index(scope);
                if of == "out" {
                    first = self.row(first);
                }
                let load = format!("pl.load({of}, [{first}, 0], [{rows}, {cols}])");
                if self.plain() { load } else { format!("pl.cast({load}, pl.{})", self.ty) }
            }
            Mode::Whole => {
                "pl.load(x, [0, 0], [{r}, {c}])".replace("{r}", &rows.to_string()).replace("{c}", &cols.to_string())
            }
            Mode::Rows => format!("pl.load(x, [lane * {rows}, 0], [{rows}, {cols}])"),
            Mode::Columns => format!("pl.load(x, [0, lane * {cols}], [{rows}, {cols}])"),
        }
    }

    /// A new tile, computed or loaded.
    pub fn computed(&mut self, scope: &Scope, depth: usize) -> String {
        if scope.tiles.is_empty() || self.random.chance(12) {
            return self.loaded(scope);
        }
        let a = self.tile(scope, depth);
        match self.random.below(17) {
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
            // Neither platform can subtract tiles of this type.
            2 if self.ty != "BF16" => format!("({a} - {})", self.tile(scope, depth)),
            3 => format!("({a} * {})", self.number()),
            4 => format!("({} - {a})", self.number()),
            5 => format!("pl.maximum({a}, {})", self.tile(scope, depth)),
            6 => format!("(-{a})"),
            7 if self.ty != "INT16" && self.ty != "BF16" => format!("pl.relu({a} + {})", self.number()),
            8 if self.float && self.ty != "BF16" && self.mode != Mode::Columns => {
                let b = self.random.pick(&scope.tiles);
                let what = self
                    .random
                    .pick(&["pl.row_expand_sub(#, pl.row_max($))", "pl.row_expand_add(#, pl.row_sum($) * 0.125)"]);
                what.replace('#', &a).replace('$', &b)
            }
            9 if self.float && self.ty != "BF16" && self.mode != Mode::Rows => {
                let b = self.random.pick(&scope.tiles);
                format!("pl.col_expand_add({a}, pl.col_max({b}))")
            }
            10 if self.helpers > 0 => {
                let helper = self.random.below(self.helpers);
                let b = self.computed(scope, 0);
                // The argument has no other name that the function could change.
                match self.random.chance(30) {
                    true => format!("h{helper}({a} + 0, {b}, by={})", self.number()),
                    false => format!("h{helper}({a} + 0, {b})"),
                }
            }
            15 if self.ty == "FP32" && !scope.floats.is_empty() => {
                format!("({a} * {})", self.random.pick(&scope.floats))
            }
            11 if self.ty == "FP32" && !scope.numbers.is_empty() => {
                format!("({a} * pl.cast({} % 3, pl.FP32))", self.random.pick(&scope.numbers))
            }
            _ => format!("({a} + {})", self.number()),
        }
    }
}
