//! The semantics of a stream: its commands executed one after another, each instantaneously. No pages, no credits, no
//! time.

use std::collections::BTreeMap;

use slipring_queue::Layout;
use slipring_queue::board::{Board, Tile};
use slipring_queue::capture::Capture;
use slipring_queue::wire::*;

/// Why a stream has no defined semantics here.
pub type Unknown = String;

/// Number of bytes of a DRAM bank that are compared.
const BANK: usize = 4 << 20;
/// The memory that workers read, and the address of their result: 8 bytes of hash and 8 of count.
pub const READS: [(u32, usize); 2] = [(0x86B0, 0x40), (0x4_0000, 0x400)];
pub const RESULT: u32 = 0x7_0000;

/// The result of a worker, from its launch message, its memory and its previous result.
pub fn result(launch: &[u8], memory: &[Vec<u8>], last: &[u8]) -> [u8; 16] {
    let bytes = launch.iter().chain(memory.iter().flatten()).chain(&last[..8]);
    let hash = bytes.fold(0xCBF2_9CE4_8422_2325u64, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01B3));
    let count = u64::from_le_bytes(std::array::from_fn(|i| last[8 + i])) + 1;
    std::array::from_fn(|i| if i < 8 { hash.to_le_bytes()[i] } else { count.to_le_bytes()[i - 8] })
}

pub struct Model {
    board: Board,
    layout: Layout,
    pub l1: BTreeMap<Xy, Vec<u8>>,
    pub dram: Vec<Vec<u8>>,
    /// Records for the host, without headers.
    pub host: Vec<(bool, Vec<u8>)>,
    offsets: [u32; 4],
    go: Vec<u32>,
    next: BTreeMap<Xy, u32>,
    header: Option<Vec<u8>>,
    /// Whether TERMINATE has reached the dispatcher, and the prefetcher.
    ended: bool,
    over: bool,
}

impl Model {
    pub fn new(board: &Board) -> Model {
        let layout = Layout::default();
        Model {
            l1: board.workers().map(|tile| (tile, vec![0; layout.l1_bytes as usize])).collect(),
            dram: vec![vec![0; BANK]; board.banks.len()],
            board: board.clone(),
            layout,
            host: Vec::new(),
            offsets: [0; 4],
            go: Vec::new(),
            next: BTreeMap::new(),
            header: None,
            ended: false,
            over: false,
        }
    }

    /// Runs a stream.
    pub fn run(&mut self, capture: &Capture) -> Result<(), Unknown> {
        for entry in &capture.entries {
            let bytes = entry.bytes.get(..entry.fetched() as usize).ok_or("a slot that is not a size")?;
            self.commands(bytes)?;
        }
        Ok(())
    }

    fn commands(&mut self, bytes: &[u8]) -> Result<(), Unknown> {
        let mut at = 0;
        while at < bytes.len() && !self.over {
            let (command, stride) = PrefetchCommand::decode(&bytes[at..]).map_err(|error| error.to_string())?;
            at += stride;
            let read = match command.header {
                Prefetch::RelayInline(_) => {
                    self.dispatch(&command.payload)?;
                    continue;
                }
                Prefetch::ExecBufEnd(_) => {
                    self.dispatch(&command.payload)?;
                    return Ok(());
                }
                Prefetch::RelayInlineNoflush(_) => {
                    self.header = Some(command.payload);
                    continue;
                }
                Prefetch::ExecBuf(c) => {
                    let page = 1u32.checked_shl(c.log_page_size).ok_or("pages without size")?;
                    // No trace here is longer.
                    let trace = self.pages(true, c.base_addr, page, 0, u64::from(page) * u64::from(c.pages.min(4)))?;
                    self.commands(&trace)?;
                    continue;
                }
                Prefetch::Terminate(_) => {
                    self.over = true;
                    return Ok(());
                }
                Prefetch::RelayLinear(c) => self.read(c.noc_xy, c.addr, c.length)?,
                Prefetch::RelayPaged(c) => {
                    let all = u64::from(c.page_size) * u64::from(c.pages);
                    let all = all.checked_sub(c.length_adjust().into()).ok_or("nothing to relay")?;
                    self.pages(c.is_dram(), c.base_addr, c.page_size, c.start_page.into(), all)?
                }
                _ => return Err(format!("{} is not modelled", command.header.name())),
            };
            let header = self.header.take().ok_or("no header")?;
            self.dispatch(&[header, read].concat())?;
        }
        Ok(())
    }

    fn place(&mut self, xy: u32, addr: u64, bytes: u64) -> Result<&mut [u8], Unknown> {
        let tile = Xy::from_word(xy);
        let memory = match self.board.tile(tile) {
            Tile::Worker => self.l1.get_mut(&tile),
            Tile::Dram(bank) => self.dram.get_mut(bank as usize),
            _ => None,
        };
        let end = addr.checked_add(bytes).ok_or("an address that wraps")?;
        let range = addr.min(1 << 40) as usize..end.min(1 << 40) as usize;
        memory.and_then(|memory| memory.get_mut(range)).ok_or_else(|| format!("{bytes} bytes at {addr:#x} of {tile}"))
    }

    fn read(&mut self, xy: u32, addr: u64, bytes: u64) -> Result<Vec<u8>, Unknown> {
        self.place(xy, addr, bytes).map(|bytes| bytes.to_vec())
    }

    /// The addresses of pages, with the number of bytes in each.
    fn split(
        &self,
        dram: bool,
        base: u32,
        page: u32,
        first: u64,
        mut left: u64,
    ) -> Result<Vec<(u32, u64, u64)>, Unknown> {
        if page == 0 || left / u64::from(page) > 10_000 {
            return Err("pages without size, or very many".into());
        }
        let tiles: Vec<u32> = match dram {
            true => self.board.banks.iter().map(|bank| bank.ports[0].word()).collect(),
            false => self.board.tensix().map(Xy::word).collect(),
        };
        let (mut index, mut places) = (first, Vec::new());
        while left > 0 {
            let bytes = left.min(page.into());
            let stride = u64::from(page).next_multiple_of(if dram { 64 } else { 16 });
            let row = index / tiles.len() as u64;
            places.push((tiles[(index % tiles.len() as u64) as usize], u64::from(base) + row * stride, bytes));
            (index, left) = (index + 1, left - bytes);
        }
        Ok(places)
    }

    fn pages(&mut self, dram: bool, base: u32, page: u32, first: u64, left: u64) -> Result<Vec<u8>, Unknown> {
        let mut out = Vec::new();
        for (xy, addr, bytes) in self.split(dram, base, page, first, left)? {
            out.extend(self.read(xy, addr, bytes)?);
        }
        Ok(out)
    }

    fn write(&mut self, xy: u32, addr: u64, data: &[u8]) -> Result<(), Unknown> {
        if xy == PCIE_XY {
            // Slots for timestamps are not compared.
            return Ok(());
        }
        self.place(xy, addr, data.len() as u64)?.copy_from_slice(data);
        let go = u64::from(self.layout.worker.go) + 3;
        if (addr..addr + data.len() as u64).contains(&go)
            && data[(go - addr) as usize] == GoMessage::RESET_READ_PTR_FROM_HOST
        {
            self.next.insert(Xy::from_word(xy), 0);
        }
        Ok(())
    }

    fn write_all(&mut self, rect: u32, addr: u64, data: &[u8]) -> Result<(), Unknown> {
        Rect::from_word(rect).tiles().try_for_each(|tile| self.write(tile.word(), addr, data))
    }

    fn offset(&self, index: usize) -> Result<u32, Unknown> {
        self.offsets.get(index).copied().ok_or_else(|| "no such write offset".into())
    }

    /// A relay: a command, and further ones where later pages begin.
    fn dispatch(&mut self, payload: &[u8]) -> Result<(), Unknown> {
        let mut at = 0;
        while at < payload.len() && !self.ended {
            let (command, length) = DispatchCommand::decode(&payload[at..]).map_err(|error| error.to_string())?;
            self.apply(&command)?;
            at += length.max(1).next_multiple_of(4096);
        }
        Ok(())
    }

    fn apply(&mut self, command: &DispatchCommand) -> Result<(), Unknown> {
        let data = &command.data;
        match (&command.header, &command.subs) {
            (Dispatch::WriteLinear(c) | Dispatch::WriteLinearH(c), _) => {
                let addr = c.addr.wrapping_add(self.offset(c.write_offset_index.into())?.into());
                match c.num_mcast_dests {
                    0 => self.write(c.noc_xy, addr, data),
                    _ => self.write_all(c.noc_xy, addr, data),
                }
            }
            (Dispatch::WritePaged(c), _) => {
                let mut rest = &data[..];
                for (xy, addr, bytes) in
                    self.split(c.is_dram != 0, c.base_addr, c.page_size, c.start_page.into(), data.len() as u64)?
                {
                    let (head, tail) = rest.split_at(bytes as usize);
                    self.write(xy, addr, head)?;
                    rest = tail;
                }
                Ok(())
            }
            (Dispatch::WritePacked(c), subs) => {
                let addr = u64::from(c.addr.wrapping_add(self.offset(c.write_offset_index.into())?));
                let words: Vec<(u32, bool)> = match subs {
                    Subs::Unicast(subs) => subs.iter().map(|sub| (sub.noc_xy, false)).collect(),
                    Subs::Multicast(subs) => subs.iter().map(|sub| (sub.noc_xy, sub.num_mcast_dests > 0)).collect(),
                    _ => Vec::new(),
                };
                for (i, (xy, multicast)) in words.into_iter().enumerate() {
                    let at = if c.is_shared() { 0 } else { i * c.packet_stride() as usize };
                    let packet = data.get(at..at + usize::from(c.size)).ok_or("a packet that is not there")?;
                    match multicast {
                        true => self.write_all(xy, addr, packet)?,
                        false => self.write(xy, addr, packet)?,
                    }
                }
                Ok(())
            }
            (Dispatch::WritePackedLarge(c), Subs::Large(subs)) => {
                let (offset, mut at) = (self.offset(c.write_offset_index.into())?, 0);
                for sub in subs {
                    let length = sub.length() as usize;
                    let packet = data.get(at..at + length).ok_or("a packet that is not there")?;
                    self.write_all(sub.noc_xy, sub.addr.wrapping_add(offset).into(), packet)?;
                    at += length.next_multiple_of(c.alignment.max(1).into());
                }
                Ok(())
            }
            (Dispatch::WriteHost(c), _) => {
                self.host.push((c.is_event != 0, data.clone()));
                Ok(())
            }
            (Dispatch::SetWriteOffset(_), Subs::Words(words)) => {
                self.offsets.iter_mut().zip(words).for_each(|(offset, word)| *offset = *word);
                Ok(())
            }
            (Dispatch::SetGoSignalNocData(_), Subs::Words(words)) => {
                self.go.clone_from(words);
                Ok(())
            }
            (Dispatch::SendGoSignal(c), _) => {
                let (first, count) = (usize::from(c.noc_data_start_index), usize::from(c.num_unicast_txns));
                let targets = self.go.get(first..first + count).ok_or("targets that were not set")?.to_vec();
                targets.into_iter().try_for_each(|xy| self.start(xy, c.go_signal))
            }
            (Dispatch::Terminate(_), _) => {
                self.ended = true;
                Ok(())
            }
            (Dispatch::Wait(_) | Dispatch::Timestamp(_) | Dispatch::ExecBufEnd(_), _) => Ok(()),
            (header, _) => Err(format!("{} is not modelled", header.name())),
        }
    }

    /// A go word: the worker runs to completion.
    fn start(&mut self, xy: u32, word: u32) -> Result<(), Unknown> {
        self.write(xy, self.layout.worker.go.into(), &word.to_le_bytes())?;
        if word >> 24 != u32::from(GoMessage::GO) {
            return Ok(());
        }
        let tile = Xy::from_word(xy);
        let next = *self.next.entry(tile).or_default();
        let at = u64::from(self.layout.worker.launch) + LaunchMessage::SIZE as u64 * u64::from(next);
        let launch = self.read(xy, at, LaunchMessage::SIZE as u64)?;
        let memory = READS.iter().map(|(addr, bytes)| self.read(xy, (*addr).into(), *bytes as u64));
        let memory = memory.collect::<Result<Vec<_>, _>>()?;
        let done = result(&launch, &memory, &self.read(xy, RESULT.into(), 16)?);
        self.write(xy, RESULT.into(), &done)?;
        self.write(xy, u64::from(self.layout.worker.go) + 3, &[GoMessage::DONE])?;
        if launch[42] == LaunchMessage::DEVICE {
            self.write(xy, at + 76, &[0; 4])?;
            self.write(xy, at + 95, &[0])?;
            self.next.insert(tile, (next + 1) % 8);
        }
        Ok(())
    }
}
