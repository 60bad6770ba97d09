//! A grid of positions and credits: every shape of write, ending before, at and after the boundaries of pages, blocks
//! and the dispatcher's ring, with page credits plentiful, just sufficient, and late. The written bytes are compared
//! exactly.

use slipring_queue::Layout;
use slipring_queue::board::built_in;
use slipring_queue::host::{Kernels, Queue, Settings};
use slipring_queue::machine::{Config, Delay, Machine};
use slipring_queue::wire::{
    Dispatch, DispatchCommand, Packets, Rect, Subs, WriteHost, WriteLinear, WritePaged, Xy, relay_inline, wait_barrier,
    write_packed, write_packed_large,
};

const TILES: [Xy; 4] = [Xy::new(1, 2), Xy::new(2, 2), Xy::new(1, 3), Xy::new(2, 3)];
const TARGET: u32 = 0x4_0000;
const PAGE: usize = 4096;

/// A shape of command with data.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Linear,
    LinearMulticast,
    Packed,
    PackedShared,
    PackedLarge,
    Paged,
    Host,
}

const SHAPES: [Shape; 7] = [
    Shape::Linear,
    Shape::LinearMulticast,
    Shape::Packed,
    Shape::PackedShared,
    Shape::PackedLarge,
    Shape::Paged,
    Shape::Host,
];

/// A command of a shape with a payload of at most `bytes` bytes, as close as the shape allows, and the bytes that it
/// writes to each tile.
fn command(shape: Shape, bytes: usize, salt: usize) -> (DispatchCommand, Vec<Vec<u8>>) {
    let data = |bytes: usize| -> Vec<u8> { (0..bytes).map(|i| (i * 31 + salt * 7 + i / 256) as u8).collect() };
    let rect = Rect::new(TILES[0], TILES[3]);
    let linear = |noc_xy, num_mcast_dests| {
        let data = data(bytes - 32);
        let header = WriteLinear {
            num_mcast_dests,
            noc_xy,
            addr: TARGET.into(),
            length: data.len() as u64,
            ..Default::default()
        };
        DispatchCommand { header: Dispatch::WriteLinear(header), subs: Subs::None, data }
    };
    match shape {
        Shape::Linear => {
            let command = linear(TILES[0].word(), 0);
            let data = command.data.clone();
            (command, vec![data])
        }
        Shape::LinearMulticast => {
            let command = linear(rect.word(), 4);
            let data = command.data.clone();
            (command, vec![data; 4])
        }
        Shape::Packed => {
            let each = ((bytes - 32) / 4 / 16 * 16).min(PAGE);
            let packets: Vec<Vec<u8>> = (0..4).map(|tile| data(each + tile)[tile..].to_vec()).collect();
            (write_packed(&TILES, TARGET, Packets::Each(&packets)).expect("fits"), packets)
        }
        Shape::PackedShared => {
            let packet = data(bytes.min(PAGE) - 32);
            (write_packed(&TILES, TARGET, Packets::Shared(&packet)).expect("fits"), vec![packet; 4])
        }
        Shape::PackedLarge => {
            let packet = data((bytes - 32).min(65536));
            (write_packed_large(&[rect], TARGET, &packet).expect("fits"), vec![packet; 4])
        }
        Shape::Paged => {
            let data = data(bytes - 16);
            let header =
                WritePaged { is_dram: 1, base_addr: TARGET, page_size: data.len() as u32, pages: 1, start_page: 0 };
            (DispatchCommand { header: Dispatch::WritePaged(header), subs: Subs::None, data: data.clone() }, vec![data])
        }
        Shape::Host => {
            let data = data(bytes - 16);
            let header = WriteHost { is_event: 0, length: bytes as u64 };
            (DispatchCommand { header: Dispatch::WriteHost(header), subs: Subs::None, data: data.clone() }, vec![data])
        }
    }
}

/// How page credits are returned.
#[derive(Clone, Copy, Debug)]
enum Credits {
    Plentiful,
    JustEnough,
    Late,
}

fn open(credits: Credits, seed: u64) -> Queue<Machine> {
    let board = built_in("p100").expect("p100");
    let mut layout = Layout::default();
    let mut config = Config::new(board.clone()).with_seed(seed);
    match credits {
        Credits::Plentiful => {}
        // The largest command takes all pages except the block that is held back and the one in use.
        Credits::JustEnough => (layout.dispatch.cb_pages, layout.dispatch.cb_blocks) = (16, 4),
        Credits::Late => {
            (layout.dispatch.cb_pages, layout.dispatch.cb_blocks) = (16, 4);
            config.delays.credit = Delay::new(20_000, 5_000);
        }
    }
    let machine = Machine::new(config.with_layout(layout.clone())).expect("a possible configuration");
    Queue::open(machine, board, layout, Settings::CAREFUL, &Kernels::default()).expect("opens")
}

/// Payload sizes around page boundaries: 16 bytes before, at and after the end of one, two and nine pages (nine is the
/// maximum that is ever returned of sixteen in blocks of four, so that a request takes exactly what is available).
fn sizes() -> impl Iterator<Item = usize> {
    [1, 2, 4, 9].into_iter().flat_map(|pages| {
        let border = pages * PAGE;
        [border - 16, border].into_iter().chain((pages < 9).then_some(border + 16))
    })
}

#[test]
fn every_shape_at_every_border_under_every_credit() {
    for credits in [Credits::Plentiful, Credits::JustEnough, Credits::Late] {
        for shape in SHAPES {
            let mut queue = open(credits, 11);
            let ring = queue.layout().dispatch.cb_pages as usize;
            // Each round starts one page later than the previous one, so that commands meet every page of a block, its
            // end, and the end of the ring.
            for (salt, bytes) in (0..ring + 3).flat_map(|phase| sizes().map(move |bytes| (phase, bytes))) {
                let (command, expected) = command(shape, bytes, salt);
                queue.push(&relay_inline(command.encode()).expect("fits").encode()).expect("is queued");
                queue.send(&wait_barrier()).expect("is queued");
                check(&mut queue, shape, &expected, &format!("{shape:?} of {bytes} bytes, phase {salt}, {credits:?}"));
            }
            assert_eq!(queue.device().findings(), [], "{shape:?} {credits:?}");
        }
    }
}

fn check(queue: &mut Queue<Machine>, shape: Shape, expected: &[Vec<u8>], what: &str) {
    if shape == Shape::Host {
        let completion = queue.completion().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(!completion.is_event && completion.bytes == expected[0], "{what}");
    }
    queue.finish().unwrap_or_else(|error| panic!("{what}: {error}"));
    let dram = queue.board().banks[0].ports[0];
    for (tile, expected) in TILES.iter().zip(expected).filter(|_| shape != Shape::Host) {
        let tile = if shape == Shape::Paged { dram } else { *tile };
        let mut found = vec![0; expected.len()];
        queue.device().peek(tile, TARGET.into(), &mut found).expect("memory");
        assert!(found == *expected, "{what}: {tile}");
    }
}
