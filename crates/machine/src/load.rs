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
        expected: &'static str,
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
    let at_least_one = [
        ("clusters", platform.clusters),
        ("clock_mhz", platform.clock_mhz),
        ("pipes.queue_depth", pipes.queue_depth),
        ("sync.semaphore_max", platform.sync.semaphore_max),
        ("ring.slots_one_way", platform.ring.slots_one_way),
        ("ring.slots_both_ways", platform.ring.slots_both_ways),
        ("ring.max_slots", platform.ring.max_slots),
    ];
    let vector = platform.vector_function.as_ref();
    let vector = vector.map(|v| {
        [
            ("vector_function.issue", v.issue),
            ("vector_function.load_units", v.load_units),
            ("vector_function.store_units", v.store_units),
            ("vector_function.alu_units", v.alu_units),
        ]
    });
    for (field, value) in at_least_one.into_iter().chain(vector.into_iter().flatten()) {
        if value == 0 {
            return Err(PlatformError::Range { field: field.into(), expected: "at least 1", found: 0 });
        }
    }
    for (name, space) in &platform.space {
        if space.bytes == 0 || space.bytes > 1 << 30 {
            let field = format!("space.{name}.bytes");
            return Err(PlatformError::Range { field, expected: "between 1 and 2^30", found: space.bytes });
        }
        if space.reserved >= space.bytes {
            let field = format!("space.{name}.reserved");
            return Err(PlatformError::Range { field, expected: "less than the memory has", found: space.reserved });
        }
        if !space.align.is_power_of_two() {
            let field = format!("space.{name}.align");
            return Err(PlatformError::Range { field, expected: "a power of two", found: space.align });
        }
    }
    Ok(platform)
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

    #[test]
    fn a_misspelt_field_is_refused() {
        let text = include_str!("../../../platforms/a5.toml").replace("queue_depth", "queue_dept");
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains("queue_dept"), "{error}");
    }
}
