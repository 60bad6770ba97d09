//! Data not computed in a time-only run.

use std::collections::BTreeSet;

use slipring_program::{Access, Extent, Fault, gm_split};
use slipring_tile::Space;

/// Locations that skipped work would have written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Skipped {
    /// True once any local memory would have been written.
    local: bool,
    /// Buffers of global memory.
    buffers: BTreeSet<usize>,
}

impl Skipped {
    /// Records skipped work.
    pub fn leave(&mut self, access: &Access) {
        for range in &access.writes {
            match buffer(range) {
                Some(index) => _ = self.buffers.insert(index),
                None => self.local = true,
            }
        }
    }

    /// Serialises its extent: it only grows.
    pub fn note(&self, words: &mut Vec<u64>) {
        words.extend([u64::from(self.local), self.buffers.len() as u64]);
    }

    /// A scalar is read.
    ///
    /// # Errors
    /// `time-only` if skipped work may have determined it.
    pub fn read(&self, access: &Access) -> Result<(), Fault> {
        let unknown = |range: &Extent| buffer(range).map_or(self.local, |index| self.buffers.contains(&index));
        if !access.reads.iter().any(unknown) {
            return Ok(());
        }
        let fault = Fault::new("time-only", "it reads computed data, and this run only counts cycles");
        Err(fault.help("run without `--time-only`: the data may decide what follows"))
    }
}

fn buffer(range: &Extent) -> Option<usize> {
    if range.space != Space::Gm {
        return None;
    }
    // An address outside all buffers is a finding of its own.
    Some(gm_split(range.start).map_or(usize::MAX, |(index, _)| index))
}
