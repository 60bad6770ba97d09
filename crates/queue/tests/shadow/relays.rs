//! Commands of the prefetcher that fetch data from memories, and traces.

use super::*;

impl Shadow {
    /// A WRITE_LINEAR header that precedes the data of a relay.
    pub(super) fn append_to(&mut self, data: &[u8]) {
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

    /// The prefetcher may only read previous writes after they have arrived.
    pub(super) fn stall(&mut self) {
        let wait = wire::Wait { flags: wire::Wait::BARRIER | wire::Wait::NOTIFY_PREFETCH, ..Default::default() };
        (self.under_way, self.launched) = (None, false);
        self.dispatch(DispatchCommand::bare(Dispatch::Wait(wait)));
        self.add(PrefetchCommand::bare(Prefetch::Stall(Bare {})));
    }

    pub(super) fn relay_linear(&mut self) {
        let bytes = self.random.pick(&[32, 64, 4064, 4096, 4100, 40_000, 65_536]).min(L1.1);
        let (xy, addr, data) = if self.stalls && self.random.range(0, 1) == 0 {
            // Read back from memory that commands have written.
            self.stall();
            let bank = self.random.range(0, self.dram.len() as u32 - 1) as usize;
            let at = 64 * self.random.range(0, (DRAM.1 - bytes) / 64);
            let data = self.dram[bank][at as usize..(at + bytes) as usize].to_vec();
            (self.board.banks[bank].ports[0], DRAM.0 + at, data)
        } else if self.random.range(0, 1) == 0 && self.may_read_l1() {
            let number = self.first_l1_page(1, self.board.tensix().count() as u32 - 1);
            let at = L1_SOURCE.0 + 16 * self.random.range(0, (L1_SOURCE.1 - bytes) / 16) / 16 * 16;
            let from = (at - L1_SOURCE.0) as usize;
            let data = self.sources[0][number as usize][from..from + bytes as usize].to_vec();
            (self.board.tensix().nth(number as usize).expect("a tile"), at, data)
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
    pub(super) fn source_pages(&self, dram: bool, first: u32, page: u32, bytes: u32) -> Vec<u8> {
        let banks = self.sources[usize::from(dram)].len() as u32;
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

    pub(super) fn relay_paged(&mut self) {
        let dram = self.random.range(0, 2) > 0 || !self.may_read_l1();
        let align = if dram { 64 } else { 16 };
        // Pages are read contiguously, so their size determines their alignment.
        let page = align * self.random.range(1, 4096 / align);
        let page = if self.random.range(0, 20) == 0 && dram { 0x8000 } else { page };
        let pages = self.random.range(1, 16).min(60_000 / page).max(1);
        // Large pages reach the end of the source sooner.
        let most = if page > 4096 { 40 } else { self.workers.len() as u32 };
        let first = if dram { self.random.range(0, most) } else { self.first_l1_page(pages, most) };
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

    pub(super) fn relay_packed(&mut self) {
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

    pub(super) fn ringbuffer(&mut self) {
        if self.layout.prefetch.ringbuffer_bytes == 0 {
            return;
        }
        // Two fills, one after the other, then parts of the first and of both.
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
                // Parts are contiguous in the dispatcher's pages, so all of them keep the alignment of writes.
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
    pub(super) fn trace(&mut self) {
        self.flush(0);
        self.take_completions(true);
        self.event = self.event.wrapping_add(1);
        // The trace that was there before must no longer be running.
        let mut bytes = self.event.to_le_bytes().to_vec();
        bytes.resize(16, 0);
        self.completions.push_back((true, bytes));
        self.dispatch(host_event(self.event));
        self.flush(0);
        self.take_completions(true);
        let before = self.commands;
        self.tracing = true;
        let mut commands = Vec::new();
        // Relays inside a trace must not go to the record in which they would be flushed.
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
        // The last command is sent together with the end of the trace.
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
}
