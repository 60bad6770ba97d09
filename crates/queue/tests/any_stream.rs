//! Correct streams with some bytes changed, and texts composed of their words: every one is parsed, checked and run to
//! its end in bounded time, and an incomplete one has a reason.

use proptest::prelude::*;
use slipring_queue::capture::{Capture, parse};
use slipring_queue::fuzz;

/// Correct streams: commands that the fixed host sends, and commands that it never sends.
const STREAMS: [&str; 4] = [
    "write (1,2)..(3,3) 0x370 000000e0\neach (1,2)+(2,3) 0x86b0 11111111 22222222\nlaunch (1,2)+(2,3)\ntimestamp 1\nevent\n",
    "send WRITE_LINEAR noc_xy=(17,13) addr=0x1000\n> data 0102*2500\nsend WAIT flags=barrier\nwait\nrecord\nRELAY_INLINE_NOFLUSH\n\
     > WRITE_LINEAR noc_xy=(1,2) addr=0x40000 length=64\nRELAY_LINEAR noc_xy=(17,14) addr=0x1000 length=64\nrecord\n\
     RELAY_INLINE_NOFLUSH\n> WRITE_LINEAR_H_HOST length=4112\nRELAY_PAGED is_dram_and_length_adjust=0x8000 base_addr=0x1000 \
     page_size=4096 pages=1\nevent\n",
    "send WRITE_PAGED is_dram=1 page_size=64 pages=70\n> data 03*4480\nsend SET_WRITE_OFFSET\n> words 16 32 48\n\
     send WRITE_PACKED flags=no_stride addr=0x40000\n> sub noc_xy=(1,2)\n> sub noc_xy=(2,2)\n> data 07*64\n\
     send WRITE_PACKED_LARGE alignment=16\n> sub noc_xy=(1,2)..(2,3) addr=0x50000 length_minus1=99 num_mcast_dests=4 flags=unlink\n\
     > data 09*112\nevent\nsend TERMINATE\nrecord\nTERMINATE\n",
    "pin 0x80000000 4096\nstore pcie 0x80000040 05*64\nstore (1,2)..(3,3) 0x40000 07*16\npause 2000\nstore (17,14) 0x1000 01020304\n\
     store (1,2) 0x70 00*76 01 00*19\nstore (1,2) 0x370 00000080\npoll (1,2) 0x373 00\nload (17,14) 0x1000 4\nrecord\n\
     RELAY_INLINE_NOFLUSH\n> WRITE_LINEAR noc_xy=(1,2) addr=0x40000 length=64\nRELAY_LINEAR noc_xy=pcie addr=0x80000040 length=64\n\
     event\ntake\nunpin 0x80000000\n",
];

fn stream(index: usize) -> Capture {
    parse(STREAMS[index]).into_result().unwrap_or_else(|errors| panic!("{errors:?}"))
}

#[test]
fn the_streams_are_right() {
    for (index, _) in STREAMS.iter().enumerate() {
        assert!(fuzz::run_capture(&stream(index), Default::default(), Some(1)), "{}", STREAMS[index]);
    }
}

/// The report on a long stream of garbage lists some findings and counts the rest; no command is processed repeatedly.
#[test]
fn reports_are_short() {
    let mut long = Capture { board: "p100".into(), ..Capture::default() };
    long.entries = vec![slipring_queue::capture::Entry::new(vec![99; 128]); 300_000];
    let board = slipring_queue::board::built_in("p100").expect("p100");
    let report = slipring_queue::lint::lint(&long, &board, &slipring_queue::Layout::default());
    assert_eq!((report.records, report.findings.len(), report.not_judged.len()), (300_000, 32, 21));
    assert_eq!(report.more(), 300_000 - 32);
}

/// Values of corrupted fields.
fn value() -> impl Strategy<Value = u8> {
    prop_oneof![Just(0u8), Just(1), Just(0x7F), Just(0x80), Just(0xFF), 0..=19u8, any::<u8>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn changed_bytes(
        which in 0..STREAMS.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..48, value()), 1..5),
        seed in prop::option::of(0u64..50),
    ) {
        let mut capture = stream(which);
        for (record, at, byte) in changes {
            let record = record.index(capture.entries.len());
            let bytes = &mut capture.entries[record].bytes;
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        fuzz::read(&capture.to_bytes());
        for mode in [slipring_queue::sanitize::AtError::Strict, slipring_queue::sanitize::AtError::Silicon] {
            fuzz::run_capture(&capture, mode, seed);
        }
    }

    #[test]
    fn changed_files(which in 0..STREAMS.len(), at in any::<prop::sample::Index>(), bytes in prop::collection::vec(value(), 1..9)) {
        let mut file = stream(which).to_bytes();
        let at = at.index(file.len());
        for (i, byte) in bytes.into_iter().enumerate() {
            if let Some(old) = file.get_mut(at + i) {
                *old = byte;
            }
        }
        fuzz::read(&file);
        fuzz::run(&file, Some(1));
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(value(), 0..600)) {
        fuzz::read(&bytes);
        fuzz::run(&bytes, None);
    }

    #[test]
    fn mixed_lines(lines in prop::collection::vec((0..STREAMS.len(), any::<prop::sample::Index>()), 0..12), number in any::<u64>()) {
        let line = |(stream, at): &(usize, prop::sample::Index)| {
            let lines: Vec<&str> = STREAMS[*stream].lines().collect();
            lines[at.index(lines.len())].replace("length=64", &format!("length={number}"))
        };
        let text = lines.iter().map(line).collect::<Vec<_>>().join("\n");
        fuzz::read(text.as_bytes());
        if let Ok(capture) = parse(&text).into_result() {
            fuzz::run_capture(&capture, Default::default(), None);
        }
    }
}
