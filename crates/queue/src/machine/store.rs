//! Stores by the host: their effect on the device, and the errors in them.

use super::chip::{Tile, TileId};
use super::memory::Location;
use super::world::{State, Stop, World};
use crate::layout::{COMPLETION_PAGE, REGISTERS};
use crate::machine::actor::Actor;
use crate::sanitize::{Hazard, Overlap, RecordRef};
use crate::wire::{GoMessage, LaunchMessage, Packed, Xy};

/// Registers of a Tensix tile used by a host.
mod register {
    /// Wall clock, low word; reading it latches the high one.
    pub const CLOCK_LOW: u64 = 0xFFB1_21F0;
    /// Wall clock, high word.
    pub const CLOCK_HIGH: u64 = 0xFFB1_21F8;
    /// Soft reset: a bit per processor.
    pub const RESET: u64 = 0xFFB1_21B0;
    /// Start addresses of four of a tile's processors when they leave reset: one word each.
    pub const RESET_PC: [u64; 4] = [0xFFB1_2228, 0xFFB1_222C, 0xFFB1_2230, 0xFFB1_2238];
    /// The bit of the processor that runs the queue's kernels.
    pub const RESET_BRISC: u32 = 0x800;
    /// Streams: 4 KiB each.
    pub const STREAMS: u64 = 0xFFB4_0000;
    /// The counter among a stream's registers.
    pub const AVAILABLE: u64 = 4 * 297;
    /// The register whose stores add to the counter, shifted by 6.
    pub const UPDATE: u64 = 4 * 270;
}

/// The effect of a store on the kernels of the queue's cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Command {
    /// A go message was sent: its kernels start.
    Start(Actor),
    /// Its core is held in reset.
    Stop(Actor),
}

/// Bytes of a worker's go words.
const GO_WORDS: u32 = 9 * 4;

impl World {
    /// The host stores into a Tensix tile. Kernels that this starts or stops are appended to `commands`.
    pub fn host_store(
        &mut self,
        tile: TileId,
        addr: u64,
        bytes: &[u8],
        commands: &mut Vec<Command>,
    ) -> Result<(), String> {
        if addr >= REGISTERS {
            return self.host_store_register(tile, addr, bytes, commands);
        }
        if addr.saturating_add(bytes.len() as u64) > u64::from(self.layout.l1_bytes) {
            return Err(format!("{} bytes at {addr:#x} leave the L1 of {}", bytes.len(), self.chip.xy(tile)));
        }
        let addr = addr as u32;
        if tile == self.chip.prefetch() {
            self.check_fetch_store(addr, bytes);
        }
        if tile == self.chip.dispatch() {
            self.check_dispatch_store(addr, bytes);
        }
        self.memory.write(Location::L1(tile, addr), bytes);
        if self.chip.is_queue_core(tile) {
            self.queue_core_stored(tile, addr, bytes.len() as u32, commands);
        } else {
            let go = self.layout.worker.go;
            if addr < go + GO_WORDS && addr + bytes.len() as u32 > go {
                self.host_goes(tile);
            }
            self.worker_written(tile, addr, bytes.len() as u32);
        }
        Ok(())
    }

    fn host_store_register(
        &mut self,
        tile: TileId,
        addr: u64,
        bytes: &[u8],
        commands: &mut Vec<Command>,
    ) -> Result<(), String> {
        let Ok(word) = <[u8; 4]>::try_from(bytes) else {
            return Err(format!("a store of {} bytes to the register at {addr:#x}", bytes.len()));
        };
        let value = u32::from_le_bytes(word);
        if addr == register::RESET || register::RESET_PC.contains(&addr) {
            self.registers.insert((tile, addr), value);
        }
        match addr {
            // The code of a processor is not modelled; only its start is.
            addr if register::RESET_PC.contains(&addr) => {}
            register::RESET if value & register::RESET_BRISC == 0 => self.worker_starts(tile),
            register::RESET => {
                self.worker_stops(tile);
                commands.extend(actors(self, tile).iter().map(|actor| Command::Stop(*actor)));
            }
            addr if addr >= register::STREAMS && addr & 0xFFF == register::UPDATE => {
                if tile == self.chip.dispatch() {
                    self.add_to_stream(((addr - register::STREAMS) >> 12) as u32, value >> 6);
                }
            }
            _ => return Err(format!("there is no register at {addr:#x} that a host could store to")),
        }
        Ok(())
    }

    /// The host loads a register.
    pub fn host_load_register(&self, tile: TileId, addr: u64) -> Result<u32, String> {
        match addr {
            register::CLOCK_LOW => Ok(self.now as u32),
            register::CLOCK_HIGH => Ok((self.now >> 32) as u32),
            addr if addr == register::RESET || register::RESET_PC.contains(&addr) => {
                Ok(self.registers.get(&(tile, addr)).copied().unwrap_or(0))
            }
            addr if addr >= register::STREAMS && addr & 0xFFF == register::AVAILABLE => {
                let here = tile == self.chip.dispatch();
                Ok(if here { self.stream(((addr - register::STREAMS) >> 12) as u32) } else { 0 })
            }
            _ => Err(format!("there is no register at {addr:#x} that a host could load")),
        }
    }

    /// Whether an address of a Tensix tile is a register's.
    pub fn is_register(addr: u64) -> bool {
        addr >= REGISTERS
    }

    /// Checks stores to slots, and to the pointer into host memory.
    fn check_fetch_store(&mut self, addr: u32, bytes: &[u8]) {
        let fetch = &self.layout.prefetch;
        let (slots, pcie_rd_ptr) = (fetch.q_base..fetch.q_end(), fetch.pcie_rd_ptr);
        let runs = self.states[Actor::Prefetch as usize] == State::On;
        if addr == pcie_rd_ptr && bytes.len() == 4 {
            let host = &self.layout.sysmem;
            let (value, expected) =
                (u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), host.noc(host.issue) as u32);
            if value != expected {
                self.flag_host(Hazard::SysmemMisplaced, || {
                    format!("the host says that its records start at {value:#x}; the kernels read from {expected:#x}")
                });
            }
        }
        let end = addr + bytes.len() as u32;
        let meets = end > slots.start && addr < slots.end;
        if !meets || !runs {
            if meets {
                self.next_slot = slots.start;
            }
            return;
        }
        if bytes.len() == 1 || !addr.is_multiple_of(2) {
            self.flag_host(Hazard::SlotTorn, || {
                format!("{} bytes are stored at {addr:#x}, in the fetch queue", bytes.len())
            });
            return;
        }
        for (i, slot) in bytes.as_chunks::<2>().0.iter().enumerate() {
            self.check_slot(addr + 2 * i as u32, u16::from_le_bytes(*slot), bytes.len() == 2);
        }
    }

    fn check_slot(&mut self, addr: u32, value: u16, single: bool) {
        let (base, end) = (self.layout.prefetch.q_base, self.layout.prefetch.q_end());
        if !(base..end).contains(&addr) || (value == 0 && !single) {
            return;
        }
        let number = (addr - base) / 2;
        let old = self.slot(addr);
        if old != 0 {
            self.flag_host(Hazard::SlotOverwritten, || {
                format!("slot {number} is stored as {value:#x} while it still holds {old:#x}")
            });
        }
        if addr != self.next_slot {
            let next = (self.next_slot - base) / 2;
            self.flag_host(Hazard::SlotOutOfOrder, || format!("slot {number} is stored; the next one is {next}"));
        }
        if value & 0x7FFF == 0 {
            self.flag_host(Hazard::RecordEmpty, || {
                format!("slot {number} is stored as {value:#x}, a record of no bytes")
            });
            return;
        }
        self.steps = 0;
        self.next_slot = if addr + 2 >= end { base } else { addr + 2 };
        let waited = self.host_has_waited();
        let record = self.ledger.announced(u32::from(value & 0x7FFF) << 4, waited, self.now);
        self.host_queues(record.index);
        if self.memory.lends()
            && let Some(place) = self.issue_place(record)
        {
            self.borrowed_is_queued(record, place);
        }
        if let Some(Location::Host(id, at)) = self.issue_place(record)
            && self.memory.is_borrowed(id)
            && let Some(bytes) = self.memory.host(id)
        {
            let bytes = bytes[at as usize..at as usize + record.length as usize].to_vec();
            self.ledger.borrowed.push_back((record.index, bytes));
        }
    }

    fn issue_place(&self, record: RecordRef) -> Option<Location> {
        let host = &self.layout.sysmem;
        self.memory.host_at(host.noc(host.issue) + record.offset, record.length.into())
    }

    /// The device starts to read a record: one in borrowed memory must be unchanged since its slot was stored.
    ///
    /// # Errors
    /// As [`flag`](World::flag).
    pub fn check_borrowed(&mut self, record: RecordRef) -> Result<(), Stop> {
        if self.ledger.borrowed.is_empty() {
            return Ok(());
        }
        let place = self.issue_place(record);
        let now = place.and_then(|place| match place {
            Location::Host(id, at) => Some(&self.memory.host(id)?[at as usize..][..record.length as usize]),
            _ => None,
        });
        let before = self.ledger.borrowed.iter().find(|(index, _)| *index == record.index);
        let Some(at) = now.and_then(|now| first_other(&before?.1, now)) else { return Ok(()) };
        // It has been reported.
        self.ledger.borrowed.retain(|(index, _)| *index != record.index);
        self.flag(Actor::Prefetch, Hazard::IssueLapped, || {
            format!("byte {at:#x} of {record} has changed since its slot was stored")
        })
    }

    /// A record has landed, starting at an address: if it was read from borrowed memory, the bytes must be those that
    /// the host announced.
    ///
    /// # Errors
    /// As [`flag`](World::flag).
    pub fn check_landed(&mut self, record: RecordRef, at: u32) -> Result<(), Stop> {
        let borrowed = &mut self.ledger.borrowed;
        while borrowed.front().is_some_and(|(index, _)| *index < record.index) {
            borrowed.pop_front();
        }
        let Some((_, before)) = borrowed.pop_front_if(|(index, _)| *index == record.index) else { return Ok(()) };
        let bytes = self.memory.l1(self.chip.prefetch(), at, record.length as usize);
        let Some(at) = first_other(&before, bytes) else { return Ok(()) };
        self.flag(Actor::Prefetch, Hazard::IssueInFlight, || {
            format!("byte {at:#x} of {record} has changed while it was read")
        })
    }

    /// Checks stores to the completion read pointer.
    fn check_dispatch_store(&mut self, addr: u32, bytes: &[u8]) {
        let dispatch = &self.layout.dispatch;
        if addr != dispatch.completion_rd || bytes.len() != 4 || self.states[Actor::Dispatch as usize] != State::On {
            return;
        }
        let host = &self.layout.sysmem;
        let pages = u64::from(host.completion_bytes / COMPLETION_PAGE);
        let first = host.completion_first();
        let units = COMPLETION_PAGE >> 4;
        let position = |word: u32| {
            let from_first = (word & 0x7FFF_FFFF).checked_sub(first)?;
            let page = u64::from(from_first / units);
            (from_first % units == 0 && page < pages).then_some(page + u64::from(word >> 31) * pages)
        };
        let (old, new) = (
            self.memory.word(self.chip.dispatch(), addr),
            u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
        );
        let waiting = self.ledger.completed - self.ledger.drained;
        let taken = match (position(old), position(new)) {
            (Some(old), Some(new)) => (new + 2 * pages - old) % (2 * pages),
            _ => u64::MAX,
        };
        if taken > waiting {
            self.flag_host(Hazard::CompletionPointer, || {
                format!("the read pointer goes from {old:#010x} to {new:#010x}; {waiting} pages are there to take")
            });
        } else {
            let before = self.ledger.taken_records;
            self.ledger.drained(taken);
            if taken > 0 {
                self.host_takes();
            }
            (before..self.ledger.taken_records).for_each(|_| self.host_acts(crate::capture::ActKind::Take));
        }
    }

    /// The host reads its pinned memory: an event's number is not valid where no record starts.
    pub fn check_host_read(&mut self, id: u8, offset: u64, bytes: usize) {
        let host = &self.layout.sysmem;
        let Some(at) = offset.checked_sub(host.completion.into()).filter(|at| *at < host.completion_bytes.into())
        else {
            return;
        };
        let page = u64::from(COMPLETION_PAGE);
        let next = self.ledger.drained % (u64::from(host.completion_bytes) / page);
        let event = bytes == 4 && at == next * page + 16;
        if event && !self.ledger.between_records && self.memory.host_at(host.noc_base, 1) == Some(Location::Host(id, 0))
        {
            self.flag_host(Hazard::CompletionInsideRecord, || {
                format!(
                    "the word at {offset:#x} is read as an event; that page belongs to a record that started before"
                )
            });
        }
    }

    /// A store into one of the queue's cores may be its go message.
    fn queue_core_stored(&mut self, tile: TileId, addr: u32, bytes: u32, commands: &mut Vec<Command>) {
        let go = self.layout.worker.go;
        if addr > go + 3 || addr + bytes <= go + 3 {
            return;
        }
        match self.memory.l1(tile, go + 3, 1)[0] {
            GoMessage::INIT => self.memory.l1_mut(tile, go + 3, 1)[0] = GoMessage::DONE,
            GoMessage::GO => {
                let at = self.layout.worker.launch;
                let Ok(launch) = LaunchMessage::read(self.memory.l1(tile, at, LaunchMessage::SIZE)) else { return };
                self.check_kernel(tile, &launch);
                let enabled = actors(self, tile).iter().enumerate().filter(|(i, _)| launch.enables >> i & 1 != 0);
                commands.extend(enabled.map(|(_, actor)| Command::Start(*actor)));
            }
            _ => {}
        }
    }

    fn check_kernel(&mut self, tile: TileId, launch: &LaunchMessage) {
        if self.quirks.base_from_launch && Actor::ALL.iter().all(|actor| self.states[*actor as usize] == State::Off) {
            self.take_base(launch);
        }
        let layout = self.layout.clone();
        let xy = self.chip.xy(tile);
        if launch.kernel_config_base != layout.kernel_config_base || u32::from(launch.sem_offset) != layout.sem_offset {
            self.flag_host(Hazard::KernelBaseMismatch, || {
                format!(
                    "the launch message of {xy} has its semaphores at {:#x}; the kernel uses {:#x}",
                    launch.kernel_config_base.wrapping_add(launch.sem_offset.into()),
                    layout.sem(0)
                )
            });
        }
        let expected = match tile == self.chip.prefetch() {
            true => [layout.dispatch.cb_pages, if layout.distributed { layout.dispatch.s_cb_pages } else { 0 }],
            false => [0, 0],
        };
        for (id, expected) in expected.into_iter().enumerate() {
            let value = self.memory.word(tile, layout.sem(id as u32));
            if value != expected {
                self.flag_host(Hazard::CreditsNotInitialised, || {
                    format!("semaphore {id} of {xy} is {value} when its kernel starts, instead of {expected}")
                });
            }
        }
        let count = self.memory.word(tile, layout.sem(0)).wrapping_add(self.pages_before);
        self.memory.set_word(tile, layout.sem(0), count);
    }

    /// The first kernel of the queue starts: its launch message gives the base of the semaphores, if they fit there.
    fn take_base(&mut self, launch: &LaunchMessage) {
        let (base, sem_offset) = (launch.kernel_config_base, u32::from(launch.sem_offset));
        let semaphores = u64::from(base) + u64::from(sem_offset)..u64::from(self.layout.l1_bytes) - 16 * 16;
        if !semaphores.is_empty() {
            (self.layout.kernel_config_base, self.layout.sem_offset) = (base, sem_offset);
            self.judge.take_layout(&self.layout);
        }
    }

    /// The host writes its pinned memory.
    pub fn check_host_write(&mut self, id: u8, offset: u64, bytes: u64) {
        let host = &self.layout.sysmem;
        let (issue, end) = (u64::from(host.issue), u64::from(host.issue + host.issue_bytes));
        let completions_end = u64::from(host.completion) + u64::from(host.completion_bytes);
        if self.memory.host_at(host.noc_base, 1) != Some(Location::Host(id, 0)) {
            return;
        }
        let behind = offset < completions_end && offset + bytes > u64::from(host.completion);
        if behind && self.states[Actor::Dispatch as usize] == State::On {
            self.flag_host(Hazard::IssueOverrun, || {
                format!("{bytes} bytes at {offset:#x} of the pinned memory reach into the completion ring at {end:#x}")
            });
        }
        if offset >= end || offset + bytes <= issue {
            return;
        }
        let from = offset.max(issue);
        let overlap = self.ledger.issue.overlap(from - issue, offset + bytes - from);
        match overlap {
            None => {}
            Some(Overlap::Queued(record)) => self.flag_host(Hazard::IssueLapped, || {
                format!("{bytes} bytes at issue offset {:#x} hit {record}, whose slot is queued", from - issue)
            }),
            Some(Overlap::InFlight(record)) => self.flag_host(Hazard::IssueInFlight, || {
                format!("{bytes} bytes at issue offset {:#x} hit {record}, which is being read", from - issue)
            }),
        }
    }
}

/// The first differing byte, if both have the same length.
fn first_other(before: &[u8], now: &[u8]) -> Option<usize> {
    (before.len() == now.len() && before != now).then(|| before.iter().zip(now).position(|(a, b)| a != b)).flatten()
}

/// The kernels of one of the queue's cores, by processor.
fn actors(world: &World, tile: TileId) -> &'static [Actor] {
    if tile == world.chip.prefetch() {
        &[Actor::Prefetch]
    } else if tile == world.chip.dispatch() {
        &[Actor::Dispatch, Actor::Subordinate]
    } else {
        &[]
    }
}

/// The tile that a host finds at a location.
pub(crate) fn target(world: &World, xy: Xy) -> Tile {
    world.chip.at(xy)
}
