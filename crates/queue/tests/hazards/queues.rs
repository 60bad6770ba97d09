//! Two queues on one board, each driven by its host: what one does to the other, in Rust.

use slipring_queue::machine::{Actor, SpanActor};

use super::*;

/// A machine with two queues; calls are about the second one.
fn two(config: Config) -> Q {
    let [first, second] = config.board.pair().expect("room for both");
    let layout = config.layout.clone();
    let machine = Machine::with_worker(Config { two_queues: true, ..config }, acknowledge()).expect("a machine");
    let settings = Settings { completion_timeout_ns: 30_000_000, ..Settings::CAREFUL };
    let mut queue = Queue::open(machine, first, layout.clone(), settings, &Kernels::default()).expect("opens");
    queue.open_second(second, layout.second(), &Kernels::default()).expect("opens");
    queue
}

/// Tells the other queue of an event, in this queue's word of the other's dispatch core.
fn tell(queue: &mut Q, own: u8, event: u32) -> Done {
    let other = queue.board().others.expect("another queue")[1];
    let addr = queue.layout().dispatch.events + 16 * u32::from(own);
    queue.send(&write_linear(other.word(), addr.into(), event.to_le_bytes().to_vec(), 0))
}

/// Waits for an event of the other queue.
fn await_event(queue: &mut Q, own: u8, event: u32) -> Done {
    let addr = queue.layout().dispatch.events + 16 * u32::from(1 - own);
    queue.send(&bare(Dispatch::Wait(Wait { flags: Wait::MEMORY, addr, count: event, ..Default::default() })))
}

fn write(queue: &mut Q, value: u8) -> Done {
    queue.send(&write_linear(WORKER.word(), 0x4_0000, vec![value; 64], 0))?;
    queue.send(&wait_barrier())
}

fn word(queue: &mut Q) -> [u8; 4] {
    let mut bytes = [0; 4];
    queue.device().peek(WORKER, 0x4_0000, &mut bytes).expect("L1");
    bytes
}

/// The queue that waits comes last, whichever is queued first and whatever the delays are.
#[test]
fn an_event_orders_two_queues() {
    for seed in [None, Some(1), Some(2), Some(3)] {
        let mut queue = two(Config { seed, trace: true, ..fixed() });
        await_event(&mut queue, 1, 1).expect("queued");
        write(&mut queue, 2).expect("queued");
        let second = queue.event().expect("queued");
        queue.choose(0);
        write(&mut queue, 1).expect("queued");
        tell(&mut queue, 0, 1).expect("queued");
        queue.finish().expect("runs");
        queue.choose(1);
        queue.wait_event(second).expect("comes back");
        assert_eq!((word(&mut queue), queue.device().findings()), ([2; 4], vec![]));
        // Each has its own ring, its own cores and its own row.
        let spans = queue.device().spans();
        let of = |actor| spans.iter().filter(|span| span.actor == actor && !span.waits).count();
        assert_eq!((of(SpanActor::Queue(Actor::Dispatch)), of(SpanActor::Second(Actor::Dispatch))), (4, 4));
        queue.close().expect("closes");
    }
}

#[test]
fn nothing_orders_two_queues() {
    for (hazard, seed) in [(Hazard::QueuesRace, None), (Hazard::QueuesRace, Some(5))] {
        let mut queue = two(Config { seed, ..fixed() });
        write(&mut queue, 2).expect("queued");
        queue.choose(0);
        write(&mut queue, 1).expect("queued");
        queue.device().settle(1 << 30);
        let found = queue.device().stopped_at().expect("a finding");
        assert_eq!((found.hazard, found.queue), (hazard, Some(1)), "{found}");
        let text = found.to_string();
        assert!(text.contains("0 WRITE_LINEAR") && text.contains("of queue 0"), "{text}");
    }
    // A host that waits for one before it queues to the other orders them.
    let mut queue = two(fixed());
    write(&mut queue, 2).expect("queued");
    queue.finish().expect("runs");
    queue.choose(0);
    write(&mut queue, 1).expect("queued");
    queue.finish().expect("runs");
    queue.device().settle(1 << 30);
    assert_eq!((word(&mut queue), queue.device().findings()), ([1; 4], vec![]));
}

#[test]
fn queues_that_wait_for_each_other_and_for_nothing() {
    for (hazard, sends) in [(Hazard::QueuesDeadlock, true), (Hazard::EventNeverSent, false)] {
        let mut queue = two(fixed());
        for own in [1, 0] {
            queue.choose(own);
            await_event(&mut queue, own, 1).expect("queued");
            if sends {
                tell(&mut queue, own, 1).expect("queued");
            }
        }
        queue.device().settle(1 << 30);
        let found = queue.device().hang().expect("a finding");
        assert_eq!(found.hazard, hazard, "{found}");
        assert!(found.notes.iter().any(|note| note.starts_with("queue 1: dispatcher: waits")), "{found}");
    }
}

/// What is there for one queue is refused, and what belongs to the other queue is no worker.
#[test]
fn what_two_queues_may_not_do() {
    let config = Config { two_queues: true, record: true, ..fixed() };
    assert!(Machine::new(config).expect_err("is refused").contains("one queue only"));
    let mut queue = two(fixed());
    queue.choose(0);
    let other = queue.board().others.expect("another queue")[0];
    queue.send(&write_linear(other.word(), 0x4_0000, vec![1; 16], 0)).expect("queued");
    queue.finish().expect_err("stops");
    assert_eq!(queue.device().stopped_at().map(|found| found.hazard), Some(Hazard::QueueCoreWritten));
}
