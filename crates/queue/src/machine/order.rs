//! Which memory the dispatcher writes and the prefetcher reads, in the order of the stream: the prefetcher runs ahead.
//!
//! A command has a place in the stream, counted by the prefetcher's commands. A read that was issued before the dispatcher came to
//! a write which stands before it has read the old bytes, or some of each.

use std::collections::VecDeque;

use super::chip::TileId;
use super::memory::Location;
use super::noc::Port;
use super::world::{Stop, World};
use crate::sanitize::Hazard;
use crate::wire::Rect;

/// Bytes of one tile or bank, or the same of every tile of a rectangle.
#[derive(Clone, Copy, Debug)]
enum Where {
    Tile(TileId),
    Bank(u8),
    Tiles(Rect),
}

#[derive(Clone, Copy, Debug)]
struct Bytes {
    at: Where,
    start: u64,
    end: u64,
    /// Place in the stream of the command that reads or writes them.
    order: u64,
    /// Commands of an exec_buf are what is read.
    trace: bool,
}

/// The memory of orders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    /// Place of the prefetcher's present command, and of the one that relayed the dispatcher's.
    pub prefetch: u64,
    pub dispatch: u64,
    /// What the prefetcher reads now are commands of an exec_buf.
    pub fetches_trace: bool,
    /// Writes that no barrier covers, the last of them.
    writes: VecDeque<Bytes>,
    /// Reads of commands that the dispatcher has not come to.
    reads: VecDeque<Bytes>,
}

/// Writes and reads that are remembered.
const KEPT: usize = 512;

fn bytes_of(place: Location, bytes: u32, order: u64) -> Option<Bytes> {
    let (at, start) = match place {
        Location::L1(tile, addr) => (Where::Tile(tile), u64::from(addr)),
        Location::Dram(bank, addr) => (Where::Bank(bank), addr),
        Location::Host(..) => return None,
    };
    Some(Bytes { at, start, end: start.saturating_add(bytes.into()), order, trace: false })
}

fn keep(list: &mut VecDeque<Bytes>, bytes: Bytes) {
    if list.len() == KEPT {
        list.pop_front();
    }
    list.push_back(bytes);
}

impl World {
    fn meet(&self, a: &Bytes, b: &Bytes) -> bool {
        let same = match (a.at, b.at) {
            (Where::Tile(a), Where::Tile(b)) => a == b,
            (Where::Bank(a), Where::Bank(b)) => a == b,
            (Where::Tiles(rect), Where::Tile(tile)) | (Where::Tile(tile), Where::Tiles(rect)) => {
                rect.contains(self.chip.xy(tile))
            }
            _ => false,
        };
        same && a.start < b.end && b.start < a.end
    }

    /// The prefetcher starts to read bytes.
    pub(super) fn order_read(&mut self, port: Port, place: Location, bytes: u32) -> Result<(), Stop> {
        let Some(read) = bytes_of(place, bytes, self.order.prefetch) else { return Ok(()) };
        if port != Port::Prefetch {
            return Ok(());
        }
        let trace = self.order.fetches_trace;
        let read = Bytes { trace, ..read };
        if let Some(write) = self.order.writes.iter().find(|write| self.meet(&read, write)).copied() {
            return self.flag_order(
                port,
                &write,
                trace,
                "is written by a command before it, whose write may not have arrived",
            );
        }
        if read.order > self.order.dispatch {
            keep(&mut self.order.reads, read);
        }
        Ok(())
    }

    /// The dispatcher writes bytes to one place.
    pub(super) fn order_write(&mut self, port: Port, place: Location, bytes: u32) -> Result<(), Stop> {
        match bytes_of(place, bytes, self.order.dispatch) {
            Some(write) if port == Port::Dispatch => self.order_written(port, write),
            _ => Ok(()),
        }
    }

    /// The dispatcher writes bytes to all tiles of a rectangle.
    pub(super) fn order_multicast(&mut self, port: Port, rect: Rect, addr: u64, bytes: u32) -> Result<(), Stop> {
        let end = addr.saturating_add(bytes.into());
        self.order_written(
            port,
            Bytes { at: Where::Tiles(rect), start: addr, end, order: self.order.dispatch, trace: false },
        )
    }

    fn order_written(&mut self, port: Port, write: Bytes) -> Result<(), Stop> {
        while self.order.reads.front().is_some_and(|read| read.order <= write.order) {
            self.order.reads.pop_front();
        }
        let early = self.order.reads.iter().find(|read| read.order > write.order && self.meet(read, &write)).copied();
        keep(&mut self.order.writes, write);
        match early {
            Some(read) => self.flag_order(
                port,
                &write,
                read.trace,
                "is written now, and a command behind this one has read it already",
            ),
            None => Ok(()),
        }
    }

    fn flag_order(&mut self, port: Port, write: &Bytes, trace: bool, what: &str) -> Result<(), Stop> {
        let hazard = if trace { Hazard::ExecBufBeforeWrite } else { Hazard::RelayBeforeWrite };
        let place = match write.at {
            Where::Tile(tile) => self.chip.xy(tile).to_string(),
            Where::Bank(bank) => format!("DRAM bank {bank}"),
            Where::Tiles(rect) => rect.to_string(),
        };
        self.flag(port.actor(), hazard, || format!("memory at {:#x} of {place} {what}", write.start))
    }

    /// All writes so far are known to have arrived.
    pub(super) fn order_barrier(&mut self) {
        self.order.writes.clear();
    }
}
