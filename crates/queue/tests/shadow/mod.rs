//! A shadow of the device: random legal commands, and the resulting contents of every memory.
//!
//! It implements the semantics of commands without pages, credits or time. Where the device does not guarantee an order
//! that matters, one is requested: a barrier between writes of different classes, a stall before the prefetcher reads
//! data that the dispatcher writes.

mod relays;
mod writes;

use std::collections::{BTreeMap, VecDeque};

use slipring_queue::board::{Board, cover};
use slipring_queue::host::{Kernels, Queue, STALL, Settings};
use slipring_queue::layout::{PCIE_NOC_BIT, SysmemLayout};
use slipring_queue::machine::{Actor, Config, Machine, State, Status};
use slipring_queue::wire::*;
use slipring_queue::{Layout, wire};

/// The regions that commands write in workers' L1, in DRAM banks, and in the host's memory (its slots for timestamps).
const L1: (u32, u32) = (0x4_0000, 0x1_0000);
const DRAM: (u32, u32) = (0x1_0000, 0x2_0000);
const HOST_BYTES: u32 = 0x8000;
/// The region that relays read: the same bytes at the same addresses of all banks, and of all workers.
const SOURCE: (u32, u32) = (0x10_0000, 0x8_0000);
const L1_SOURCE: (u32, u32) = (0x2_0000, 0x1_0000);
/// The address of traces in DRAM.
const TRACE: u32 = 0x40_0000;

/// The splitmix64 generator, so that failures are reproducible.
pub struct Random(u64, Vec<u8>);

impl Random {
    pub fn new(seed: u64) -> Random {
        let pattern = (0..0x1_2000).map(|i| (i % 251) as u8).collect();
        Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ 0x1234_5678, pattern)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `least` to `most`.
    pub fn range(&mut self, least: u32, most: u32) -> u32 {
        least + (self.next() % u64::from(most - least + 1)) as u32
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.range(0, from.len() as u32 - 1) as usize]
    }

    fn bytes(&mut self, count: u32) -> Vec<u8> {
        let start = (self.next() % 251) as usize;
        self.1[start..start + count as usize].to_vec()
    }
}

/// The byte of a source at an address of a bank or tile.
fn source(which: u32, addr: u32) -> u8 {
    ((addr ^ which.wrapping_mul(0x9E37)).wrapping_mul(2_654_435_761) >> 24) as u8
}

/// The class of writes in flight.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Unicast,
    Multicast,
}

pub struct Shadow {
    random: Random,
    board: Board,
    layout: Layout,
    queue: Queue<Machine>,
    workers: Vec<Xy>,
    rects: Vec<Rect>,
    l1: BTreeMap<Xy, Vec<u8>>,
    dram: Vec<Vec<u8>>,
    host: Vec<u8>,
    /// The data that relays read: of workers, and of banks.
    sources: [Vec<Vec<u8>>; 2],
    offsets: [u32; 4],
    under_way: Option<Class>,
    /// The bytes that completions should deliver, in order.
    completions: VecDeque<(bool, Vec<u8>)>,
    event: u32,
    /// Commands for the next record, and its size.
    record: Vec<PrefetchCommand>,
    pub commands: u64,
    stalls: bool,
    /// Workers have been started, and the prefetcher does not know whether they are done.
    launched: bool,
    /// Commands are being collected for a trace.
    tracing: bool,
    /// Maximum number of pages of a relay, and maximum size of a record in bytes.
    most_pages: u32,
    most_record: u32,
}

/// A memory map with small rings, which wrap often, and with all features that the fixed configuration leaves out.
pub fn small_layout() -> Layout {
    let mut layout = Layout { sems: 4, ..Layout::default() };
    layout.prefetch.q_entries = 37;
    layout.prefetch.cmddat_bytes = 0x1_0000;
    layout.prefetch.ringbuffer_bytes = 0x2_0000;
    layout.dispatch.cb_pages = 32;
    layout.sysmem = SysmemLayout::new(0x4_0000, 16 * 4096);
    layout
}

impl Shadow {
    pub fn new(config: Config, seed: u64) -> Shadow {
        let (board, layout) = (config.board.clone(), config.layout.clone());
        let machine = Machine::new(config).expect("a possible configuration");
        let settings = Settings { poll_ns: 500, ..Settings::CAREFUL };
        let mut queue =
            Queue::open(machine, board.clone(), layout.clone(), settings, &Kernels::default()).expect("opens");
        let workers: Vec<Xy> = board.workers().collect();
        let machine = queue.device();
        let fill = |which: u32, region: (u32, u32)| (0..region.1).map(|i| source(which, region.0 + i)).collect();
        let sources: [Vec<Vec<u8>>; 2] = [
            (0..board.tensix().count() as u32).map(|number| fill(1000 + number, L1_SOURCE)).collect(),
            (0..board.banks.len() as u32).map(|bank| fill(bank, SOURCE)).collect(),
        ];
        for (tile, bytes) in board.tensix().zip(&sources[0]).filter(|(tile, _)| workers.contains(tile)) {
            machine.poke(tile, L1_SOURCE.0.into(), bytes).expect("L1");
        }
        for (bank, bytes) in board.banks.iter().zip(&sources[1]) {
            machine.poke(bank.ports[0], SOURCE.0.into(), bytes).expect("DRAM");
        }
        let cb = &layout.dispatch;
        Shadow {
            random: Random::new(seed),
            sources,
            l1: workers.iter().map(|tile| (*tile, vec![0; L1.1 as usize])).collect(),
            dram: vec![vec![0; DRAM.1 as usize]; board.banks.len()],
            host: vec![0; HOST_BYTES as usize],
            offsets: [0; 4],
            under_way: None,
            completions: VecDeque::new(),
            // So that event numbers wrap.
            event: u32::MAX - 20,
            record: Vec::new(),
            commands: 0,
            stalls: layout.sems > 2,
            launched: false,
            tracing: false,
            most_pages: cb.cb_pages - 2 * cb.block_pages() + 1,
            most_record: (layout.sysmem.issue_bytes / 3).min(layout.prefetch.cmddat_bytes) & !63,
            rects: cover(workers.iter().copied()),
            workers,
            board,
            layout,
            queue,
        }
    }

    /// Sends about this many commands.
    pub fn run(&mut self, commands: u64) {
        let end = self.commands + commands;
        while self.commands < end {
            match self.random.range(0, 99) {
                0..18 => self.write_linear(),
                18..26 => self.multicast_linear(),
                26..34 => self.write_paged(),
                34..52 => self.write_packed(),
                52..62 => self.write_packed_large(),
                62..66 => self.set_offsets(),
                66..74 => self.report(),
                74..77 => self.launch(),
                77..83 => self.relay_linear(),
                83..90 => self.relay_paged(),
                90..94 => self.relay_packed(),
                94..97 => self.ringbuffer(),
                97 => self.trace(),
                _ => self.dispatch(DispatchCommand::bare(Dispatch::ExecBufEnd(BareDispatch {}))),
            }
            if self.random.range(0, 3) > 0 {
                self.flush(0);
            }
        }
        self.flush(0);
    }

    /// Queues the collected commands as one record.
    fn flush(&mut self, flags: u16) {
        if self.record.is_empty() {
            return;
        }
        let record = std::mem::take(&mut self.record);
        self.take_completions(false);
        self.queue.send_together(&record, flags).unwrap_or_else(|error| panic!("{error}"));
    }

    fn take_completions(&mut self, all: bool) {
        while !self.completions.is_empty() {
            let found = match all {
                true => Some(self.queue.completion().unwrap_or_else(|error| panic!("{error}"))),
                false => self.queue.poll_completion().unwrap_or_else(|error| panic!("{error}")),
            };
            let Some(found) = found else { return };
            let (is_event, bytes) = self.completions.pop_front().expect("one is expected");
            assert_eq!((found.is_event, found.bytes == bytes), (is_event, true));
        }
    }

    fn add(&mut self, command: PrefetchCommand) {
        let bytes = command.header.stride();
        let present: u32 = self.record.iter().map(|c| c.header.stride()).sum();
        if present + bytes > self.most_record {
            self.flush(0);
        }
        self.commands += 1;
        self.record.push(command);
    }

    fn dispatch(&mut self, command: DispatchCommand) {
        self.add(relay_inline(command.encode()).expect("fits"));
    }

    /// Inserts a barrier if writes of another class are in flight.
    fn class(&mut self, class: Class) {
        if self.under_way.is_some_and(|under_way| under_way != class) {
            self.barrier();
        }
        self.under_way = Some(class);
    }

    fn barrier(&mut self) {
        self.under_way = None;
        self.dispatch(wait_barrier());
    }

    /// Bytes and an address for them in a region: a multiple of 16, with a maximum size.
    fn place(&mut self, region: (u32, u32), most: u32) -> (u32, u32) {
        let bytes = match self.random.range(0, 11) {
            0..5 => self.random.range(1, 64),
            5..9 => self.random.range(1, 600),
            // Around page boundaries.
            9..11 => (4096 * self.random.range(1, 4)).saturating_sub(16 * self.random.range(0, 5)).max(1),
            _ => self.random.range(1, 20_000),
        }
        .min(most);
        let addr = region.0 + 16 * self.random.range(0, (region.1 - bytes) / 16);
        (addr, bytes)
    }

    fn most_payload(&self) -> u32 {
        (self.most_pages * 4096 - 4096).min(self.most_record - 128).min(40_000)
    }

    /// An event, or bytes for the host.
    fn report(&mut self) {
        // A host that waits for a slot takes no completions, so the ring must hold everything that may arrive until it
        // looks again.
        let pages: usize = self.completions.iter().map(|(_, bytes)| (16 + bytes.len()).div_ceil(4096)).sum();
        if !self.tracing && pages + 8 > (self.layout.sysmem.completion_bytes / 4096) as usize {
            self.flush(0);
            self.take_completions(true);
        }
        if self.random.range(0, 1) == 0 {
            self.event = self.event.wrapping_add(1);
            let mut bytes = self.event.to_le_bytes().to_vec();
            bytes.resize(16, 0);
            self.completions.push_back((true, bytes));
            return self.dispatch(host_event(self.event));
        }
        let ring = self.layout.sysmem.completion_bytes / 2;
        let most = self.most_payload().min(ring);
        let bytes = self.random.pick(&[32, 36, 1024, 4096 - 32, 4096 - 16, 4096, 4096 + 16, 9000, 30_000]).min(most);
        let data = self.random.bytes(bytes);
        self.completions.push_back((false, data.clone()));
        let header = WriteHost { is_event: 0, length: 16 + u64::from(bytes) };
        self.dispatch(DispatchCommand { header: Dispatch::WriteHost(header), subs: Subs::None, data });
    }

    /// A launch of some workers.
    fn launch(&mut self) {
        let stream = self.layout.dispatch.first_stream as u16;
        let count = self.random.range(1, self.workers.len() as u32) as usize;
        let tiles: Vec<Xy> = (0..count).map(|i| self.workers[(i * 7) % self.workers.len()]).collect();
        let tiles: Vec<Xy> =
            tiles.iter().enumerate().filter(|(i, t)| !tiles[..*i].contains(t)).map(|(_, t)| *t).collect();
        self.barrier();
        self.dispatch(set_go_tiles(&tiles));
        self.dispatch(wait_stream(stream, 0));
        self.dispatch(send_go(self.board.go_word(), tiles.len(), stream).expect("255 or fewer"));
        self.dispatch(wait_stream(stream, tiles.len() as u32));
        self.launched = true;
    }

    /// Whether the prefetcher may read workers' L1; waits for the workers if it can.
    fn may_read_l1(&mut self) -> bool {
        if self.launched && self.stalls && !self.tracing {
            self.stall();
        }
        !self.launched
    }

    /// A first page such that none of these pages in L1 is on a core of the queue; tiles are counted row by row.
    fn first_l1_page(&mut self, pages: u32, most: u32) -> u32 {
        let tiles: Vec<Xy> = self.board.tensix().collect();
        loop {
            let first = self.random.range(0, most);
            let mut hit = (first..first + pages).map(|page| tiles[page as usize % tiles.len()]);
            if hit.all(|tile| self.workers.contains(&tile)) {
                return first;
            }
        }
    }

    /// Terminates both kernels, and compares every memory.
    pub fn finish(mut self) -> Status {
        self.flush(0);
        self.take_completions(true);
        self.dispatch(DispatchCommand::bare(Dispatch::Terminate(BareDispatch {})));
        self.add(PrefetchCommand::bare(Prefetch::Terminate(Bare {})));
        self.flush(0);
        let machine = self.queue.device();
        assert!(machine.settle(10_000_000), "{:#?}", machine.status().actors);
        assert_eq!(machine.findings(), []);
        for actor in [Actor::Prefetch, Actor::Dispatch] {
            assert_eq!(machine.state(actor), State::Ended, "{:#?}", machine.status().actors);
        }
        let mut found = vec![0; L1.1 as usize];
        for (tile, expected) in &self.l1 {
            machine.peek(*tile, L1.0.into(), &mut found).expect("L1");
            let differs = found.iter().zip(expected).position(|(a, b)| a != b);
            assert_eq!(differs, None, "{tile}");
        }
        let mut found = vec![0; DRAM.1 as usize];
        for (bank, expected) in self.dram.iter().enumerate() {
            machine.peek(self.board.banks[bank].ports[0], DRAM.0.into(), &mut found).expect("DRAM");
            let differs = found.iter().zip(expected).position(|(a, b)| a != b);
            assert_eq!(differs, None, "bank {bank}");
        }
        let sysmem = self.queue.sysmem();
        let mut found = vec![0; HOST_BYTES as usize];
        let at = self.layout.sysmem.timestamps.into();
        slipring_queue::host::Device::host_read(self.queue.device(), sysmem, at, &mut found).expect("pinned");
        assert!(found == self.host);
        let status = self.queue.device().status();
        assert_eq!(status.credits, self.layout.dispatch.cb_pages);
        status
    }
}
