//! Reading platform files.

use std::sync::OnceLock;

use serde::de::Error as _;
use slipring_tile::{Elem, Space, nearest};
use thiserror::Error;

use crate::interpretations::QUESTIONS;
use crate::platform::{OTHER, VARIANTS, short};
use crate::{Pipe, Platform, VECTOR_CLASSES, VectorSpec};

/// Names of the built-in platforms.
pub const BUILT_IN: [&str; 2] = ["a5", "a2a3"];

/// Why a platform file was not accepted.
#[derive(Debug, Error)]
pub enum PlatformError {
    /// The name is neither built in nor a known alias.
    #[error("unknown platform `{0}`: the built-in ones are `a5` and `a2a3`")]
    Unknown(String),
    /// Not TOML, or not the fields that a platform has.
    #[error("{}{}", .0, meant(.0))]
    Toml(#[from] toml::de::Error),
    /// An unknown name.
    #[error("`{field}`: `{name}` is not {} {what}{}", article(.what), did_you_mean(.near.as_deref()))]
    Name {
        /// Path of the field in the file.
        field: String,
        /// The name found.
        name: String,
        /// What was expected: a memory space, a pipe.
        what: &'static str,
        /// A similar valid name.
        near: Option<String>,
    },
    /// A number outside what the engine can model.
    #[error("`{field}` must be {expected}, not {found}")]
    Range {
        /// Path of the field in the file.
        field: String,
        /// What is accepted.
        expected: String,
        /// The value found.
        found: u64,
    },
}

/// `a` or `an`.
fn article(what: &str) -> &'static str {
    if what.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

fn did_you_mean(near: Option<&str>) -> String {
    near.map_or(String::new(), |near| format!(": did you mean `{near}`?"))
}

/// The valid field closest to an unknown one: the parser's message contains the name, followed by the valid ones.
fn meant(error: &toml::de::Error) -> String {
    let mut names = error.message().split('`').skip(1).step_by(2);
    match (error.message().starts_with("unknown field"), names.next()) {
        (true, Some(name)) => did_you_mean(nearest(name, names)),
        _ => String::new(),
    }
}

/// The platform of a chip, as distinguished by the public assembler.
fn of_chip(name: &str) -> &str {
    match name.strip_prefix("Ascend") {
        Some(chip) if chip.starts_with("950") || chip.starts_with("910_95") => "a5",
        Some(chip) if chip.starts_with("910") => "a2a3",
        _ => name,
    }
}

/// The text of a built-in platform, and its index in lists of them.
fn text_of(name: &str) -> Option<(usize, &'static str)> {
    match of_chip(name) {
        "a5" => Some((0, include_str!(concat!(env!("OUT_DIR"), "/a5.json")))),
        "a2a3" | "a2" | "a3" => Some((1, include_str!(concat!(env!("OUT_DIR"), "/a2a3.json")))),
        _ => None,
    }
}

/// The file of a built-in platform.
pub(crate) fn built_in_table(name: &str) -> Result<toml::Table, PlatformError> {
    let (_, text) = text_of(name).ok_or_else(|| PlatformError::Unknown(name.to_string()))?;
    Ok(serde_json::from_str(text).map_err(|error| toml::de::Error::custom(error.to_string()))?)
}

/// A built-in platform: `a5`, `a2a3` (also spelled `a2` or `a3`), or that of a chip such as `Ascend910B1`.
pub fn built_in(name: &str) -> Result<Platform, PlatformError> {
    // Each is parsed once per process.
    static READ: [OnceLock<Platform>; 2] = [const { OnceLock::new() }; 2];
    let (at, text) = text_of(name).ok_or_else(|| PlatformError::Unknown(name.to_string()))?;
    let read = &READ[at];
    if let Some(platform) = read.get() {
        return Ok(platform.clone());
    }
    // The file's text was checked when it was built into the program.
    let platform: Platform = serde_json::from_str(text).map_err(|error| toml::de::Error::custom(error.to_string()))?;
    Ok(read.get_or_init(|| platform).clone())
}

/// Reads and checks a platform file.
pub fn parse(text: &str) -> Result<Platform, PlatformError> {
    let platform: Platform = toml::from_str(text)?;
    names(&platform)?;
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

/// Checks that every name in a platform is known: memories, pipes, element types, and the subjects of costs. The
/// instructions of vector functions are known only to the declarations: [`Platform::check_ops`].
fn names(platform: &Platform) -> Result<(), PlatformError> {
    let Platform { pipes, cost, .. } = platform;
    let spaces = || Space::NAMED.into_iter().map(Space::name);
    let local = || spaces().filter(|name| *name != Space::Gm.name());
    let pipe_names = || Pipe::ALL.into_iter().map(Pipe::name);
    let elems = || Elem::ALL.into_iter().map(Elem::name);
    let paths: Vec<String> = spaces().flat_map(|from| spaces().map(move |to| format!("{from}-{to}"))).collect();
    for name in platform.space.keys() {
        known("space", name, "local memory", local())?;
    }
    for (field, list) in [("pipes.cube", &pipes.cube), ("pipes.vector", &pipes.vector)] {
        for name in list {
            known(field, name, "pipe", pipe_names())?;
        }
    }
    for (name, memories) in &pipes.unordered {
        known("pipes.unordered", name, "pipe", pipe_names())?;
        for memory in memories {
            known(&format!("pipes.unordered.{name}"), memory, "memory", spaces())?;
        }
    }
    for name in &platform.interpretations {
        known("interpretations", name, "interpretation", QUESTIONS.iter().map(|question| question.name))?;
    }
    for name in &platform.acc_to_mat {
        known("acc_to_mat", name, "element type", elems())?;
    }
    let other = || std::iter::once(OTHER);
    for name in cost.dma.keys() {
        known("cost.dma", name, "way from one memory to another", other().chain(paths.iter().map(String::as_str)))?;
    }
    for name in cost.vector.keys() {
        let class = name.split('.').next().unwrap_or(name);
        known("cost.vector", class, "cost class", other().chain(VECTOR_CLASSES))?;
    }
    for (field, table) in [("cost.vector", &cost.vector), ("cost.op", &cost.op)] {
        let types = table.keys().filter_map(|name| name.split_once('.')).flat_map(|(_, types)| types.split('-'));
        for elem in types {
            known(field, elem, "element type", Elem::ALL.into_iter().map(short).chain(VARIANTS))?;
        }
    }
    for name in cost.calibrated.keys() {
        let types = name.split_once('.').map_or("", |(_, types)| types);
        for elem in types.split('-') {
            let types = Elem::ALL.into_iter().map(short).chain(VARIANTS);
            known("cost.calibrated", elem, "element type", types)?;
        }
    }
    for name in cost.cube.keys() {
        known("cost.cube", name, "element type", other().chain(elems()))?;
    }
    for name in platform.vector_function.iter().flat_map(|spec| spec.op.keys()) {
        if let Some((_, elem)) = name.split_once('.') {
            known("vector_function.op", elem, "element type", elems())?;
        }
    }
    Ok(())
}

fn known<'a>(
    field: &str,
    name: &str,
    what: &'static str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), PlatformError> {
    if names.clone().any(|known| known == name) {
        return Ok(());
    }
    let near = nearest(name, names).map(str::to_string);
    Err(PlatformError::Name { field: field.into(), name: name.into(), what, near })
}

impl Platform {
    /// Checks that costs of vector functions are listed only for existing instructions; `ops` are their names without
    /// `pto.`.
    ///
    /// # Errors
    /// The first unknown name, with the closest existing one.
    pub fn check_ops<'a>(&self, ops: impl Iterator<Item = &'a str> + Clone) -> Result<(), PlatformError> {
        for name in self.vector_function.iter().flat_map(|spec| spec.op.keys()) {
            let op = name.split('.').next().unwrap_or(name);
            known("vector_function.op", op, "vector instruction", VectorSpec::OTHERS.into_iter().chain(ops.clone()))?;
        }
        for (field, names) in [
            ("cost.op", self.cost.op.keys().collect::<Vec<_>>()),
            ("cost.calibrated", self.cost.calibrated.keys().collect()),
        ] {
            for name in names {
                known(field, name.split('.').next().unwrap_or(name), "tile op", ops.clone())?;
            }
        }
        Ok(())
    }
}

/// Maximum number of anything that exists per core, pipe or ring.
const MANY: u64 = 4096;
/// Maximum duration of anything, in cycles: sums of durations cannot overflow.
const LONG: u64 = 1 << 30;

/// Every number of a platform: field, value, and the smallest and largest value that the engine models. Memories and
/// costs are checked where they are read.
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
        ("cost.launch", cost.launch, 0, LONG),
        ("cost.gm_bytes", cost.gm_bytes, 0, LONG),
        ("cost.gm_first_bytes", cost.gm_first_bytes, 0, LONG),
        ("cost.gm_cache_bytes", cost.gm_cache_bytes, 0, LONG),
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
    let simt = platform.simt.as_ref().map(|simt| {
        [
            ("simt.startup", simt.startup, 0, LONG),
            ("simt.instruction", simt.instruction, 1, MANY),
            ("simt.memory", simt.memory, 1, MANY),
        ]
    });
    let all = fields.into_iter().chain(vector.into_iter().flatten()).chain(simt.into_iter().flatten());
    let mut all: Vec<_> = all.map(|(field, value, low, high)| (field.into(), value.into(), low, high)).collect();
    all.push(("cost.burst".into(), cost.burst, 1, LONG));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_platforms_are_their_files() {
        let texts = [include_str!("../platforms/a5.toml"), include_str!("../platforms/a2a3.toml")];
        for (name, text) in BUILT_IN.into_iter().zip(texts) {
            let (known, read) = (built_in(name).unwrap(), parse(text).unwrap());
            assert_eq!(known.name, name);
            assert_eq!(format!("{known:?}"), format!("{read:?}"));
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
            let text = include_str!("../platforms/a5.toml").replace(written, wrong);
            assert!(text.contains(wrong) && parse(&text).is_err(), "{wrong}");
        }
    }

    /// Every line of the built-in files that is a plain number is one that the largest number is refused for, by its name.
    #[test]
    fn every_number_has_a_range() {
        for text in [include_str!("../platforms/a5.toml"), include_str!("../../../platforms/a2a3.toml")] {
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
        let large = include_str!("../platforms/a5.toml").replace("align = 512", "align = 4611686018427387904");
        assert!(parse(&large).unwrap_err().to_string().contains("a power of two"));
    }

    /// Each key and each name of the built-in files, changed by a letter, is refused with the right one as a suggestion.
    #[test]
    fn a_misspelt_name_is_refused() {
        let changes = [
            ("queue_depth", "queue_dept", "`queue_depth`"),
            ("[cost.dma]", "[cost.dna]", "`dma`"),
            ("div = {", "divv = {", "`cost.vector`: `divv` is not a cost class: did you mean `div`?"),
            ("add = {", "adz = {", "`cost.vector`: `adz` is not a cost class: did you mean `add`?"),
            ("gm-mat =", "gm-matt =", "did you mean `gm-mat`?"),
            ("mat-left", "mat-lefd", "did you mean `mat-left`?"),
            ("vec = {", "veck = {", "`space`: `veck` is not a local memory: did you mean `vec`?"),
            ("\"MTE1\"", "\"MTEE1\"", "`pipes.cube`: `MTEE1` is not a pipe: did you mean `MTE1`?"),
            ("\"bf16\"", "\"bf61\"", "`acc_to_mat`: `bf61` is not an element type: did you mean `bf16`?"),
            ("f32 = [6", "f23 = [6", "`cost.cube`: `f23` is not an element type: did you mean `f32`?"),
            (
                "\"vexp.f16\" =",
                "\"vexp.f61\" =",
                "`vector_function.op`: `f61` is not an element type: did you mean `f16`?",
            ),
        ];
        let text = include_str!("../platforms/a5.toml");
        for (right, wrong, said) in changes {
            assert!(text.contains(right), "{right}");
            let error = parse(&text.replacen(right, wrong, 1)).unwrap_err().to_string();
            assert!(error.contains(said), "{error}\n{said}");
        }
    }
}
