//! Comparison of two streams, and the waits within one.

use std::collections::BTreeMap;

use serde::Serialize;
use slipring_queue::capture::{Act, Capture, Entry, print};
use slipring_queue::machine::{Span, SpanActor};

/// The waits of an actor for one cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct QueueStall {
    /// The actor.
    pub actor: String,
    /// The cause.
    pub cause: &'static str,
    /// Number of waits.
    pub times: u64,
    /// Total cycles.
    pub cycles: u64,
    /// Cycles of the longest wait.
    pub longest: u64,
    /// The command with the longest wait: its index among those of the actor.
    pub command: u64,
}

/// The waits of each core, by actor and cause; waits without duration are omitted. Waits of the host are not counted.
pub fn queue_stalls(spans: &[Span]) -> Vec<QueueStall> {
    let mut rows: BTreeMap<(SpanActor, &'static str), QueueStall> = BTreeMap::new();
    for span in spans.iter().filter(|span| span.waits && span.end > span.start) {
        let actor = match span.actor {
            SpanActor::Host => continue,
            SpanActor::Queue(actor) => actor.to_string(),
            SpanActor::Second(actor) => format!("{actor} of queue 1"),
            SpanActor::Worker(tile) => tile.to_string(),
        };
        let row = rows.entry((span.actor, span.name)).or_insert(QueueStall {
            actor,
            cause: span.name,
            times: 0,
            cycles: 0,
            longest: 0,
            command: 0,
        });
        let cycles = span.end - span.start;
        (row.times, row.cycles) = (row.times + 1, row.cycles + cycles);
        if cycles > row.longest {
            (row.longest, row.command) = (cycles, span.index);
        }
    }
    rows.into_values().collect()
}

/// The differences between the records of two streams.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct QueueDifference {
    /// Number of records of each.
    pub records: [usize; 2],
    /// Number of bytes of each.
    pub bytes: [usize; 2],
    /// Names of the boards, if they differ.
    pub boards: Option<[String; 2]>,
    /// The first differing record.
    pub first: Option<RecordDifference>,
    /// Records of the first stream that the second also has, but after ones that come later in the first.
    pub moved: Vec<usize>,
    /// Records of the first stream that the second lacks, and vice versa.
    pub only: [Vec<usize>; 2],
    /// The first other host action in which the two differ.
    pub host: Option<HostDifference>,
}

/// How two hosts differ in actions other than queueing records.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct HostDifference {
    /// Its index among all other actions of the host.
    pub number: usize,
    /// Number of records each has queued before; `None` if it has no further action.
    pub records: [Option<usize>; 2],
    /// As text.
    pub left: Option<String>,
    /// As text.
    pub right: Option<String>,
}

/// The difference between a record and the corresponding one in another stream.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct RecordDifference {
    /// Its index.
    pub record: usize,
    /// The first differing byte, or the end of the shorter one.
    pub byte: usize,
    /// The contents of the slots, if they differ.
    pub slots: Option<[u16; 2]>,
    /// Lines of the first that the second lacks, as text.
    pub left: Vec<String>,
    /// Lines of the second that the first lacks.
    pub right: Vec<String>,
}

impl QueueDifference {
    /// Whether both hosts queued the same.
    pub fn is_none(&self) -> bool {
        self.first.is_none() && self.boards.is_none() && self.host.is_none()
    }
}

fn lines(entry: Option<&Entry>, board: &str) -> Vec<String> {
    let entries = entry.cloned().into_iter().collect();
    let text = print(&Capture { board: board.into(), entries, ..Capture::default() });
    text.lines().skip_while(|line| !line.starts_with("board")).skip(1).map(str::to_owned).collect()
}

/// Another host action, as text.
fn line(act: Option<&Act>) -> Option<String> {
    let queue = act?.queue;
    let act = Act { before: 0, cycle: 0, queue: 0, ..act?.clone() };
    let text = print(&Capture { acts: vec![act], ..Capture::default() });
    let line = text.lines().skip(1).find(|line| !line.is_empty())?;
    Some(if queue > 0 { format!("{line} (queue {queue})") } else { line.to_owned() })
}

fn host_difference(a: &Capture, b: &Capture) -> Option<HostDifference> {
    let of = |act: Option<&Act>| act.map(|act| (act.before, act.queue, act.kind.clone()));
    let most = a.acts.len().max(b.acts.len());
    let number = (0..most).find(|at| of(a.acts.get(*at)) != of(b.acts.get(*at)))?;
    let (left, right) = (a.acts.get(number), b.acts.get(number));
    let records = [left, right].map(|act| act.map(|act| act.before));
    Some(HostDifference { number, records, left: line(left), right: line(right) })
}

/// The difference between two streams.
pub fn queue_difference(a: &Capture, b: &Capture) -> QueueDifference {
    let same =
        |x: &Entry, y: &Entry| x.slot == y.slot && x.bytes == y.bytes && (x.waits, x.queue) == (y.waits, y.queue);
    let bytes = |capture: &Capture| capture.entries.iter().map(|entry| entry.bytes.len()).sum();
    let mut difference = QueueDifference {
        records: [a.entries.len(), b.entries.len()],
        bytes: [bytes(a), bytes(b)],
        boards: (a.board != b.board).then(|| [a.board.clone(), b.board.clone()]),
        host: host_difference(a, b),
        ..QueueDifference::default()
    };
    let most = a.entries.len().max(b.entries.len());
    let unlike = (0..most).find(|at| match (a.entries.get(*at), b.entries.get(*at)) {
        (Some(x), Some(y)) => !same(x, y),
        _ => true,
    });
    let Some(record) = unlike else { return difference };
    let (left, right) = (a.entries.get(record), b.entries.get(record));
    let byte = match (left, right) {
        (Some(x), Some(y)) => x.bytes.iter().zip(&y.bytes).take_while(|(x, y)| x == y).count(),
        _ => 0,
    };
    let (x, y) = (lines(left, &a.board), lines(right, &b.board));
    difference.first = Some(RecordDifference {
        record,
        byte,
        slots: left.zip(right).filter(|(x, y)| x.slot != y.slot).map(|(x, y)| [x.slot, y.slot]),
        left: x.iter().filter(|line| !y.contains(line)).cloned().collect(),
        right: y.iter().filter(|line| !x.contains(line)).cloned().collect(),
    });
    // Each record of the first with the next equal one in the second that is not matched yet.
    let mut places: BTreeMap<(u16, bool, u8, &[u8]), Vec<usize>> = BTreeMap::new();
    for (at, entry) in b.entries.iter().enumerate().rev() {
        places.entry((entry.slot, entry.waits, entry.queue, &entry.bytes)).or_default().push(at);
    }
    let mut behind = None;
    let mut taken = vec![false; b.entries.len()];
    for (at, entry) in a.entries.iter().enumerate() {
        match places.get_mut(&(entry.slot, entry.waits, entry.queue, entry.bytes.as_slice())).and_then(Vec::pop) {
            None => difference.only[0].push(at),
            Some(there) => {
                taken[there] = true;
                if behind.is_some_and(|behind| there < behind) {
                    difference.moved.push(at);
                }
                behind = behind.max(Some(there));
            }
        }
    }
    difference.only[1] = (0..b.entries.len()).filter(|at| !taken[*at]).collect();
    difference
}

#[cfg(test)]
mod tests {
    use super::*;
    use slipring_queue::capture::parse;

    fn stream(text: &str) -> Capture {
        parse(text).into_result().expect("a stream")
    }

    #[test]
    fn bytes_and_order_of_records() {
        let event = "event\n";
        let write = |byte: &str| format!("send WRITE_LINEAR noc_xy=(1,2) addr=0x40000\n > data {byte}*64\n");
        let a = stream(&[&write("01"), &write("02"), event].concat());
        assert!(queue_difference(&a, &a).is_none());
        let b = stream(&[&write("02"), &write("01"), event].concat());
        let swapped = queue_difference(&a, &b);
        assert_eq!((swapped.moved, swapped.only), (vec![1], [vec![], vec![]]));
        // Header of the relay and of the write: 16 and 32 bytes.
        let first = swapped.first.expect("record 0 differs");
        assert_eq!((first.record, first.byte), (0, 48));
        let c = stream(&[&write("01"), event].concat());
        let less = queue_difference(&a, &c);
        assert_eq!((less.only, less.records), ([vec![1], vec![]], [3, 2]));
    }

    #[test]
    fn what_hosts_do_besides() {
        let a = stream("store (1,2) 0x40000 01\nevent\ntake\npoll (1,2) 0x370 00");
        let b = stream("store (1,2) 0x40000 02\nevent\ntake");
        let difference = queue_difference(&a, &b);
        assert!(difference.first.is_none() && !difference.is_none());
        let host = difference.host.expect("they differ");
        assert_eq!((host.number, host.left.as_deref()), (0, Some("store (1,2) 0x40000 01")));
        let c = stream("store (1,2) 0x40000 01\nevent\ntake");
        let host = queue_difference(&a, &c).host.expect("they differ");
        assert_eq!((host.number, host.records, host.right), (2, [Some(1), None], None));
    }

    #[test]
    fn waits_by_cause() {
        let actor = SpanActor::Worker(slipring_queue::wire::Xy::new(1, 2));
        let span =
            |name, waits, start, end, index| Span { actor, name, waits, index, record: None, cause: None, start, end };
        let spans =
            [span("a", true, 0, 5, 1), span("a", true, 10, 20, 2), span("b", false, 0, 9, 3), span("c", true, 4, 4, 4)];
        let rows = queue_stalls(&spans);
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].times, rows[0].cycles, rows[0].longest, rows[0].command), (2, 15, 10, 2));
    }
}
