//! The driver of the queue: opens it, queues records, takes completions.

use super::completion::RingPointer;
use super::issue::Issue;
use super::{Device, HostError, Lowering, Pinned, Program, Window, WindowTarget, lower_programs};
use crate::board::Board;
use crate::layout::{COMPLETION_PAGE, Layout, PCIE_ALIGN, PCIE_NOC_BIT};
use crate::wire::{
    DispatchCommand, GoMessage, LaunchMessage, Packed, PrefetchCommand, WriteHost, Xy, host_event, relay_inline,
};

/// Size in bytes of a window onto a core.
pub(super) const WINDOW: u64 = 2 << 20;
/// A slot's flag for entries that carry EXEC_BUF.
pub const STALL: u16 = 0x8000;

/// Settings of the driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Bytes pinned before the queue's memory, so that it is where the kernels expect it; 0: none.
    pub staging_bytes: u64,
    /// Whether issue memory is rewritten only after its records have been read. The fixed host does not check this.
    pub checked_issue: bool,
    /// Nanoseconds between polls of the completion ring.
    pub poll_ns: u64,
    /// Timeout for a free slot in nanoseconds.
    pub slot_timeout_ns: u64,
    /// Timeout for a completion in nanoseconds.
    pub completion_timeout_ns: u64,
    /// The policy for turning programs into commands.
    pub lowering: Lowering,
    /// Commands of programs share records of at most this many bytes; 0: each has its own record, as the fixed host
    /// queues them.
    pub together: usize,
}

impl Settings {
    /// The settings of the fixed host.
    pub const FIXED_HOST: Settings = Settings {
        staging_bytes: 1 << 30,
        checked_issue: false,
        poll_ns: 200_000,
        slot_timeout_ns: 1_000_000_000,
        completion_timeout_ns: 10_000_000_000,
        lowering: Lowering::FIXED_HOST,
        together: 0,
    };
    /// Settings without its hazards, with shorter sleeps and fewer records.
    pub const CAREFUL: Settings = Settings {
        checked_issue: true,
        poll_ns: 1_000,
        lowering: Lowering::CAREFUL,
        together: 16 << 10,
        ..Settings::FIXED_HOST
    };
}

/// Code of the queue's kernels. A simulated device needs none: its actors replace them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kernels {
    /// For the prefetch core.
    pub prefetch: Vec<u8>,
    /// For the dispatch core.
    pub dispatch: Vec<u8>,
    /// For the subordinate on the dispatch core.
    pub subordinate: Vec<u8>,
}

/// One record written by the dispatcher into the completion ring.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Whether it is an event; otherwise requested bytes.
    pub is_event: bool,
    /// The bytes after the echoed header.
    pub bytes: Vec<u8>,
}

impl Completion {
    /// The event's number: its first 4 bytes.
    pub fn event(&self) -> Option<u32> {
        let word = self.bytes.first_chunk().filter(|_| self.is_event)?;
        Some(u32::from_le_bytes(*word))
    }
}

/// The start and end of a program on the dispatcher's clock, or of a core on its own clock, in cycles.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// Start time.
    pub start: u64,
    /// End time.
    pub end: u64,
}

/// An open command queue on a device.
#[derive(Debug)]
pub struct Queue<D: Device> {
    pub(super) device: D,
    settings: Settings,
    staging: Option<Pinned>,
    /// The queue that calls address.
    pub(super) ends: Ends,
    /// The other one of two queues.
    pub(super) second: Option<Ends>,
}

/// The received part of a completion record: header and following bytes.
#[derive(Debug)]
pub(super) struct Partial {
    length: u64,
    pub(super) bytes: Vec<u8>,
}

/// Bytes of the header echoed in a completion record.
const HEADER: usize = WriteHost::SIZE;

impl<D: Device> Queue<D> {
    /// Pins memory, initialises both ends of all rings, and starts the queue's cores.
    ///
    /// # Errors
    /// [`HostError::Misplaced`] if the memory is not where the kernels expect it, and the device's errors.
    pub fn open(
        device: D,
        board: Board,
        layout: Layout,
        settings: Settings,
        kernels: &Kernels,
    ) -> Result<Queue<D>, HostError> {
        let mut device = device;
        let staging = match settings.staging_bytes {
            0 => None,
            bytes => Some(device.pin(bytes)?),
        };
        let ends = Ends::open(&mut device, board, layout, 0)?;
        let mut queue = Queue { device, settings, staging, ends, second: None };
        queue.initialise()?;
        queue.start(kernels)?;
        Ok(queue)
    }

    /// Initialises both ends of the fetch queue and of the completion ring.
    pub(super) fn initialise(&mut self) -> Result<(), HostError> {
        let q = &self.ends.layout.prefetch;
        self.device.write32(self.ends.prefetch, u64::from(q.q_rd_ptr), q.q_end())?;
        let issue = self.ends.layout.sysmem.noc(self.ends.layout.sysmem.issue) as u32;
        self.device.write32(self.ends.prefetch, u64::from(q.pcie_rd_ptr), issue)?;
        self.device.write(self.ends.prefetch, u64::from(q.q_base), &vec![0; 2 * q.q_entries as usize])?;
        let word = self.ends.read.word().to_le_bytes();
        for offset in [self.ends.layout.sysmem.completion_wr, self.ends.layout.sysmem.completion_rd] {
            self.device.host_write(self.ends.sysmem, u64::from(offset), &word)?;
        }
        Ok(())
    }

    /// Images, launch and go messages of both queue cores: first the prefetcher, which has nothing to do yet.
    pub(super) fn start(&mut self, kernels: &Kernels) -> Result<(), HostError> {
        let (base, sem0) = (u64::from(self.ends.layout.kernel_config_base), u64::from(self.ends.layout.sem(0)));
        let text = u64::from(self.ends.layout.kernel_text());
        let image = vec![0; (text - base) as usize];
        self.device.write(self.ends.prefetch, base, &image)?;
        self.device.write32(self.ends.prefetch, sem0, self.ends.layout.dispatch.cb_pages)?;
        if self.ends.layout.distributed {
            self.device.write32(
                self.ends.prefetch,
                u64::from(self.ends.layout.sem(1)),
                self.ends.layout.dispatch.s_cb_pages,
            )?;
        }
        self.write_text(self.ends.prefetch, text, &kernels.prefetch)?;
        self.launch(self.ends.prefetch, 1)?;

        let d = self.ends.layout.dispatch.clone();
        for address in [d.completion_wr, d.completion_rd] {
            self.device.write32(self.ends.dispatch, u64::from(address), self.ends.read.word())?;
        }
        for event in [d.events, d.events + 16] {
            self.device.write32(self.ends.dispatch, u64::from(event), 0)?;
        }
        self.device.write(self.ends.dispatch, u64::from(d.sync_sems), &[0; 128])?;
        self.device.write(self.ends.dispatch, base, &image)?;
        self.write_text(self.ends.dispatch, text, &kernels.dispatch)?;
        let behind = text + (kernels.dispatch.len() as u64).next_multiple_of(16);
        self.write_text(self.ends.dispatch, behind, &kernels.subordinate)?;
        self.launch(self.ends.dispatch, 3)
    }

    fn write_text(&mut self, core: Window, at: u64, text: &[u8]) -> Result<(), HostError> {
        if !text.is_empty() {
            self.device.write(core, at, text)?;
        }
        Ok(())
    }

    /// Launch and go message of a queue core, launched by the host: it notifies nobody.
    fn launch(&mut self, core: Window, enables: u32) -> Result<(), HostError> {
        let (mut launch, mut go) = (Vec::new(), Vec::new());
        LaunchMessage {
            kernel_config_base: self.ends.layout.kernel_config_base,
            sem_offset: self.ends.layout.sem_offset as u16,
            text_brisc: self.ends.layout.kernel_text() - self.ends.layout.kernel_config_base,
            mode: LaunchMessage::HOST,
            enables,
            ..Default::default()
        }
        .append(&mut launch);
        GoMessage { signal: GoMessage::GO, ..Default::default() }.append(&mut go);
        self.device.write(core, u64::from(self.ends.layout.worker.launch), &launch)?;
        self.device.write(core, u64::from(self.ends.layout.worker.go), &go)?;
        Ok(())
    }

    /// Queues a record: its bytes into the issue region, then its size into the next slot.
    ///
    /// # Errors
    /// [`HostError::Record`] if no slot can hold its size, [`HostError::Timeout`] if no slot becomes free.
    pub fn push(&mut self, record: &[u8]) -> Result<(), HostError> {
        self.push_with(record, 0)
    }

    /// As [`push`](Queue::push), with further bits of the slot, such as [`STALL`].
    ///
    /// # Errors
    /// As [`push`](Queue::push).
    pub fn push_with(&mut self, record: &[u8], flags: u16) -> Result<(), HostError> {
        let refuse = |why| Err(HostError::Record { bytes: record.len(), why });
        let checked = self.settings.checked_issue;
        if record.is_empty() {
            return refuse("the device would stay on an entry of size 0");
        }
        if !record.len().is_multiple_of(PCIE_ALIGN as usize) {
            return refuse("sizes are multiples of 64");
        }
        if record.len() / 16 > 0x7FFF {
            return refuse("a slot holds 15 bits of 16-byte units");
        }
        if record.len() > self.ends.layout.prefetch.cmddat_bytes as usize {
            return refuse("it is larger than the area where commands land");
        }
        if record.len() > self.ends.layout.sysmem.issue_bytes as usize / if checked { 3 } else { 1 } {
            return refuse("it is too large for the issue region");
        }
        self.enqueue(record, (record.len() / 16) as u16 | flags)
    }

    /// Queues a record unchanged, with an arbitrary slot value: for streams from elsewhere, including their errors.
    ///
    /// # Errors
    /// [`HostError::Record`] if it is larger than the issue region, [`HostError::Timeout`] if no slot becomes free.
    pub fn replay(&mut self, record: &[u8], slot: u16) -> Result<(), HostError> {
        if record.len() > self.ends.layout.sysmem.issue_bytes as usize {
            return Err(HostError::Record { bytes: record.len(), why: "it is larger than the issue region" });
        }
        self.enqueue(record, slot)
    }

    fn enqueue(&mut self, record: &[u8], value: u16) -> Result<(), HostError> {
        let bytes = record.len() as u32;
        let place = self.ends.issue.place(bytes);
        if self.settings.checked_issue {
            while let Some(slot) = self.ends.issue.needed(place, bytes) {
                self.wait_slot(slot)?;
                self.ends.issue.taken(slot);
            }
        }
        self.device.host_write(self.ends.sysmem, u64::from(self.ends.layout.sysmem.issue + place.offset), record)?;
        self.wait_slot(place.slot)?;
        let slot = u64::from(self.ends.layout.prefetch.q_base + 2 * place.slot);
        self.device.write16(self.ends.prefetch, slot, value)?;
        self.ends.issue.queued(place, bytes);
        Ok(())
    }

    /// Waits until the device has taken the entry of a slot.
    fn wait_slot(&mut self, slot: u32) -> Result<(), HostError> {
        let address = u64::from(self.ends.layout.prefetch.q_base + 2 * slot);
        let (start, limit) = (self.device.now(), self.settings.slot_timeout_ns);
        while self.device.read16(self.ends.prefetch, address)? != 0 {
            if self.device.now() - start > limit {
                return Err(HostError::Timeout {
                    what: format!("slot {slot} of prefetch_q to become free"),
                    ns: limit,
                });
            }
            self.device.wait(self.settings.poll_ns)?;
        }
        Ok(())
    }

    /// Queues a dispatch command as a record of its own.
    ///
    /// # Errors
    /// As [`push`](Queue::push).
    pub fn send(&mut self, command: &DispatchCommand) -> Result<(), HostError> {
        self.push(&relay_inline(command.encode())?.encode())
    }

    /// Queues dispatch commands in order, in as few records as the settings allow.
    ///
    /// # Errors
    /// As [`push`](Queue::push).
    pub fn send_all(&mut self, commands: &[DispatchCommand]) -> Result<(), HostError> {
        let mut record = Vec::new();
        for command in commands {
            let next = relay_inline(command.encode())?.encode();
            if !record.is_empty() && record.len() + next.len() > self.settings.together {
                self.push(&record)?;
                record.clear();
            }
            record.extend_from_slice(&next);
        }
        if record.is_empty() { Ok(()) } else { self.push(&record) }
    }

    /// Queues prefetch commands as one record.
    ///
    /// # Errors
    /// As [`push`](Queue::push).
    pub fn send_together(&mut self, commands: &[PrefetchCommand], flags: u16) -> Result<(), HostError> {
        let record: Vec<u8> = commands.iter().flat_map(PrefetchCommand::encode).collect();
        self.push_with(&record, flags)
    }

    /// Queues an event after everything that is queued, and returns its number.
    ///
    /// # Errors
    /// As [`push`](Queue::push).
    pub fn event(&mut self) -> Result<u32, HostError> {
        self.ends.events = self.ends.events.wrapping_add(1);
        self.send(&host_event(self.ends.events))?;
        Ok(self.ends.events)
    }

    /// Waits for an event, which must be the next completion.
    ///
    /// # Errors
    /// [`HostError::Timeout`] and [`HostError::EventMismatch`].
    pub fn wait_event(&mut self, event: u32) -> Result<(), HostError> {
        let found = self.completion()?.event();
        if found == Some(event) {
            return Ok(());
        }
        Err(HostError::EventMismatch { expected: event, found: found.unwrap_or(0) })
    }

    /// Queues an event and waits for it: everything queued so far has then run. Writes have been issued; only a barrier
    /// before the event guarantees that they have arrived.
    ///
    /// # Errors
    /// As [`event`](Queue::event) and [`wait_event`](Queue::wait_event).
    pub fn finish(&mut self) -> Result<(), HostError> {
        let event = self.event()?;
        self.wait_event(event)?;
        self.ends.issue.idle();
        Ok(())
    }

    /// Runs programs one after another and waits for the end. Their times are those of [`times`](Queue::times).
    ///
    /// # Errors
    /// If a program does not fit its commands, and as [`finish`](Queue::finish).
    pub fn run(&mut self, programs: &[Program]) -> Result<(), HostError> {
        self.send_all(&lower_programs(programs, self.settings.lowering, &self.ends.board, &self.ends.layout)?)?;
        self.finish()
    }

    /// Waits for the next record in the completion ring and returns its pages.
    ///
    /// The device may announce a record page by page, and several at once: records are separated by the length in the
    /// echoed header.
    ///
    /// # Errors
    /// [`HostError::Timeout`], or [`HostError::Completion`] if the data is not a record.
    pub fn completion(&mut self) -> Result<Completion, HostError> {
        let (start, limit) = (self.device.now(), self.settings.completion_timeout_ns);
        loop {
            if let Some(completion) = self.poll_completion()? {
                return Ok(completion);
            }
            if self.device.now() - start > limit {
                return Err(HostError::Timeout { what: "a completion".into(), ns: limit });
            }
            self.device.wait(self.settings.poll_ns)?;
        }
    }

    /// Takes the contents of the completion ring, and returns the record if one is complete.
    ///
    /// # Errors
    /// [`HostError::Completion`] if the data is not a record.
    pub fn poll_completion(&mut self) -> Result<Option<Completion>, HostError> {
        let mut word = [0; 4];
        self.device.host_read(self.ends.sysmem, u64::from(self.ends.layout.sysmem.completion_wr), &mut word)?;
        let write = RingPointer::from_word(u32::from_le_bytes(word));
        let Some(mut pages) = self.ends.read.pages_to(write, &self.ends.layout) else {
            let why = format!("the write pointer is {:#010x}", write.word());
            return Err(HostError::Completion { at: self.ends.read.units, why });
        };
        while pages > 0 {
            let partial = match self.ends.partial.take() {
                Some(partial) => partial,
                None => Partial { length: self.record_length()?, bytes: Vec::new() },
            };
            let partial = self.ends.partial.insert(partial);
            let rest = (partial.length - partial.bytes.len() as u64).min(u64::from(COMPLETION_PAGE)) as usize;
            let at = partial.bytes.len();
            partial.bytes.resize(at + rest, 0);
            self.device.host_read(
                self.ends.sysmem,
                self.ends.read.offset(&self.ends.layout),
                &mut partial.bytes[at..],
            )?;
            let whole = partial.bytes.len() as u64 == partial.length;
            self.give_page_back()?;
            pages -= 1;
            if whole && let Some(record) = self.ends.partial.take() {
                let is_event = record.bytes[1] != 0;
                return Ok(Some(Completion { is_event, bytes: record.bytes[HEADER..].to_vec() }));
            }
        }
        Ok(None)
    }

    /// Bytes of incomplete completion records, of either queue.
    pub fn partial_bytes(&self) -> u64 {
        let other = self.second.as_ref().and_then(|other| other.partial.as_ref());
        self.ends.partial.iter().chain(other).map(|partial| partial.bytes.len() as u64).sum()
    }

    /// The length in the header at the read pointer, which the dispatcher echoes there.
    fn record_length(&mut self) -> Result<u64, HostError> {
        let mut header = [0; HEADER];
        self.device.host_read(self.ends.sysmem, self.ends.read.offset(&self.ends.layout), &mut header)?;
        match WriteHost::read(&header) {
            Ok(header) if header.length >= HEADER as u64 => Ok(header.length),
            _ => Err(HostError::Completion { at: self.ends.read.units, why: format!("it starts with {header:02x?}") }),
        }
    }

    /// Informs the dispatcher that a page was read.
    fn give_page_back(&mut self) -> Result<(), HostError> {
        self.ends.read = self.ends.read.advanced(1, &self.ends.layout);
        let word = self.ends.read.word();
        self.device.write32(self.ends.dispatch, u64::from(self.ends.layout.dispatch.completion_rd), word)?;
        self.device.host_write(
            self.ends.sysmem,
            u64::from(self.ends.layout.sysmem.completion_rd),
            &word.to_le_bytes(),
        )?;
        Ok(())
    }

    /// The dispatcher's clock before and after program `index` of the last [`run`](Queue::run), in cycles.
    ///
    /// # Errors
    /// If there is no such slot.
    pub fn times(&mut self, index: u32) -> Result<Times, HostError> {
        let slot = u64::from(self.ends.layout.sysmem.timestamps) + 32 * u64::from(index);
        Ok(Times { start: self.host_u64(slot)?, end: self.host_u64(slot + 16)? })
    }

    /// Start and end times of a program's tile, in cycles: `order` counts the program's tiles by column, then row.
    ///
    /// # Errors
    /// If there is no such slot.
    pub fn core_times(&mut self, index: u32, tiles: u32, order: u32) -> Result<Times, HostError> {
        let slot =
            u64::from(self.ends.layout.sysmem.timing) + 16 * (u64::from(index) * u64::from(tiles) + u64::from(order));
        Ok(Times { start: self.host_u64(slot)?, end: self.host_u64(slot + 8)? })
    }

    fn host_u64(&mut self, offset: u64) -> Result<u64, HostError> {
        let mut bytes = [0; 8];
        self.device.host_read(self.ends.sysmem, offset, &mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Reads a tile's memory through a window.
    ///
    /// # Errors
    /// The device's errors.
    pub fn read_tile(&mut self, tile: Xy, addr: u64, out: &mut [u8]) -> Result<(), HostError> {
        let window = self.device.open(WINDOW, WindowTarget::tile(tile, addr / WINDOW * WINDOW))?;
        let read = self.device.read(window, addr % WINDOW, out);
        self.device.close(window)?;
        Ok(read?)
    }

    /// The device.
    pub fn device(&mut self) -> &mut D {
        &mut self.device
    }

    /// The board.
    pub fn board(&self) -> &Board {
        &self.ends.board
    }

    /// The memory map.
    pub fn layout(&self) -> &Layout {
        &self.ends.layout
    }

    /// The queue's pinned memory.
    pub fn sysmem(&self) -> Pinned {
        self.ends.sysmem
    }

    /// Stops the queue's cores and releases windows and memory; returns the device.
    ///
    /// # Errors
    /// The device's errors.
    pub fn close(mut self) -> Result<D, HostError> {
        if let Some(number) = self.second.as_ref().map(|other| other.number) {
            self.close_ends()?;
            self.choose(number);
        }
        self.close_ends()?;
        if let Some(staging) = self.staging {
            self.device.unpin(staging)?;
        }
        Ok(self.device)
    }

    fn close_ends(&mut self) -> Result<(), HostError> {
        for core in [self.ends.board.prefetch, self.ends.board.dispatch] {
            let at = u64::from(SOFT_RESET);
            let window = self.device.open(WINDOW, WindowTarget::tile(core, at / WINDOW * WINDOW))?;
            self.device.write32(window, at % WINDOW, ALL_IN_RESET)?;
            self.device.close(window)?;
        }
        self.device.close(self.ends.prefetch)?;
        self.device.close(self.ends.dispatch)?;
        Ok(self.device.unpin(self.ends.sysmem)?)
    }
}

/// The register that holds a tile's processors in reset.
pub const SOFT_RESET: u32 = 0xFFB1_21B0;
/// Its value with all processors held.
pub const ALL_IN_RESET: u32 = 0x0004_7800;
/// Its value with BRISC running.
pub const BRISC_RUNS: u32 = 0x0004_7000;

/// A host's state for one queue.
#[derive(Debug)]
pub(super) struct Ends {
    pub(crate) board: Board,
    pub(crate) layout: Layout,
    pub(crate) sysmem: Pinned,
    pub(crate) prefetch: Window,
    pub(crate) dispatch: Window,
    pub(crate) issue: Issue,
    pub(crate) read: RingPointer,
    /// The part of a record whose other pages have not arrived yet.
    pub(super) partial: Option<Partial>,
    pub(crate) events: u32,
    /// Its number, 0 or 1.
    pub(super) number: u8,
}

impl Ends {
    /// Pins the memory of a queue and opens the windows of its cores.
    pub(super) fn open(device: &mut impl Device, board: Board, layout: Layout, number: u8) -> Result<Ends, HostError> {
        let sysmem = device.pin(u64::from(layout.sysmem.bytes))?;
        let expected = PCIE_NOC_BIT | layout.sysmem.noc_base;
        if sysmem.noc_addr != expected {
            return Err(HostError::Misplaced { found: sysmem.noc_addr, expected });
        }
        let prefetch = device.open(WINDOW, WindowTarget::tile(board.prefetch, 0))?;
        let dispatch = device.open(WINDOW, WindowTarget::tile(board.dispatch, 0))?;
        let (issue, read) = (Issue::new(&layout), RingPointer::first(&layout));
        Ok(Ends { board, layout, sysmem, prefetch, dispatch, issue, read, partial: None, events: 0, number })
    }
}
