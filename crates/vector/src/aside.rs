//! Accesses of a step that are none of the program.

/// Accesses of a step that are none of the program.
#[derive(Debug, Default)]
pub(crate) struct Aside {
    /// What a step touches that is only tried, in order: the first byte, and what was there before.
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
