//! What things cost: figures of the platform file, and the formulas that make cycles of them.
//!
//! There is one place where the size of an execution becomes cycles, [`Price::cycles`]: the engine asks it in a run, and so
//! does whoever wants to know the cost of an op alone.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

/// Size of one execution.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Units {
    /// Bytes, blocks of the matrix unit, cycles: what the price counts.
    pub total: u64,
    /// Rows of a tile, or blocks of a data move, that `total` is spread over evenly; 0 and 1 both mean one.
    pub rows: u64,
    /// True where the rows follow each other without gaps.
    pub joined: bool,
}

impl Units {
    /// So much in one piece.
    pub const fn of(total: u64) -> Units {
        Units { total, rows: 1, joined: true }
    }

    /// Rows of so many bytes each.
    pub const fn rows(rows: u64, row_bytes: u64, joined: bool) -> Units {
        Units { total: rows.saturating_mul(row_bytes), rows, joined }
    }

    /// Rows, at least one.
    pub const fn count(self) -> u64 {
        if self.rows == 0 { 1 } else { self.rows }
    }
}

/// A cost: `fixed` for each block `+ ceil(total × num / den)` cycles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Latency in cycles.
    pub fixed: u32,
    /// Numerator of the cycles per unit.
    pub num: u32,
    /// Denominator of the cycles per unit; never 0.
    pub den: u32,
}

impl Cost {
    /// A cost without a part that grows.
    pub const fn fixed(cycles: u32) -> Cost {
        Cost { fixed: cycles, num: 0, den: 1 }
    }

    /// Cycles for so much (bytes or blocks, as the operation says). Saturates.
    pub fn cycles(self, units: Units) -> u64 {
        let grown = units.total.saturating_mul(u64::from(self.num)).div_ceil(u64::from(self.den));
        grown.saturating_add(u64::from(self.fixed).saturating_mul(units.count()))
    }
}

/// A number of cycles with three places after the point: the figures of fits, in a form in which sums are the same everywhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Milli(pub u64);

impl Milli {
    const fn times(self, n: u64) -> u64 {
        self.0.saturating_mul(n)
    }
}

impl fmt::Display for Milli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0 as f64 / 1000.0)
    }
}

/// The cost of a vector operation on a tile.
///
/// A tile whose rows follow each other is one run of `n` repeats, `head + repeat × n`. One with gaps is done row by row, `inner`
/// repeats each. With `gap` rows overlap: the next starts after `max(inner + gap, pitch × inner)` cycles. Without, each row
/// costs `pitch × inner`, and `row` stands between two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figure {
    /// Cycles before the first repeat.
    pub head: Milli,
    /// Cycles of a repeat in a run.
    pub repeat: Milli,
    /// Cycles of a repeat of a row where the tile has gaps.
    pub pitch: Milli,
    /// What lies between two rows.
    pub between: Between,
    /// Bytes of a repeat.
    pub unit: u64,
    /// Bytes of a repeat of a row where the tile has gaps.
    pub row_unit: u64,
    /// True where a tile whose rows follow each other is one run; false where rows are always done one by one.
    pub joined: bool,
    /// Rows of at most so many repeats follow each other as if there were no gaps.
    pub short: u64,
    /// Cycles more where the last repeat of a row is not full.
    pub partial: Milli,
}

/// What lies between two rows of a tile with gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Between {
    /// So many cycles after the last repeat of the one.
    After(Milli),
    /// The next starts so many cycles after the repeats of the one were issued, one a cycle.
    Overlap(Milli),
}

impl Figure {
    /// `head + repeat × n` in repeats of 256 bytes, rows with gaps rounded up to whole ones.
    const fn plain(head: Milli, repeat: Milli) -> Figure {
        let between = Between::After(Milli(0));
        Figure {
            head,
            repeat,
            pitch: repeat,
            between,
            unit: REPEAT,
            row_unit: REPEAT,
            joined: true,
            short: 0,
            partial: Milli(0),
        }
    }

    /// How the repeats of a tile lie.
    fn shape(&self, units: Units) -> Repeats {
        let (rows, unit) = (units.count(), self.unit.max(1));
        if self.joined && (units.joined || rows == 1) {
            return Repeats::Run { repeats: units.total.div_ceil(unit), partial: !units.total.is_multiple_of(unit) };
        }
        let (row_bytes, unit) = (units.total / rows, self.row_unit.max(1));
        let (inner, partial) = (row_bytes.div_ceil(unit), !row_bytes.is_multiple_of(unit));
        match inner <= self.short {
            true => Repeats::Run { repeats: rows.saturating_mul(inner), partial },
            false => Repeats::Rows { rows, inner, partial },
        }
    }

    /// Cycles, rounded to the nearest. Saturates.
    pub fn cycles(&self, units: Units) -> u64 {
        let (grown, partial) = match self.shape(units) {
            Repeats::Run { repeats, partial } => (self.repeat.times(repeats), partial),
            Repeats::Rows { rows, inner, partial } => {
                let cycles = match self.between {
                    Between::After(row) => {
                        self.pitch.times(rows.saturating_mul(inner)).saturating_add(row.times(rows - 1))
                    }
                    Between::Overlap(gap) => {
                        let next = inner.saturating_mul(1000).saturating_add(gap.0).max(self.pitch.times(inner));
                        self.repeat.times(inner).saturating_add(next.saturating_mul(rows - 1))
                    }
                };
                (cycles, partial)
            }
        };
        let partial = if partial { self.partial.0 } else { 0 };
        self.head.0.saturating_add(grown).saturating_add(partial).saturating_add(500) / 1000
    }

    /// The formula with its numbers.
    fn formula(&self, units: Units) -> String {
        let Figure { head, repeat, pitch, between, .. } = self;
        let (text, partial) = match self.shape(units) {
            Repeats::Run { repeats, partial } => (format!("{head} + {repeat} x {repeats}"), partial),
            Repeats::Rows { rows, inner, partial } => {
                let text = match between {
                    Between::After(Milli(0)) => format!("{head} + {rows} rows x {pitch} x {inner}"),
                    Between::After(row) => {
                        format!("{head} + {rows} rows x {pitch} x {inner} + {} x {row} between rows", rows - 1)
                    }
                    Between::Overlap(gap) => format!(
                        "{head} + {repeat} x {inner} + {} further rows x max({inner} + {gap}, {pitch} x {inner})",
                        rows - 1
                    ),
                };
                (text, partial)
            }
        };
        match partial && self.partial.0 > 0 {
            true => format!("{text} + {} for a partial repeat", self.partial),
            false => text,
        }
    }
}

/// How the repeats of a tile lie.
enum Repeats {
    Run { repeats: u64, partial: bool },
    Rows { rows: u64, inner: u64, partial: bool },
}

/// Bytes of a repeat of the vector unit.
pub const REPEAT: u64 = 256;

/// How the rows of a tile lie: what costs tell shapes apart by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One row, or rows that follow each other.
    Run,
    /// Rows with gaps of at most one repeat each.
    Short,
    /// Rows with gaps of several repeats each.
    Long,
}

impl Shape {
    /// The shape of an execution.
    pub const fn of(units: Units) -> Shape {
        match units.count() {
            1 => Shape::Run,
            _ if units.joined => Shape::Run,
            rows if units.total / rows <= REPEAT => Shape::Short,
            _ => Shape::Long,
        }
    }

    /// In words.
    pub const fn name(self) -> &'static str {
        match self {
            Shape::Run => "rows that follow each other",
            Shape::Short => "gaps, one repeat a row",
            Shape::Long => "gaps, several repeats a row",
        }
    }
}

/// Published points that predictions were compared with: how many, and the mean error of these in per cent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Points {
    /// How many.
    pub count: u32,
    /// Their mean error in per cent.
    pub error: f32,
}

impl Points {
    /// Fewer say nothing of the next size.
    pub const ENOUGH: u32 = 4;
    /// The largest mean error, in per cent, of what is not called an estimate.
    pub const CLOSE: f32 = 10.0;

    /// True if they are enough, and close.
    pub fn suffice(self) -> bool {
        self.count >= Points::ENOUGH && self.error <= Points::CLOSE
    }
}

impl<'de> Deserialize<'de> for Points {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Points, D::Error> {
        let (count, error) = <(u32, f32)>::deserialize(d)?;
        Ok(Points { count, error })
    }
}

/// Published points of an op on a type, by shape.
#[derive(Clone, Copy, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Calibrated {
    /// [`Shape::Run`].
    pub run: Points,
    /// [`Shape::Short`].
    pub short: Points,
    /// [`Shape::Long`].
    pub long: Points,
}

impl Calibrated {
    /// The points of a shape.
    pub const fn of(&self, shape: Shape) -> Points {
        match shape {
            Shape::Run => self.run,
            Shape::Short => self.short,
            Shape::Long => self.long,
        }
    }
}

/// What a figure rests on.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Evidence {
    /// Published points of the op that its entry was fitted to, of whatever type and shape.
    pub points: u32,
    /// Mean error in per cent on points that were left out of the fit; `None` where too few points are known.
    pub error: Option<f32>,
    /// Published points of other ops that share the figure, where there is none of this op.
    pub others: u32,
    /// Published points of the op on the type, by shape.
    pub calibrated: Calibrated,
}

/// How cycles come about.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rule {
    /// In proportion.
    Plain(Cost),
    /// By rows of repeats.
    Rows(Figure),
}

/// What work costs: the entry of the platform file, and its rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Price {
    /// The entry, such as `cost.vector.add.f16`; empty for a cost that no table lists.
    pub entry: Arc<str>,
    /// Its rule.
    pub rule: Rule,
    /// What it rests on.
    pub evidence: Evidence,
}

impl From<Cost> for Price {
    fn from(cost: Cost) -> Price {
        Price { entry: Arc::from(""), rule: Rule::Plain(cost), evidence: Evidence::default() }
    }
}

impl Price {
    /// The published points of the op, its type and the shape of an execution.
    pub const fn points(&self, units: Units) -> Points {
        self.evidence.calibrated.of(Shape::of(units))
    }

    /// True if the cycles of an execution of this size are an estimate: too few published points of the op, its type and its
    /// shape stand behind them, or they are far off. Whoever shows cycles asks this.
    pub fn is_estimate(&self, units: Units) -> bool {
        !self.points(units).suffice()
    }

    /// Cycles of an execution of this size. Saturates.
    #[inline]
    pub fn cycles(&self, units: Units) -> u64 {
        match &self.rule {
            Rule::Plain(cost) => cost.cycles(units),
            Rule::Rows(figure) => figure.cycles(units),
        }
    }

    /// The formula with its numbers, without the result.
    pub fn formula(&self, units: Units) -> String {
        match &self.rule {
            Rule::Rows(figure) => figure.formula(units),
            Rule::Plain(Cost { fixed, num, den }) => {
                let head = match units.count() {
                    1 => format!("{fixed}"),
                    blocks => format!("{fixed} x {blocks}"),
                };
                match num.cmp(den) {
                    _ if *num == 0 => head,
                    Ordering::Equal => format!("{head} + {}", units.total),
                    Ordering::Less => {
                        format!("{head} + {} / {}", units.total, f64::from(*den) / f64::from(*num))
                    }
                    Ordering::Greater => format!("{head} + {} x {}", f64::from(*num) / f64::from(*den), units.total),
                }
            }
        }
    }

    /// Repeats of an execution of this size, where it counts repeats.
    pub fn repeats(&self, units: Units) -> Option<u64> {
        let Rule::Rows(figure) = &self.rule else { return None };
        Some(match figure.shape(units) {
            Repeats::Run { repeats, .. } => repeats,
            Repeats::Rows { rows, inner, .. } => rows.saturating_mul(inner),
        })
    }
}

/// An entry of a table in the platform file: what it costs, and what it rests on.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry<T> {
    /// What it costs.
    pub cost: T,
    /// What it rests on.
    pub evidence: Evidence,
    /// The ops that its published points are of; empty where the entry is not a matter of ops.
    pub ops: Vec<String>,
}

impl<T> Entry<T> {
    fn of(cost: T, points: Option<u32>, error: Option<f32>, ops: Vec<String>) -> Entry<T> {
        let evidence = Evidence { points: points.unwrap_or(0), error, ..Evidence::default() };
        Entry { cost, evidence, ops }
    }

    /// What it rests on for an op, by its name without `pto.`: points of other ops that share it are no points of this one.
    pub fn evidence_for(&self, op: &str) -> Evidence {
        match self.ops.is_empty() || self.ops.iter().any(|own| own == op) {
            true => self.evidence,
            false => Evidence { others: self.evidence.points, ..Evidence::default() },
        }
    }
}

/// The form of a vector figure with names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureText {
    head: f64,
    repeat: f64,
    row: Option<f64>,
    gap: Option<f64>,
    pitch: Option<f64>,
    unit: Option<u64>,
    row_unit: Option<u64>,
    joined: Option<bool>,
    short: Option<u64>,
    partial: Option<f64>,
    points: Option<u32>,
    error: Option<f32>,
    #[serde(default)]
    ops: Vec<String>,
}

/// The form of a plain cost with names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CostText {
    head: u32,
    rate: f64,
    points: Option<u32>,
    error: Option<f32>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Either<T> {
    List([u32; 3]),
    Named(T),
}

fn list<E: serde::de::Error>([fixed, num, den]: [u32; 3]) -> Result<Cost, E> {
    if den == 0 {
        return Err(E::custom("a cost is [fixed, numerator, denominator] and the denominator is not 0"));
    }
    Ok(Cost { fixed, num, den })
}

/// A number of the file as thousandths.
fn milli<E: serde::de::Error>(what: &str, value: f64) -> Result<Milli, E> {
    const MOST: f64 = (1u64 << 30) as f64;
    match (0.0..=MOST).contains(&value) {
        true => Ok(Milli((value * 1000.0).round() as u64)),
        false => Err(E::custom(format!("`{what}` is a number of cycles from 0 to 2^30, not {value}"))),
    }
}

impl<'de> Deserialize<'de> for Entry<Figure> {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Entry<Figure>, D::Error> {
        let text = match Either::<FigureText>::deserialize(d).map_err(|_| forms::<D::Error>(VECTOR_FORM))? {
            Either::List(numbers) => {
                let Cost { fixed, num, den } = list(numbers)?;
                let repeat = Milli(u64::from(num) * 1000 / u64::from(den));
                let cost = Figure::plain(Milli(u64::from(fixed) * 1000), repeat);
                return Ok(Entry::of(cost, None, None, Vec::new()));
            }
            Either::Named(text) => text,
        };
        let mut figure = Figure::plain(milli("head", text.head)?, milli("repeat", text.repeat)?);
        figure.between = match (text.gap, text.row) {
            (Some(_), Some(_)) => return Err(serde::de::Error::custom("a figure has `gap` or `row`, not both")),
            (Some(gap), None) => Between::Overlap(milli("gap", gap)?),
            (None, row) => Between::After(milli("row", row.unwrap_or(0.0))?),
        };
        figure.pitch = text.pitch.map_or(Ok(figure.repeat), |pitch| milli("pitch", pitch))?;
        figure.partial = milli("partial", text.partial.unwrap_or(0.0))?;
        figure.unit = text.unit.unwrap_or(REPEAT);
        figure.row_unit = text.row_unit.unwrap_or(figure.unit);
        if let Some(wrong) = [figure.unit, figure.row_unit].into_iter().find(|unit| !(1..=65536).contains(unit)) {
            return Err(serde::de::Error::custom(format!("a repeat has 1 to 65536 bytes, not {wrong}")));
        }
        figure.joined = text.joined.unwrap_or(true);
        figure.short = text.short.unwrap_or(u64::from(text.gap.is_some()));
        Ok(Entry::of(figure, text.points, text.error, text.ops))
    }
}

impl<'de> Deserialize<'de> for Entry<Cost> {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Entry<Cost>, D::Error> {
        match Either::<CostText>::deserialize(d).map_err(|_| forms::<D::Error>(PLAIN_FORM))? {
            Either::List(numbers) => Ok(Entry::of(list(numbers)?, None, None, Vec::new())),
            Either::Named(CostText { head, rate, points, error }) => {
                if !(0.001..=1e6).contains(&rate) {
                    return Err(serde::de::Error::custom(format!(
                        "`rate` is 0.001 to 1000000 units a cycle, not {rate}"
                    )));
                }
                let cost = Cost { fixed: head, num: 1000, den: (rate * 1000.0).round() as u32 };
                Ok(Entry::of(cost, points, error, Vec::new()))
            }
        }
    }
}

const VECTOR_FORM: &str = "[head, cycles, repeats] or { head, repeat } with any of `row` or `gap`, `pitch`, `unit`, `row_unit`, \
                           `joined`, `short`, `partial`, `points`, `error`, `ops`";
const PLAIN_FORM: &str =
    "[head, cycles, units] or { head, rate } with any of `points`, `error`; `rate` is units a cycle";

fn forms<E: serde::de::Error>(form: &str) -> E {
    E::custom(format!("a cost is {form}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(text: &str) -> Figure {
        let table: std::collections::BTreeMap<String, Entry<Figure>> = toml::from_str(&format!("x = {text}")).unwrap();
        table["x"].cost
    }

    /// Numbers worked out by hand from the formulas of the documentation.
    #[test]
    fn cycles_by_rows() {
        let exp = figure("{ head = 62, repeat = 2, gap = 5 }");
        let tile = |rows, bytes, joined| Units::rows(rows, bytes, joined);
        assert_eq!(exp.cycles(tile(1, 2560, true)), 82, "ten repeats in a run");
        assert_eq!(exp.cycles(tile(10, 256, false)), 82, "single repeats of ten rows follow each other");
        assert_eq!(exp.cycles(tile(10, 512, false)), 62 + 4 + 9 * 7, "rows start every 2 + 5 cycles");
        assert_eq!(exp.cycles(tile(10, 2560, false)), 62 + 20 + 9 * 20, "the unit is busy");
        let add = figure("{ head = 24, repeat = 2, joined = false, partial = 16 }");
        assert_eq!(add.cycles(tile(64, 128, true)), 24 + 128 + 16, "half a repeat a row is a whole one, and partial");
        assert_eq!(add.cycles(tile(64, 256, true)), 24 + 128);
        let moved = figure("{ head = 5, repeat = 1, row = 5, unit = 32 }");
        assert_eq!(moved.cycles(tile(64, 512, true)), 5 + 1024);
        assert_eq!(moved.cycles(tile(63, 500, false)), 5 + 63 * 16 + 62 * 5);
        assert_eq!(figure("[55, 1247, 1000]").cycles(tile(1, 2560, true)), 67, "55 + 12.47");
        assert_eq!(exp.cycles(Units::default()), 62);
        assert_eq!(Cost { fixed: 264, num: 1, den: 128 }.cycles(Units::rows(8, 8192, true)), 8 * 264 + 512);
    }

    #[test]
    fn huge_sizes_saturate() {
        let figure = figure("{ head = 1, repeat = 1073741824, row = 3 }");
        for units in [Units::of(u64::MAX), Units::rows(u64::MAX, 1, false)] {
            assert!(figure.cycles(units) >= u64::MAX / 1000 - 1);
            assert!(!Price::from(Cost::fixed(3)).formula(units).is_empty());
        }
    }

    #[test]
    fn a_formula_has_the_numbers() {
        let add = Rule::Rows(figure("{ head = 54.6, repeat = 1.25, pitch = 2.05, gap = 5 }"));
        let price = Price { entry: "x".into(), rule: add, evidence: Evidence::default() };
        let rows = Units::rows(10, 640, false);
        assert_eq!(price.formula(rows), "54.6 + 1.25 x 3 + 9 further rows x max(3 + 5, 2.05 x 3)");
        assert_eq!((price.repeats(rows), price.cycles(rows)), (Some(30), 130));
    }

    #[test]
    fn wrong_figures_are_refused() {
        for wrong in
            ["[1, 2, 0]", "{ head = 1 }", "{ head = 1, repeat = 1, gap = 1, row = 1 }", "{ head = -1, repeat = 1 }"]
        {
            let text = format!("x = {wrong}");
            assert!(toml::from_str::<std::collections::BTreeMap<String, Entry<Figure>>>(&text).is_err(), "{wrong}");
        }
        let plain = |text: &str| toml::from_str::<std::collections::BTreeMap<String, Entry<Cost>>>(text);
        assert!(plain("x = { head = 1, rate = 0.0 }").is_err());
        assert_eq!(
            plain("x = { head = 64, rate = 58.56 }").unwrap()["x"].cost,
            Cost { fixed: 64, num: 1000, den: 58560 }
        );
    }

    #[test]
    fn points_of_other_ops_are_no_evidence() {
        let a5 = crate::built_in("a5").unwrap();
        let own = a5.vector_cost("tadd", "add", "f32").evidence;
        let shared = a5.vector_cost("tcolsum", "add", "f32").evidence;
        assert!(own.points > 0 && own.others == 0, "{own:?}");
        assert_eq!((shared.points, shared.error, shared.others), (0, None, own.points));
    }
}
