//! Accesses of a step that are not part of the program.

/// Accesses of a step that are not part of the program.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    /// The accesses of a sampled step, in order: the first byte, and the previous contents.
    pub(crate) trial: Option<Vec<(usize, Vec<u8>)>>,
}

impl Aside {
    pub fn is_trial(&self) -> bool {
        self.trial.is_some()
    }

    pub fn note(&mut self, start: usize, bytes: &[u8]) {
        if let Some(trial) = &mut self.trial {
            trial.push((start, bytes.to_vec()));
        }
    }
}
