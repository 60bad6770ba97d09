//! Statements: rebinding of names, assignments to parts, stores, loops and branches.

use super::generate::{Mode, SLOTS, SPARE, Scope, Writer};

impl Writer {
    pub fn new_tile(&mut self, scope: &mut Scope) {
        let name = self.fresh("t");
        let value = self.computed(scope, 2);
        self.line(&format!("{name} = {value}"));
        scope.tiles.push(name);
    }

    pub fn statements(&mut self, scope: &mut Scope, count: usize, deeper: usize) {
        for _ in 0..count {
            self.statement(scope, deeper);
        }
    }

    fn statement(&mut self, scope: &mut Scope, deeper: usize) {
        if scope.tiles.is_empty() {
            return self.new_tile(scope);
        }
        match self.random.below(if deeper > 0 { 25 } else { 17 }) {
            0 | 1 => {
                let (name, value) = (self.random.pick(&scope.tiles), self.computed(scope, 2));
                self.line(&format!("{name} = {value}"));
            }
            2 if scope.tiles.len() < SLOTS - 2 => self.new_tile(scope),
            3 if scope.tiles.len() > 1 => {
                let (a, b) = (self.random.pick(&scope.tiles), self.random.pick(&scope.tiles));
                let c = self.random.pick(&scope.tiles);
                self.shared = true;
                if a != b && b != c && a != c {
                    self.line(&format!("{a}, {b}, {c} = {b}, {c}, {a}"));
                } else if a != b {
                    self.line(&format!("{a}, {b} = {b}, {a}"));
                }
            }
            4 => {
                let (a, b) = (self.random.pick(&scope.tiles), self.random.pick(&scope.tiles));
                if a != b {
                    self.shared = true;
                    self.line(&format!("{a} = {b}"));
                }
            }
            5 | 6 => self.write_part(scope),
            7 => {
                let (name, value) = (self.random.pick(&scope.tiles), self.computed(scope, 1));
                // Neither platform can subtract tiles of this type.
                let op = if self.ty == "BF16" || self.random.chance(70) { "+=" } else { "-=" };
                self.line(&format!("{name} {op} {value}"));
            }
            8 => self.store(scope),
            9 if !scope.numbers.is_empty() => {
                let (name, by) = (self.random.pick(&scope.numbers), self.index(scope));
                let update = self.random.pick(&["{} + {by}", "{} * 2 - {by}", "{by} - {}", "max({}, {by}) + 1"]);
                let value = update.replace("{}", &name).replace("{by}", &by);
                self.line(&format!("{name} = ({value}) % 11"));
            }
            10 | 11 if self.plain() && self.mode == Mode::Alone => self.window(scope),
            12 if self.plain() && self.mode == Mode::Alone => self.store_columns(scope),
            13 if self.mode == Mode::Alone => self.partly_valid(scope),
            14 if self.mode == Mode::Alone => self.element(scope),
            15 if self.two => self.two_results(scope),
            16 if !self.plain() => self.move_through(),
            17..=20 => self.repeat(scope, deeper),
            21 => self.repeat_with_values(scope, deeper),
            22..=24 => self.branch(scope, deeper),
            _ => {
                let (name, value) = (self.random.pick(&scope.tiles), self.computed(scope, 2));
                self.line(&format!("{name} = {value}"));
            }
        }
    }

    /// Binds a name to a window of an input, changes it, or swaps two.
    fn window(&mut self, scope: &mut Scope) {
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
            self.unsure = true;
            self.line(&format!("{name} = {value}"));
        } else {
            let name = self.fresh("w");
            self.line(&format!("{name} = {value}"));
            scope.windows.push(name);
        }
    }

    fn store_columns(&mut self, scope: &Scope) {
        let (tile, half) = (self.random.pick(&scope.tiles), self.cols / 2);
        let (from, to) = (self.random.below(2) * half, self.random.below(SLOTS) * self.rows);
        let number = self.number();
        let (first, end) = (self.row(to), self.row(to + self.rows));
        self.line(&format!(
            "out[{first} : {end}, {from} : {}] = {tile}[:, {from} : {}] + {number}",
            from + half,
            from + half
        ));
    }

    /// A partially valid tile: stored as it is, or padded.
    fn partly_valid(&mut self, scope: &mut Scope) {
        let (rows, cols) = (self.rows, self.cols);
        let (of, first) = (self.random.pick(&["x", "y"]), self.index(scope));
        let valid_rows = match rows >= 8 && self.random.chance(40) {
            true => self.random.pick(&["n + 1", "n * 2", "8 - n"]),
            false => "#",
        };
        let valid_rows = valid_rows.replace('#', &(1 + self.random.below(rows)).to_string());
        let valid_cols = if self.random.chance(30) { cols } else { 1 + self.random.below(cols) };
        let load = format!("pl.load({of}, [{first}, 0], [{rows}, {cols}], valid_shape=[{valid_rows}, {valid_cols}])");
        let (v, number) = (self.fresh("v"), self.number());
        let load = if self.plain() { load } else { format!("pl.cast({load}, pl.{})", self.ty) };
        self.line(&format!("{v} = {load}"));
        if self.random.chance(50) {
            let change = self.random.pick(&["{v} * {n}", "{v} + {v}", "pl.maximum({v}, {v} * {n})", "-{v}"]);
            self.line(&format!("{v} = {}", change.replace("{v}", &v).replace("{n}", &number)));
        }
        if self.random.chance(60) {
            let name = self.random.pick(&scope.tiles);
            return self.line(&format!("{name} = pl.fillpad({v})"));
        }
        let at = self.random.below(SLOTS) * rows;
        let to = self.row(at);
        let value = self.as_stored(&v);
        self.line(&format!("pl.store({value}, [{to}, 0], out)"));
    }

    /// Reads or writes one element.
    fn element(&mut self, scope: &mut Scope) {
        let (row, col) = (self.index(scope), self.random.below(self.cols));
        let is_single = self.stored == "FP32";
        if self.random.chance(50) && (is_single || self.stored == "INT32") {
            let of = self.random.pick(&["x", "y"]);
            let mut at = format!("pl.read({of}, [{row}, {col}])");
            if self.random.chance(40) {
                // The body of a false condition does not run: this row does not exist.
                let far = self.random.pick(&["0", "1", "1000"]);
                let other = if is_single { self.number() } else { self.random.below(5).to_string() };
                let guarded = format!("pl.read({of}, [{row} + {far}, {col}])");
                at = match self.random.chance(50) {
                    true => format!("({guarded} if {row} + {far} < 4 else {other})"),
                    false => format!("({other} if {row} + {far} >= 4 or {guarded} > 1 else {at})"),
                };
            }
            if is_single {
                let name = self.fresh("e");
                self.line(&format!("{name} = {at}"));
                scope.floats.push(name);
            } else {
                let name = self.fresh("s");
                self.line(&format!("{name} = {at} % 5"));
                scope.numbers.push(name);
            }
        } else if is_single || self.stored == "INT32" {
            let number = match (is_single, scope.numbers.is_empty()) {
                (false, false) => self.random.pick(&scope.numbers),
                _ => self.number(),
            };
            let row = self.row(row);
            self.line(&format!("pl.write(out, [{row}, {col}], {number})"));
        }
    }

    /// Calls the function with two results.
    fn two_results(&mut self, scope: &mut Scope) {
        let (a, b) = (self.random.pick(&scope.tiles), self.random.pick(&scope.tiles));
        let times = match self.random.chance(50) {
            true => "n".to_string(),
            false => self.random.below(3).to_string(),
        };
        let copy = self.random.chance(50);
        self.unsure = true;
        let arguments = if copy { format!("{a} + 0, {b} + 0") } else { format!("{a}, {b}") };
        if self.random.chance(50) || scope.tiles.len() + 2 > SLOTS {
            if a != b {
                self.line(&format!("{a}, {b} = both({arguments}, {times})"));
            }
            return;
        }
        let (c, d) = (self.fresh("t"), self.fresh("t"));
        self.line(&format!("{c}, {d} = both({arguments}, {times})"));
        scope.tiles.extend([c, d]);
    }

    /// Copies a window without conversion.
    fn move_through(&mut self) {
        let (of, from) = (self.random.pick(&["x", "y"]), self.random.below(self.rows * (SPARE - 1) + 8));
        let rows = self.rows;
        let to = self.random.below(SLOTS) * rows;
        let (first, end) = (self.row(to), self.row(to + rows));
        let (last, cols) = (from + rows, self.cols);
        let value = match self.random.below(3) {
            0 => format!("{of}[{from} : {last}, :]"),
            1 => format!("pl.load({of}, [{from}, 0], [{rows}, {cols}])"),
            _ => format!("pl.move(pl.load({of}, [{from}, 0], [{rows}, {cols}]), pl.Mem.Vec)"),
        };
        self.line(&format!("out[{first} : {end}, :] = {value}"));
    }

    /// Assigns to a part of a tile.
    fn write_part(&mut self, scope: &Scope) {
        let tile = self.random.pick(&scope.tiles);
        if self.unsure && self.random.chance(95) {
            self.line(&format!("{tile} = {tile} + 0"));
        }
        if self.random.chance(40) && self.mode == Mode::Alone {
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

    /// Stores a tile, or adds it to the existing contents.
    fn store(&mut self, scope: &Scope) {
        let value = self.computed(scope, 1);
        let op = if self.plain() && self.random.chance(30) { "+=" } else { "=" };
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
        let (first, value) = (self.row(first), self.as_stored(&value));
        self.line(&format!("out[{first} : {first} + {rows}, :] {op} {value}"));
    }

    fn repeat(&mut self, scope: &mut Scope, deeper: usize) {
        let (i, count) = (self.fresh("i"), 1 + self.random.below(4));
        let head = match self.random.below(12) {
            7 => format!("pl.range({count}, {})", self.random.pick(&["n", "0", "4"])),
            8 => "range(2, 2)".into(),
            0 => format!("range({count})"),
            1 => format!("pl.range({count})"),
            2 => format!("pl.range(1, {}, 2)", 2 * count + 1),
            3 => format!("pl.unroll({count})"),
            4 => format!("pl.pipeline({}, stage=2)", count + 1),
            5 => format!("pl.pipeline({}, stage=3)", count + 2),
            9 => format!("pl.pipeline(1, {}, 2, stage=2)", 2 * count + 1),
            10 => "pl.pipeline(n, stage=2)".into(),
            _ => "pl.range(n)".into(),
        };
        self.line(&format!("for {i} in {head}:"));
        self.depth += 1;
        self.unsure |= self.shared;
        let mut inner = scope.clone();
        inner.counters.push(i);
        let count = 1 + self.random.below(4);
        self.statements(&mut inner, count, deeper - 1);
        self.unsure |= self.shared;
        self.line("pass");
        self.depth -= 1;
    }

    /// A loop that names its carried values.
    fn repeat_with_values(&mut self, scope: &mut Scope, deeper: usize) {
        let (i, count) = (self.fresh("i"), 1 + self.random.below(3));
        let kinds = self.random.below(3);
        let (c, d, k) = (self.fresh("c"), self.fresh("c"), self.fresh("k"));
        let (first, second) = (self.random.pick(&scope.tiles), self.random.pick(&scope.tiles));
        self.unsure = true;
        let (names, values) = match kinds {
            0 => (format!("({c},)"), format!("({first},)")),
            1 => (format!("({c}, {d})"), format!("({first}, {second})")),
            _ => (format!("({c}, {k})"), format!("({first}, {count})")),
        };
        let end = if self.random.chance(50) { count.to_string() } else { format!("n + {count}") };
        self.line(&format!("for {i}, {names} in pl.range({end}, init_values={values}):"));
        self.depth += 1;
        let mut inner = scope.clone();
        inner.counters.push(i);
        inner.tiles.push(c.clone());
        match kinds {
            1 => inner.tiles.push(d),
            2 => inner.numbers.push(k.clone()),
            _ => {}
        }
        let statements = self.random.below(3);
        self.statements(&mut inner, statements, deeper - 1);
        let yielded = if self.random.chance(70) { self.computed(&inner, 1) } else { self.random.pick(&inner.tiles) };
        let (r, q) = (self.fresh("t"), self.fresh("t"));
        match kinds {
            0 => self.line(&format!("{r} = pl.yield_({yielded})")),
            1 => {
                let other = self.random.pick(&inner.tiles);
                self.line(&format!("{r}, {q} = pl.yield_({yielded}, {other})"));
            }
            _ => {
                let s = self.fresh("s");
                self.line(&format!("{r}, {s} = pl.yield_({yielded}, ({k} * 3 + 1) % 7)"));
                scope.numbers.push(s);
            }
        }
        self.depth -= 1;
        scope.tiles.push(r);
        if kinds == 1 {
            scope.tiles.push(q);
        }
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
        self.unsure |= self.shared;
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
            self.unsure |= self.shared;
            self.depth -= 1;
        }
        scope.tiles.extend(new);
    }
}
