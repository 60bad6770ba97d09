//! A set of pipes of one core.

use slipring_machine::Pipe;

/// Some pipes of a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PipeSet(u8);

impl PipeSet {
    /// Adds a pipe.
    pub fn insert(&mut self, pipe: Pipe) {
        self.0 |= 1 << pipe.index();
    }

    /// The pipes, in order.
    pub fn iter(self) -> impl Iterator<Item = Pipe> {
        Pipe::ALL.into_iter().filter(move |pipe| self.0 & (1 << pipe.index()) != 0)
    }
}
