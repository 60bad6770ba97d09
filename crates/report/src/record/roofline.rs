//! The roofline position of a run: computation against data movement.

use std::collections::BTreeMap;

use serde::Serialize;
use slipring_machine::Pipe;

use super::{Doing, Record};

/// The rates of a run: those of its pipes while they were busy, and that of the whole run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Roofline {
    /// The pipe that computes: `M` if it did any work, else `V`.
    pub pipe: &'static str,
    /// The unit of its work.
    pub unit: &'static str,
    /// Units of work per byte moved from or to global memory.
    pub intensity: f64,
    /// Units of work per cycle, over the whole run.
    pub rate: f64,
    /// Units of work per cycle of all compute pipes together, while they are busy.
    pub compute: f64,
    /// Bytes of global memory per cycle, for all pipes that move them together, while they are busy.
    pub bandwidth: f64,
}

/// Work of a pipe: size and cycles.
type Sum = (u64, u64);

impl Record {
    /// The rates; `None` if nothing was computed or no global memory was accessed.
    pub fn roofline(&self) -> Option<Roofline> {
        let mut work: BTreeMap<(usize, usize), Sum> = BTreeMap::new();
        let mut moved: BTreeMap<usize, Sum> = BTreeMap::new();
        for own in &self.happenings {
            let Doing::Work { units, global, .. } = own.doing else { continue };
            if matches!(own.agent.pipe, Pipe::M | Pipe::V) {
                let sum = work.entry((own.agent.pipe.index(), own.agent.index())).or_default();
                (sum.0, sum.1) = (sum.0 + units, sum.1 + own.cycles());
            }
            if global > 0 {
                let sum = moved.entry(own.agent.index()).or_default();
                (sum.0, sum.1) = (sum.0 + global, sum.1 + own.cycles());
            }
        }
        let of = |pipe: Pipe| -> Vec<Sum> {
            work.iter().filter(|((own, _), _)| *own == pipe.index()).map(|(_, sum)| *sum).collect()
        };
        let (matrix, vector) = (of(Pipe::M), of(Pipe::V));
        let (pipe, unit, sums) = match matrix.is_empty() {
            false => ("M", "blocks of 16×16×32 bytes", matrix),
            true => ("V", "repeats", vector),
        };
        let total = |sums: &[Sum]| sums.iter().map(|(size, _)| size).sum::<u64>() as f64;
        let rate =
            |sums: &[Sum]| -> f64 { sums.iter().map(|(size, cycles)| *size as f64 / (*cycles).max(1) as f64).sum() };
        let moved: Vec<Sum> = moved.into_values().collect();
        let (units, bytes) = (total(&sums), total(&moved));
        (units > 0.0 && bytes > 0.0 && self.cycles > 0).then(|| Roofline {
            pipe,
            unit,
            intensity: units / bytes,
            rate: units / self.cycles as f64,
            compute: rate(&sums),
            bandwidth: rate(&moved),
        })
    }
}
