//! Traces agree with the sums in the tables.

use std::collections::BTreeMap;

use prost::Message;
use slipring::{BoardOptions, Kernel, QueueWork, RunOptions, Tensor, Timing, queue_trace};
use slipring_machine::Platform;
use slipring_queue::board::{Board, built_in};
use slipring_queue::capture::Capture;
use slipring_queue::machine::Config;
use slipring_queue::replay::replay;
use slipring_report::{RunFacts, SegmentKind, Trace, chrome, perfetto, schema};

use super::{recorded, run_with, runs, top};

/// A slice as read back.
#[derive(Clone, Debug)]
pub(super) struct Read {
    /// The names of its groups and of its track.
    track: Vec<String>,
    name: String,
    category: String,
    reason: String,
    start: u64,
    end: u64,
    flows: [Vec<u64>; 2],
}

/// Reads a trace in Perfetto's format as its viewer does: the slices of a track form a stack.
pub(super) fn read(bytes: &[u8]) -> Vec<Read> {
    let trace = schema::Trace::decode(bytes).expect("a trace");
    let mut tracks: BTreeMap<u64, (Option<u64>, String)> = BTreeMap::new();
    for packet in &trace.packet {
        let Some(track) = &packet.track_descriptor else { continue };
        let process = track.process.as_ref().and_then(|process| process.process_name.clone());
        let name = track.name.clone().or(process).expect("a name");
        assert!(tracks.insert(track.uuid.expect("a number"), (track.parent_uuid, name)).is_none());
    }
    let names = |list: &[schema::Name]| -> BTreeMap<u64, String> {
        list.iter().map(|name| (name.iid.expect("a number"), name.name.clone().expect("a name"))).collect()
    };
    let interned = trace.packet[0].interned_data.as_ref().expect("names");
    let (events, categories) = (names(&interned.event_names), names(&interned.event_categories));
    let (args, texts) = (names(&interned.debug_annotation_names), names(&interned.debug_annotation_string_values));
    let mut open: BTreeMap<u64, Vec<Read>> = BTreeMap::new();
    let (mut closed, mut now) = (Vec::new(), 0);
    for packet in &trace.packet {
        let (Some(at), Some(event)) = (packet.timestamp, &packet.track_event) else { continue };
        assert!(at >= now, "packets are in order of time");
        now = at;
        let uuid = event.track_uuid.expect("a track");
        let stack = open.entry(uuid).or_default();
        match event.r#type {
            Some(1) => {
                let mut track = vec![tracks[&uuid].1.clone()];
                let mut parent = tracks[&uuid].0;
                while let Some(own) = parent {
                    track.insert(0, tracks[&own].1.clone());
                    parent = tracks[&own].0;
                }
                let reason = event.debug_annotations.iter().find(|arg| args[&arg.name_iid.unwrap()] == "reason");
                let reason =
                    reason.and_then(|arg| arg.string_value_iid).map_or(String::new(), |iid| texts[&iid].clone());
                stack.push(Read {
                    track,
                    name: events[&event.name_iid.expect("a name")].clone(),
                    category: categories[&event.category_iids[0]].clone(),
                    reason,
                    start: at,
                    end: at,
                    flows: [event.flow_ids.clone(), event.terminating_flow_ids.clone()],
                });
            }
            Some(2) => {
                let mut slice = stack.pop().expect("an end has its beginning");
                slice.end = at;
                closed.push(slice);
            }
            Some(4) => assert!(event.counter_value.is_some_and(|value| value >= 0)),
            other => panic!("an event of type {other:?}"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "every slice is closed");
    closed
}

/// Both ends of each arrow, the first no later than the second.
pub(super) fn arrows(slices: &[Read]) -> usize {
    let mut ends: BTreeMap<u64, [Vec<&Read>; 2]> = BTreeMap::new();
    for slice in slices {
        for (side, list) in slice.flows.iter().enumerate() {
            list.iter().for_each(|id| ends.entry(*id).or_default()[side].push(slice));
        }
    }
    for (id, [from, to]) in &ends {
        assert_eq!((from.len(), to.len()), (1, 1), "arrow {id}");
        assert!(from[0].start <= to[0].start, "{:?} to {:?}", from[0], to[0]);
    }
    ends.len()
}

/// Busy cycles and stalls of each core and pipe, by cause, agree between the trace and the table.
pub(super) fn agree(slices: &[Read], facts: &RunFacts) {
    let mut from_trace: BTreeMap<(String, String, String), u64> = BTreeMap::new();
    for slice in slices.iter().filter(|slice| slice.track.len() == 3) {
        let what = match slice.category.as_str() {
            "work" => "busy".to_string(),
            "stall" => slice.reason.clone(),
            _ => continue,
        };
        let key = (slice.track[1].clone(), slice.track[2].clone(), what);
        *from_trace.entry(key).or_default() += slice.end - slice.start;
    }
    from_trace.retain(|_, cycles| *cycles > 0);
    let mut from_table = BTreeMap::new();
    for pipe in &facts.pipes {
        let stalls = pipe.stalls.iter().map(|stall| (stall.cause.clone(), stall.cycles));
        for (what, cycles) in stalls.chain([("busy".to_string(), pipe.busy)]).filter(|(_, cycles)| *cycles > 0) {
            from_table.insert((pipe.core.clone(), pipe.pipe.clone(), what), cycles);
        }
    }
    assert_eq!(from_trace, from_table, "{}", facts.kernel);
}

#[test]
fn traces_of_all_examples_say_what_the_tables_say() {
    for (path, run, facts) in runs(&recorded(), 1) {
        let trace = run.trace().expect("a trace");
        let bytes = perfetto(&trace);
        let slices = read(&bytes);
        agree(&slices, &facts);
        let taken = run.record().expect("a record").happenings.iter().filter(|own| own.cause.is_some()).count();
        assert_eq!((arrows(&slices), trace.flows.len()), (taken, taken), "{}", path.display());
        // Rings: an arrow for each popped tile, and one for each slot that was freed and reused.
        let popped: u64 = facts.rings.iter().map(|ring| ring.popped).sum();
        assert_eq!(trace.flows.iter().filter(|flow| flow.what == "tile").count() as u64, popped, "{}", path.display());
        assert!(trace.end() == facts.cycles || !run.is_complete(), "{}", path.display());
        let again = run_with(&path, &recorded()).0.trace().expect("a trace");
        assert!(perfetto(&again) == bytes && chrome(&again) == chrome(&trace), "{}: other bytes", path.display());
    }
}

/// The path covers the run from the first cycle to the last without gaps, and everything on it ran at that time.
#[test]
fn critical_paths_are_whole() {
    let timings = [Timing::Platform, Timing::Random { seed: 3 }];
    for timing in timings {
        for (path, run, facts) in runs(&recorded().timing(timing), 2) {
            if !run.is_complete() {
                continue;
            }
            let record = run.record().expect("a record");
            let segments = record.path();
            let ends: Vec<[u64; 2]> = segments.iter().map(|segment| [segment.start, segment.end]).collect();
            let name = path.display();
            assert_eq!(ends.first().map(|first| first[0]), Some(0), "{name}");
            assert_eq!(ends.last().map(|last| last[1]), Some(facts.cycles), "{name}");
            assert!(ends.windows(2).all(|pair| pair[0][1] == pair[1][0]), "{name}: {ends:?}");
            for segment in segments.iter().filter(|segment| segment.kind == SegmentKind::Work) {
                let own = &record.happenings[segment.happening.expect("work") as usize];
                assert_eq!((own.start, own.end), (segment.start, segment.end));
            }
            let by_part: u64 = facts.path.expect("a path").parts.iter().map(|part| part.cycles).sum();
            assert_eq!(by_part, facts.cycles);
        }
    }
}

/// The activity of lines adds up to that of pipes.
#[test]
fn lines_add_up() {
    for (path, _, facts) in runs(&recorded(), 1) {
        let busy: u64 = facts.pipes.iter().map(|pipe| pipe.busy).sum();
        let lines = facts.lines.expect("lines");
        assert_eq!(lines.iter().map(|line| line.busy).sum::<u64>(), busy, "{}", path.display());
        assert!(lines.is_sorted_by(|a, b| a.line <= b.line));
        let on_path: u64 = lines.iter().map(|line| line.path).sum();
        assert!(on_path <= facts.cycles);
    }
}

/// Many blocks on the available clusters, one after another.
#[test]
fn blocks_in_waves() {
    let path = top().join("examples/matmul_to_vector.pto");
    let (run, facts) = run_with(&path, &recorded().blocks(70));
    let slices = read(&perfetto(&run.trace().expect("a trace")));
    agree(&slices, &facts);
    let blocks = slices.iter().filter(|slice| slice.track.last().is_some_and(|name| name == "blocks")).count();
    assert_eq!(blocks, 70);
    let segments = run.record().expect("a record").path();
    assert_eq!(segments.iter().map(|segment| segment.end - segment.start).sum::<u64>(), facts.cycles);
}

/// A run through a board's queue: records go from the host to the prefetcher, commands from there to the dispatcher, go
/// signals to workers, and the activity of a kernel's pipes appears below its worker.
#[test]
fn a_board_has_a_trace() {
    let kernel = Kernel::open(top().join("examples/lang/5_attention_step.py")).expect("a kernel");
    let args: Vec<Tensor<'static>> = kernel.arguments(&[], 0).expect("arguments");
    let board = built_in("p150").expect("a board");
    let options = BoardOptions { board: board.clone(), delays: Some(3), record: true };
    let run = kernel.run_on_board(args.clone(), options, &RunOptions::new().record(true)).expect("runs");
    let trace: &Trace = run.trace().expect("a trace");
    let slices = read(&perfetto(trace));
    assert_eq!(arrows(&slices), trace.flows.len());
    let of = |track: &str, category: &str| {
        let own = |slice: &&Read| slice.track[1] == track && slice.category == category;
        slices.iter().filter(own).cloned().collect::<Vec<_>>()
    };
    let commands = of("dispatcher", "work");
    assert!(commands.iter().all(|command| command.flows[1].len() == 1), "{commands:?}");
    assert_eq!(commands.len() as u64, run.facts.queue.dispatch_commands);
    assert_eq!(of("prefetcher", "work").len() as u64, run.facts.queue.prefetch_commands);
    assert!(of("dispatcher", "stall").iter().any(|wait| wait.reason == "waits for workers"));
    let queued = of("calls", "work").iter().filter(|call| call.name == "queue record").count();
    assert_eq!(queued as u64, run.facts.queue.records);
    assert!(of("calls", "stall").iter().all(|wait| wait.reason == "waits for the board"));

    // From each launch back to the call from which it came.
    let kernels = launches(&slices);
    assert_eq!(kernels.len() as u64, run.facts.queue.launches);
    for kernel in &kernels {
        let mut at: &Read = kernel;
        for (arrow, track) in [("go", "dispatcher"), ("command", "prefetcher"), ("record", "calls")] {
            let [id] = at.flows[1][..] else { panic!("one {arrow} arrives: {at:?}") };
            assert_eq!(trace.flows[id as usize - 1].what, arrow);
            let from = slices.iter().find(|slice| slice.flows[0].contains(&id)).expect("it begins somewhere");
            assert!(from.track[1] == track && from.start <= at.start, "{from:?} {at:?}");
            at = from;
        }
        assert_eq!(at.name, "queue record");
    }

    // On the board, the block does the same as without it, in time of the board's clock and inside the launch.
    let direct = kernel.run_with(args, &recorded().blocks(1)).expect("runs").trace().expect("a trace");
    let (ours, theirs) = (u64::from(board.clock_mhz), u64::from(direct.clock_mhz));
    let platform = slipring_machine::built_in(kernel.platform_name().expect("a platform")).expect("a built-in one");
    let again = again(run.recorded().expect("a stream"), platform, &board);
    for pipes in [below_launches(&slices), below_launches(&again)] {
        let mut expected = Vec::new();
        for track in direct.tracks.iter().filter(|track| direct.groups[track.group].parent.is_some()) {
            let name = format!("{} {}", direct.groups[track.group].name, track.name);
            let moved = |at: u64| at * ours / theirs;
            let own = |slice: &slipring_report::Slice| (name.clone(), moved(slice.start), moved(slice.end));
            expected.extend(track.slices.iter().map(own));
        }
        expected.sort();
        assert!(expected.len() > 100);
        assert_eq!(pipes, expected);
    }
    assert!(queue_trace(&[], &[], &built_in("p100").expect("a board"), Vec::new()).tracks.len() == 4);
}

/// The launches of workers, with an arrow from each block to its cores.
fn launches(slices: &[Read]) -> Vec<&Read> {
    let kernels: Vec<&Read> = slices.iter().filter(|slice| slice.name == "kernel").collect();
    assert!(!kernels.is_empty());
    for kernel in &kernels {
        let to = |id: &u64| slices.iter().find(|slice| slice.flows[1].contains(id)).expect("it ends somewhere");
        let mut cores: Vec<String> = kernel.flows[0].iter().map(|id| to(id).track[2][..4].trim().into()).collect();
        cores.sort();
        assert_eq!(cores, ["AIC", "AIV0", "AIV1"]);
    }
    kernels
}

/// Everything below the only launch, relative to its beginning.
fn below_launches(slices: &[Read]) -> Vec<(String, u64, u64)> {
    let [launch] = launches(slices)[..] else { panic!("one launch") };
    let beside = |slice: &&Read| slice.track.starts_with(&launch.track[..2]) && slice.track != launch.track;
    let mut own = Vec::new();
    for slice in slices.iter().filter(beside) {
        assert!(launch.start <= slice.start && slice.end <= launch.end, "{slice:?} {launch:?}");
        own.push((slice.track[2].clone(), slice.start - launch.start, slice.end - launch.start));
    }
    own.sort();
    own
}

/// The timeline of a stream that is run again, with workers that run its kernels.
fn again(capture: &Capture, platform: Platform, board: &Board) -> Vec<Read> {
    let (worker, blocks) = QueueWork::Kernels(Some(Box::new(platform))).workers(board, true);
    let config = Config { trace: true, ..Config::new(board.clone()) };
    let mut replayed = replay(capture, config, worker, |_, _| ()).expect("replays");
    let trace = queue_trace(&replayed.queue.device().spans(), &blocks.borrow(), board, Vec::new());
    read(&perfetto(&trace))
}
