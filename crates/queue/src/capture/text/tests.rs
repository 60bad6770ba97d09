use proptest::prelude::*;

use super::super::{CaptureError, print};
use super::*;

fn capture(text: &str) -> Capture {
    parse(text).into_result().unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// The same without where it stood in its text.
fn plain(mut capture: Capture) -> Capture {
    capture.entries.iter_mut().for_each(|entry| (entry.span, entry.lines) = (0..0, Vec::new()));
    capture
}

const ALL: &str = "
board p150
send WAIT flags=stream|clear stream=48 count=138
send WRITE_PACKED addr=0x86b0 size=4  # one packet each
> sub noc_xy=(1,2)
> sub noc_xy=(2,3)
> data 11111111 00*12 22222222 00*12
send WRITE_PACKED_LARGE kind=2 alignment=16
> sub noc_xy=(1,2)..(2,3) addr=0x370 length_minus1=3 num_mcast_dests=4 flags=unlink
> data 000000e0 00*12
record slot=0x8004
  EXEC_BUF base_addr=0x1000 log_page_size=12 pages=2
record
  RELAY_INLINE_NOFLUSH
  > WRITE_LINEAR noc_xy=(1,2) addr=0x1000 length=4096
  RELAY_LINEAR length=4096 noc_xy=(3,4) addr=0x2000
  STALL
  bytes 0102 00*62
write workers 0x370 000000e0
each (1,2)+(3,2) 0x1000 01020304
launch (1,2)..(7,3)
wait
timestamp 3
event
dump (1,2) 0x1000 16
";

#[test]
fn printed_text_gives_the_same_bytes() {
    let first = plain(capture(ALL));
    assert_eq!(first.entries.len(), 14);
    let again = plain(capture(&print(&first)));
    assert_eq!(again, first);
}

#[test]
fn the_golden_record_by_its_fields() {
    let text = "send WRITE_PACKED addr=0x86b0 size=4\n> sub noc_xy=(1,2)\n> sub noc_xy=(2,3)\n> data 11111111 00*12 22222222 00*12";
    let expected = "record\n bytes 05000000 40000000 80000000 00000000 05000200 00000400 b0860000 00000000 81000000 c2000000 00*8 \
                    11111111 00*12 22222222 00*12 00*48";
    assert_eq!(plain(capture(text)), plain(capture(expected)));
}

#[test]
fn every_mistake_is_reported_at_its_place() {
    let text = "record slot=70000\nsend WEIGHT\nsend WAIT cuont=1\n> data 0g\nrun\nevent\n> sub\nboard p300\nwrite workers 0\neach workers 0 0102";
    let errors = parse(text).errors;
    let lines: Vec<usize> = errors.iter().map(|e| text[..e.span.start].lines().count().max(1)).collect();
    assert_eq!(errors.len(), 9, "{errors:#?}");
    assert!(lines.is_sorted());
    assert!(errors[1].hint.as_ref().is_some_and(|hint| hint.contains("WAIT")));
    assert!(errors.iter().all(|e| e.span.end <= text.len() && !e.message.is_empty()));
}

proptest! {
    #[test]
    fn any_bytes_print_as_text_that_gives_them_again(
        entries in prop::collection::vec((any::<u16>(), prop::collection::vec(0u8..20, 0..200)), 0..4)
    ) {
        let entries = entries.into_iter().map(|(slot, bytes)| Entry { slot, bytes, ..Entry::default() }).collect();
        let first = Capture { board: "p100".into(), entries, ..Capture::default() };
        prop_assert_eq!(plain(capture(&print(&first))), first.clone());
        prop_assert_eq!(Capture::from_bytes(&first.to_bytes()), Ok(first));
    }

    #[test]
    fn any_text_ends_in_a_capture_or_in_errors(text in "([a-zA-Z0-9_=().,>+*#| ]{0,40}\n?){0,6}") {
        for error in parse(&text).errors {
            prop_assert!(error.span.end <= text.len());
        }
    }
}

/// What a host does besides goes through both forms, with its times, and stays in its order.
#[test]
fn acts_go_through_text_and_bytes() {
    let text = "board p150\nevent\nwait\nload (1,2) 0x40000 4\ntake\nload pcie 0x46000100 16\nevent\ntake\nload (17,14) 0x40 64\n";
    let mut first = plain(capture(text));
    first.acts.iter_mut().for_each(|act| act.span = 0..0);
    let before: Vec<usize> = first.acts.iter().map(|act| act.before).collect();
    assert_eq!(before, [1, 1, 1, 1, 2, 2]);
    let mut again = plain(capture(&print(&first)));
    again.acts.iter_mut().for_each(|act| act.span = 0..0);
    assert_eq!(first, again);
    for (number, act) in first.acts.iter_mut().enumerate() {
        act.cycle = 100 + number as u64;
    }
    first.entries[1].cycle = 110;
    let bytes = first.to_bytes();
    assert_eq!(bytes[7], 3);
    assert_eq!(Capture::from_bytes(&bytes), Ok(first));
    // A kind that there is not.
    let wrong = [&bytes[..8], &[0; 4][..], &[9, 0], &[0; 8]].concat();
    assert_eq!(Capture::from_bytes(&wrong), Err(CaptureError::Item { offset: 12, kind: 9, version: 3, last: 3 }));
    for cut in 8..bytes.len() {
        let _ = Capture::from_bytes(&bytes[..cut]);
    }
}

/// A mistake in the head of a command is one error: the lines that belong to it are none.
#[test]
fn lines_after_a_mistake_are_not_mistakes() {
    for text in [
        "send WRITE_PACKED_LARGE type=2 alignment=16\n> sub noc_xy=(1,2)..(2,3) addr=0x40000\n> data 01020304 00*12\nevent",
        "record lost=3\nRELAY_INLINE\n> WAIT",
        "record\nRELAY_INLINE cuont=1\n> WAIT",
        "record\nRELAY_INLINE\n> WRITE_PAKCED addr=0x86b0 size=4\n> sub noc_xy=(1,2)\n> data 11111111",
        "send WRITE_PACKED fl=mcast\n> sub noc_xy=(1,2)..(2,3) num_mcast_dests=4",
        "sned WRITE_PACKED addr=0x86b0 size=4\n> sub noc_xy=(1,2)",
    ] {
        assert_eq!(parse(text).errors.len(), 1, "{text}: {:?}", parse(text).errors);
    }
    // A line that belongs to nothing is one.
    assert_eq!(parse("event\n> WAIT").errors.len(), 1);
}
