//! The machine as a driver's [`Device`].

use std::ptr::NonNull;

use super::chip::Tile;
use super::memory::{Location, Memory};
use super::store::Command;
use super::world::World;
use super::{Actor, HostCall, Machine, State};
use crate::board::Board;
use crate::host::{Device, DeviceError, Pinned, Window, WindowTarget};
use crate::layout::{HOST_REGION as REGION, HOST_REGIONS as REGIONS, PCIE_NOC_BIT};
use crate::machine::board::{Host, Telemetry};
use crate::wire::{Rect, Xy};

const SMALL: u64 = 2 << 20;
const LARGE: u64 = 4 << 30;
/// Number of polls while nothing can happen after which a host is assumed to poll forever: if an actor is stuck, and if
/// none is.
const PATIENCE: [u32; 2] = [1000, 10_000];

impl Telemetry {
    /// Start of its registers, as seen by the network and windows.
    const REGISTERS: u64 = 0x8000_0000;
    /// Version, number of entries, a word for each with its tag and the position of its value, then the values.
    const TABLE: u64 = 0x1000_1000;
    const VALUES: u64 = Telemetry::TABLE + 8 + 4 * 2;
    const COLUMNS: u32 = 34;
    const BANKS: u32 = 36;

    fn load(&self, addr: u64) -> Option<u32> {
        let entry = |tag: u32, index: u32| Some(tag | index << 16);
        match addr.checked_sub(Self::REGISTERS).unwrap_or(addr) {
            // Scratch registers 12 and 13 of the management core.
            0x3_0430 => Some(Self::VALUES as u32),
            0x3_0434 => Some(Self::TABLE as u32),
            a if a == Self::TABLE => Some(1),
            a if a == Self::TABLE + 4 => Some(2),
            a if a == Self::TABLE + 8 => entry(Self::COLUMNS, 0),
            a if a == Self::TABLE + 12 => entry(Self::BANKS, 1),
            a if a == Self::VALUES => Some(self.columns),
            a if a == Self::VALUES + 4 => Some(self.banks),
            _ => None,
        }
    }
}

impl Host {
    pub fn new(board: &Board) -> Host {
        // Tensix columns are numbered without the two columns of DRAM and management between them.
        let column = |x: &u8| 1u32 << if *x < 8 { x - 1 } else { x - 3 }.min(31);
        Host {
            windows: Vec::new(),
            free: [board.windows_2m, board.windows_4g],
            telemetry: Telemetry {
                columns: board.columns.iter().filter(|x| **x > 0).map(column).sum(),
                banks: (1u64 << board.banks.len().min(32)).wrapping_sub(1) as u32,
            },
            quiet: 0,
            hang: None,
        }
    }
}

impl Machine {
    /// A call of the host: recorded from here to its return, if spans are recorded.
    #[inline]
    pub(super) fn called<T>(&mut self, call: HostCall, act: impl FnOnce(&mut Machine) -> T) -> T {
        if self.traced {
            self.world.borrow_mut().host_calls(call);
        }
        let done = act(self);
        if self.traced {
            self.world.borrow_mut().host_returns();
        }
        done
    }

    /// Lets time pass, in nanoseconds, while the host does something else: this does not count as polling.
    ///
    /// # Errors
    /// As [`Device::wait`].
    pub fn elapse(&mut self, ns: u64) -> Result<(), DeviceError> {
        let mhz = self.cycles(|d| d.clock_mhz);
        self.pass((ns as u128 * u128::from(mhz) / 1000).min(u128::from(u64::MAX / 4)) as u64)
    }

    /// Lets the time of a driver's call pass.
    pub(super) fn pass(&mut self, cycles: u64) -> Result<(), DeviceError> {
        self.pass_as(|_| cycles)
    }

    /// Lets the time given by one of the machine's delays pass.
    #[inline]
    fn pass_as(&mut self, cycles: impl FnOnce(&super::Delays) -> u64) -> Result<(), DeviceError> {
        let until = {
            let world = self.world.borrow();
            world.now.saturating_add(cycles(&world.delays))
        };
        self.run(until);
        self.check()
    }

    /// This many bytes were stored through a window: a burst is sent 8 bytes at a time.
    pub(super) fn stored(&mut self, bytes: usize) -> Result<(), DeviceError> {
        self.pass_as(|delays| delays.host_store.saturating_mul((bytes as u64).div_ceil(8).max(1)))
    }

    pub(super) fn check(&self) -> Result<(), DeviceError> {
        match self.device.hang.is_none() && !self.is_stopped() {
            true => Ok(()),
            false => self.refused(),
        }
    }

    /// Why the device accepts no more calls.
    #[cold]
    fn refused(&self) -> Result<(), DeviceError> {
        if let Some(hang) = &self.device.hang {
            return Err(DeviceError::Violation(hang.clone()));
        }
        match self.stopped_at() {
            Some(finding) => Err(DeviceError::Violation(Box::new(finding))),
            None => Ok(()),
        }
    }

    fn cycles(&self, which: fn(&super::Delays) -> u64) -> u64 {
        which(&self.world.borrow().delays)
    }

    /// The host polls. If repeatedly nothing can have changed since the last poll, it would poll forever.
    fn polled(&mut self) -> Result<(), DeviceError> {
        if self.next_event().is_some() {
            self.device.quiet = 0;
            return Ok(());
        }
        self.device.quiet += 1;
        if self.device.quiet < PATIENCE[0] {
            return Ok(());
        }
        let off = |world: &World| Actor::ALL.iter().all(|actor| world.states[*actor as usize] == State::Off);
        if self.all(off).into_iter().all(|off| off) || (self.device.quiet < PATIENCE[1] && self.is_idle()) {
            return Ok(());
        }
        let finding = self.diagnosis();
        self.world.borrow_mut().ledger.findings.push(finding.clone());
        self.device.hang = Some(Box::new(finding));
        self.check()
    }

    fn obey(&mut self, commands: Vec<Command>) {
        for command in commands {
            match command {
                Command::Start(actor) => self.start(actor),
                Command::Stop(actor) => self.stop(actor),
            }
        }
    }

    fn window(&self, window: Window, offset: u64, bytes: u64) -> Result<(WindowTarget, u64), DeviceError> {
        let open = self.device.windows.get(window.id as usize).copied().flatten();
        let Some((size, target)) = open else { return Err(DeviceError::Closed { what: "window", id: window.id }) };
        if offset.checked_add(bytes).is_none_or(|end| end > size) {
            return Err(DeviceError::Bounds { what: "a window", offset, bytes, size });
        }
        let addr = target.addr.checked_add(offset).filter(|addr| addr.checked_add(bytes).is_some());
        match addr {
            Some(addr) => Ok((target, addr)),
            None => Err(DeviceError::Bounds { what: "a window", offset, bytes, size }),
        }
    }

    /// Selects the queue that a window refers to.
    #[inline]
    fn choose_for_window(&mut self, id: u32) {
        if self.second.is_some()
            && let Some(Some((_, target))) = self.device.windows.get(id as usize)
        {
            self.choose_for(target.tiles.low);
        }
    }

    pub(super) fn store(&mut self, xy: Xy, addr: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.choose_for(xy);
        let mut commands = Vec::new();
        let mut world = self.world.borrow_mut();
        let refused = match world.chip.at(xy) {
            Tile::Tensix(tile) => {
                world.touched |= world.actors_of(tile);
                world.host_store(tile, addr, bytes, &mut commands)
            }
            Tile::Dram(bank) if addr.saturating_add(bytes.len() as u64) <= world.memory.bank_bytes => {
                world.memory.write(Location::Dram(bank, addr), bytes);
                Ok(())
            }
            _ => Err(format!("{xy} has no {} bytes at {addr:#x} to store to", bytes.len())),
        };
        drop(world);
        if !commands.is_empty() {
            self.obey(commands);
        }
        refused.map_err(DeviceError::Refused)
    }

    fn pinned(&self, memory: Pinned, offset: u64, bytes: usize) -> Result<u8, DeviceError> {
        let world = self.world.borrow();
        let closed = || DeviceError::Closed { what: "pinned memory", id: memory.id };
        let id = u8::try_from(memory.id).map_err(|_| closed())?;
        let size = world.memory.host(id).ok_or_else(closed)?.len() as u64;
        match offset.checked_add(bytes as u64) {
            Some(end) if end <= size => Ok(id),
            _ => Err(DeviceError::Bounds { what: "pinned memory", offset, bytes: bytes as u64, size }),
        }
    }
}

impl Machine {
    /// Pins the host's own memory, `bytes` bytes from `first`: the device reads and writes it in place, during calls of
    /// the machine. Stores by the host itself are not checked, and take no simulated time.
    ///
    /// # Errors
    /// As [`Device::pin`].
    ///
    /// # Safety
    /// The memory must stay valid, readable and writable, until it is unpinned or the machine is dropped, and nobody
    /// else may use it during a call of the machine. The slices passed to calls (`out`, `bytes`) must not overlap it.
    pub unsafe fn pin_borrowed(&mut self, first: NonNull<u8>, bytes: usize) -> Result<Pinned, DeviceError> {
        // SAFETY: passed on to the caller.
        self.pin_with(bytes as u64, |memory, noc| unsafe { memory.pin_borrowed(noc, first, bytes) })
    }

    fn pin_with(&mut self, bytes: u64, pin: impl FnOnce(&mut Memory, u64) -> u8) -> Result<Pinned, DeviceError> {
        self.check()?;
        let mut world = self.world.borrow_mut();
        let free = (0..REGIONS).map(|r| r * REGION).find(|noc| world.memory.host_at(*noc, 1).is_none());
        match free {
            Some(noc) if bytes > 0 && bytes <= REGION => {
                let id = pin(&mut world.memory, noc);
                world.host_pins(noc, bytes);
                Ok(Pinned { id: id.into(), bytes, noc_addr: noc | PCIE_NOC_BIT })
            }
            _ => Err(DeviceError::Refused(format!("{bytes} bytes cannot be pinned: {REGIONS} times 1 GiB can"))),
        }
    }
}

fn size_class(bytes: u64) -> Result<usize, DeviceError> {
    match bytes {
        SMALL => Ok(0),
        LARGE => Ok(1),
        _ => Err(DeviceError::Refused(format!("windows have {SMALL} or {LARGE} bytes, not {bytes}"))),
    }
}

fn check_target(world: &World, bytes: u64, target: &WindowTarget) -> Result<(), DeviceError> {
    if !target.addr.is_multiple_of(bytes) {
        return Err(DeviceError::Refused(format!(
            "{:#x} is not a multiple of the window's {bytes:#x} bytes",
            target.addr
        )));
    }
    let Rect { low, high } = target.tiles;
    if !target.multicast && (low != high || matches!(super::store::target(world, low), Tile::Nothing | Tile::Pcie)) {
        return Err(DeviceError::Refused(format!("a window cannot look at {}", target.tiles)));
    }
    Ok(())
}

impl Device for Machine {
    fn pin(&mut self, bytes: u64) -> Result<Pinned, DeviceError> {
        if bytes <= REGION && Vec::<u8>::new().try_reserve_exact(bytes as usize).is_err() {
            let message = format!("{bytes} bytes cannot be pinned: the host has not so much memory");
            return Err(DeviceError::Refused(message));
        }
        self.pin_with(bytes, |memory, noc| memory.pin(noc, bytes as usize))
    }

    fn unpin(&mut self, memory: Pinned) -> Result<(), DeviceError> {
        self.check()?;
        let id = self.pinned(memory, 0, 0)?;
        let mut world = self.world.borrow_mut();
        world.host_unpins(id);
        world.memory.unpin(id);
        Ok(())
    }

    fn host_read(&mut self, memory: Pinned, offset: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        self.choose_for_host(memory.id);
        self.called(HostCall::Look, |machine| {
            let id = machine.pinned(memory, offset, out.len())?;
            machine.pass(1 + out.len() as u64 / 32)?;
            {
                let mut world = machine.world.borrow_mut();
                world.check_host_read(id, offset, out.len());
                world.memory.read(Location::Host(id, offset), out);
            }
            machine.each(|world| world.judge_host_load(Location::Host(id, offset), out.len(), None));
            machine.check()?;
            machine.polled()
        })
    }

    fn host_write(&mut self, memory: Pinned, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.choose_for_host(memory.id);
        self.called(HostCall::Write, |machine| {
            let id = machine.pinned(memory, offset, bytes.len())?;
            machine.device.quiet = 0;
            {
                let mut world = machine.world.borrow_mut();
                world.check_host_write(id, offset, bytes.len() as u64);
                world.memory.write(Location::Host(id, offset), bytes);
                world.host_writes(id, offset, bytes);
            }
            machine.pass(1 + bytes.len() as u64 / 32)
        })
    }

    fn open(&mut self, bytes: u64, target: WindowTarget) -> Result<Window, DeviceError> {
        self.check()?;
        let class = size_class(bytes)?;
        check_target(&self.world.borrow(), bytes, &target)?;
        let host = &mut self.device;
        host.free[class] = host.free[class].checked_sub(1).ok_or(DeviceError::NoWindow { bytes })?;
        let id = host.windows.iter().position(Option::is_none).unwrap_or_else(|| {
            host.windows.push(None);
            host.windows.len() - 1
        });
        host.windows[id] = Some((bytes, target));
        Ok(Window { id: id as u32, bytes })
    }

    fn retarget(&mut self, window: Window, target: WindowTarget) -> Result<(), DeviceError> {
        self.check()?;
        let (old, _) = self.window(window, 0, 0)?;
        let bytes = window.bytes;
        check_target(&self.world.borrow(), bytes, &target)?;
        if old != target {
            self.device.windows[window.id as usize] = Some((bytes, target));
        }
        Ok(())
    }

    fn close(&mut self, window: Window) -> Result<(), DeviceError> {
        self.window(window, 0, 0)?;
        self.device.free[size_class(window.bytes)?] += 1;
        self.device.windows[window.id as usize] = None;
        Ok(())
    }

    fn read(&mut self, window: Window, offset: u64, out: &mut [u8]) -> Result<(), DeviceError> {
        self.choose_for_window(window.id);
        self.called(HostCall::Look, |machine| {
            let (target, addr) = machine.window(window, offset, out.len() as u64)?;
            if target.multicast {
                return Err(DeviceError::Refused("a multicast window cannot be read".to_string()));
            }
            machine.pass_as(|delays| delays.host_load)?;
            let world = machine.world.borrow();
            let xy = target.tiles.low;
            let bytes = out.len();
            let refused = |what: String| Err(DeviceError::Refused(what));
            match world.chip.at(xy) {
                Tile::Tensix(tile) if World::is_register(addr) => match bytes {
                    4 => out.copy_from_slice(
                        &world.host_load_register(tile, addr).map_err(DeviceError::Refused)?.to_le_bytes(),
                    ),
                    _ => return refused(format!("a load of {bytes} bytes from the register at {addr:#x}")),
                },
                Tile::Arc => match machine.device.telemetry.load(addr) {
                    Some(word) if bytes == 4 => out.copy_from_slice(&word.to_le_bytes()),
                    _ => return refused(format!("there are no {bytes} bytes at {addr:#x} of the management core")),
                },
                _ => match world.place_of(xy, addr, bytes as u64) {
                    Some(place) => {
                        world.memory.read(place, out);
                        drop(world);
                        machine.each(|world| world.judge_host_load(place, bytes, None));
                        machine.check()?;
                        return machine.polled();
                    }
                    None => return refused(format!("{xy} has no {bytes} bytes at {addr:#x}")),
                },
            }
            drop(world);
            machine.check()?;
            machine.polled()
        })
    }

    fn write(&mut self, window: Window, offset: u64, bytes: &[u8]) -> Result<(), DeviceError> {
        self.choose_for_window(window.id);
        self.called(HostCall::Store, |machine| {
            let (target, addr) = machine.window(window, offset, bytes.len() as u64)?;
            machine.device.quiet = 0;
            machine.check()?;
            machine.world.borrow_mut().host_stores(target.tiles, target.multicast, addr, bytes);
            if target.multicast {
                let tiles: Vec<Xy> = {
                    let world = machine.world.borrow();
                    target.tiles.tiles().filter(|xy| matches!(world.chip.at(*xy), Tile::Tensix(_))).collect()
                };
                for xy in tiles {
                    machine.store(xy, addr, bytes)?;
                }
            } else {
                machine.store(target.tiles.low, addr, bytes)?;
            }
            machine.stored(bytes.len())?;
            machine.world.borrow_mut().host_stored();
            Ok(())
        })
    }

    fn arc_read(&mut self, offset: u64) -> Result<u32, DeviceError> {
        self.called(HostCall::Look, |machine| {
            machine.pass_as(|delays| delays.host_load)?;
            let word = machine.device.telemetry.load(offset);
            word.ok_or_else(|| DeviceError::Refused(format!("the management core has no register at {offset:#x}")))
        })
    }

    fn wait(&mut self, ns: u64) -> Result<(), DeviceError> {
        self.called(HostCall::Sleep, |machine| {
            machine.elapse(ns)?;
            machine.polled()
        })
    }

    fn now(&self) -> u64 {
        let (mhz, cycles) = (self.cycles(|d| d.clock_mhz).max(1), self.now_cycles());
        // Polls ask often: 64 bits are sufficient for years, and division is faster.
        match cycles.checked_mul(1000) {
            Some(product) => product / mhz,
            None => (u128::from(cycles) * 1000 / u128::from(mhz)) as u64,
        }
    }
}
