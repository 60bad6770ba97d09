//! Writes, multicasts, reads and atomic increments over the two networks.
//!
//! A write takes its bytes from the sender's memory when it arrives: from then on it counts as *sent*. It is *acknowledged* some
//! time later. Transfers of one sender to one destination in one class (unicast, multicast) arrive in order; nothing else
//! is ordered.

use super::chip::{Tile, TileId};
use super::flight::Flight;
use super::memory::Location;
use super::world::{Stop, World};
use crate::layout::HOST_ADDRESS;
use crate::machine::actor::{Actor, Wait};
use crate::machine::world::Niu;
use crate::sanitize::Hazard;
use crate::wire::{PCIE_XY, Rect, Xy};

/// One sender's connection to a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Port {
    /// The prefetcher's, on network 0.
    Prefetch,
    /// The dispatcher's, on network 1.
    Dispatch,
    /// The dispatcher's on network 0, for credits.
    Credits,
    /// The subordinate's, on network 1.
    Subordinate,
}

impl Port {
    /// All ports.
    pub const ALL: [Port; 4] = [Port::Prefetch, Port::Dispatch, Port::Credits, Port::Subordinate];

    pub fn actor(self) -> Actor {
        match self {
            Port::Prefetch => Actor::Prefetch,
            Port::Dispatch | Port::Credits => Actor::Dispatch,
            Port::Subordinate => Actor::Subordinate,
        }
    }
}

impl Niu {
    pub fn new(endpoints: usize) -> Niu {
        Niu { unicast: vec![0; endpoints], multicast: vec![0; endpoints], ..Niu::default() }
    }
}

/// Maximum number of bytes of one packet.
const PACKET: u32 = 16384;

fn in_order(last: &mut u64, arrival: u64) -> u64 {
    *last = arrival.max(*last);
    *last
}

impl World {
    fn endpoint(&self, to: Location) -> usize {
        match to {
            Location::L1(tile, _) => tile as usize,
            Location::Dram(bank, _) => self.chip.tensix() + bank as usize,
            Location::Host(..) => self.chip.tensix() + self.chip.banks() as usize,
        }
    }

    /// Number of endpoints distinguished in a port's orders.
    pub fn endpoints(chip: &super::Chip) -> usize {
        chip.tensix() + chip.banks() as usize + 1
    }

    /// The location of a network address, if all its bytes exist.
    ///
    /// # Errors
    /// [`Stop`] if they do not and the machine stops there.
    pub fn resolve(&mut self, actor: Actor, xy: u32, addr: u64, bytes: u64) -> Result<Option<Location>, Stop> {
        let tile = Xy::from_word(xy);
        let kind = self.chip.at_word(tile);
        if xy & (PCIE_XY & !0xFFF) != 0 {
            let place = self.memory.host_at(addr & HOST_ADDRESS, bytes);
            if kind != Tile::Pcie {
                self.flag(actor, Hazard::PcieAddress, || {
                    format!("the word {xy:#x} marks host memory, but {tile} is not the PCIe tile (19,24)")
                })?;
                return Ok(None);
            }
            if place.is_none() {
                self.flag(actor, Hazard::PcieOutside, || {
                    format!("{bytes} bytes at {addr:#x} of host memory are not pinned")
                })?;
            }
            return Ok(place);
        }
        match kind {
            Tile::Tensix(id) if addr.checked_add(bytes).is_some_and(|end| end <= u64::from(self.layout.l1_bytes)) => {
                Ok(Some(Location::L1(id, addr as u32)))
            }
            Tile::Tensix(_) => {
                let size = self.layout.l1_bytes;
                self.flag(actor, Hazard::L1Outside, || {
                    format!("{bytes} bytes at {addr:#x} of tile {tile} leave its {size:#x} bytes")
                })?;
                Ok(None)
            }
            Tile::Dram(bank) if addr.checked_add(bytes).is_some_and(|end| end <= self.memory.bank_bytes) => {
                Ok(Some(Location::Dram(bank, addr)))
            }
            Tile::Pcie => {
                self.flag(actor, Hazard::PcieAddress, || {
                    format!("the word {xy:#x} addresses the PCIe tile without bit 24, which becomes bit 60")
                })?;
                Ok(None)
            }
            _ => {
                self.flag(actor, Hazard::NocUnmapped, || {
                    format!("nothing answers for {bytes} bytes at {addr:#x} of {tile}")
                })?;
                Ok(None)
            }
        }
    }

    fn check_alignment(&mut self, actor: Actor, from: u64, to: u64, modulo: u64) -> Result<(), Stop> {
        if (from ^ to) & (modulo - 1) == 0 {
            return Ok(());
        }
        self.flag(actor, Hazard::NocAlignment, || {
            format!("a transfer from {from:#x} to {to:#x} is not congruent modulo {modulo}")
        })
    }

    fn check_source(&mut self, actor: Actor, from: u32, bytes: u32) -> Result<bool, Stop> {
        if from.checked_add(bytes).is_some_and(|end| end <= self.layout.l1_bytes) {
            return Ok(true);
        }
        self.flag(actor, Hazard::L1Outside, || format!("{bytes} bytes at {from:#x} leave the sender's own L1"))?;
        Ok(false)
    }

    /// Writes bytes of the sender's L1 to one location. The caller has checked that the target may be written.
    pub fn write(&mut self, port: Port, from: u32, xy: u32, addr: u64, bytes: u32) -> Result<(), Stop> {
        let actor = port.actor();
        if !self.check_source(actor, from, bytes)? {
            return Ok(());
        }
        self.check_alignment(actor, from.into(), addr, 16)?;
        let mut xy = xy;
        if self.quirks.keeps_upper_address {
            let niu = &mut self.nius[port as usize];
            let residue = std::mem::replace(&mut niu.mid_residue, xy & (1 << 24) != 0);
            if residue && xy & (1 << 24) == 0 {
                self.flag(actor, Hazard::MidResidue, || {
                    format!("a write to {} at {addr:#x} follows one to host memory", Xy::from_word(xy))
                })?;
                xy |= 1 << 24;
                xy = (xy & !0xFFF) | (PCIE_XY & 0xFFF);
            }
        }
        if let Some(to) = self.resolve(actor, xy, addr, bytes.into())? {
            self.write_to(port, from, to, bytes);
        }
        Ok(())
    }

    /// Writes bytes of the sender's L1 to an existing location.
    pub fn write_to(&mut self, port: Port, from: u32, to: Location, bytes: u32) {
        let tile = self.tile_of(port.actor());
        let endpoint = self.endpoint(to);
        let mut done = 0;
        while done < bytes {
            let packet = (bytes - done).min(PACKET);
            let travel = self.draw(|d| d.write) + self.delays.transfer(packet);
            let acknowledge = self.draw(|d| d.acknowledge);
            let niu = &mut self.nius[port as usize];
            let arrival = in_order(&mut niu.unicast[endpoint], self.now + travel);
            niu.sent = niu.sent.max(arrival);
            niu.acknowledged = niu.acknowledged.max(arrival + acknowledge);
            niu.written = Some(niu.epoch);
            let to = match to {
                Location::L1(tile, addr) => Location::L1(tile, addr + done),
                Location::Dram(bank, addr) => Location::Dram(bank, addr + u64::from(done)),
                Location::Host(id, at) => Location::Host(id, at + u64::from(done)),
            };
            self.flights.start(arrival, Flight::Write { tile, from: from + done, to, bytes: packet });
            done += packet;
        }
    }

    /// Writes bytes of the dispatcher's L1 to every tile of a rectangle. The sender expects `announced`
    /// acknowledgements per packet.
    pub fn multicast(
        &mut self,
        port: Port,
        from: u32,
        xy: u32,
        addr: u64,
        bytes: u32,
        announced: u32,
    ) -> Result<(), Stop> {
        let actor = port.actor();
        let rect = Rect::from_word(xy);
        if !self.check_source(actor, from, bytes)? {
            return Ok(());
        }
        self.check_alignment(actor, from.into(), addr, 16)?;
        if !rect.is_ordered() {
            self.flag(actor, Hazard::MulticastCorners, || {
                format!("the rectangle {rect} starts at its smaller corner")
            })?;
        }
        let reach = self.reach(rect);
        let reached = reach.tiles.len() as u32;
        if !reach.clean {
            self.flag(actor, Hazard::MulticastTargets, || {
                format!("the rectangle {rect} covers tiles that are not workers ({reached} Tensix tiles answer)")
            })?;
        }
        if reached != announced {
            self.flag(actor, Hazard::MulticastCount, || {
                format!("the rectangle {rect} has {reached} tiles that acknowledge; {announced} were announced")
            })?;
        }
        if addr.saturating_add(bytes.into()) > u64::from(self.layout.l1_bytes) {
            return self.flag(actor, Hazard::L1Outside, || {
                format!("a multicast of {bytes} bytes at {addr:#x} leaves the tiles' L1")
            });
        }
        let tile = self.tile_of(actor);
        let mut done = 0;
        while done < bytes {
            let packet = (bytes - done).min(PACKET);
            let travel = self.draw(|d| d.multicast) + self.delays.transfer(packet);
            let acknowledge = self.draw(|d| d.acknowledge);
            let niu = &mut self.nius[port as usize];
            // One arrival for all: after everything sent to any of these tiles in this class.
            let mut arrival = self.now + travel;
            for id in &reach.tiles {
                arrival = arrival.max(niu.multicast[*id as usize]);
            }
            for id in &reach.tiles {
                niu.multicast[*id as usize] = arrival;
                self.payloads[*id as usize].multicast = niu.epoch;
            }
            niu.sent = niu.sent.max(arrival);
            niu.acknowledged = niu.acknowledged.max(arrival + acknowledge);
            (niu.written, niu.multicasted) = (Some(niu.epoch), Some(niu.epoch));
            niu.missing += i64::from(announced) - i64::from(reached);
            let flight = Flight::Multicast { tile, from: from + done, rect, addr: addr as u32 + done, bytes: packet };
            self.flights.start(arrival, flight);
            done += packet;
        }
        Ok(())
    }

    /// Whether a multicast of this port is not known to have arrived: there was no barrier since.
    pub fn multicast_in_flight(&self, port: Port) -> bool {
        let niu = &self.nius[port as usize];
        niu.multicasted == Some(niu.epoch)
    }

    /// Reads bytes from one location into the reader's L1.
    pub fn read(&mut self, port: Port, xy: u32, addr: u64, to: u32, bytes: u32) -> Result<(), Stop> {
        let actor = port.actor();
        if !self.check_source(actor, to, bytes)? {
            return Ok(());
        }
        let from = self.resolve(actor, xy, addr, bytes.into())?;
        let modulo = if matches!(from, Some(Location::L1(..))) { 16 } else { 64 };
        self.check_alignment(actor, addr, to.into(), modulo)?;
        let delay = match from {
            Some(Location::Host(..)) | None => self.draw(|d| d.pcie_read),
            _ => self.draw(|d| d.read),
        };
        let arrival = self.now + delay + self.delays.transfer(bytes);
        let niu = &mut self.nius[port as usize];
        niu.read = niu.read.max(arrival);
        if let Some(from) = from {
            let tile = self.tile_of(actor);
            self.flights.start(arrival, Flight::Read { from, tile, to, bytes });
        }
        Ok(())
    }

    /// Adds to a word of a queue core's L1.
    pub fn add(&mut self, port: Port, tile: TileId, addr: u32, value: u32) {
        let travel = self.draw(|d| d.credit);
        let acknowledge = self.draw(|d| d.acknowledge);
        let niu = &mut self.nius[port as usize];
        let arrival = in_order(&mut niu.unicast[tile as usize], self.now + travel);
        niu.atomics = niu.atomics.max(arrival + acknowledge);
        self.flights.start(arrival, Flight::Add { tile, addr, value });
    }

    /// An inline write: 4 bytes from a register instead of from L1, which this hardware cannot do while other writes of
    /// the tile are in flight. The value is at `from` in any case.
    pub fn inline_write(&mut self, port: Port, from: u32, xy: u32, addr: u64) -> Result<(), Stop> {
        let tile = self.tile_of(port.actor());
        let busy = [Port::Prefetch, Port::Dispatch, Port::Subordinate]
            .into_iter()
            .map(|other| (self.tile_of(other.actor()), &self.nius[other as usize]))
            .any(|(at, niu)| at == tile && niu.written == Some(niu.epoch));
        if busy {
            self.flag(port.actor(), Hazard::InlineWriteHazard, || {
                format!("4 bytes for {} go inline while other writes are not known to have arrived", Xy::from_word(xy))
            })?;
        }
        let written = self.nius[port as usize].written;
        let sent = self.write(port, from, xy, addr, 4);
        self.nius[port as usize].written = written;
        sent
    }

    /// When all writes of a port so far have been sent.
    pub fn sent(&self, port: Port) -> u64 {
        self.nius[port as usize].sent
    }

    /// The wait for all writes of a port to have been sent.
    pub fn until_sent(&self, port: Port) -> Wait {
        Wait::Until { cycle: self.sent(port), what: "its writes are being sent" }
    }

    /// The wait for all writes of a port to have been acknowledged: a write barrier.
    pub fn until_acknowledged(&self, port: Port) -> Wait {
        let niu = &self.nius[port as usize];
        match niu.missing {
            0 => Wait::Until { cycle: niu.acknowledged, what: "its writes are being acknowledged" },
            1.. => Wait::Acknowledgements { missing: niu.missing.unsigned_abs() },
            // More acknowledgements than announced: the counters match too early.
            _ => Wait::Until { cycle: self.now, what: "a barrier that passes early" },
        }
    }

    /// The wait for all reads of a port to have landed: a read barrier.
    pub fn until_read(&self, port: Port) -> Wait {
        Wait::Until { cycle: self.nius[port as usize].read, what: "its reads are landing" }
    }

    /// The wait for all atomics of a port to have been acknowledged.
    pub fn until_added(&self, port: Port) -> Wait {
        Wait::Until { cycle: self.nius[port as usize].atomics, what: "its credits are being acknowledged" }
    }

    /// All writes of a port are known to have arrived.
    pub fn passed_barrier(&mut self, port: Port) {
        self.nius[port as usize].epoch += 1;
    }
}
