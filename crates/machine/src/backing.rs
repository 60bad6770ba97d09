//! The evidence behind cycle counts, for one op and for a whole program.

use std::collections::BTreeMap;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::cost::Price;
use crate::units::Units;

/// Cycles of work by the evidence behind them. Code that displays cycles uses this for how far they can be trusted.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Backing {
    /// Cycles of work with enough published points that are close.
    pub with_points: u64,
    /// Their combined error bound in thousandths of a cycle, if all errors have the same sign.
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

    /// Adds cycles with points, with their error bound in thousandths of a cycle.
    pub fn known(&mut self, cycles: u64, off: u64) {
        self.with_points = self.with_points.saturating_add(cycles);
        self.off = self.off.saturating_add(off);
    }

    /// Adds cycles without points.
    pub fn unknown(&mut self, op: &str, cycles: u64) {
        if cycles > 0 {
            let own = self.without.entry(op.to_string()).or_default();
            *own = own.saturating_add(cycles);
        }
    }

    /// Adds both.
    pub fn add(&mut self, other: &Backing) {
        self.known(other.with_points, other.off);
        other.without.iter().for_each(|(op, cycles)| self.unknown(op, *cycles));
    }

    /// True if a relevant part of the work has no points, or there was no work at all.
    pub fn is_estimate(&self) -> bool {
        !self.without.is_empty() || self.with_points == 0
    }

    /// The error bound of the cycles in per cent; `None` for an estimate.
    pub fn error_percent(&self) -> Option<f64> {
        let tenths = |off: u64| (off as f64 / self.with_points as f64).round() / 10.0;
        (!self.is_estimate()).then(|| tenths(self.off))
    }

    /// The text right after the number: ` ± 4 %`, or empty for an estimate.
    pub fn range(&self) -> String {
        self.error_percent().map_or(String::new(), |percent| format!(" ± {}", shown(percent)))
    }

    /// The text in parentheses after the number: `, estimate`, or empty.
    pub fn mark(&self) -> &'static str {
        if self.is_estimate() { ", estimate" } else { "" }
    }

    /// Why it is an estimate, on a line of its own; empty if it is not, or there was no work.
    pub fn why_line(&self) -> String {
        match self.why() {
            why if why.is_empty() => why,
            why => format!("  estimate: {why}\n"),
        }
    }

    /// Why it is an estimate; empty if it is not, or there was no work.
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
        // Rounding must not produce "all" if there is an exception.
        let share = if self.with_points == 0 { "all".to_string() } else { format!("{:.0} %", share.clamp(1.0, 99.0)) };
        format!("too few published points for {share} of the work{what}")
    }
}

/// A number of cycles with its error bound: `100 cycles ± 4 %`, or `100 cycles (estimate)` if that is unknown.
pub fn figure(cycles: u64, error_percent: Option<f64>) -> String {
    match error_percent {
        Some(percent) => format!("{cycles} cycles ± {}", shown(percent)),
        None => format!("{cycles} cycles (estimate)"),
    }
}

/// Whole per cents, and tenths below one; never zero, as no figure is exact.
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
