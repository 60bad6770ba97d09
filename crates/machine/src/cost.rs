//! What things cost: figures of the platform file, and the formulas that make cycles of them.
//!
//! There is one place where the size of an execution becomes cycles, [`Price::cycles`]: the engine asks it in a run, and so
//! does whoever wants to know the cost of an op alone.

use std::cmp::Ordering;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};

pub use crate::figure::{Between, Figure, Milli, REPEAT};

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

/// Published points that predictions were compared with: how many, and the errors of these in per cent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Points {
    /// How many.
    pub count: u32,
    /// Their mean error in per cent.
    pub error: f32,
    /// How far, in per cent, nine of ten of them are off at most, each predicted by a fit that it was no part of; of fewer than
    /// ten all.
    pub within: f32,
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
        let numbers = Vec::<f32>::deserialize(d)?;
        let (count, error, within) = match numbers[..] {
            [count, error, within] => (count, error, within),
            _ => return Err(serde::de::Error::custom("points are [count, mean error, error of nine of ten]")),
        };
        let sound = count >= 0.0 && count.fract() == 0.0 && error >= 0.0 && within >= 0.0;
        if !sound {
            return Err(serde::de::Error::custom("a count of points is whole, and no error is below 0"));
        }
        Ok(Points { count: count as u32, error, within })
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
    /// shape support them, or they are far off. Whoever shows cycles asks this.
    pub fn is_estimate(&self, units: Units) -> bool {
        !self.points(units).suffice()
    }

    /// How far the cycles of an execution of this size may be off, in tenths of a per cent; `None` for an estimate.
    pub fn within(&self, units: Units) -> Option<u32> {
        let points = self.points(units);
        points.suffice().then(|| (points.within * 10.0).round() as u32)
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
        Some(figure.repeats(units))
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
    pub(crate) fn of(cost: T, points: Option<u32>, error: Option<f32>, ops: Vec<String>) -> Entry<T> {
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

/// The form of a plain cost with names.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CostText {
    head: u32,
    rate: f64,
    points: Option<u32>,
    error: Option<f32>,
}

/// A list of numbers, or names with numbers.
pub(crate) enum Either<T> {
    List([u32; 3]),
    Named(T),
}

/// Told by the first sign, in place of a copy of what stands there that is read as the one and then as the other: every process
/// reads a platform.
impl<'de, T: Deserialize<'de>> Deserialize<'de> for Either<T> {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Either<T>, D::Error> {
        d.deserialize_any(Forms(PhantomData))
    }
}

struct Forms<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Forms<T> {
    type Value = Either<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of numbers, or names with numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Either<T>, A::Error> {
        Ok(Either::List(Deserialize::deserialize(SeqAccessDeserializer::new(list))?))
    }

    fn visit_map<A: MapAccess<'de>>(self, names: A) -> Result<Either<T>, A::Error> {
        Ok(Either::Named(T::deserialize(MapAccessDeserializer::new(names))?))
    }
}

pub(crate) fn list<E: serde::de::Error>([fixed, num, den]: [u32; 3]) -> Result<Cost, E> {
    if den == 0 {
        return Err(E::custom("a cost is [fixed, numerator, denominator] and the denominator is not 0"));
    }
    Ok(Cost { fixed, num, den })
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

const PLAIN_FORM: &str =
    "[head, cycles, units] or { head, rate } with any of `points`, `error`; `rate` is units a cycle";

pub(crate) fn forms<E: serde::de::Error>(form: &str) -> E {
    E::custom(format!("a cost is {form}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::tests::figure;

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
        let shared = a5.vector_cost("tsubrelu", "add", "f32").evidence;
        assert!(own.points > 0 && own.others == 0, "{own:?}");
        assert_eq!((shared.points, shared.error, shared.others), (0, None, own.points));
    }
}
