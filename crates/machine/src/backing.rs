//! What supports cycles, of one op as of a whole program.

use std::collections::BTreeMap;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::cost::Price;
use crate::units::Units;

/// Cycles of work by what supports them. Whoever shows cycles asks this how far they can be trusted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Backing {
    /// Cycles of work with enough published points that are close.
    pub with_points: u64,
    /// Thousandths of a cycle that these may be off together, if all of them are off to the same side.
    pub off: u64,
    /// Cycles of work without such points, by op.
    pub without: BTreeMap<String, u64>,
}

impl Backing {
    /// One execution of an op.
    pub fn of(op: &str, price: &Price, units: Units, cycles: u64) -> Backing {
        let mut own = Backing::default();
        match price.within(units) {
            Some(tenths) => own.known(cycles, cycles.saturating_mul(tenths.into())),
            None => own.unknown(op, cycles),
        }
        own
    }

    /// Cycles with points, and by how many thousandths of a cycle they may be off.
    pub fn known(&mut self, cycles: u64, off: u64) {
        self.with_points = self.with_points.saturating_add(cycles);
        self.off = self.off.saturating_add(off);
    }

    /// Cycles without.
    pub fn unknown(&mut self, op: &str, cycles: u64) {
        if cycles > 0 {
            let own = self.without.entry(op.to_string()).or_default();
            *own = own.saturating_add(cycles);
        }
    }

    /// Both together.
    pub fn add(&mut self, other: &Backing) {
        self.known(other.with_points, other.off);
        other.without.iter().for_each(|(op, cycles)| self.unknown(op, *cycles));
    }

    /// True if some work has no points to speak of, or there was no work at all.
    pub fn is_estimate(&self) -> bool {
        !self.without.is_empty() || self.with_points == 0
    }

    /// By how many per cent the cycles may be off; `None` for an estimate.
    pub fn error_percent(&self) -> Option<f64> {
        let tenths = |off: u64| (off as f64 / self.with_points as f64).round() / 10.0;
        (!self.is_estimate()).then(|| tenths(self.off))
    }

    /// What stands right after the number: ` ± 4 %`, or nothing for an estimate.
    pub fn range(&self) -> String {
        self.error_percent().map_or(String::new(), |percent| format!(" ± {}", shown(percent)))
    }

    /// What stands in parentheses after the number: `, estimate`, or nothing.
    pub fn mark(&self) -> &'static str {
        if self.is_estimate() { ", estimate" } else { "" }
    }

    /// Why it is an estimate, a line of its own; empty where it is none, or there was no work.
    pub fn why_line(&self) -> String {
        match self.why() {
            why if why.is_empty() => why,
            why => format!("  estimate: {why}\n"),
        }
    }

    /// Why it is an estimate; empty where it is none, or there was no work.
    pub fn why(&self) -> String {
        let without: u64 = self.without.values().sum();
        let most = self.without.iter().max_by(|a, b| a.1.cmp(b.1).then_with(|| b.0.cmp(a.0)));
        let Some((op, cycles)) = most.filter(|_| without > 0) else {
            return String::new();
        };
        let all = without.saturating_add(self.with_points);
        let share = 100.0 * without as f64 / all as f64;
        let what = match *cycles == without {
            true => format!(": {op}"),
            false => format!(", {:.0} % are {op}", 100.0 * *cycles as f64 / all as f64),
        };
        // Rounding is not to say "all" of what has an exception.
        let share = if self.with_points == 0 { "all".to_string() } else { format!("{:.0} %", share.clamp(1.0, 99.0)) };
        format!("too few published points for {share} of the work{what}")
    }
}

/// A number of cycles by itself, with how far it may be off: `100 cycles ± 4 %`, or `100 cycles (estimate)` where that is not known.
pub fn figure(cycles: u64, error_percent: Option<f64>) -> String {
    match error_percent {
        Some(percent) => format!("{cycles} cycles ± {}", shown(percent)),
        None => format!("{cycles} cycles (estimate)"),
    }
}

/// Whole per cents, and tenths below one; never nothing, as no figure is exact.
fn shown(percent: f64) -> String {
    if percent >= 1.0 { format!("{:.0} %", percent.ceil()) } else { format!("{:.1} %", percent.max(0.1)) }
}

impl Serialize for Backing {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut own = to.serialize_struct("Backing", 3)?;
        own.serialize_field("error_percent", &self.error_percent())?;
        own.serialize_field("cycles_with_points", &self.with_points)?;
        own.serialize_field("cycles_without", &self.without)?;
        own.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(known: (u64, u64), unknown: &[(&str, u64)]) -> Backing {
        let mut own = Backing::default();
        own.known(known.0, known.0 * known.1);
        unknown.iter().for_each(|(op, cycles)| own.unknown(op, *cycles));
        own
    }

    #[test]
    fn a_range_is_weighed_by_cycles() {
        let mut all = both((300, 20), &[]);
        all.add(&both((100, 60), &[]));
        assert_eq!((all.error_percent(), all.range().as_str()), (Some(3.0), " ± 3 %"));
        assert_eq!(both((10, 0), &[]).range(), " ± 0.1 %");
        assert_eq!(both((10, 31), &[]).range(), " ± 4 %");
        assert_eq!(figure(5, both((10, 31), &[]).error_percent()), "5 cycles ± 4 %");
        assert_eq!(figure(5, both((10, 31), &[("pto.tlog", 1)]).error_percent()), "5 cycles (estimate)");
    }

    #[test]
    fn an_estimate_names_what_has_no_points() {
        let some = both((300, 20), &[("pto.tload", 600), ("pto.tstore", 100)]);
        assert_eq!((some.range().as_str(), some.error_percent()), ("", None));
        assert_eq!(some.why(), "too few published points for 70 % of the work, 60 % are pto.tload");
        assert_eq!(both((0, 0), &[("pto.tlog", 5)]).why(), "too few published points for all of the work: pto.tlog");
        assert_eq!(both((0, 0), &[]).why(), "");
        assert_eq!(both((9, 10), &[("none", 0)]).why(), "");
    }
}
