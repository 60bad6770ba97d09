//! Fetching records: slots of `prefetch_q`, reads of host memory, and the area where they land.

use std::collections::VecDeque;

use crate::layout::{Layout, PCIE_ALIGN, PCIE_NOC_BIT};
use crate::machine::{Core, Port, Stop, Wait};
use crate::sanitize::{Hazard, RecordRef};
use crate::wire::{PCIE_XY, Prefetch};

/// Whether records are fetched ahead.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stall {
    /// They are.
    Not,
    /// The next slot asks to stop after its record.
    Next,
    /// They are not, until an exec_buf has ended.
    Stalled,
}

/// A record in the command area.
#[derive(Clone, Copy, Debug)]
struct Landed {
    start: u32,
    end: u32,
    record: RecordRef,
    slot: u16,
}

impl Landed {
    fn stalls(&self) -> bool {
        self.slot & STALL_FLAG != 0
    }
}

/// The fetching half of the prefetcher.
pub(super) struct Fetch {
    /// The command to run next.
    pub cmd_ptr: u32,
    /// End of the landed bytes.
    fence: u32,
    /// Bytes in flight after the fence.
    pending: u32,
    stall: Stall,
    slot: u32,
    pcie: u64,
    /// Records from `cmd_ptr` on.
    records: VecDeque<Landed>,
}

/// The stall flag of a slot.
const STALL_FLAG: u16 = 0x8000;

impl Fetch {
    pub fn new(layout: &Layout) -> Fetch {
        let base = layout.prefetch.cmddat_base;
        Fetch {
            cmd_ptr: base,
            fence: base,
            pending: 0,
            stall: Stall::Not,
            slot: layout.prefetch.q_base,
            pcie: layout.sysmem.noc(layout.sysmem.issue),
            records: VecDeque::new(),
        }
    }

    pub fn is_stalled(&self) -> bool {
        self.stall == Stall::Stalled
    }

    /// An exec_buf has ended.
    pub fn end_stall(&mut self) {
        self.stall = Stall::Not;
    }

    /// Proceeds until there is a command at `cmd_ptr`, with at most one read in flight.
    pub async fn advance(&mut self, core: &Core) -> Result<(), Stop> {
        loop {
            if self.stall == Stall::Stalled {
                if self.cmd_ptr == self.fence {
                    return Err(core.lose(Hazard::StallWithoutExecBuf, || {
                        "a record with the stall flag has ended, and none of its commands was EXEC_BUF".to_string()
                    }));
                }
                return Ok(());
            }
            self.wrap();
            let ready = self.cmd_ptr != self.fence;
            let slot = core.look().slot(self.slot);
            self.stall = if slot & STALL_FLAG != 0 { Stall::Next } else { Stall::Not };
            {
                let mut world = core.world();
                world.fetch_states
                    [usize::from(ready) | usize::from(slot != 0) << 1 | usize::from(self.pending != 0) << 2] += 1;
            }
            if self.pending == 0 && self.issue(core, slot)? && self.stall == Stall::Next {
                self.land(core).await?;
                self.stall = Stall::Stalled;
                continue;
            }
            if ready {
                return Ok(());
            }
            if self.pending != 0 {
                self.land(core).await?;
                // The next record can be in flight while this one's commands run.
                let slot = core.look().slot(self.slot);
                self.stall = if slot & STALL_FLAG != 0 { Stall::Next } else { Stall::Not };
                if self.issue(core, slot)? && self.stall == Stall::Next {
                    self.land(core).await?;
                    self.stall = Stall::Stalled;
                }
                return Ok(());
            }
            if slot != 0 && slot & !STALL_FLAG == 0 {
                return Err(core.lose(Hazard::RecordEmpty, || {
                    format!("the slot at {:#x} says {slot:#x}: no bytes, and the stall flag", self.slot)
                }));
            }
            core.wait(Wait::Slot { addr: self.slot }).await;
        }
    }

    /// After a wrap of the area, commands continue where the fence does.
    fn wrap(&mut self) {
        if self.fence < self.cmd_ptr {
            self.cmd_ptr = self.fence;
        }
    }

    async fn land(&mut self, core: &Core) -> Result<(), Stop> {
        let wait = core.look().until_read(Port::Prefetch);
        core.wait(wait).await;
        self.wrap();
        self.fence = self.fence.saturating_add(self.pending);
        self.pending = 0;
        let landed = self.records.back().filter(|landed| landed.end <= core.layout.l1_bytes);
        let Some(landed) = landed else { return Ok(()) };
        let mut world = core.world();
        world.judge_landed(landed.record, landed.slot, landed.start);
        world.check_landed(landed.record, landed.start)
    }

    /// Starts to read the record announced by a slot, if there is one and it fits; returns whether it did.
    fn issue(&mut self, core: &Core, slot: u16) -> Result<bool, Stop> {
        let bytes = u32::from(slot & !STALL_FLAG) << 4;
        if bytes == 0 {
            return Ok(false);
        }
        let layout = &core.layout;
        let area = &layout.prefetch;
        if u64::from(self.fence) + u64::from(bytes) > u64::from(area.cmddat_end()) {
            if self.cmd_ptr != self.fence {
                return Ok(false);
            }
            self.fence = area.cmddat_base;
        }
        let host = &layout.sysmem;
        if self.pcie + u64::from(bytes) > host.noc(host.issue + host.issue_bytes) {
            self.pcie = host.noc(host.issue);
        }
        let mut world = core.world();
        let offset = self.pcie - host.noc(host.issue);
        let record = world.ledger.issue.fetch(offset, bytes, self.fence);
        world.ledger.at[core.actor as usize].record = Some(record);
        world.ledger.at[core.actor as usize].command = None;
        world.check_borrowed(record)?;
        if bytes % PCIE_ALIGN != 0 {
            world.flag(core.actor, Hazard::RecordUnaligned, || {
                format!("slot says {bytes} bytes, no multiple of {PCIE_ALIGN}")
            })?;
        }
        if bytes > area.cmddat_bytes {
            let most = area.cmddat_bytes;
            world.flag(core.actor, Hazard::RecordTooLarge, || {
                format!("a record of {bytes} bytes is fetched into an area of {most}")
            })?;
        }
        if !world.memory.is_pinned_at(host.noc_base) {
            let at = host.noc_base;
            world.flag(core.actor, Hazard::SysmemMisplaced, || {
                format!("the kernels read host memory from {at:#x}, and no pinned buffer starts there")
            })?;
        }
        world.read(Port::Prefetch, PCIE_XY, self.pcie | PCIE_NOC_BIT, self.fence, bytes)?;
        self.records.push_back(Landed { start: self.fence, end: self.fence.saturating_add(bytes), record, slot });
        self.pending = bytes;
        self.pcie += u64::from(bytes);
        // The host sees the slot free, and the pointers moved, before any byte has been read.
        let tile = world.chip.prefetch();
        world.memory.l1_mut(tile, self.slot, 2).fill(0);
        world.memory.set_word(tile, area.q_rd_ptr, self.slot);
        world.memory.set_word(tile, area.pcie_rd_ptr, self.pcie as u32);
        self.slot += 2;
        if self.slot >= area.q_end() {
            self.slot = area.q_base;
        }
        Ok(true)
    }

    /// The record that contains the command at an address, and the offset in it.
    pub fn place(&self, at: u32) -> (Option<RecordRef>, Option<u32>) {
        match self.records.front() {
            Some(front) if (front.start..front.end).contains(&at) => (Some(front.record), Some(at - front.start)),
            _ => (None, None),
        }
    }

    /// The stride of a command must not leave its record, nor be zero.
    pub fn check_stride(&self, core: &Core, header: &Prefetch, at: u32) -> Result<(), Stop> {
        let stride = header.stride();
        if stride == 0 {
            return Err(core.lose(Hazard::RecordTrailing, || "a command's stride is 0: it is run forever".to_string()));
        }
        let Some(front) = self.records.front() else { return Ok(()) };
        let end = u64::from(at) + u64::from(stride);
        if front.stalls() && at == front.start && end >= u64::from(front.end) && !matches!(header, Prefetch::ExecBuf(_))
        {
            core.flag(Hazard::StallWithoutExecBuf, || {
                format!("the slot of this record has the stall flag, and its only command is {}", header.name())
            })?;
        }
        if end > u64::from(front.end) {
            let left = front.end.saturating_sub(at);
            core.flag(Hazard::RecordTrailing, || {
                format!("a command's stride of {stride} bytes leaves its record, of which {left} bytes are left")
            })?;
        }
        Ok(())
    }

    /// Number of records with bytes at or after an address.
    pub fn records_behind(&self, at: u32) -> u64 {
        let first = self.records.front().map_or(0, |front| u64::from(at < front.end));
        self.records.len().saturating_sub(1) as u64 + first
    }

    /// Checks that the bytes a command uses after its header are within its record, and before the next command.
    pub fn check_inside(&self, core: &Core, at: u32, header: u32, bytes: u32, stride: u32) -> Result<(), Stop> {
        let end = u64::from(at) + u64::from(header) + u64::from(bytes);
        let record = self.records.front().filter(|front| (front.start..front.end).contains(&at));
        if let Some(front) = record.filter(|front| end > u64::from(front.end)) {
            let behind = end - u64::from(front.end);
            return core.flag(Hazard::RelayUnfetched, || {
                format!("{behind} of the {bytes} bytes after the command's header are past its record")
            });
        }
        if record.is_some() && end > u64::from(at) + u64::from(stride) {
            core.flag(Hazard::RecordTrailing, || {
                format!("the command takes {} bytes, but its stride is {stride}", end - u64::from(at))
            })?;
        }
        Ok(())
    }

    /// Advances to the next command.
    pub fn step(&mut self, core: &Core, stride: u32) -> Result<(), Stop> {
        self.cmd_ptr = self.cmd_ptr.saturating_add(stride);
        if self.cmd_ptr > core.layout.l1_bytes {
            return Err(core.lose(Hazard::L1Outside, || format!("a stride of {stride} bytes leads out of L1")));
        }
        while self.records.front().is_some_and(|record| record.start < self.cmd_ptr && record.end <= self.cmd_ptr) {
            self.records.pop_front();
        }
        Ok(())
    }
}
