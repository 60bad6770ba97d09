//! Printing and stopping (PTO IR manual 4.20).

use slipring_ir::{AttrKind, Diags, EnumSpec, OpId, Syntax, Touch, Type, TypeRule, ValueId};
use slipring_machine::{Cost, Pipe, Platform, Role, Units};
use slipring_program::{Access, Effect, Env, Fault, Inst, Kind, Operand, Output, Run, Special, arguments};
use slipring_tile::{Elem, Layout, Space};

use crate::printf;
use slipring_effect::{Fold, Folding, MAX_RANK, Strided, StridedWindow, tile_extents};
use slipring_op::decode::Decoder;
use slipring_op::def::{CoreRule, Counter, Lowered, OpDef, OpRef, PipeRule, Reported};
use slipring_op::ops;
use slipring_op::rules::{PLAIN, SCALAR, TILE, VIEW, defaulted, operand, optional, required, variadic};

/// The base of ops that write to the output of the run.
const PRINTS: OpDef = OpDef { source: "PTO IR manual 4.20", prints: true, ..PLAIN };

ops! {
    OPS;

    /// Prints the tile's elements, a line a row: floats as `%6.2f`, integers as `%6d`, or as `printFormat` says, and a
    /// `|` before the elements outside the valid shape; of a window of global memory a line for each index of the
    /// dimensions before the last. The core first waits until all its pipes are idle. With a `label` the title is the
    /// label with core, block and the counters of the loops around, and only elements that are valid follow, each with
    /// all its digits.
    pub TPRINT "pto.tprint" "Print a tile or a window of global memory": PRINTS, core: CoreRule::ByTile,
        pipe: PipeRule::Fixed(Pipe::S), verify: verify_tprint, lower: lower_tprint
        => {
            syntax: Syntax::InsOuts { ins: 2, attrs_in_ins: false },
            operands: &[
                operand("src", PRINTED, Touch::Read, "the tile or window of global memory to print"),
                optional("tmp", VIEW, Touch::Scratch, "global memory that a tile of L1 or the accumulator goes through"),
            ],
            attrs: &[
                defaulted(
                    "printFormat",
                    AttrKind::Enum(PRINT_FORMAT),
                    "characters of each element, at least, and digits of floats behind the point",
                ),
                defaulted(
                    "label",
                    AttrKind::Str,
                    "a title: only what is valid is printed then, in full, with where it was",
                ),
            ],
        };

    /// Prints the format with its first conversion (`%d`, `%i`, `%u`, `%o`, `%x`, `%c`, `%f`, `%e`, `%g`, with flags,
    /// width and precision) replaced by the number, as C's `printf` does.
    pub PRINT "pto.print" "Print a number": PRINTS, verify: verify_print, lower: lower_print
        => {
            syntax: Syntax::Format("`ins` `(` $format `,` $scalar `:` type($scalar) `)` attr-dict"),
            operands: &[operand("scalar", SCALAR, Touch::Nothing, "the number to print")],
            attrs: &[
                required("format", AttrKind::Str, "text with one conversion of `printf`"),
                defaulted("located", AttrKind::Bool, "whether core, block and the counters of the loops around follow"),
            ],
        };

    /// Stops the whole run with a finding that names this line, and the reason where one is given.
    pub TRAP "pto.trap" "Stop the run": PRINTS, verify: verify_trap, lower: lower_trap
        => {
            syntax: Syntax::Format("(`(` $values `:` type($values) `)`)? attr-dict"),
            operands: &[variadic("values", SCALAR, Touch::Nothing, "numbers that the finding names")],
            attrs: &[
                defaulted(
                    "reason",
                    AttrKind::Str,
                    "what the finding says; with values, with a conversion of `printf` for each",
                ),
                defaulted("assertion", AttrKind::Bool, "whether it is a claim of the text that is not true"),
            ],
        };
}

fn verify_tprint(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    if op.operand("tmp").is_some() && op.tile("src").is_none() {
        diags.push(op.error("operand-count", "expects tmp only when src is a tile"));
    }
    if op.attr("printFormat").is_some() && op.attr("label").is_some() {
        let error = op.error("attribute", "`printFormat` changes nothing where there is a `label`");
        diags.push(error.help("leave one of them out"));
    }
}

fn lower_tprint(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    if op.tile("src").is_none() && op.space("src").is_none_or(|space| space == Space::Gm) {
        return lower_view(op, d);
    }
    let tile = d.tile(op.operand("src").ok_or(Reported)?)?;
    d.emit(Inst::Barrier { pipe: None });
    let name = op.module.value_name(op.operand("src").ok_or(Reported)?);
    let (counters, values) = counters(op, d)?;
    let title = op.text("label").map(|label| Title { label: label.into(), counters });
    let effect = PrintTile { name, core: d.role, space: tile.ty.space, layout: tile.ty.layout, title, form: form(op) };
    let block = d.special(Special::BlockIdx);
    let mut args = PrintArgs { tile: tile.addr, rows: tile.valid[0], cols: tile.valid[1], block }.list();
    args.extend(values.into_iter().filter(|_| effect.title.is_some()));
    d.issue(Pipe::S, effect, args, Cost::fixed(1));
    Ok(())
}

fn verify_print(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    letters(op, "format", 1, diags);
}

fn verify_trap(op: &OpRef<'_>, _: &Platform, diags: &mut Diags) {
    letters(op, "reason", op.operands("values").len(), diags);
}

/// Requires the first `numbers` conversions of a format to be numeric.
fn letters(op: &OpRef<'_>, attr: &str, numbers: usize, diags: &mut Diags) {
    if let Some(letter) = printf::unknown(op.text(attr).unwrap_or(""), numbers) {
        let message = format!("no number is printed by `%{letter}`");
        diags.push(op.error("print-format", message).help("`%d` prints an integer, `%g` a float, `%%` a `%`"));
    }
}

/// The prefix of the output of a program in the language.
#[derive(Debug)]
struct Title {
    label: String,
    /// Names of the surrounding loop counters, outermost first.
    counters: Vec<String>,
}

impl Title {
    /// The location: core, block, and the values of the counters.
    fn place(&self, core: Role, block: u64, values: &[u64]) -> String {
        let each = self.counters.iter().zip(values).map(|(name, n)| format!(", {name} = {}", *n as i64));
        format!("({core}, block {block}{})", each.collect::<String>())
    }
}

/// The named counters of the loops around an op, outermost first, and their values.
fn counters(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<(Vec<String>, Vec<Operand>), Reported> {
    let module = op.module;
    let around = std::iter::successors(module.parent_op(op.id), |at| module.parent_op(*at));
    let counts = |at: &OpId| matches!(OpDef::of(module, *at).and_then(|def| def.counter), Some(Counter::Range(_)));
    let found: Vec<ValueId> = around
        .take_while(|at| !module.is_function(*at))
        .filter(counts)
        .filter_map(|at| module.block(module.body(at, 0)?).args.first().copied())
        .filter(|counter| module.value(*counter).name.is_some())
        .collect();
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for counter in found.into_iter().rev() {
        names.push(module.value(counter).name.as_deref().unwrap_or_default().to_string());
        values.push(d.scalar(counter)?);
    }
    Ok((names, values))
}

const PRINTED: TypeRule =
    TypeRule { describe: "a tile or a view of global memory", accepts: |t| (TILE.accepts)(t) || (VIEW.accepts)(t) };

fn lower_view(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let value = op.operand("src").ok_or(Reported)?;
    let view = d.view(value)?;
    let rank = view.dims.len();
    if !(1..=MAX_RANK).contains(&rank) || view.strides.len() != rank || view.space != Space::Gm {
        return Err(d.error("view-rank", format!("a window of global memory has 1 to {MAX_RANK} dimensions")));
    }
    d.emit(Inst::Barrier { pipe: None });
    let window = Strided { elem: view.elem, rank, folding: Folding::Said(Fold::Nd), place: None };
    let effect = PrintView { name: op.module.value_name(value), core: d.role, window, form: form(op) };
    let mut args = PrintViewArgs { block: d.special(Special::BlockIdx), base: view.base }.list();
    args.extend(view.dims.iter().copied().chain(view.strides.iter().copied()));
    d.issue(Pipe::S, effect, args, Cost::fixed(1));
    Ok(())
}

arguments! {
    /// Index of the block, address of the window. Dimensions and strides follow.
    struct PrintViewArgs { block, base }
}

/// The maximum number of elements of a window that are printed.
const MOST_PRINTED: u64 = 1 << 24;

/// Prints a window of global memory. Arguments: [`PrintViewArgs`], the window's dimensions, its strides.
#[derive(Debug)]
struct PrintView {
    name: String,
    core: Role,
    window: Strided,
    form: Form,
}

impl PrintView {
    fn window(&self, args: &[u64]) -> Result<(StridedWindow, u32, u32), Fault> {
        let dims = &args[PrintViewArgs::COUNT..][..self.window.rank];
        let (rows, cols) = Fold::Nd.shape(dims);
        let most = (dims.iter().all(|n| (*n as i64) >= 0) && rows.saturating_mul(cols) > MOST_PRINTED).then_some(());
        if most.is_some() {
            let message = format!("the window has {rows} lines of {cols} elements");
            return Err(Fault::new("print-size", message).help(format!("at most {MOST_PRINTED} elements are printed")));
        }
        let window = self.window.window(&args[PrintViewArgs::COUNT..], (0, 1))?;
        let (rows, cols) = window.clip((u32::MAX, u32::MAX));
        Ok((window, rows, cols))
    }
}

impl Effect for PrintView {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (window, rows, cols) = self.window(args)?;
        window.extents(PrintViewArgs::of(args).base, rows, cols, &mut access.reads);
        access.units = Units::of(u64::from(rows) * u64::from(cols) * self.window.elem.bytes() as u64);
        Ok(())
    }

    fn answers(&self) -> bool {
        true
    }

    fn run(&self, args: &[u64], Run { env, memory, output, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = PrintViewArgs::of(args);
        let (window, rows, cols) = self.window(args)?;
        let elem = self.window.elem;
        let dims: Vec<String> = args[PrintViewArgs::COUNT..][..self.window.rank].iter().map(u64::to_string).collect();
        let dims = dims.join("x");
        output.print(format!("{} of {} block {}: {dims} x {elem}", self.name, self.core, given.block))?;
        let (bytes, start) = memory.locate(env, self.core, Space::Gm, given.base);
        let mut lines = vec![String::new(); rows as usize];
        window.blocks(rows, cols, |block| {
            for row in 0..block.rows {
                for col in 0..block.cols {
                    let steps = u64::from(row) * block.row_step + u64::from(col) * block.col_step;
                    let at = start + (block.offset + steps) as usize;
                    let form = Some(self.form);
                    let text = bytes.get(at..at + elem.bytes()).map_or_else(String::new, |b| show(elem, b, form));
                    let line = &mut lines[(block.at.0 + row) as usize];
                    line.push(' ');
                    line.push_str(&text);
                }
            }
            Ok::<(), Fault>(())
        })?;
        lines.into_iter().try_for_each(|line| output.print(line))?;
        Ok(0)
    }
}

arguments! {
    /// Address of the tile, its valid shape, index of the block. With a title, the values of the counters follow.
    struct PrintArgs { tile, rows, cols, block }
}

/// Prints a whole tile. Arguments: [`PrintArgs`].
#[derive(Debug)]
struct PrintTile {
    name: String,
    core: Role,
    space: Space,
    layout: Layout,
    title: Option<Title>,
    form: Form,
}

impl PrintTile {
    /// Formats the valid part, in full, below the title.
    fn in_full(
        &self,
        title: &Title,
        args: &[u64],
        bytes: &[u8],
        start: usize,
        output: &mut Output,
    ) -> Result<(), Fault> {
        let given = PrintArgs::of(args);
        let Layout { elem, .. } = self.layout;
        let rows = (given.rows as u32).min(self.layout.rows);
        let cols = (given.cols as u32).min(self.layout.cols);
        let label = if title.label.is_empty() { String::new() } else { format!("{}: ", title.label) };
        let place = title.place(self.core, given.block, &args[PrintArgs::COUNT..]);
        output.print(format!("{label}{elem}[{rows}, {cols}] {place}"))?;
        for row in 0..rows {
            let each = (0..cols).map(|col| {
                let at = start + self.layout.offset(row, col);
                bytes.get(at..at + elem.bytes()).map_or_else(String::new, |bytes| show(elem, bytes, None))
            });
            output.print(format!("  {}", each.collect::<Vec<_>>().join(" ")))?;
        }
        Ok(())
    }
}

impl Effect for PrintTile {
    fn decides(&self, index: usize) -> bool {
        index < PrintArgs::COUNT
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = PrintArgs::of(args);
        // Only the valid part is read as data; the rest is shown but is uninitialised.
        let rows = (given.rows as u32).min(self.layout.rows);
        let cols = (given.cols as u32).min(self.layout.cols);
        tile_extents(self.space, self.core, &self.layout, given.tile, rows, cols, &mut access.reads);
        access.units = Units::of(self.layout.bytes() as u64);
        Ok(())
    }

    fn answers(&self) -> bool {
        true
    }

    fn run(&self, args: &[u64], Run { env, memory, output, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = PrintArgs::of(args);
        let (bytes, start) = memory.locate(env, self.core, self.space, given.tile);
        if let Some(title) = &self.title {
            self.in_full(title, args, bytes, start, output)?;
            return Ok(0);
        }
        let Layout { elem, rows, cols, .. } = self.layout;
        output.print(format!("{} of {} block {}: {rows}x{cols} x {elem}", self.name, self.core, given.block))?;
        for row in 0..rows {
            let mut line = String::new();
            for col in 0..cols {
                let outside = u64::from(row) >= given.rows || u64::from(col) >= given.cols;
                let begins = outside && (u64::from(col) == given.cols || col == 0);
                line += if begins { "|" } else { " " };
                let at = start + self.layout.offset(row, col);
                let form = Some(self.form);
                let text = bytes.get(at..at + elem.bytes()).map_or_else(String::new, |bytes| show(elem, bytes, form));
                line += &text;
            }
            output.print(line.trim_end().to_string())?;
        }
        Ok(0)
    }
}

/// Minimum number of characters of an element, and digits of a float after the point.
type Form = (usize, usize);

/// `#pto<print_format …>`.
const PRINT_FORMAT: &EnumSpec = &EnumSpec {
    kind: "print_format",
    numbered: true,
    members: &["width8_precision4", "width8_precision2", "width10_precision6"],
};

fn form(op: &OpRef<'_>) -> Form {
    match op.text("printFormat") {
        Some("width8_precision4") => (8, 4),
        Some("width8_precision2") => (8, 2),
        Some("width10_precision6") => (10, 6),
        _ => (6, 2),
    }
}

/// One element as text; without a form with all digits and no padding.
fn show(elem: Elem, bytes: &[u8], form: Option<Form>) -> String {
    if elem.is_float() {
        let mut value = [0f32];
        slipring_tile::load_f32(elem, bytes, &mut value);
        return match form {
            None => format!("{}", value[0]),
            Some((width, digits)) => format!("{:width$.digits$}", value[0]),
        };
    }
    let mut bits = [0u8; 8];
    bits[..bytes.len()].copy_from_slice(bytes);
    let width = form.map_or(0, |(width, _)| width);
    format!("{:width$}", printf::integer(elem, u64::from_le_bytes(bits)))
}

/// The element type as which a scalar is shown.
fn scalar_elem(op: &OpRef<'_>, value: ValueId) -> Elem {
    op.module.ty(value).elem().unwrap_or(if *op.module.ty(value) == Type::I1 { Elem::U8 } else { Elem::I64 })
}

arguments! {
    /// The scalar, and the index of the block. The counters of the surrounding loops follow.
    struct PrintNumberArgs { scalar, block }
}

fn lower_print(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let value = op.operand("scalar").ok_or(Reported)?;
    let elem = scalar_elem(op, value);
    let scalar = d.scalar(value)?;
    let format = op.text("format").unwrap_or("").to_string();
    let mut args = PrintNumberArgs { scalar, block: Operand::Imm(0) };
    let (mut title, mut counted) = (None, Vec::new());
    if op.is_set("located") {
        let (counters, values) = counters(op, d)?;
        title = Some((Title { label: String::new(), counters }, d.role));
        args.block = d.special(Special::BlockIdx);
        counted = values;
    }
    let args = args.list().into_iter().chain(counted).collect();
    d.issue(Pipe::S, PrintScalar { format, elem, title }, args, Cost::fixed(1));
    Ok(())
}

/// Prints a scalar. Arguments: its register; and, if the location is shown, the index of the block and the counters.
#[derive(Debug)]
struct PrintScalar {
    format: String,
    elem: Elem,
    title: Option<(Title, Role)>,
}

impl Effect for PrintScalar {
    fn decides(&self, _: usize) -> bool {
        false
    }

    fn plan(&self, _: &[u64], _: Env, _: &mut Access) -> Result<(), Fault> {
        Ok(())
    }

    fn answers(&self) -> bool {
        true
    }

    fn run(&self, args: &[u64], Run { output, .. }: Run<'_>) -> Result<u64, Fault> {
        let own = PrintNumberArgs::of(args);
        let line = printf::one(&self.format, self.elem, own.scalar);
        let line = line.trim_end_matches('\n');
        output.print(match &self.title {
            Some((title, core)) => format!("{line} {}", title.place(*core, own.block, &args[PrintNumberArgs::COUNT..])),
            None => line.to_string(),
        })?;
        Ok(0)
    }
}

fn lower_trap(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let reason = op.text("reason").unwrap_or("the program reached `pto.trap`");
    let kind = if op.is_set("assertion") { Kind::Claim } else { Kind::Other("trap") };
    let (mut values, mut elems) = (Vec::new(), Vec::new());
    for value in op.operands("values") {
        elems.push(scalar_elem(op, *value));
        values.push(d.scalar(*value)?);
    }
    if values.is_empty() && kind != Kind::Claim {
        d.emit(Inst::Trap { message: reason.into() });
        return Ok(());
    }
    let (counters, of_counters) = counters(op, d)?;
    let title = Title { label: String::new(), counters };
    values.push(d.special(Special::BlockIdx));
    values.extend(of_counters);
    d.issue(Pipe::S, Stop { kind, reason: reason.into(), elems, title, core: d.role }, values, Cost::fixed(1));
    Ok(())
}

/// Stops the run. Arguments: the scalars of the reason, the index of the block, the counters.
#[derive(Debug)]
struct Stop {
    kind: Kind,
    reason: String,
    elems: Vec<Elem>,
    title: Title,
    core: Role,
}

impl Effect for Stop {
    fn plan(&self, args: &[u64], _: Env, _: &mut Access) -> Result<(), Fault> {
        let (values, place) = args.split_at(self.elems.len().min(args.len()));
        let mut reason = self.reason.clone();
        for (elem, value) in self.elems.iter().zip(values) {
            reason = printf::next(&reason, *elem, *value);
        }
        let (block, counters) = place.split_first().map_or((0, place), |(block, rest)| (*block, rest));
        let place = self.title.place(self.core, block, counters);
        Err(Fault::new(self.kind.clone(), format!("{} {place}", reason.replace("%%", "%"))))
    }

    fn run(&self, _: &[u64], _: Run<'_>) -> Result<u64, Fault> {
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_shown_with_their_sign() {
        assert_eq!(show(Elem::I8, &[0xff], Some((6, 2))), "    -1");
        assert_eq!(show(Elem::U8, &[0xff], Some((6, 2))), "   255");
    }
}
