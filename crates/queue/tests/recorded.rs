//! The actions of a live host are recorded as a stream that has the same effect on another machine.

use std::ptr::NonNull;

use slipring_queue::Layout;
use slipring_queue::board::{Board, built_in};
use slipring_queue::capture::{ActKind, Capture, parse, print};
use slipring_queue::host::{Device, Kernels, Queue, Settings, WindowTarget};
use slipring_queue::machine::{Config, Machine};
use slipring_queue::replay::{Replay, replay};
use slipring_queue::wire::{LaunchMessage, Packed, Rect, Xy};
use slipring_queue::worker::{Acknowledge, Call, Callback, Worker};

const WORKER: Xy = Xy::new(1, 2);

fn open() -> (Queue<Machine>, Config) {
    let board: Board = built_in("p100").expect("a built-in board");
    let config = Config { record: true, ..Config::new(board.clone()) };
    let machine = Machine::with_worker(config.clone(), adds()).expect("a machine");
    let queue = Queue::open(machine, board, Layout::default(), Settings::CAREFUL, &Kernels::default());
    (queue.expect("opens"), config)
}

/// A worker that sums bytes of host memory, at the address in the first words of its kernel text, and writes the sum to
/// L1.
fn adds() -> Box<dyn Worker> {
    Box::new(Callback::new(|call: &mut Call<'_, '_>| {
        let mut at = [0; 8];
        call.read(0x86B0, &mut at)?;
        let at = u64::from_le_bytes(at);
        let mut bytes = [0; 64];
        if at != 0 {
            call.read_host(at, &mut bytes)?;
        }
        let sum: u32 = bytes.iter().map(|byte| u32::from(*byte)).sum();
        call.write(0x50000, &sum.to_le_bytes())?;
        // It sees its own writes, and others see them when its time is over.
        let mut own = [0; 2];
        call.read(0x50001, &mut own)?;
        if own != sum.to_le_bytes()[1..3] {
            return Err(format!("{own:?} of {sum}"));
        }
        Ok(700)
    }))
}

/// Queues the records of a text.
fn push(queue: &mut Queue<Machine>, text: &str) {
    for entry in parse(text).into_result().expect("records").entries {
        queue.replay(&entry.bytes, entry.slot).expect("is queued");
    }
}

/// Runs the recorded stream of a host again, in both forms.
fn again(queue: &mut Queue<Machine>, config: &Config) -> (Capture, Replay) {
    let capture = queue.device().recorded("p100").expect("it was asked for");
    let read = Capture::from_bytes(&capture.to_bytes()).expect("a stream");
    assert_eq!(read, capture);
    let text = parse(&print(&capture)).into_result().expect("a text");
    let kinds = |capture: &Capture| capture.acts.iter().map(|act| (act.before, act.kind.clone())).collect::<Vec<_>>();
    assert_eq!(kinds(&text), kinds(&capture));
    let run = replay(&text, config.clone(), adds(), |_, _| {}).expect("runs");
    assert!(run.complete && run.findings.is_empty(), "{:?}", run.findings);
    (capture, run)
}

fn word(machine: &Machine, addr: u64) -> u32 {
    let mut bytes = [0; 4];
    machine.peek(WORKER, addr, &mut bytes).expect("L1");
    u32::from_le_bytes(bytes)
}

/// A host that starts a worker through windows, without the queue, and polls its go message until it is done; twice.
#[test]
fn stores_and_polls_through_windows() {
    let (mut queue, config) = open();
    let device = queue.device();
    let all = device.open(2 << 20, WindowTarget::rect(Rect::new(Xy::new(1, 2), Xy::new(14, 11)), 0)).expect("a window");
    device.write(all, 0x60000, &[7; 100]).expect("stores");
    device.write(all, 0x60064, &[8; 100]).expect("stores");
    let one = device.open(2 << 20, WindowTarget::tile(WORKER, 0)).expect("a window");
    let mut launch = vec![0; LaunchMessage::SIZE];
    LaunchMessage { kernel_config_base: 0x86B0, mode: 1, enables: 1, ..LaunchMessage::default() }.write(&mut launch);
    for _ in 0..2 {
        device.write(one, 0x70, &launch).expect("stores");
        device.write32(one, 0x370, 0x8000_0000).expect("stores");
        while device.read32(one, 0x370).expect("loads") >> 24 != 0 {
            device.wait(500).expect("waits");
        }
    }
    let dram = device.open(4 << 30, WindowTarget::tile(Xy::new(17, 14), 0)).expect("a window");
    device.write(dram, 0x1000, &[5; 64]).expect("stores");
    device.wait(10_000).expect("waits");
    device.write(dram, 0x1040, &[6; 64]).expect("stores");
    let event = queue.event().expect("an event");
    queue.wait_event(event).expect("comes back");
    let launches = queue.device().status().launches;
    let (capture, mut run) = again(&mut queue, &config);
    // The queue's own cores are inside the rectangle of tiles, and were not restarted.
    let machine = run.queue.device();
    assert_eq!((machine.status().launches, launches), (2, 2));
    for at in [0x60000, 0x60063, 0x60064, 0x600C7] {
        assert_eq!(word(machine, at), word(queue.device(), at));
    }
    let mut found = [0; 128];
    machine.peek(Xy::new(17, 14), 0x1000, &mut found).expect("DRAM");
    assert_eq!(found, [[5; 64], [6; 64]].concat()[..]);
    // Consecutive stores are merged into one, consecutive polls into the last one, and the host's pause is kept.
    let stores = capture.acts.iter().filter(|act| matches!(act.kind, ActKind::Store { .. })).count();
    let polls = capture.acts.iter().filter(|act| matches!(act.kind, ActKind::Poll { .. })).count();
    let pauses: Vec<u64> = capture
        .acts
        .iter()
        .filter_map(|act| match act.kind {
            ActKind::Pause { cycles } => Some(cycles),
            _ => None,
        })
        .collect();
    assert_eq!((stores, polls, pauses), (7, 2, vec![13_500]));
}

/// Memory that a host lends and writes directly: the bytes that commands and workers read are in the stream, with new
/// contents each time.
#[test]
fn borrowed_memory_that_commands_and_workers_read() {
    let (mut queue, config) = open();
    let bytes = Box::leak(vec![0u8; 8192].into_boxed_slice());
    let first = NonNull::new(bytes.as_mut_ptr()).expect("memory");
    // SAFETY: the memory is never released, and the test accesses it only between calls.
    let borrowed = unsafe { queue.device().pin_borrowed(first, 8192) }.expect("pins");
    let fill = |value: u8| {
        // SAFETY: no call is in progress.
        unsafe { std::slice::from_raw_parts_mut(first.as_ptr(), 8192) }.fill(value);
    };
    let noc = borrowed.noc_addr & !(1 << 60);
    fill(3);
    queue.device().host_write(borrowed, 0, &[9; 64]).expect("writes");
    push(
        &mut queue,
        &format!(
            "record\nRELAY_INLINE_NOFLUSH\n> WRITE_LINEAR noc_xy=(1,2) addr=0x40000 length=4096\n\
             RELAY_LINEAR noc_xy=pcie addr={noc:#x} length=4096\n\
             send WRITE_LINEAR noc_xy=(1,2) addr=0x86b0\n> data {}\nsend WAIT flags=barrier\nlaunch (1,2)\nevent",
            noc.to_le_bytes().map(|byte| format!("{byte:02x}")).concat(),
        ),
    );
    queue.completion().expect("an event");
    assert_eq!(word(queue.device(), 0x50000), 9 * 64);
    // The device writes some of it, which is not a store of the host; the host overwrites it.
    push(
        &mut queue,
        &format!(
            "send WRITE_LINEAR noc_xy=pcie addr={:#x}\n> data 11*64\nsend WAIT flags=barrier\nsend WRITE_LINEAR_H_HOST is_event=1\n> data 02000000 00*12",
            noc + 4096
        ),
    );
    queue.completion().expect("an event");
    fill(4);
    push(
        &mut queue,
        &format!(
            "record\nRELAY_INLINE_NOFLUSH\n> WRITE_LINEAR noc_xy=(1,2) addr=0x42000 length=4096\n\
             RELAY_LINEAR noc_xy=pcie addr={noc:#x} length=4096\nsend WRITE_LINEAR_H_HOST is_event=1\n> data 03000000 00*12"
        ),
    );
    queue.completion().expect("an event");
    let (capture, mut run) = again(&mut queue, &config);
    for at in [0x40000, 0x40040, 0x40FFC, 0x42000, 0x42FFC, 0x50000] {
        assert_eq!(word(run.queue.device(), at), word(queue.device(), at), "{at:#x}");
    }
    assert_eq!([0x40000, 0x40040, 0x42000].map(|at| word(queue.device(), at)), [0x0909_0909, 0x0303_0303, 0x0404_0404]);
    // Only bytes that the device has read are kept.
    let stored: usize = capture
        .acts
        .iter()
        .filter_map(|act| match &act.kind {
            ActKind::Store { tiles: None, bytes, .. } => Some(bytes.len()),
            _ => None,
        })
        .sum();
    assert_eq!(stored, 64 + (4096 - 64) + 4096);
}

/// Pinned and released memory is pinned and released again; a stream with requests that no machine can fulfil is
/// rejected.
#[test]
fn pins_and_what_is_refused() {
    let (mut queue, config) = open();
    let memory = queue.device().pin(4096).expect("pins");
    queue.device().host_write(memory, 8, b"host").expect("writes");
    queue.device().unpin(memory).expect("gives back");
    let event = queue.event().expect("an event");
    queue.wait_event(event).expect("comes back");
    let (capture, _) = again(&mut queue, &config);
    let addr = memory.noc_addr & !(1 << 60);
    assert_eq!(capture.acts[0].kind, ActKind::Pin { addr, bytes: 4096 });
    assert_eq!(capture.acts[2].kind, ActKind::Unpin { addr });
    for kind in [
        ActKind::Unpin { addr: 0x4000_0000 },
        ActKind::Unpin { addr: 0x8000_0000 },
        ActKind::Pin { addr: 64, bytes: 64 },
        ActKind::Pin { addr: 0x4000_0000, bytes: 64 },
        ActKind::Pin { addr: 0x8000_0000, bytes: u64::MAX },
        ActKind::Store { tiles: None, addr: u64::MAX, bytes: vec![1; 4] },
        ActKind::Store { tiles: None, addr: 0x4000_0100, bytes: vec![1; 4] },
        ActKind::Store { tiles: Some(Rect::new(Xy::new(14, 2), Xy::new(14, 2))), addr: 0, bytes: vec![1; 4] },
        ActKind::Store { tiles: Some(Rect::new(Xy::new(255, 255), Xy::new(255, 255))), addr: 0, bytes: vec![1; 4] },
        ActKind::Store { tiles: Some(Rect::new(WORKER, WORKER)), addr: u64::MAX, bytes: vec![1; 4] },
        ActKind::Poll { tile: WORKER, addr: u64::MAX, bytes: vec![1; 4] },
    ] {
        let acts = vec![slipring_queue::capture::Act::new(0, kind.clone())];
        let stream = Capture { board: "p100".into(), acts, ..Capture::default() };
        let again = Capture::from_bytes(&stream.to_bytes()).expect("a stream");
        assert_eq!(again, stream);
        let refused = replay(&stream, config.clone(), Box::new(Acknowledge::default()), |_, _| {});
        assert!(refused.is_err(), "{kind:?}");
    }
}

/// A failing function is a finding with the reason; workers can be replaced while none of them runs.
#[test]
fn functions_that_fail_and_follow_each_other() {
    let (mut queue, _) = open();
    let fails = Callback::new(|call: &mut Call<'_, '_>| {
        let outside = [call.write(0x17_FFFF, &[1; 2]), call.write_dram(99, 0, &[1]), call.write_host(1 << 35, &[1])];
        assert!(outside.iter().all(Result::is_err));
        Err(format!("worker {} has no program", call.job().worker))
    });
    queue.device().set_worker(Box::new(fails)).expect("none runs");
    push(&mut queue, "launch (1,2)");
    let stopped = queue.device().wait(1_000_000).expect_err("a finding").to_string();
    assert!(stopped.contains("worker-fault") && stopped.contains("worker 0 has no program"), "{stopped}");
    let (mut queue, _) = open();
    queue.device().set_worker(Box::new(Acknowledge { cycles: 1 << 30 })).expect("none runs");
    push(&mut queue, "launch (1,2)");
    queue.device().wait(100_000).expect("runs");
    assert!(queue.device().set_worker(adds()).is_err());
}

/// Reading the binary form refuses what the text form refuses.
#[test]
fn binary_captures_hold_what_texts_may() {
    let text = "board p100\nevent\npause 5\nload (1,2) 0x40000 4\n";
    let good = parse(text).into_result().expect("a stream");
    assert!(Capture::read(&good.to_bytes()).is_ok());
    let refused = |kind: ActKind, words: &str| {
        let mut capture = good.clone();
        capture.acts[0].kind = kind;
        let error = Capture::read(&capture.to_bytes()).expect_err("refused").to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(ActKind::Pause { cycles: u64::MAX }, "the most that fits");
    refused(ActKind::Load { tile: Some(Xy::new(99, 99)), addr: 0, bytes: 4 }, "(99,99)");
    refused(ActKind::Poll { tile: WORKER, addr: 0x40000, bytes: vec![0; 100] }, "more than a host polls");
    refused(ActKind::Store { tiles: None, addr: 1 << 40, bytes: vec![0; 4] }, "no pinned memory");
    assert_eq!(Capture::read(b"").expect_err("refused").to_string(), "the stream is empty");
}
