//! The cost of a vector operation on a tile: the arrangement of its repeats, and the resulting cycles.

use std::fmt;

use serde::Deserialize;

use crate::entry::{Either, Entry, forms, list};
use crate::units::{Cost, REPEAT, Units};

/// A number of cycles with three decimal places: the figures of fits, in a form whose sums are the same on every host.
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
/// A tile with contiguous rows is one run of `n` repeats, `head + repeat × n`. One with gaps is processed row by row,
/// `inner` repeats each, and [`Between`] determines how its rows follow each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figure {
    /// Cycles before the first repeat.
    pub head: Milli,
    /// Cycles of a repeat in a run.
    pub repeat: Milli,
    /// Cycles per repeat of a row if the tile has gaps.
    pub pitch: Milli,
    /// The transition between two rows.
    pub between: Between,
    /// Bytes of a repeat.
    pub unit: u64,
    /// Bytes of a repeat of a row if the tile has gaps.
    pub row_unit: u64,
    /// True if a tile with contiguous rows is one run; false if rows are always processed one by one.
    pub joined: bool,
    /// Rows with fewer bytes than this are processed one by one, even if they are contiguous.
    pub narrow: u64,
    /// Rows of at most this many repeats follow each other as if there were no gaps.
    pub short: u64,
    /// Additional cycles if the last repeat of a row is not full; for a run only if a row has several.
    pub partial: Milli,
}

/// The transition between two rows of a tile with gaps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Between {
    /// This many cycles after the last repeat of the previous row.
    After(Milli),
    /// The next row starts this many cycles after the repeats of the previous one were issued, one per cycle.
    Overlap(Milli),
    /// Each further row is an instruction on the result of the previous one: this many cycles plus its repeats. With
    /// `rest`, a last repeat that is not full is an instruction of its own.
    Chain {
        /// Cycles of an instruction, excluding its repeats.
        row: Milli,
        /// Cycles of the instruction for the repeat that is not full.
        rest: Option<Milli>,
    },
    /// Rows of several repeats are reduced to rows of one in passes over all rows; only then is `pitch` paid, once per
    /// row.
    Passes {
        /// Cycles of a pass.
        pass: Milli,
        /// Cycles of a pass for each row.
        again: Milli,
    },
}

impl Figure {
    /// `head + repeat × n` in repeats of 256 bytes; rows with gaps are rounded up to whole repeats.
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
            narrow: 0,
            short: 0,
            partial: Milli(0),
        }
    }

    /// The arrangement of a tile's repeats.
    fn shape(&self, units: Units) -> Repeats {
        let rows = units.count();
        let row_bytes = units.total / rows;
        let one_by_one = rows > 1 && row_bytes < self.narrow;
        if self.joined && (units.joined || rows == 1) && !one_by_one {
            let unit = self.unit.max(1);
            let partial = row_bytes > unit && !row_bytes.is_multiple_of(unit);
            return Repeats::Run { repeats: units.total.div_ceil(unit), partial };
        }
        let unit = self.row_unit.max(1);
        let (inner, partial) = (row_bytes.div_ceil(unit), !row_bytes.is_multiple_of(unit));
        match inner <= self.short {
            true => Repeats::Run { repeats: rows.saturating_mul(inner), partial },
            false => Repeats::Rows { rows, inner, partial },
        }
    }

    /// Repeats of an execution of this size.
    pub fn repeats(&self, units: Units) -> u64 {
        match self.shape(units) {
            Repeats::Run { repeats, .. } => repeats,
            Repeats::Rows { rows, inner, .. } => rows.saturating_mul(inner),
        }
    }

    /// Cycles, rounded to the nearest. Saturates.
    pub fn cycles(&self, units: Units) -> u64 {
        let (grown, partial) = match self.shape(units) {
            Repeats::Run { repeats, partial } => (self.repeat.times(repeats), partial),
            Repeats::Rows { rows, inner, partial } => {
                let first = self.repeat.times(inner);
                let cycles = match self.between {
                    Between::After(row) => {
                        self.pitch.times(rows.saturating_mul(inner)).saturating_add(row.times(rows - 1))
                    }
                    Between::Overlap(gap) => {
                        let next = inner.saturating_mul(1000).saturating_add(gap.0).max(self.pitch.times(inner));
                        first.saturating_add(next.saturating_mul(rows - 1))
                    }
                    Between::Chain { row, rest } => {
                        let next = self.link(row, rest, inner, partial);
                        first.saturating_add(next.saturating_mul(rows - 1))
                    }
                    Between::Passes { pass, again } => {
                        let one = pass.0.saturating_add(again.times(rows));
                        self.pitch.times(rows).saturating_add(one.saturating_mul(passes(inner, partial)))
                    }
                };
                (cycles, partial)
            }
        };
        let partial = if partial { self.partial.0 } else { 0 };
        self.head.0.saturating_add(grown).saturating_add(partial).saturating_add(500) / 1000
    }

    /// Thousandths of a cycle of a further row of a chain.
    fn link(&self, row: Milli, rest: Option<Milli>, inner: u64, partial: bool) -> u64 {
        let (full, rest) = match rest {
            Some(rest) if partial => (inner - 1, rest.0),
            _ => (inner, 0),
        };
        let full = if full > 0 { row.0.saturating_add(self.pitch.times(full)) } else { 0 };
        full.saturating_add(rest)
    }

    /// The formula with its values.
    pub(crate) fn formula(&self, units: Units) -> String {
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
                    Between::Chain { row, rest } => {
                        let next = Milli(self.link(*row, *rest, inner, partial));
                        format!("{head} + {repeat} x {inner} + {} further rows x {next}", rows - 1)
                    }
                    Between::Passes { pass, again } => match passes(inner, partial) {
                        0 => format!("{head} + {rows} rows x {pitch}"),
                        n => format!("{head} + {rows} rows x {pitch} + {n} passes x ({pass} + {rows} x {again})"),
                    },
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

/// The number of passes that reduce rows of several repeats to rows of one: one for each further repeat; a single full
/// one is copied first.
const fn passes(inner: u64, partial: bool) -> u64 {
    match inner {
        0 | 1 => 0,
        2 if partial => 2,
        n => n - 1,
    }
}

/// The arrangement of a tile's repeats.
enum Repeats {
    Run { repeats: u64, partial: bool },
    Rows { rows: u64, inner: u64, partial: bool },
}

/// The form of a vector figure with named fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureText {
    head: f64,
    repeat: f64,
    row: Option<f64>,
    gap: Option<f64>,
    chain: Option<f64>,
    rest: Option<f64>,
    pass: Option<f64>,
    again: Option<f64>,
    pitch: Option<f64>,
    unit: Option<u64>,
    row_unit: Option<u64>,
    joined: Option<bool>,
    narrow: Option<u64>,
    short: Option<u64>,
    partial: Option<f64>,
    points: Option<u32>,
    error: Option<f32>,
    #[serde(default)]
    ops: Vec<String>,
}

/// A number of the file in thousandths.
fn milli<E: serde::de::Error>(what: &str, value: f64) -> Result<Milli, E> {
    const MOST: f64 = (1u64 << 30) as f64;
    match (0.0..=MOST).contains(&value) {
        true => Ok(Milli((value * 1000.0).round() as u64)),
        false => Err(E::custom(format!("`{what}` is a number of cycles from 0 to 2^30, not {value}"))),
    }
}

fn between<E: serde::de::Error>(text: &FigureText) -> Result<Between, E> {
    let rest = text.rest.map(|rest| milli("rest", rest)).transpose()?;
    let own = match (text.row, text.gap, text.chain, text.pass) {
        (row, None, None, None) => Between::After(milli("row", row.unwrap_or(0.0))?),
        (None, Some(gap), None, None) => Between::Overlap(milli("gap", gap)?),
        (None, None, Some(row), None) => Between::Chain { row: milli("chain", row)?, rest },
        (None, None, None, Some(pass)) => {
            Between::Passes { pass: milli("pass", pass)?, again: milli("again", text.again.unwrap_or(0.0))? }
        }
        _ => return Err(E::custom("a figure has one of `row`, `gap`, `chain` and `pass`")),
    };
    if rest.is_some() && !matches!(own, Between::Chain { .. }) {
        return Err(E::custom("`rest` is of figures with `chain`"));
    }
    if text.again.is_some() && !matches!(own, Between::Passes { .. }) {
        return Err(E::custom("`again` is of figures with `pass`"));
    }
    Ok(own)
}

impl<'de> Deserialize<'de> for Entry<Figure> {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Entry<Figure>, D::Error> {
        let text = match Either::<FigureText>::deserialize(d).map_err(|_| forms::<D::Error>(FORM))? {
            Either::List(numbers) => {
                let Cost { fixed, num, den } = list(numbers)?;
                let repeat = Milli(u64::from(num) * 1000 / u64::from(den));
                let cost = Figure::plain(Milli(u64::from(fixed) * 1000), repeat);
                return Ok(Entry::of(cost, None, None, Vec::new()));
            }
            Either::Named(text) => text,
        };
        let mut figure = Figure::plain(milli("head", text.head)?, milli("repeat", text.repeat)?);
        figure.between = between(&text)?;
        figure.pitch = text.pitch.map_or(Ok(figure.repeat), |pitch| milli("pitch", pitch))?;
        figure.partial = milli("partial", text.partial.unwrap_or(0.0))?;
        figure.unit = text.unit.unwrap_or(REPEAT);
        figure.row_unit = text.row_unit.unwrap_or(figure.unit);
        if let Some(wrong) = [figure.unit, figure.row_unit].into_iter().find(|unit| !(1..=65536).contains(unit)) {
            return Err(serde::de::Error::custom(format!("a repeat has 1 to 65536 bytes, not {wrong}")));
        }
        figure.joined = text.joined.unwrap_or(true);
        figure.narrow = text.narrow.unwrap_or(0);
        figure.short = text.short.unwrap_or(u64::from(text.gap.is_some()));
        Ok(Entry::of(figure, text.points, text.error, text.ops))
    }
}

const FORM: &str = "[head, cycles, repeats] or { head, repeat } with any of `row`, `gap`, `chain` and `rest` or `pass` and \
                    `again`, and `pitch`, `unit`, `row_unit`, `joined`, `narrow`, `short`, `partial`, `points`, `error`, `ops`";

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A figure as written in a platform file.
    pub(crate) fn figure(text: &str) -> Figure {
        let table: std::collections::BTreeMap<String, Entry<Figure>> = toml::from_str(&format!("x = {text}")).unwrap();
        table["x"].cost
    }

    /// Numbers worked out by hand from the instructions that the public headers issue.
    #[test]
    fn reductions_follow_their_instructions() {
        let tile = |rows, bytes| Units::rows(rows, bytes, true);
        let max = figure("{ head = 6, repeat = 8, joined = false, chain = 3, pitch = 1, rest = 7, short = 0 }");
        assert_eq!(max.cycles(tile(16, 512)), 6 + 16 + 15 * 5, "two full repeats in one instruction");
        assert_eq!(max.cycles(tile(64, 128)), 6 + 8 + 63 * 7, "only a part of one");
        assert_eq!(max.cycles(tile(64, 384)), 6 + 16 + 63 * (4 + 7), "one of each");
        let sum = figure("{ head = 6, repeat = 8, joined = false, chain = 18, pitch = 1.75 }");
        assert_eq!(sum.cycles(tile(64, 256)), 6 + 8 + 1244, "63 x 19.75 is 1244.25");
        let rows = figure("{ head = 32, repeat = 1, joined = false, pitch = 7, pass = 16, again = 1.5, partial = 15 }");
        assert_eq!(rows.cycles(tile(64, 256)), 32 + 7 * 64);
        assert_eq!(rows.cycles(tile(64, 128)), 32 + 7 * 64 + 15);
        assert_eq!(rows.cycles(tile(64, 512)), 32 + 7 * 64 + 16 + 96);
        assert_eq!(rows.cycles(tile(64, 384)), 32 + 7 * 64 + 2 * (16 + 96) + 15, "the full repeat is copied first");
        assert_eq!(rows.formula(tile(64, 512)), "32 + 64 rows x 7 + 1 passes x (16 + 64 x 1.5)");
    }

    #[test]
    fn narrow_rows_are_done_one_by_one() {
        let add = figure("{ head = 25, repeat = 2, narrow = 256, partial = 17 }");
        let tile = |rows, bytes| Units::rows(rows, bytes, true);
        assert_eq!(add.cycles(tile(64, 128)), 25 + 128 + 17);
        assert_eq!(add.cycles(tile(64, 256)), 25 + 128);
        assert_eq!(add.cycles(tile(64, 320)), 25 + 160 + 17, "80 repeats in a run");
        assert_eq!(add.cycles(tile(1, 128)), 25 + 2);
    }

    #[test]
    fn a_figure_has_one_way_between_rows() {
        for wrong in [
            "{ head = 1, repeat = 1, gap = 1, row = 1 }",
            "{ head = 1, repeat = 1, rest = 1 }",
            "{ head = 1, repeat = 1, chain = 1, again = 1 }",
            "{ head = 1, repeat = 1, chain = 1, pass = 1 }",
        ] {
            let text = format!("x = {wrong}");
            assert!(toml::from_str::<std::collections::BTreeMap<String, Entry<Figure>>>(&text).is_err(), "{wrong}");
        }
    }
}
