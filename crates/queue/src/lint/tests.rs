//! A negative test for each hazard that a stream shows, and clean streams that show none.

use super::*;
use crate::board::built_in;
use crate::capture::{Entry, parse};
use crate::host::{Data, Lowering, Program, Role, lower_programs};
use crate::wire::{DispatchCommand, LaunchMessage, host_event, relay_inline};

fn codes(text: &str) -> Vec<&'static str> {
    let capture = parse(text).into_result().unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    let board = built_in(&capture.board).expect("a board");
    let report = lint(&capture, &board, &Layout::default());
    let mut codes: Vec<&str> = report.findings.iter().map(|f| f.hazard.def().code).collect();
    codes.dedup();
    codes
}

#[test]
fn each_mistake_has_its_name_and_no_other() {
    let relay = "record\n RELAY_INLINE";
    for (text, expected) in [
        // Records and slots.
        ("record slot=0\n RELAY_INLINE\n > TIMESTAMP noc_xy=pcie addr=0x46000100", "record-empty"),
        ("record slot=0x8000\n EXEC_BUF log_page_size=12 pages=1", "record-empty"),
        ("record\n RELAY_INLINE stride=80\n > WAIT flags=barrier\n padding 00*48", "record-unaligned"),
        ("record slot=8\n RELAY_INLINE\n > WAIT flags=barrier", "record-trailing-bytes"),
        ("record\n RELAY_INLINE stride=64\n > WAIT flags=barrier\n padding 00*96", "record-trailing-bytes"),
        ("record\n RELAY_INLINE length=64 stride=64\n > bytes 07*48", "relay-unfetched"),
        ("record\n RELAY_INLINE length=64\n > bytes 00*48", "relay-unfetched"),
        ("record\n RELAY_INLINE length=64 stride=64\n > bytes 07*112", "record-trailing-bytes"),
        ("record\n bytes 00*64", "prefetch-illegal-command"),
        ("record\n bytes 0f 00*63", "prefetch-illegal-command"),
        ("record\n RELAY_LINEAR_H length=16", "prefetch-illegal-command"),
        ("record\n TERMINATE\nevent", "after-terminate"),
        ("record\n TERMINATE\n TERMINATE", "after-terminate"),
        ("send TERMINATE\nevent", "after-terminate"),
        ("record slot=0x8004\n RELAY_INLINE\n > WAIT flags=barrier", "stall-without-exec-buf"),
        ("record\n EXEC_BUF log_page_size=12 pages=1", "exec-buf-without-stall"),
        ("record slot=0x8004\n EXEC_BUF log_page_size=20 pages=1", "exec-buf-page-misfit"),
        ("record\n STALL", "stall-semaphore-is-code"),
        ("record\n RELAY_INLINE dispatcher_type=1\n > WAIT flags=barrier", "subordinate-no-credits"),
        // Relays.
        (
            "record\n RELAY_INLINE_NOFLUSH\n > WRITE_LINEAR noc_xy=(1,2) addr=0x40000 length=64\nevent",
            "noflush-dangling",
        ),
        ("record\n RELAY_LINEAR noc_xy=(17,14) length=4096", "relay-without-noflush"),
        (
            &noflush("RELAY_PAGED is_dram_and_length_adjust=0x8fe0 page_size=1024 pages=2", 32),
            "length-adjust-underflow",
        ),
        (
            &noflush("RELAY_PAGED is_dram_and_length_adjust=0x8001 page_size=1024 pages=2", 2047),
            "length-adjust-underflow",
        ),
        (
            &noflush("RELAY_PAGED_PACKED total_length=100\n sub log_page_size=10 length=64", 100),
            "packed-length-mismatch",
        ),
        (&noflush("RELAY_RINGBUFFER\n sub length=64", 64), "ring-buffer-overrun"),
        (&noflush("RELAY_LINEAR noc_xy=(17,14) length=64", 128), "stale-page"),
        (&noflush("RELAY_LINEAR noc_xy=(17,14) length=128", 64), "trailing-bytes"),
        // Dispatch commands.
        (&format!("{relay}\n > bytes 00*16"), "dispatch-illegal-command"),
        (&format!("{relay}\n > SINK"), "dispatch-illegal-command"),
        (&format!("{relay}\n > bytes 13*16"), "dispatch-illegal-command"),
        (&format!("{relay}\n > WRITE_LINEAR noc_xy=(1,2) addr=0x40000 length=100\n > data 01*64"), "stale-page"),
        (&format!("{relay}\n > WAIT flags=barrier\n > TIMESTAMP noc_xy=pcie addr=0x46000100"), "command-skipped"),
        (&format!("{relay}\n > WAIT flags=barrier\n > bytes ff*16"), "trailing-bytes"),
        (&format!("{relay}\n > bytes 07010000 00000000 00000000 00000001"), "reserved-bytes"),
        ("send WAIT flags=0x81", "reserved-bytes"),
        (&packed(119, "size=16 addr=0x40000", 119 * 16), "packed-too-many-targets"),
        (&packed(1, "size=4112 addr=0x40000", 4112), "packed-too-large"),
        (&packed(8, "flags=no_stride size=4064 addr=0x40000", 4064), "no-stride-crosses-page"),
        (&large("(1,2)..(2,3)", 5, 0x40000, "unlink"), "multicast-count-mismatch"),
        (&large("(7,2)..(8,2)", 1, 0x40000, "unlink"), "multicast-targets"),
        (&large("(14,2)..(14,4)", 3, 0x40000, "unlink"), "multicast-targets"),
        (&large("(2,3)..(1,2)", 4, 0x40000, "unlink"), "multicast-corners"),
        (&large("(1,2)..(2,3)", 4, 0x40000, "0"), "multicast-left-linked"),
        (&large("(1,2)..(2,3)", 4, 0x40004, "unlink"), "noc-alignment"),
        (&large("(1,2)..(2,3)", 4, 0x17FFF0, "unlink"), "l1-outside"),
        (&large("(1,2)..(2,3)", 4, 0x4000, "unlink"), "firmware-overwritten"),
        (&linear("(1,2)..(2,3) num_mcast_dests=4").repeat(2), "multicast-back-to-back"),
        (&linear("(14,3)"), "queue-core-written"),
        (&linear("(15,3)"), "noc-unmapped"),
        (&linear("(19,24)"), "pcie-address"),
        ("send WRITE_LINEAR noc_xy=pcie addr=0x46030000\n> data 01*16", "pcie-outside"),
        ("send WRITE_LINEAR noc_xy=pcie addr=0x46020ff0\n> data 01*32", "pcie-outside"),
        ("send WRITE_LINEAR noc_xy=pcie addr=0x1000000040000080\n> data 01*16", "queue-memory-written"),
        ("send TIMESTAMP noc_xy=pcie addr=0x44000100", "queue-memory-written"),
        ("send WRITE_LINEAR noc_xy=(1,2) addr=0x80\n> data 01*96", "launch-outside-ring"),
        ("send WRITE_LINEAR noc_xy=(1,2) addr=0x370\n> data 01*96", "launch-outside-ring"),
        ("send WRITE_LINEAR noc_xy=(1,2) addr=0x310\n> data 01*192", "launch-past-ring"),
        (&large("(1,2)..(2,3)", 4, 0x60, "unlink"), "launch-outside-ring"),
        ("send WRITE_LINEAR_H_HOST length=15\n> data 01*16", "completion-header"),
        ("send WRITE_LINEAR_H_HOST is_event=1 length=0", "completion-header"),
        (
            &(go("go_signal=0x80030e00", "count=1 flags=stream") + &go("go_signal=0x80030e00", "count=1 flags=stream")),
            "wait-stale",
        ),
        (&(write_dram() + &noflush("RELAY_LINEAR noc_xy=(17,14) addr=0x1000 length=32", 32)), "relay-before-write"),
        (
            &(write_dram()
                + "send WAIT flags=barrier\n"
                + &noflush("RELAY_LINEAR noc_xy=(17,14) addr=0x1000 length=64", 64)),
            "relay-before-write",
        ),
        (
            &(write_dram()
                + &noflush("RELAY_PAGED is_dram_and_length_adjust=0x8000 base_addr=0x1000 page_size=64 pages=1", 64)),
            "relay-before-write",
        ),
        (
            &(pages_written()
                + &noflush(
                    "RELAY_PAGED_PACKED total_length=64\n sub start_page=8 log_page_size=6 base_addr=0x1000 length=64",
                    64,
                )),
            "relay-before-write",
        ),
        (&(linear("(1,2)") + &noflush("RELAY_LINEAR noc_xy=(1,2) addr=0x40000 length=64", 64)), "relay-before-write"),
        (
            &(go("go_signal=0x80030e00", "count=1 flags=stream|clear")
                + &noflush("RELAY_LINEAR noc_xy=(1,2) addr=0x40000 length=64", 64)),
            "relay-before-done",
        ),
        (&noflush("RELAY_LINEAR noc_xy=(17,14) addr=0x1020 length=64", 64), "noc-alignment"),
        (
            &noflush("RELAY_PAGED is_dram_and_length_adjust=0x8000 base_addr=0x1000 page_size=96 pages=2", 192),
            "noc-alignment",
        ),
        ("send WRITE_LINEAR noc_xy=(1,2) addr=0x800040000\n> data 11*64", "l1-outside"),
        ("send WRITE_PAGED is_dram=1 base_addr=0xfffff000 page_size=4096 pages=20\n> data 11*81920", "noc-unmapped"),
        ("send WRITE_PAGED base_addr=0x3840 page_size=256 pages=4\n> data 11*1024", "firmware-overwritten"),
        ("send WRITE_PAGED start_page=11 base_addr=0x40000 page_size=256 pages=1\n> data 11*256", "queue-core-written"),
        (
            &(linear("(1,2)..(2,3) num_mcast_dests=4")
                + "send WAIT flags=barrier\n"
                + &noflush("RELAY_LINEAR noc_xy=(2,2) addr=0x40000 length=64", 64)),
            "relay-before-write",
        ),
        (
            &(write_dram() + "record slot=0x8004\n EXEC_BUF base_addr=0x1000 log_page_size=12 pages=1"),
            "exec-buf-before-write",
        ),
        (&linear("(1,2) write_offset_index=4"), "write-offset-overrun"),
        ("send SET_WRITE_OFFSET\n> words 1 2 3 4 5", "write-offset-overrun"),
        ("send TIMESTAMP noc_xy=pcie addr=0x46020ff8", "noc-alignment"),
        (&format!("send SET_GO_SIGNAL_NOC_DATA\n> words {}", "0x81 ".repeat(257)), "go-list-overrun"),
        ("send SET_GO_SIGNAL_NOC_DATA\n> words 0x3c1", "noc-unmapped"),
        (
            "send SEND_GO_SIGNAL go_signal=0x80030e00 multicast_go_offset=255 num_unicast_txns=1 wait_stream=48",
            "go-index-outside",
        ),
        ("send SEND_GO_SIGNAL go_signal=0x80030e00 multicast_go_offset=255", "wait-foreign-stream"),
        ("send WAIT flags=stream stream=47 count=0", "wait-foreign-stream"),
        ("send WAIT flags=stream|clear stream=56 count=0", "wait-foreign-stream"),
        ("send TIMESTAMP noc_xy=(1,2) addr=0x370", "mailbox-overwritten"),
        ("send TIMESTAMP noc_xy=(1,2) addr=0x70", "mailbox-overwritten"),
        ("send TIMESTAMP noc_xy=(1,2) addr=0x390", "mailbox-overwritten"),
        (&launch_message("(1,2)", "b0860000", "00001800"), "kernel-outside"),
        (&launch_message("(1,2)", "0000ffff", "30000000"), "kernel-outside"),
        (&launch_message("(1,2)", "b0820000", "30000000"), "kernel-base-mismatch"),
        (&launch_message("(1,2)..(2,3) num_mcast_dests=4", "b0820000", "30000000"), "kernel-base-mismatch"),
        (&noflush("RELAY_LINEAR noc_xy=pcie addr=0x44000100 length=64", 64), "relay-from-queue"),
        (&noflush("RELAY_LINEAR noc_xy=pcie addr=0x1000000040000080 length=64", 64), "relay-from-queue"),
        (&noflush("RELAY_LINEAR noc_xy=(14,2) addr=0x40000 length=64", 64), "relay-from-queue"),
        (&noflush("RELAY_PAGED start_page=11 base_addr=0x40000 page_size=64 pages=1", 64), "relay-from-queue"),
        (
            &("send WRITE_LINEAR noc_xy=pcie addr=0x46000100\n> data 01*64\n".to_string()
                + &noflush("RELAY_LINEAR noc_xy=pcie addr=0x46000100 length=64", 64)),
            "relay-before-write",
        ),
        (&(linear("(1,2)..(2,3) num_mcast_dests=4") + &linear("(2,2)")), "write-overtakes-write"),
        (&(linear("(2,2)") + &linear("(1,2)..(2,3) num_mcast_dests=4")), "write-overtakes-write"),
        (&(reset() + &go("go_signal=0x80030e00", "count=1")), "go-before-reset"),
        (&go("go_signal=0x80000000", "count=1"), "go-without-master"),
        (&go("go_signal=0x80030e00", "count=2"), "wait-unreachable"),
        (&go("go_signal=0x80030e00", "count=0"), "wait-too-early"),
        (&go("go_signal=0x80030e00 wait_count=3", "count=1"), "wait-unreachable"),
        (&(go("go_signal=0x80030e00", "count=1 flags=0") + &go("go_signal=0x80030e00", "count=2")), "go-while-running"),
        (&(go("go_signal=0x80030e00", "count=1 flags=0") + &linear("(1,2)")), "write-while-running"),
        (&(large("(1,2)..(2,3)", 4, 0x40000, "unlink") + &go("go_signal=0x80030e00", "count=1")), "go-before-payload"),
        ("send WAIT flags=stream stream=48 count=65536", "wait-count-too-large"),
        ("send WAIT flags=notify", "stall-semaphore-is-code"),
        ("send WRITE_LINEAR_H_HOST is_event=1 length=16", "completion-inside-record"),
        (
            &format!(
                "{}\n> data 00*80 dec010c7 13060001 00010246 10000000 00*32\n",
                packed(1, "size=128 addr=0x9c0", 0)
            ),
            "pcie-outside",
        ),
    ] {
        assert_eq!(codes(text), [expected], "{text}");
    }
}

/// A launch message for entry 0 that enables BRISC.
fn launch_message(target: &str, base: &str, text: &str) -> String {
    format!("send WRITE_LINEAR noc_xy={target} addr=0x70\n> data {base} 00*40 {text} 00*28 01000000 00*16\n")
}

/// The launch pointer of one worker starts again.
fn reset() -> String {
    "send WRITE_LINEAR noc_xy=(1,2) addr=0x370\n> data 000000e0 00*12\n".into()
}

/// 64 bytes to bank 0.
fn write_dram() -> String {
    "send WRITE_LINEAR noc_xy=(17,13) addr=0x1000\n> data 01*64\n".into()
}

/// Pages 3 to 8 of 64 bytes: page 8 is the second of bank 1.
fn pages_written() -> String {
    "send WRITE_PAGED is_dram=1 start_page=3 base_addr=0x1000 page_size=64 pages=6\n> data 01*384\n".into()
}

/// What may look like a mistake and is none.
#[test]
fn what_drivers_may_do_is_clean() {
    let relay = noflush("RELAY_LINEAR noc_xy=(17,14) addr=0x1000 length=64", 64);
    let other = noflush("RELAY_LINEAR noc_xy=(17,14) addr=0x1040 length=64", 64);
    let page = |page: u32| {
        noflush(
            &format!(
                "RELAY_PAGED is_dram_and_length_adjust=0x8000 start_page={page} base_addr=0x1000 page_size=64 pages=1\n"
            ),
            64,
        )
    };
    // The header that a copy's own bytes go on behind.
    let copy = "record\n RELAY_INLINE_NOFLUSH\n > WRITE_LINEAR noc_xy=(17,13) addr=0x1000 length=64\n \
                RELAY_LINEAR noc_xy=(17,14) addr=0x1000 length=64\n";
    for text in [
        "event\nsend TERMINATE\nrecord\n TERMINATE".to_string(),
        "record\n RELAY_INLINE\n > TERMINATE\n TERMINATE".into(),
        "send WRITE_LINEAR noc_xy=pcie addr=0x1000000046000100\n> data 01*16".into(),
        "send WRITE_LINEAR noc_xy=pcie addr=0x1000000000001000\n> data 01*16".into(),
        "send WRITE_LINEAR noc_xy=pcie addr=0x1000\n> data 01*16".into(),
        write_dram() + "wait\n" + &relay,
        write_dram() + &other,
        pages_written() + &page(2) + &page(9) + &page(10),
        copy.into(),
        "send WRITE_LINEAR noc_xy=(1,2) addr=0x70\n> data 00*768".into(),
        "send WRITE_LINEAR noc_xy=(1,2) addr=0xb0\n> data 00*16".into(),
        "send TIMESTAMP noc_xy=(1,2) addr=0x40000".into(),
        launch_message("(1,2)", "b0860000", "30000000"),
        // Nothing runs, so nothing is elsewhere.
        "send WRITE_LINEAR noc_xy=(1,2) addr=0x70\n> data 00*96".into(),
        noflush("RELAY_LINEAR noc_xy=pcie addr=0x46000100 length=64", 64),
        reset() + "send WAIT flags=barrier\n" + &go("go_signal=0x80030e00", "count=1"),
        linear("(1,2)..(2,3) num_mcast_dests=4") + "send WAIT flags=barrier\n" + &linear("(2,2)"),
        linear("(1,2)") + &linear("(1,2)"),
        "send WRITE_LINEAR noc_xy=(1,2) addr=0x370\n> data 00*52".into(),
        go("go_signal=0x80030e00", "count=1 flags=stream") + &go("go_signal=0x80030e00", "count=2 flags=stream"),
    ] {
        assert_eq!(codes(&text), [""; 0], "{text}");
    }
    // Where the configuration has the semaphores, a notice after a barrier and a STALL order them.
    let layout = Layout { sems: 4, ..Layout::default() };
    let stalls = |text: &str| {
        let capture = parse(text).into_result().expect("a stream");
        let report = lint(&capture, &built_in("p100").expect("p100"), &layout);
        report.findings.iter().map(|finding| finding.hazard.def().code).collect::<Vec<_>>()
    };
    let (notify, stall) = ("send WAIT flags=notify\n", "record\n STALL\n");
    assert_eq!(stalls(&[notify, stall, notify, stall].concat()), [""; 0]);
    assert_eq!(stalls(&[notify, notify, stall, stall].concat()), ["stall-miscounted"]);
    assert_eq!(stalls(stall), ["stall-miscounted"]);
    for (notice, expected) in [("barrier|notify", 0), ("notify", 1)] {
        let text = write_dram() + &format!("send WAIT flags={notice}\nrecord\n STALL\n") + &relay;
        let capture = parse(&text).into_result().expect("a stream");
        let report = lint(&capture, &built_in("p100").expect("p100"), &layout);
        assert_eq!(report.findings.len(), expected, "{:?}", report.findings);
    }
}

/// A relay without flush of a linear write, and what brings the bytes.
fn noflush(relay: &str, length: u32) -> String {
    format!("record\n RELAY_INLINE_NOFLUSH\n > WRITE_LINEAR noc_xy=(1,2) addr=0x40000 length={length}\n {relay}")
}

fn packed(count: usize, fields: &str, bytes: usize) -> String {
    format!("send WRITE_PACKED {fields}\n{}> data 01*{bytes}\n", "> sub noc_xy=(1,2)\n".repeat(count))
}

fn large(rect: &str, dests: u32, addr: u32, flags: &str) -> String {
    format!(
        "send WRITE_PACKED_LARGE alignment=16\n> sub noc_xy={rect} addr={addr} length_minus1=31 num_mcast_dests={dests} \
         flags={flags}\n> data 01*32\n"
    )
}

fn linear(target: &str) -> String {
    format!("send WRITE_LINEAR noc_xy={target} addr=0x40000\n> data 01*64\n")
}

fn go(signal: &str, wait: &str) -> String {
    let wait = if wait.contains("flags") {
        format!("send WAIT stream=48 {wait}")
    } else {
        format!("send WAIT flags=stream|clear stream=48 {wait}")
    };
    format!(
        "send SET_GO_SIGNAL_NOC_DATA\n> words 0x81\nsend SEND_GO_SIGNAL {signal} multicast_go_offset=255 num_unicast_txns=1 \
         wait_stream=48\n{wait}\n"
    )
}

#[test]
fn relays_with_too_many_pages_depend_on_the_phase() {
    let relay = |pages: usize| format!("send WRITE_LINEAR noc_xy=(17,14) addr=0\n> data 01*{}\n", pages * 4096 - 64);
    let only = |pages: usize| [relay(64), relay(pages)].concat();
    assert_eq!(codes(&only(64)), [""; 0]);
    // The first record finds the ring empty; after 64 pages one block has come back.
    assert!(codes(&relay(66)).contains(&"relay-too-many-pages"));
    assert!(codes(&relay(129)).contains(&"relay-never-fits"));
    assert!(!codes(&only(96)).contains(&"relay-never-fits"));
    assert!(codes(&only(97)).contains(&"relay-never-fits"));
}

#[test]
fn a_record_larger_than_its_areas_is_named() {
    let mut capture = crate::capture::Capture { board: "p100".into(), ..Default::default() };
    let command = DispatchCommand::decode(&[&[1u8][..], &[0; 31]].concat()).expect("an empty write").0;
    let mut payload = command.encode();
    payload.resize(600_000, 0);
    capture.entries.push(Entry::new(relay_inline(payload).expect("fits").encode()));
    let board = built_in("p100").expect("p100");
    let report = lint(&capture, &board, &Layout::default());
    let codes: Vec<&str> = report.findings.iter().map(|f| f.hazard.def().code).collect();
    // 37,501 units of 16 bytes do not fit 15 bits: the slot says something else, with the stall flag.
    assert!(codes.contains(&"stall-without-exec-buf") && codes.contains(&"record-trailing-bytes"), "{codes:?}");
}

fn program(name: &str, how: Lowering) -> Vec<&'static str> {
    let (board, layout) = (built_in(name).expect("a board"), Layout::default());
    let tiles: Vec<_> = board.workers().collect();
    let launch = LaunchMessage { local_cb_offset: 16, ..Default::default() };
    let roles = vec![Role { tiles: tiles.clone(), launch, image: vec![7; 6000] }];
    let program = Program { args: Data::Each(vec![vec![1; 12]; tiles.len()]), roles, tiles };
    let mut commands = lower_programs(&[program.clone(), program], how, &board, &layout).expect("fits");
    commands.push(host_event(1));
    let entries = commands.iter().map(|c| Entry::new(relay_inline(c.encode()).expect("fits").encode())).collect();
    let capture = Capture { board: name.into(), entries, ..Capture::default() };
    let mut codes: Vec<&str> = lint(&capture, &board, &layout).findings.iter().map(|f| f.hazard.def().code).collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[test]
fn careful_programs_are_clean() {
    for board in ["p100", "p150"] {
        assert_eq!(program(board, Lowering { core_timing: true, ..Lowering::CAREFUL }), [""; 0]);
    }
}

#[test]
fn the_fixed_host_has_the_defects_that_are_known_of_it() {
    assert_eq!(program("p100", Lowering::FIXED_HOST), ["go-before-payload"]);
    assert_eq!(program("p150", Lowering::FIXED_HOST), ["go-before-payload", "packed-too-many-targets"]);
}

proptest::proptest! {
    #[test]
    fn any_stream_is_judged(entries in proptest::collection::vec(proptest::collection::vec(0u8..20, 0..300), 0..4)) {
        let entries = entries.into_iter().map(Entry::new).collect();
        let capture = Capture { board: "p100".into(), entries, ..Capture::default() };
        let report = lint(&capture, &built_in("p100").expect("p100"), &Layout::default());
        proptest::prop_assert_eq!(report.records, capture.entries.len() as u64);
    }
}
