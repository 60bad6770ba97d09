//! Reading platform files.

use slipring_tile::Space;
use thiserror::Error;

use crate::{Pipe, Platform};

/// Names of the built-in platforms.
pub const BUILT_IN: [&str; 2] = ["a5", "a2a3"];

/// Why a platform file was not accepted.
#[derive(Debug, Error)]
pub enum PlatformError {
    /// The name is neither built in nor a known alias.
    #[error("unknown platform `{0}`: the built-in ones are `a5` and `a2a3`")]
    Unknown(String),
    /// Not TOML, or not the fields that a platform has.
    #[error("{0}")]
    Toml(#[from] toml::de::Error),
    /// A space name that the text does not know.
    #[error("`space.{0}` is not a memory space")]
    Space(String),
    /// A pipe name that the text does not know.
    #[error("`{0}` is not a pipe")]
    Pipe(String),
    /// A number outside what the engine can model.
    #[error("`{field}` must be {expected}, not {found}")]
    Range {
        /// Path of the field in the file.
        field: String,
        /// What is accepted.
        expected: String,
        /// What the file has.
        found: u64,
    },
}

/// A built-in platform: `a5`, `a2a3` (also spelled `a2` or `a3`).
pub fn built_in(name: &str) -> Result<Platform, PlatformError> {
    let text = match name {
        "a5" => include_str!("../../../platforms/a5.toml"),
        "a2a3" | "a2" | "a3" => include_str!("../../../platforms/a2a3.toml"),
        _ => return Err(PlatformError::Unknown(name.to_string())),
    };
    parse(text)
}

/// Reads and checks a platform file.
pub fn parse(text: &str) -> Result<Platform, PlatformError> {
    let platform: Platform = toml::from_str(text)?;
    for name in platform.space.keys() {
        match Space::parse(name) {
            Some(space) if space != Space::Gm && space.name() == name => {}
            _ => return Err(PlatformError::Space(name.clone())),
        }
    }
    let pipes = &platform.pipes;
    for name in pipes.cube.iter().chain(&pipes.vector).chain(pipes.unordered.keys()) {
        if Pipe::parse(name).is_none_or(|pipe| pipe.name() != name) {
            return Err(PlatformError::Pipe(name.clone()));
        }
    }
    for name in pipes.unordered.values().flatten() {
        if Space::parse(name).is_none_or(|space| space.name() != name) {
            return Err(PlatformError::Space(name.clone()));
        }
    }
    for (field, value, low, high) in numbers(&platform) {
        if !(low..=high).contains(&value) {
            return Err(PlatformError::Range { field, expected: format!("between {low} and {high}"), found: value });
        }
    }
    for (name, space) in &platform.space {
        if space.bytes == 0 || space.bytes > 1 << 30 {
            let field = format!("space.{name}.bytes");
            return Err(PlatformError::Range { field, expected: "between 1 and 2^30".into(), found: space.bytes });
        }
        if space.reserved >= space.bytes {
            let field = format!("space.{name}.reserved");
            return Err(PlatformError::Range {
                field,
                expected: "less than the memory has".into(),
                found: space.reserved,
            });
        }
        if !space.align.is_power_of_two() || space.align > 1 << 30 {
            let field = format!("space.{name}.align");
            return Err(PlatformError::Range {
                field,
                expected: "a power of two up to 2^30".into(),
                found: space.align,
            });
        }
    }
    Ok(platform)
}

/// The most of anything that there is one of for each core, pipe or ring.
const MANY: u64 = 4096;
/// The longest that anything takes, in cycles: sums of them fit.
const LONG: u64 = 1 << 30;

/// Every number of a platform: field, value, smallest and largest that the engine models. Memories and costs are checked where
/// they are read.
fn numbers(platform: &Platform) -> Vec<(String, u64, u64, u64)> {
    let Platform { sync, ring, pipes, cost, .. } = platform;
    let fields = [
        ("clock_mhz", platform.clock_mhz, 1, LONG),
        ("clusters", platform.clusters, 1, MANY),
        ("pipes.queue_depth", pipes.queue_depth, 1, 1 << 16),
        ("sync.event_ids", sync.event_ids, 0, MANY),
        ("sync.semaphores", sync.semaphores, 0, MANY),
        ("sync.semaphore_max", sync.semaphore_max, 1, 1 << 16),
        ("sync.subblock_offset", sync.subblock_offset, 0, MANY),
        ("sync.ring_flags", sync.ring_flags, 0, MANY),
        ("sync.buffer_tokens", sync.buffer_tokens, 0, MANY),
        ("sync.cycles", sync.cycles, 0, LONG),
        ("sync.cross_core_latency", sync.cross_core_latency, 0, LONG),
        ("ring.slots_one_way", ring.slots_one_way, 1, MANY),
        ("ring.slots_both_ways", ring.slots_both_ways, 1, MANY),
        ("ring.max_slots", ring.max_slots, 1, MANY),
        ("ring.flag_ids", ring.flag_ids, 0, MANY),
        ("cost.scalar", cost.scalar, 0, LONG),
        ("cost.scalar_memory", cost.scalar_memory, 0, LONG),
    ];
    let vector = platform.vector_function.as_ref().map(|v| {
        [
            ("vector_function.startup", v.startup, 0, LONG),
            ("vector_function.drain", v.drain, 0, LONG),
            ("vector_function.issue", v.issue, 1, MANY),
            ("vector_function.load_units", v.load_units, 1, MANY),
            ("vector_function.store_units", v.store_units, 1, MANY),
            ("vector_function.alu_units", v.alu_units, 1, MANY),
        ]
    });
    let all = fields.into_iter().chain(vector.into_iter().flatten());
    let mut all: Vec<_> = all.map(|(field, value, low, high)| (field.into(), value.into(), low, high)).collect();
    all.push(("cost.burst".into(), cost.burst, 1, LONG));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_platforms_are_accepted() {
        for name in BUILT_IN {
            assert_eq!(built_in(name).unwrap().name, name);
        }
    }

    #[test]
    fn pipes_overlap_their_own_work_in_some_memories() {
        use crate::Pipe;
        let a5 = built_in("a5").unwrap();
        assert_eq!(a5.overlapping(), [(Pipe::Mte3, Space::Gm)]);
        assert!(!a5.overlaps(Pipe::Mte3, Space::Vec) && !a5.needs_barrier(Pipe::V));
        assert!(built_in("a2a3").unwrap().overlaps(Pipe::V, Space::Vec));
        for (written, wrong) in [("MTE3 = [\"gm\"]", "MTE9 = [\"gm\"]"), ("MTE3 = [\"gm\"]", "MTE3 = [\"ub\"]")] {
            let text = include_str!("../../../platforms/a5.toml").replace(written, wrong);
            assert!(text.contains(wrong) && parse(&text).is_err(), "{wrong}");
        }
    }

    /// Every line of the built-in files that is a plain number is one that the largest number is refused for, by its name.
    #[test]
    fn every_number_has_a_range() {
        for text in [include_str!("../../../platforms/a5.toml"), include_str!("../../../platforms/a2a3.toml")] {
            let (mut section, mut tried) = (String::new(), 0);
            for line in text.lines() {
                if let Some(name) = line.trim().strip_prefix('[').and_then(|l| l.split(']').next()) {
                    section = format!("{name}.");
                }
                let Some((field, value)) = line.split_once('=') else { continue };
                let value = value.split('#').next().unwrap_or("").trim();
                if value.parse::<u64>().is_err() {
                    continue;
                }
                let wrong = text.replace(line, &format!("{field} = {}", u32::MAX));
                let error = parse(&wrong).unwrap_err().to_string();
                let field = format!("`{section}{}` must be between", field.trim()).replace("`.", "`");
                assert!(error.contains(&field), "{error}\n{field}");
                tried += 1;
            }
            assert!(tried > 15, "{tried}");
        }
        let large = include_str!("../../../platforms/a5.toml").replace("align = 512", "align = 4611686018427387904");
        assert!(parse(&large).unwrap_err().to_string().contains("a power of two"));
    }

    #[test]
    fn a_misspelt_field_is_refused() {
        let text = include_str!("../../../platforms/a5.toml").replace("queue_depth", "queue_dept");
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains("queue_dept"), "{error}");
    }
}
