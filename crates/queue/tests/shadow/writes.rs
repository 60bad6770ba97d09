//! Commands of the dispatcher that write: linear, paged and packed.

use super::*;

impl Shadow {
    pub(super) fn write_linear(&mut self) {
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

    /// Applies a write to the shadow.
    pub(super) fn apply(&mut self, xy: u32, addr: u64, data: &[u8]) {
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

    pub(super) fn apply_rect(&mut self, rect: Rect, addr: u32, data: &[u8]) {
        for tile in rect.tiles() {
            self.apply(tile.word(), addr.into(), data);
        }
    }

    /// A rectangle inside one of those that cover the workers.
    pub(super) fn rect(&mut self) -> Rect {
        let outer = self.random.pick(&self.rects);
        // Mostly a few tiles: large rectangles take the time of many commands.
        let most = if self.random.range(0, 15) == 0 { 63 } else { 1 };
        let mut side = |low: u8, high: u8| {
            let from = self.random.range(low.into(), high.into()) as u8;
            (from, self.random.range(from.into(), high.min(from + most).into()) as u8)
        };
        let (x, y) = (side(outer.low.x, outer.high.x), side(outer.low.y, outer.high.y));
        Rect::new(Xy::new(x.0, y.0), Xy::new(x.1, y.1))
    }

    pub(super) fn multicast_linear(&mut self) {
        let (rect, (addr, bytes)) = (self.rect(), self.place(L1, 6000));
        // No other multicast may be in flight, or start before this one has arrived.
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
        // The offset is added in 64 bits; without an offset, addresses need not wrap.
        if self.offsets[0] == 0 {
            self.dispatch(DispatchCommand { header: Dispatch::WriteLinear(header), subs: Subs::None, data });
        } else {
            let header = WriteLinear { addr: u64::from(addr).wrapping_sub(self.offsets[0].into()), ..header };
            self.dispatch(DispatchCommand { header: Dispatch::WriteLinear(header), subs: Subs::None, data });
        }
        self.barrier();
    }

    pub(super) fn write_paged(&mut self) {
        let dram = self.random.range(0, 1) == 0;
        let page_size = 16 * self.random.range(1, 300);
        let pages = self.random.range(1, 12).min(self.most_payload() / page_size).max(1);
        let tiles: Vec<Xy> = self.board.tensix().collect();
        let banks = if dram { self.dram.len() } else { tiles.len() } as u32;
        let (base, align) = if dram { (DRAM.0, 64) } else { (L1.0, 16) };
        let most = 2 * banks;
        let start_page = if dram { self.random.range(0, most) } else { self.first_l1_page(pages, most) };
        self.class(Class::Unicast);
        let data = self.random.bytes(page_size * pages);
        for (i, page) in data.chunks(page_size as usize).enumerate() {
            let id = start_page + i as u32;
            let addr = base + id / banks * page_size.next_multiple_of(align);
            let xy = match dram {
                true => self.board.banks[(id % banks) as usize].ports[1],
                false => tiles[(id % banks) as usize],
            };
            self.apply(xy.word(), addr.into(), page);
        }
        let header =
            WritePaged { is_dram: dram.into(), start_page: start_page as u16, base_addr: base, page_size, pages };
        self.dispatch(DispatchCommand { header: Dispatch::WritePaged(header), subs: Subs::None, data });
    }

    pub(super) fn write_packed(&mut self) {
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
        let subs = if multicast { Subs::Multicast(subs.1.into()) } else { Subs::Unicast(subs.0.into()) };
        self.dispatch(DispatchCommand { header: Dispatch::WritePacked(header), subs, data });
    }

    pub(super) fn write_packed_large(&mut self) {
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
            // A linked sequence keeps its rectangle.
            if unlink {
                rect = self.rect();
            }
        }
        let header = WritePackedLarge { kind: 1, count: count as u16, alignment, write_offset_index: index as u16 };
        self.dispatch(DispatchCommand { header: Dispatch::WritePackedLarge(header), subs: Subs::Large(subs), data });
    }

    pub(super) fn set_offsets(&mut self) {
        let count = self.random.range(1, 4) as usize;
        for offset in &mut self.offsets[..count] {
            *offset = 16 * self.random.range(0, 0x1000);
        }
        let offsets = self.offsets[..count].to_vec();
        self.dispatch(wire::set_write_offsets(&offsets).expect("four or fewer"));
    }
}
