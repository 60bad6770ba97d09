//! Host actions of a stream other than queueing records, applied to a machine.

use super::chip::Tile;
use super::memory::Location;
use super::{HostCall, Machine};
use crate::host::DeviceError;
use crate::layout::{HOST_REGION, HOST_REGIONS};
use crate::wire::{Rect, Xy};

impl Machine {
    /// A load by the stream's host: through a window to a tile, or from pinned memory, at a device address below bit
    /// 60. It is checked like any load; `act` is its index among that host's actions.
    ///
    /// # Errors
    /// If there is no such memory, or the machine stops.
    pub(crate) fn look(&mut self, tile: Option<Xy>, addr: u64, out: &mut [u8], act: u64) -> Result<(), DeviceError> {
        self.called(HostCall::Look, |machine| {
            {
                let world = machine.world.borrow();
                let bytes = out.len() as u64;
                let place = match tile {
                    Some(tile) => world.place_of(tile, addr, bytes),
                    None => world.memory.host_at(addr, bytes),
                };
                let nothing =
                    || DeviceError::Refused(format!("there are no {bytes} bytes at {addr:#x} that the host loads"));
                let place = place.ok_or_else(nothing)?;
                world.memory.read(place, out);
                drop(world);
                machine.each(|world| world.judge_host_load(place, out.len(), Some(act)));
            }
            machine.check()
        })
    }

    /// A store by the stream's host, through a window to a tile or to all tiles of a rectangle that are not the queue's
    /// own, or to host memory. It takes as long as a driver's store.
    ///
    /// # Errors
    /// If there is no such memory, or the machine stops.
    pub(crate) fn put(&mut self, tiles: Option<Rect>, addr: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.called(if tiles.is_some() { HostCall::Store } else { HostCall::Write }, |machine| {
            machine.check()?;
            let Some(rect) = tiles else {
                let mut world = machine.world.borrow_mut();
                let own = world.layout.sysmem.own();
                let queues = addr < own.end && addr.saturating_add(bytes.len() as u64) > own.start;
                let Some(place) = world.memory.host_at(addr, bytes.len() as u64).filter(|_| !queues) else {
                    let message =
                        format!("there are no {} bytes at {addr:#x} that the host could store to", bytes.len());
                    return Err(DeviceError::Refused(message));
                };
                world.memory.write(place, bytes);
                drop(world);
                return machine.pass(1 + bytes.len() as u64 / 32);
            };
            let chosen: Vec<Xy> = {
                let world = machine.world.borrow();
                let queues = |xy: &Xy| matches!(world.chip.at(*xy), Tile::Tensix(id) if world.chip.is_queue_core(id));
                if rect.low == rect.high {
                    if queues(&rect.low) {
                        let message = format!("{} is a core of the queue, which the queue alone drives", rect.low);
                        return Err(DeviceError::Refused(message));
                    }
                    vec![rect.low]
                } else {
                    rect.tiles().filter(|xy| matches!(world.chip.at(*xy), Tile::Tensix(_)) && !queues(xy)).collect()
                }
            };
            for xy in chosen {
                machine.store(xy, addr, bytes)?;
            }
            machine.stored(bytes.len())
        })
    }

    /// The stream's host polls memory of a tile until it contains these bytes. It gives up when nothing happens any
    /// more, or after this many cycles.
    ///
    /// # Errors
    /// If there is no such memory, or the machine stops.
    pub(crate) fn poll(&mut self, tile: Xy, addr: u64, bytes: &[u8], longest: u64) -> Result<(), DeviceError> {
        self.called(HostCall::Sleep, |machine| {
            let end = machine.now_cycles().saturating_add(longest);
            let mut found = vec![0; bytes.len()];
            loop {
                machine.peek(tile, addr, &mut found).map_err(DeviceError::Refused)?;
                let next = machine.next_event().filter(|at| *at <= end);
                match next.filter(|_| found != bytes) {
                    Some(at) => machine.run(at),
                    None => return machine.check(),
                }
                machine.check()?;
            }
        })
    }

    /// The stream's host pins memory at an address, or resizes it.
    ///
    /// # Errors
    /// If it cannot be there.
    pub(crate) fn pin_at(&mut self, addr: u64, bytes: u64) -> Result<(), DeviceError> {
        let mut world = self.world.borrow_mut();
        let own = &world.layout.sysmem;
        let least = if addr == own.noc_base { own.bytes.into() } else { 1 };
        let fits = addr.is_multiple_of(HOST_REGION)
            && addr < HOST_REGION * HOST_REGIONS
            && (least..=HOST_REGION).contains(&bytes)
            && Vec::<u8>::new().try_reserve_exact(bytes as usize).is_ok();
        if !fits {
            return Err(DeviceError::Refused(format!("{bytes} bytes cannot be pinned at {addr:#x}")));
        }
        match world.memory.host_at(addr, 1) {
            Some(Location::Host(id, _)) => world.memory.resize(id, bytes as usize),
            _ => drop(world.memory.pin(addr, bytes as usize)),
        }
        Ok(())
    }

    /// The stream's host unpins memory that it has pinned at an address.
    ///
    /// # Errors
    /// If it has not, or it is the queue's own.
    pub(crate) fn unpin_at(&mut self, addr: u64) -> Result<(), DeviceError> {
        let mut world = self.world.borrow_mut();
        match world.memory.host_at(addr, 1) {
            Some(Location::Host(id, 0)) if addr != world.layout.sysmem.noc_base => {
                world.memory.unpin(id);
                Ok(())
            }
            _ => {
                Err(DeviceError::Refused(format!("the host has pinned no memory at {addr:#x} that it could give back")))
            }
        }
    }

    /// The stream's host lets time pass, in cycles.
    ///
    /// # Errors
    /// If the machine stops.
    pub(crate) fn pause(&mut self, cycles: u64) -> Result<(), DeviceError> {
        self.pass(cycles)
    }
}
