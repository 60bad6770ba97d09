//! Records produced by the fixed host's own code, decoded and encoded again.

use super::*;

const TILES: [Xy; 2] = [Xy::new(1, 2), Xy::new(2, 3)];

fn bytes(hex: &str, padded: usize) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let mut out: Vec<u8> = digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).expect("ASCII"), 16).expect("hexadecimal digits"))
        .collect();
    assert!(out.len() <= padded);
    out.resize(padded, 0);
    out
}

/// Decodes a record of one relayed command, checks that both levels write the same bytes again, and returns the command.
fn decoded(record: &[u8]) -> DispatchCommand {
    let (relay, stride) = PrefetchCommand::decode(record).expect("a prefetch command");
    assert_eq!((stride, relay.encode()), (record.len(), record.to_vec()));
    let (command, length) = DispatchCommand::decode(&relay.payload).expect("a dispatch command");
    assert_eq!((length, command.encode()), (relay.payload.len(), relay.payload.clone()));
    command
}

fn check(hex: &str, units: usize, built: DispatchCommand) {
    let record = bytes(hex, units * 16);
    assert_eq!(decoded(&record), built);
    assert_eq!(relay_inline(built.encode()).expect("a record").encode(), record);
}

#[test]
fn packed_large() {
    let rect = Rect::new(TILES[0], TILES[1]);
    check(
        "05000000 30000000 40000000 00000000 06020100 10000000 00000000 00000000 81200c00 70030000 0300 04 01 00000000 000000e0",
        4,
        write_packed_large(&[rect], 0x370, &[0, 0, 0, 0xE0]).expect("fits"),
    );
}

#[test]
fn packed() {
    check(
        "05000000 40000000 80000000 00000000 05000200 00000400 b0860000 00000000 81000000 c2000000 0000000000000000
         11111111 000000000000000000000000 22222222 000000000000000000000000",
        8,
        write_packed(&TILES, 0x86B0, Packets::Each(&[vec![0x11; 4], vec![0x22; 4]])).expect("fits"),
    );
}

#[test]
fn packed_without_stride() {
    check(
        "05000000 30000000 40000000 00000000 05020200 00000400 b0860000 00000000 81000000 c2000000 0000000000000000 33333333",
        4,
        write_packed(&TILES, 0x86B0, Packets::Shared(&[0x33; 4])).expect("fits"),
    );
}

#[test]
fn go_tiles() {
    check(
        "05000000 18000000 40000000 00000000 11000000 02000000 0000000000000000 81000000 c2000000",
        4,
        set_go_tiles(&TILES),
    );
}

#[test]
fn wait() {
    check("05000000 10000000 40000000 00000000 07183000 00000000 00000000", 4, wait_stream(48, 0));
    check("05000000 10000000 40000000 00000000 07183000 00000000 76000000", 4, wait_stream(48, 118));
}

#[test]
fn go_p100() {
    let hex = "05000000 10000000 40000000 00000000 0e 000e0380 ff 76 00 00000000 30000000";
    check(hex, 4, send_go(0x8003_0E00, 118, 48).expect("fits"));
}

#[test]
fn event() {
    let hex = "05000000 20000000 40000000 00000000 03010000 00000000 20000000 00000000 01000000";
    check(hex, 4, host_event(1));
}

#[test]
fn timestamp_slot_0() {
    let layout = crate::Layout::default();
    let addr = layout.sysmem.noc(layout.sysmem.timestamps) as u32;
    let hex = "05000000 10000000 40000000 00000000 12000000 13060001 00010046";
    check(hex, 4, timestamp(PCIE_XY, addr));
}

#[test]
fn sizes_for_all_workers_of_a_p100() {
    let board = crate::board::built_in("p100").expect("p100");
    let workers: Vec<Xy> = board.workers().collect();
    let rects = crate::board::cover(workers.iter().copied());
    let sizes = |command: DispatchCommand| {
        let payload = command.encode();
        (payload.len(), relay_inline(payload).expect("a record").encode().len())
    };
    for (each, expected) in [(12, (2384, 2432)), (96, (11824, 11840)), (128, (15600, 15616))] {
        let packets = vec![vec![0; each]; workers.len()];
        assert_eq!(sizes(write_packed(&workers, 0, Packets::Each(&packets)).expect("fits")), expected);
    }
    for (each, expected) in [(4, (112, 128)), (96, (352, 384)), (6000, (18064, 18112)), (65536, (196_672, 196_736))] {
        assert_eq!(sizes(write_packed_large(&rects, 0, &vec![0; each]).expect("fits")), expected);
    }
    assert_eq!(sizes(set_go_tiles(&workers)), (488, 512));
}

#[test]
fn what_does_not_fit_is_named() {
    let rect = Rect::new(Xy::new(1, 1), Xy::new(2, 2));
    assert_eq!(write_packed_large(&[rect], 0, &[]).expect_err("empty").what, "the length of the data");
    assert_eq!(write_packed_large(&[rect], 0, &vec![0; 65537]).expect_err("too long").most, 65536);
    assert!(write_packed(&TILES, 0, Packets::Each(&[vec![1], vec![1, 2]])).is_err());
    assert!(write_packed(&[], 0, Packets::Shared(&[1])).is_err());
    assert!(send_go(0, 256, 48).is_err());
}
