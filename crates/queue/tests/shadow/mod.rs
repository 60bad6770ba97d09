//! A shadow of the device: random legal commands, and what they should leave in every memory.
//!
//! It knows the commands' meaning and nothing of pages, credits or time. Orders that the device does not promise are asked
//! for where they matter: a barrier between writes of different classes, a stall before the prefetcher reads what the
//! dispatcher writes.

use std::collections::{BTreeMap, VecDeque};

use slipring_queue::board::{Board, cover};
use slipring_queue::host::{Kernels, Queue, STALL, Settings};
use slipring_queue::layout::{PCIE_NOC_BIT, SysmemLayout};
use slipring_queue::machine::{Actor, Config, Machine, State, Status};
use slipring_queue::wire::*;
use slipring_queue::{Layout, wire};

/// Where commands write in workers' L1, in DRAM banks, and in the host's memory (its slots for timestamps).
const L1: (u32, u32) = (0x4_0000, 0x1_0000);
const DRAM: (u32, u32) = (0x1_0000, 0x2_0000);
const HOST_BYTES: u32 = 0x8000;
/// What relays read: the same bytes at the same addresses of all banks, and of all workers.
const SOURCE: (u32, u32) = (0x10_0000, 0x8_0000);
const L1_SOURCE: (u32, u32) = (0x2_0000, 0x1_0000);
/// Where traces stand in DRAM.
const TRACE: u32 = 0x40_0000;

/// The generator of splitmix64, so that a failure can be run again.
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

/// Byte of a source at an address of a bank or tile.
fn source(which: u32, addr: u32) -> u8 {
    ((addr ^ which.wrapping_mul(0x9E37)).wrapping_mul(2_654_435_761) >> 24) as u8
}

/// In which class writes are on their way.
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
    /// What relays read: of workers, and of banks.
    sources: [Vec<Vec<u8>>; 2],
    offsets: [u32; 4],
    under_way: Option<Class>,
    /// Bytes that completions should bring, in their order.
    completions: VecDeque<(bool, Vec<u8>)>,
    event: u32,
    /// Commands for the next record, and what it will take.
    record: Vec<PrefetchCommand>,
    pub commands: u64,
    stalls: bool,
    /// Commands are gathered for a trace.
    tracing: bool,
    /// Most pages of one relay, and most bytes of one record.
    most_pages: u32,
    most_record: u32,
}

/// A memory map with small rings, so that they wrap often, and with everything that the fixed configuration leaves out.
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
            (0..workers.len() as u32).map(|number| fill(1000 + number, L1_SOURCE)).collect(),
            (0..board.banks.len() as u32).map(|bank| fill(bank, SOURCE)).collect(),
        ];
        for (tile, bytes) in workers.iter().zip(&sources[0]) {
            machine.poke(*tile, L1_SOURCE.0.into(), bytes).expect("L1");
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

    /// Sends about so many commands.
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

    /// Queues what has been gathered as one record.
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

    /// A barrier if writes of another class are on their way.
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

    /// Bytes and a place for them in a region: at a multiple of 16, up to a size.
    fn place(&mut self, region: (u32, u32), most: u32) -> (u32, u32) {
        let bytes = match self.random.range(0, 11) {
            0..5 => self.random.range(1, 64),
            5..9 => self.random.range(1, 600),
            // Around pages.
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

    fn write_linear(&mut self) {
        let most = self.most_payload();
        let index = self.random.range(0, 3) as usize;
        let (xy, addr, bytes) = match self.random.range(0, 9) {
            0..6 => {
                let (addr, bytes) = self.place(L1, most);
                (self.random.pick(&self.workers).word(), u64::from(addr), bytes)
            }
            6..9 => {
                let (addr, bytes) = self.place(DRAM, most);
                let bank = self.random.range(0, self.dram.len() as u32 - 1);
                (self.board.banks[bank as usize].ports[1].word(), addr.into(), bytes)
            }
            _ => {
                let host = &self.layout.sysmem;
                let start = host.noc(host.timestamps);
                let (addr, bytes) = self.place((start as u32, HOST_BYTES), most.min(HOST_BYTES));
                (PCIE_XY, u64::from(addr) | PCIE_NOC_BIT, bytes)
            }
        };
        self.class(Class::Unicast);
        let data = self.random.bytes(bytes);
        self.apply(xy, addr, &data);
        let addr = addr.wrapping_sub(self.offsets[index].into());
        let header =
            WriteLinear { write_offset_index: index as u8, noc_xy: xy, addr, length: bytes.into(), num_mcast_dests: 0 };
        let header =
            if self.random.range(0, 1) == 0 { Dispatch::WriteLinear(header) } else { Dispatch::WriteLinearH(header) };
        self.dispatch(DispatchCommand { header, subs: Subs::None, data });
    }

    /// What a write does to the shadow.
    fn apply(&mut self, xy: u32, addr: u64, data: &[u8]) {
        let (memory, start) = if xy == PCIE_XY {
            let host = &self.layout.sysmem;
            (&mut self.host, (addr & !PCIE_NOC_BIT) - host.noc(host.timestamps))
        } else if let Some(l1) = self.l1.get_mut(&Xy::from_word(xy)) {
            (l1, addr - u64::from(L1.0))
        } else {
            let bank =
                self.board.banks.iter().position(|bank| bank.ports.contains(&Xy::from_word(xy))).expect("a bank");
            (&mut self.dram[bank], addr - u64::from(DRAM.0))
        };
        memory[start as usize..start as usize + data.len()].copy_from_slice(data);
    }

    fn apply_rect(&mut self, rect: Rect, addr: u32, data: &[u8]) {
        for tile in rect.tiles() {
            self.apply(tile.word(), addr.into(), data);
        }
    }

    /// A rectangle inside one of those that cover the workers.
    fn rect(&mut self) -> Rect {
        let outer = self.random.pick(&self.rects);
        // Mostly a few tiles: large ones take the time of many commands.
        let most = if self.random.range(0, 15) == 0 { 63 } else { 1 };
        let mut side = |low: u8, high: u8| {
            let from = self.random.range(low.into(), high.into()) as u8;
            (from, self.random.range(from.into(), high.min(from + most).into()) as u8)
        };
        let (x, y) = (side(outer.low.x, outer.high.x), side(outer.low.y, outer.high.y));
        Rect::new(Xy::new(x.0, y.0), Xy::new(x.1, y.1))
    }

    fn multicast_linear(&mut self) {
        let (rect, (addr, bytes)) = (self.rect(), self.place(L1, 6000));
        // No other multicast may be under way, nor be started before this one has arrived.
        self.barrier();
        let data = self.random.bytes(bytes);
        self.apply_rect(rect, addr, &data);
        let header = WriteLinear {
            num_mcast_dests: rect.area() as u8,
            write_offset_index: 0,
            noc_xy: rect.word(),
            addr: u64::from(addr.wrapping_sub(self.offsets[0])),
            length: bytes.into(),
        };
        // The offset is added in 64 bits; without one, addresses need not wrap.
        if self.offsets[0] == 0 {
            self.dispatch(DispatchCommand { header: Dispatch::WriteLinear(header), subs: Subs::None, data });
        } else {
            let header = WriteLinear { addr: u64::from(addr).wrapping_sub(self.offsets[0].into()), ..header };
            self.dispatch(DispatchCommand { header: Dispatch::WriteLinear(header), subs: Subs::None, data });
        }
        self.barrier();
    }

    fn write_paged(&mut self) {
        let dram = self.random.range(0, 1) == 0;
        let page_size = 16 * self.random.range(1, 300);
        let pages = self.random.range(1, 12).min(self.most_payload() / page_size).max(1);
        let banks = if dram { self.dram.len() } else { self.workers.len() } as u32;
        let (base, align) = if dram { (DRAM.0, 64) } else { (L1.0, 16) };
        let start_page = self.random.range(0, 2 * banks);
        self.class(Class::Unicast);
        let data = self.random.bytes(page_size * pages);
        for (i, page) in data.chunks(page_size as usize).enumerate() {
            let id = start_page + i as u32;
            let addr = base + id / banks * page_size.next_multiple_of(align);
            let xy = match dram {
                true => self.board.banks[(id % banks) as usize].ports[1],
                false => self.workers[(id % banks) as usize],
            };
            self.apply(xy.word(), addr.into(), page);
        }
        let header =
            WritePaged { is_dram: dram.into(), start_page: start_page as u16, base_addr: base, page_size, pages };
        self.dispatch(DispatchCommand { header: Dispatch::WritePaged(header), subs: Subs::None, data });
    }

    fn write_packed(&mut self) {
        let multicast = self.random.range(0, 3) == 0;
        let shared = self.random.range(0, 2) == 0;
        let most = if multicast { 20 } else { WritePacked::MAX_UNICAST.into() };
        let count = self.random.range(1, most);
        let list = (count * if multicast { 8 } else { 4 }).next_multiple_of(16) + 16;
        let most_size = match shared {
            true => 4096 - list,
            false => ((self.most_payload() - list) / count).min(4096) & !15,
        };
        let size = match self.random.range(0, 2) {
            0 => self.random.range(1, 128),
            1 => self.random.range(1, 4096),
            _ => 4096,
        }
        .min(most_size);
        let addr = L1.0 + 16 * self.random.range(0, (L1.1 - size) / 16);
        let index = self.random.range(0, 3) as usize;
        self.class(if multicast { Class::Multicast } else { Class::Unicast });
        let (mut data, mut packet) = (Vec::new(), self.random.bytes(size));
        let mut subs = (Vec::new(), Vec::new());
        for i in 0..count {
            if i == 0 || !shared {
                packet = self.random.bytes(size);
                data.extend_from_slice(&packet);
                data.resize(data.len().next_multiple_of(16), 0);
            }
            if multicast {
                let rect = self.rect();
                self.apply_rect(rect, addr, &packet);
                subs.1.push(MulticastSub { noc_xy: rect.word(), num_mcast_dests: rect.area() });
            } else {
                let tile = self.random.pick(&self.workers);
                self.apply(tile.word(), addr.into(), &packet);
                subs.0.push(UnicastSub { noc_xy: tile.word() });
            }
        }
        let header = WritePacked {
            flags: u8::from(multicast) | u8::from(shared) << 1,
            count: count as u16,
            write_offset_index: index as u16,
            size: size as u16,
            addr: addr.wrapping_sub(self.offsets[index]),
        };
        let subs = if multicast { Subs::Multicast(subs.1) } else { Subs::Unicast(subs.0) };
        self.dispatch(DispatchCommand { header: Dispatch::WritePacked(header), subs, data });
    }

    fn write_packed_large(&mut self) {
        self.class(Class::Multicast);
        let count = self.random.range(1, 6);
        let alignment = self.random.pick(&[16u16, 32, 64]);
        let index = self.random.range(0, 3) as usize;
        let (mut subs, mut data) = (Vec::new(), Vec::new());
        let mut rect = self.rect();
        for i in 0..count {
            let (addr, bytes) = self.place(L1, self.most_payload() / count - 64);
            let packet = self.random.bytes(bytes);
            self.apply_rect(rect, addr, &packet);
            data.extend_from_slice(&packet);
            data.resize(data.len() + (bytes.next_multiple_of(alignment.into()) - bytes) as usize, 0);
            let unlink = i + 1 == count || self.random.range(0, 1) == 0;
            subs.push(LargeSub {
                noc_xy: rect.word(),
                addr: addr.wrapping_sub(self.offsets[index]),
                length_minus1: (bytes - 1) as u16,
                num_mcast_dests: rect.area() as u8,
                flags: unlink.into(),
            });
            // A linked run stays with its rectangle.
            if unlink {
                rect = self.rect();
            }
        }
        let header = WritePackedLarge { kind: 1, count: count as u16, alignment, write_offset_index: index as u16 };
        self.dispatch(DispatchCommand { header: Dispatch::WritePackedLarge(header), subs: Subs::Large(subs), data });
    }

    fn set_offsets(&mut self) {
        let count = self.random.range(1, 4) as usize;
        for offset in &mut self.offsets[..count] {
            *offset = 16 * self.random.range(0, 0x1000);
        }
        let offsets = self.offsets[..count].to_vec();
        self.dispatch(wire::set_write_offsets(&offsets).expect("four or fewer"));
    }

    /// An event, or bytes for the host.
    fn report(&mut self) {
        // A host that waits for a slot takes no completions: the ring must hold all that may come until it looks again.
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
    }

    /// A WRITE_LINEAR header that goes ahead of what a relay brings.
    fn append_to(&mut self, data: &[u8]) {
        let addr = L1.0 + 16 * self.random.range(0, (L1.1 - data.len() as u32) / 16);
        let tile = self.random.pick(&self.workers);
        self.class(Class::Unicast);
        self.apply(tile.word(), addr.into(), data);
        let header = WriteLinear {
            noc_xy: tile.word(),
            addr: u64::from(addr).wrapping_sub(self.offsets[0].into()),
            length: data.len() as u64,
            ..Default::default()
        };
        let payload = DispatchCommand::bare(Dispatch::WriteLinear(header)).encode();
        let inline = Inline { dispatcher_type: 0, length: payload.len() as u32, stride: 64 };
        let padding = vec![0; 48 - payload.len()];
        let header = Prefetch::RelayInlineNoflush(inline);
        self.add(PrefetchCommand { header, subs: RelaySubs::None, payload, padding });
    }

    /// The prefetcher may read what was written so far only when it has arrived.
    fn stall(&mut self) {
        let wait = wire::Wait { flags: wire::Wait::BARRIER | wire::Wait::NOTIFY_PREFETCH, ..Default::default() };
        self.under_way = None;
        self.dispatch(DispatchCommand::bare(Dispatch::Wait(wait)));
        self.add(PrefetchCommand::bare(Prefetch::Stall(Bare {})));
    }

    fn relay_linear(&mut self) {
        let bytes = self.random.pick(&[32, 64, 4064, 4096, 4100, 40_000, 65_536]).min(L1.1);
        let (xy, addr, data) = if self.stalls && self.random.range(0, 1) == 0 {
            // Back out of what commands have written.
            self.stall();
            let bank = self.random.range(0, self.dram.len() as u32 - 1) as usize;
            let at = 64 * self.random.range(0, (DRAM.1 - bytes) / 64);
            let data = self.dram[bank][at as usize..(at + bytes) as usize].to_vec();
            (self.board.banks[bank].ports[0], DRAM.0 + at, data)
        } else if self.random.range(0, 1) == 0 {
            let number = self.random.range(0, self.workers.len() as u32 - 1);
            let at = L1_SOURCE.0 + 16 * self.random.range(0, (L1_SOURCE.1 - bytes) / 16) / 16 * 16;
            let from = (at - L1_SOURCE.0) as usize;
            let data = self.sources[0][number as usize][from..from + bytes as usize].to_vec();
            (self.workers[number as usize], at, data)
        } else {
            let bank = self.random.range(0, self.dram.len() as u32 - 1);
            let at = SOURCE.0 + 64 * self.random.range(0, (SOURCE.1 - bytes) / 64);
            let from = (at - SOURCE.0) as usize;
            let data = self.sources[1][bank as usize][from..from + bytes as usize].to_vec();
            (self.board.banks[bank as usize].ports[0], at, data)
        };
        self.append_to(&data);
        let linear = RelayLinear { length: bytes.into(), noc_xy: xy.word(), addr: addr.into() };
        self.add(PrefetchCommand::bare(Prefetch::RelayLinear(linear)));
    }

    /// Bytes of interleaved source pages.
    fn source_pages(&self, dram: bool, first: u32, page: u32, bytes: u32) -> Vec<u8> {
        let banks = if dram { self.dram.len() } else { self.workers.len() } as u32;
        let align = if dram { 64 } else { 16 };
        let mut data = Vec::with_capacity(bytes as usize);
        for id in first.. {
            let left = bytes - data.len() as u32;
            let from = (id / banks * page.next_multiple_of(align)) as usize;
            let memory = &self.sources[usize::from(dram)][(id % banks) as usize];
            data.extend_from_slice(&memory[from..from + left.min(page) as usize]);
            if left <= page {
                break;
            }
        }
        data
    }

    fn relay_paged(&mut self) {
        let dram = self.random.range(0, 2) > 0;
        let align = if dram { 64 } else { 16 };
        // Pages are read next to each other, so that their size decides how they are aligned.
        let page = align * self.random.range(1, 4096 / align);
        let page = if self.random.range(0, 20) == 0 && dram { 0x8000 } else { page };
        let pages = self.random.range(1, 16).min(60_000 / page).max(1);
        // Large pages reach the end of the source sooner.
        let first = self.random.range(0, if page > 4096 { 40 } else { self.workers.len() as u32 });
        let bytes = page * pages;
        let adjust = (32 * self.random.range(0, 3)).min((page.min(bytes) - 1) / 32 * 32);
        let data = self.source_pages(dram, first, page, bytes - adjust);
        self.append_to(&data);
        let paged = RelayPaged {
            start_page: first as u8,
            is_dram_and_length_adjust: u16::from(dram) << 15 | adjust as u16,
            base_addr: if dram { SOURCE.0 } else { L1_SOURCE.0 },
            page_size: page,
            pages,
        };
        self.add(PrefetchCommand::bare(Prefetch::RelayPaged(paged)));
    }

    fn relay_packed(&mut self) {
        let count = self.random.range(1, 10);
        let (mut subs, mut data) = (Vec::new(), Vec::new());
        for i in 0..count {
            let log_page_size = self.random.range(6, 12) as u16;
            let first = self.random.range(0, 40);
            let last = i + 1 == count;
            let length = if last { self.random.range(1, 5000) } else { 64 * self.random.range(1, 80) };
            data.extend(self.source_pages(true, first, 1 << log_page_size, length));
            subs.push(PagedPackedSub { start_page: first as u16, log_page_size, base_addr: SOURCE.0, length });
        }
        self.append_to(&data);
        let bytes = 16 + 12 * count;
        let stride = bytes.next_multiple_of(64);
        let header = RelayPagedPacked { count: count as u16, total_length: data.len() as u32, stride };
        self.add(PrefetchCommand {
            header: Prefetch::RelayPagedPacked(header),
            subs: RelaySubs::PagedPacked(subs),
            payload: Vec::new(),
            padding: vec![0; (stride - bytes) as usize],
        });
    }

    fn ringbuffer(&mut self) {
        if self.layout.prefetch.ringbuffer_bytes == 0 {
            return;
        }
        // Two fills, one behind the other, then parts of the first and of both.
        let (log2, first) = (self.random.range(6, 11), self.random.range(0, 20));
        let bytes = [64 * self.random.range(4, 200), 64 * self.random.range(1, 100)];
        let mut held = Vec::new();
        for (i, bytes) in bytes.into_iter().enumerate() {
            let first = first + i as u32;
            held.extend(self.source_pages(true, first, 1 << log2, bytes));
            self.add(PrefetchCommand::bare(Prefetch::PagedToRingbuffer(PagedToRingbuffer {
                flags: if i == 0 { PagedToRingbuffer::RESET_TO_START } else { 0 },
                log2_page_size: log2 as u8,
                start_page: first as u8,
                wp_offset_update: bytes,
                base_addr: SOURCE.0,
                length: bytes,
            })));
        }
        for _ in 0..self.random.range(1, 3) {
            let offset = 64 * self.random.range(0, bytes[0] / 64 - 1);
            let set = SetRingbufferOffset { offset, update_wp: 0 };
            self.add(PrefetchCommand::bare(Prefetch::SetRingbufferOffset(set)));
            let count = self.random.range(1, 8);
            let (mut subs, mut data) = (Vec::new(), Vec::new());
            for _ in 0..count {
                let left = held.len() as u32 - offset;
                let start = 16 * self.random.range(0, (left - 1) / 16);
                // Parts stand next to each other in the dispatcher's pages, so all of them keep the alignment of writes.
                let length = (16 * self.random.range(1, 100)).min((left - start) / 16 * 16).max(16).min(left - start);
                let from = (offset + start) as usize;
                data.extend_from_slice(&held[from..from + length as usize]);
                subs.push(RingbufferSub { start, length });
            }
            self.append_to(&data);
            let bytes = 16 + 8 * count;
            let stride = bytes.next_multiple_of(64);
            self.add(PrefetchCommand {
                header: Prefetch::RelayRingbuffer(RelayRingbuffer { count: count as u16, stride }),
                subs: RelaySubs::Ringbuffer(subs),
                payload: Vec::new(),
                padding: vec![0; (stride - bytes) as usize],
            });
        }
    }

    /// Commands in DRAM.
    fn trace(&mut self) {
        self.flush(0);
        self.take_completions(true);
        self.event = self.event.wrapping_add(1);
        // Nobody may still be running the trace that stood there before.
        let mut bytes = self.event.to_le_bytes().to_vec();
        bytes.resize(16, 0);
        self.completions.push_back((true, bytes));
        self.dispatch(host_event(self.event));
        self.flush(0);
        self.take_completions(true);
        let before = self.commands;
        self.tracing = true;
        let mut commands = Vec::new();
        // Relays from within are kept out of the record that they would be flushed in.
        let (most_record, count) = (std::mem::replace(&mut self.most_record, 200_000), self.random.range(1, 12));
        for _ in 0..count {
            match self.random.range(0, 5) {
                0 => self.write_linear(),
                1 => self.write_packed(),
                2 => self.write_packed_large(),
                3 => self.relay_packed(),
                4 => self.report(),
                _ => self.write_paged(),
            }
            commands.append(&mut self.record);
            if commands.iter().map(|c| c.header.stride()).sum::<u32>() > 150_000 {
                break;
            }
        }
        self.most_record = most_record;
        // The last command goes out with the end of the trace.
        let payload = DispatchCommand::bare(Dispatch::ExecBufEnd(BareDispatch {})).encode();
        let inline = Inline { dispatcher_type: 0, length: payload.len() as u32, stride: 64 };
        let padding = vec![0; 48 - payload.len()];
        commands.push(PrefetchCommand {
            header: Prefetch::ExecBufEnd(inline),
            subs: RelaySubs::None,
            payload,
            padding,
        });
        let log_page_size = self.random.range(10, 12);
        let page = 1usize << log_page_size;
        let mut bytes: Vec<u8> = commands.iter().flat_map(PrefetchCommand::encode).collect();
        bytes.resize(bytes.len().next_multiple_of(page), 0);
        for (i, bytes) in bytes.chunks(page).enumerate() {
            let (bank, row) = (i % self.board.banks.len(), i / self.board.banks.len());
            let addr = u64::from(TRACE) + (row * page) as u64;
            self.queue.device().poke(self.board.banks[bank].ports[0], addr, bytes).expect("DRAM");
        }
        let exec = ExecBuf { base_addr: TRACE, log_page_size, pages: (bytes.len() / page) as u32 };
        self.add(PrefetchCommand::bare(Prefetch::ExecBuf(exec)));
        self.flush(STALL);
        self.tracing = false;
        self.take_completions(true);
        assert!(self.commands > before);
    }

    /// Ends both kernels, and compares every memory.
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
