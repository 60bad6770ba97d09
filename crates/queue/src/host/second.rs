//! A driver of two queues on one board: calls are about one of them at a time.

use super::completion::RingPointer;
use super::issue::Issue;
use super::queue::{Kernels, Queue, WINDOW};
use super::{Device, HostError, WindowTarget};
use crate::board::Board;
use crate::host::queue::Ends;
use crate::layout::{Layout, PCIE_NOC_BIT};

impl<D: Device> Queue<D> {
    /// Opens the second queue of a board that has two ([`Board::pair`], [`Layout::second`]): until another one is chosen, all calls are
    /// about it.
    ///
    /// # Errors
    /// As [`open`](Queue::open).
    pub fn open_second(&mut self, board: Board, layout: Layout, kernels: &Kernels) -> Result<(), HostError> {
        let sysmem = self.device.pin(u64::from(layout.sysmem.bytes))?;
        let expected = PCIE_NOC_BIT | layout.sysmem.noc_base;
        if sysmem.noc_addr != expected {
            return Err(HostError::Misplaced { found: sysmem.noc_addr, expected });
        }
        let prefetch = self.device.open(WINDOW, WindowTarget::tile(board.prefetch, 0))?;
        let dispatch = self.device.open(WINDOW, WindowTarget::tile(board.dispatch, 0))?;
        let (issue, read) = (Issue::new(&layout), RingPointer::first(&layout));
        let partial = None;
        self.second =
            Some(Ends { board, layout, sysmem, prefetch, dispatch, issue, read, partial, events: 0, number: 1 });
        self.choose(1);
        self.initialise()?;
        self.start(kernels)
    }

    /// Has the calls that follow be about one of two queues, 0 or 1.
    pub fn choose(&mut self, queue: u8) {
        let Some(other) = self.second.as_mut().filter(|other| other.number == queue) else { return };
        std::mem::swap(&mut self.board, &mut other.board);
        std::mem::swap(&mut self.layout, &mut other.layout);
        std::mem::swap(&mut self.sysmem, &mut other.sysmem);
        std::mem::swap(&mut self.prefetch, &mut other.prefetch);
        std::mem::swap(&mut self.dispatch, &mut other.dispatch);
        std::mem::swap(&mut self.issue, &mut other.issue);
        std::mem::swap(&mut self.read, &mut other.read);
        std::mem::swap(&mut self.partial, &mut other.partial);
        std::mem::swap(&mut self.events, &mut other.events);
        other.number = 1 - queue;
    }
}
