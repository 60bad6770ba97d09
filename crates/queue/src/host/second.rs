//! A driver of two queues on one board: calls address one of them at a time.

use super::queue::{Kernels, Queue};
use super::{Device, HostError};
use crate::board::Board;
use crate::host::queue::Ends;
use crate::layout::Layout;

impl<D: Device> Queue<D> {
    /// Opens the second queue of a board that has two ([`Board::pair`], [`Layout::second`]): until another one is
    /// chosen, all calls address it.
    ///
    /// # Errors
    /// As [`open`](Queue::open).
    pub fn open_second(&mut self, board: Board, layout: Layout, kernels: &Kernels) -> Result<(), HostError> {
        self.second = Some(Ends::open(&mut self.device, board, layout, 1)?);
        self.choose(1);
        self.initialise()?;
        self.start(kernels)
    }

    /// Makes the following calls address one of two queues, 0 or 1.
    pub fn choose(&mut self, queue: u8) {
        let Some(other) = self.second.as_mut().filter(|other| other.number == queue) else { return };
        std::mem::swap(&mut self.ends, other);
    }
}
