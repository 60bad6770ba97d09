//! Entries of the platform file that give the cost of work.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};

use crate::units::{Cost, REPEAT, Units};

/// The arrangement of a tile's rows, by which costs distinguish shapes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One row, or contiguous rows.
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

    /// As text.
    pub const fn name(self) -> &'static str {
        match self {
            Shape::Run => "rows that follow each other",
            Shape::Short => "gaps, one repeat a row",
            Shape::Long => "gaps, several repeats a row",
        }
    }
}

/// Published points compared with predictions: their number, and the errors in per cent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Points {
    /// How many.
    pub count: u32,
    /// Their mean error in per cent.
    pub error: f32,
    /// The bound in per cent that nine out of ten of them stay within, each predicted by a fit that excluded it; with
    /// fewer than ten, all of them.
    pub within: f32,
}

impl Points {
    /// Fewer points give no information about other sizes.
    pub const ENOUGH: u32 = 4;
    /// Maximum mean error in per cent of figures that are not called estimates.
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

/// The evidence behind a figure.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Evidence {
    /// Published points of the op to which its entry was fitted, of any type and shape.
    pub points: u32,
    /// Mean error in per cent on points that were left out of the fit; `None` if too few points are known.
    pub error: Option<f32>,
    /// Published points of other ops that share the figure, if there is none of this op.
    pub others: u32,
    /// Published points of the op on the type, by shape.
    pub calibrated: Calibrated,
}

/// An entry of a table in the platform file: its cost, and the evidence behind it.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry<T> {
    /// The cost.
    pub cost: T,
    /// The evidence.
    pub evidence: Evidence,
    /// The ops of its published points; empty if the entry does not depend on ops.
    pub ops: Vec<String>,
}

impl<T> Entry<T> {
    pub(crate) fn of(cost: T, points: Option<u32>, error: Option<f32>, ops: Vec<String>) -> Entry<T> {
        let evidence = Evidence { points: points.unwrap_or(0), error, ..Evidence::default() };
        Entry { cost, evidence, ops }
    }

    /// The evidence for an op, by its name without `pto.`: points of other ops that share the entry do not count as its
    /// own.
    pub fn evidence_for(&self, op: &str) -> Evidence {
        match self.ops.is_empty() || self.ops.iter().any(|own| own == op) {
            true => self.evidence,
            false => Evidence { others: self.evidence.points, ..Evidence::default() },
        }
    }
}

/// The form of a plain cost with named fields.
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

/// Distinguished by the first token, instead of buffering the value and trying both: every process reads a platform.
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
