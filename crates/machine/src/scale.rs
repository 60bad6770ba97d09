//! Platform files with scaled figures: entries of the cost tables, multiplied by a factor.

use std::collections::BTreeMap;

use serde::de::Error as _;
use toml::{Table, Value};

use crate::load::{PlatformError, built_in_table, parse};

/// Fields of a figure that are given in cycles.
const CYCLES: [&str; 10] = ["head", "repeat", "row", "gap", "chain", "rest", "pass", "again", "pitch", "partial"];

/// Fields that give the evidence behind figures, which does not apply to others.
const EVIDENCE: [&str; 3] = ["points", "error", "ops"];

/// A platform file whose figures can be changed.
#[derive(Clone, Debug)]
pub struct PlatformTable {
    table: Table,
}

impl PlatformTable {
    /// Reads the file of a built-in platform.
    ///
    /// # Errors
    /// If there is no such platform.
    pub fn built_in(name: &str) -> Result<PlatformTable, PlatformError> {
        Ok(PlatformTable { table: built_in_table(name)? })
    }

    /// Reads a platform file.
    ///
    /// # Errors
    /// If it is not valid.
    pub fn read(text: &str) -> Result<PlatformTable, PlatformError> {
        parse(text)?;
        Ok(PlatformTable { table: toml::from_str(text)? })
    }

    /// The file with the cycles of some entries (`cost.dma.gm-vec`, `cost.vector.add.f16`) multiplied by a factor,
    /// without their evidence. Comments are not kept. Entries that the file does not have are ignored.
    ///
    /// # Errors
    /// If a figure is then out of range.
    pub fn scaled(&self, factors: &BTreeMap<String, f64>) -> Result<String, PlatformError> {
        let mut table = self.table.clone();
        let Some(Value::Table(cost)) = table.get_mut("cost") else {
            return Err(toml::de::Error::custom("it has no table `cost`").into());
        };
        let mut vectors = false;
        for (entry, factor) in factors {
            let Some((section, key)) = entry.strip_prefix("cost.").and_then(|own| own.split_once('.')) else {
                continue;
            };
            let own = cost.get_mut(section).and_then(Value::as_table_mut).and_then(|own| own.get_mut(key));
            let Some(own) = own else { continue };
            let rows = matches!(section, "vector" | "op");
            scale(own, *factor, rows);
            vectors |= rows;
        }
        if vectors {
            cost.remove("calibrated");
        }
        let text = toml::to_string(&table).map_err(|error| toml::de::Error::custom(error.to_string()))?;
        parse(&text)?;
        Ok(text)
    }
}

/// Multiplies a figure by a factor: a list `[fixed, cycles, units]`, or a table. Figures of rows have three decimal
/// places, others whole cycles for their fixed part.
fn scale(figure: &mut Value, factor: f64, rows: bool) {
    match figure {
        Value::Array(list) => {
            let numbers: Vec<f64> = list.iter().filter_map(number).collect();
            if let [head, cycles, units] = numbers[..] {
                let whole = |value: f64| Value::Integer(value.round() as i64);
                // Three more decimal places for the slope, if they fit.
                let more = if units * 1000.0 <= 1e9 && cycles * factor * 1000.0 <= 1e9 { 1000.0 } else { 1.0 };
                *list = vec![whole(head * factor), whole((cycles * factor * more).max(1.0)), whole(units * more)];
            }
        }
        Value::Table(named) => {
            EVIDENCE.iter().for_each(|name| {
                named.remove(*name);
            });
            for (name, value) in named.iter_mut() {
                let Some(own) = number(value) else { continue };
                match name.as_str() {
                    "rate" => *value = Value::Float(places(own / factor)),
                    "head" if !rows => *value = Value::Integer((own * factor).round() as i64),
                    name if CYCLES.contains(&name) => *value = Value::Float(places(own * factor)),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn places(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|whole| whole as f64))
}

#[cfg(test)]
mod tests {
    use slipring_tile::{Elem, Space};

    use super::*;

    #[test]
    fn figures_are_scaled_and_lose_their_evidence() {
        let base = PlatformTable::built_in("a5").unwrap();
        let factors = [("cost.dma.gm-vec", 2.0), ("cost.vector.add", 3.0), ("cost.cube.none", 5.0)];
        let factors = factors.into_iter().map(|(entry, factor)| (entry.to_string(), factor)).collect();
        let text = base.scaled(&factors).unwrap();
        let (old, new) = (crate::built_in("a5").unwrap(), parse(&text).unwrap());
        let units = crate::units::Units::of(6000);
        let moved = |platform: &crate::Platform| platform.dma_cost(Space::Gm, Space::Vec).cycles(units);
        assert_eq!(moved(&new), 2 * moved(&old));
        let add = |platform: &crate::Platform| platform.vector_cost("tadd", "add", "f32");
        let (before, after) = (add(&old).cycles(units), add(&new).cycles(units));
        assert!(after.abs_diff(3 * before) <= 2, "{before} and {after}");
        assert_eq!(after, add(&parse(&text).unwrap()).cycles(units));
        assert_eq!((add(&new).evidence.points, new.cost.calibrated.len()), (0, 0));
        let same = base.scaled(&BTreeMap::new()).unwrap();
        assert_eq!(parse(&same).unwrap().cube_cost(Elem::F16).cycles(units), old.cube_cost(Elem::F16).cycles(units));
        assert_eq!(parse(&same).unwrap().cost.calibrated.len(), old.cost.calibrated.len());
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let factors = [("cost.dma.gm-vec".to_string(), 1e12)].into_iter().collect();
        assert!(PlatformTable::built_in("a5").unwrap().scaled(&factors).is_err());
        assert!(PlatformTable::built_in("b5").is_err());
        assert!(PlatformTable::read("name = 3").is_err());
    }
}
