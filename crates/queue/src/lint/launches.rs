//! Launches that the linter has seen.

use std::collections::{BTreeMap, BTreeSet};

use crate::lint::tiles::Tiles;
use crate::sanitize::CommandRef;
use crate::wire::{Rect, Xy};

/// The knowledge about launches.
#[derive(Debug, Default)]
pub(super) struct Launches {
    /// The list of tiles for go signals.
    pub(super) list: Vec<u32>,
    /// Notices that each stream has received or will receive, since it was cleared.
    pub(super) due: BTreeMap<u32, u32>,
    /// The highest count that a wait on a stream has passed, since it was cleared.
    pub(super) passed: BTreeMap<u32, u32>,
    /// Streams that something else may count on.
    pub(super) unknown: bool,
    /// Tiles that were sent a go signal and have not been waited for, by the stream that they notify.
    pub(super) running: BTreeMap<u32, Tiles>,
    /// Multicasts that no barrier covers.
    pub(super) in_flight: InFlight,
    /// Commands already reported for writing to running tiles.
    pub(super) warned: BTreeSet<u64>,
    /// Some tile was sent a go signal.
    pub(super) any: bool,
}

/// Multicasts that no barrier covers: the last one to each rectangle, in order.
#[derive(Debug, Default)]
pub(crate) struct InFlight(Vec<(Rect, CommandRef)>);

impl InFlight {
    pub(crate) fn insert(&mut self, rect: Rect, by: CommandRef) {
        self.0.retain(|(other, _)| *other != rect);
        self.0.push((rect, by));
    }

    /// The last one that reaches a tile.
    pub(crate) fn get(&self, tile: Xy) -> Option<CommandRef> {
        self.0.iter().rev().find(|(rect, _)| rect.contains(tile)).map(|(_, by)| *by)
    }

    fn last(&self) -> Option<CommandRef> {
        self.0.last().map(|(_, by)| *by)
    }

    /// All have arrived.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Launches {
    /// Whether a tile was sent a go signal and has not been waited for.
    pub(crate) fn runs(&self, tile: Xy) -> bool {
        self.running.values().any(|tiles| tiles.contains(tile))
    }

    /// Whether workers have been started.
    pub fn any(&self) -> bool {
        self.any || self.unknown
    }

    /// A multicast that no barrier covers.
    pub fn unacknowledged(&self) -> Option<CommandRef> {
        self.in_flight.last()
    }
}
