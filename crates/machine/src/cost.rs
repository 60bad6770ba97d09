//! Costs: figures of the platform file, and the formulas that turn them into cycles.
//!
//! [`Price::cycles`] is the only place where the size of an execution becomes cycles: the engine calls it in a run, and
//! so does every estimate of a single op's cost.

use std::cmp::Ordering;
use std::sync::Arc;

pub use crate::entry::{Calibrated, Entry, Evidence, Points, Shape};
pub use crate::figure::{Between, Figure, Milli};
pub use crate::units::{Cost, REPEAT, Units};

/// How cycles are computed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Rule {
    /// In proportion.
    Plain(Cost),
    /// By rows of repeats.
    Rows(Figure),
}

/// The price of work: the entry of the platform file, and its rule.
#[derive(Clone, PartialEq, Debug)]
pub struct Price {
    /// The entry, such as `cost.vector.add.f16`; empty for a cost that no table lists.
    pub entry: Arc<str>,
    /// Its rule.
    pub rule: Rule,
    /// The evidence behind it.
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

    /// True if the cycles of an execution of this size are an estimate: too few published points of the op, its type
    /// and its shape support them, or their errors are large. Code that displays cycles queries this.
    pub fn is_estimate(&self, units: Units) -> bool {
        !self.points(units).suffice()
    }

    /// The error bound of the cycles of an execution of this size, in tenths of a per cent; `None` for an estimate.
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

    /// Repeats of an execution of this size, if the rule counts repeats.
    pub fn repeats(&self, units: Units) -> Option<u64> {
        let Rule::Rows(figure) = &self.rule else { return None };
        Some(figure.repeats(units))
    }
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
