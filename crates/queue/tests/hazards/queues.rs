//! Two queues on one board, each driven by its host: their effects on each other, in Rust.

use slipring_queue::machine::{Actor, SpanActor};

use super::*;
use slipring_queue::worker::{Call, Callback};

/// A machine with two queues; calls are about the second one.
fn two(config: Config) -> Q {
    two_with(config, acknowledge())
}

fn two_with(config: Config, worker: Box<dyn Worker>) -> Q {
    let [first, second] = config.board.pair().expect("room for both");
    let layout = config.layout.clone();
    let machine = Machine::with_worker(Config { two_queues: true, ..config }, worker).expect("a machine");
    let settings = Settings { completion_timeout_ns: 30_000_000, ..Settings::CAREFUL };
    let mut queue = Queue::open(machine, first, layout.clone(), settings, &Kernels::default()).expect("opens");
    queue.open_second(second, layout.second(), &Kernels::default()).expect("opens");
    queue
}

/// Notifies the other queue of an event, in this queue's word of the other's dispatch core.
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

/// The waiting queue ends last, in whatever order they are queued and whatever the delays are.
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
        // Each has its own ring, cores and track.
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

/// DRAM that a worker of one queue writes is relayed by the other queue, with or without waiting for an event.
#[test]
fn results_of_the_other_queues_workers() {
    let writes = || {
        Box::new(Callback::new(|call: &mut Call<'_, '_>| {
            call.write_dram(0, 0x2_0000, &[7; 64])?;
            Ok(20_000)
        }))
    };
    for ordered in [true, false] {
        let mut queue = two_with(Config { layout: small().layout, ..fixed() }, writes());
        queue.choose(0);
        queue.send(&set_go_tiles(&[WORKER])).expect("queued");
        let go = queue.board().go_word();
        queue.send(&send_go(go, 1, 48).expect("one")).expect("queued");
        queue.send(&wait_stream(48, 1)).expect("queued");
        tell(&mut queue, 0, 1).expect("queued");
        queue.choose(1);
        if ordered {
            // The prefetcher waits for the notification of a WAIT after the event.
            await_event(&mut queue, 1, 1).expect("queued");
            let notify = Wait { flags: Wait::NOTIFY_PREFETCH, ..Default::default() };
            queue.send(&bare(Dispatch::Wait(notify))).expect("queued");
            queue.send_together(&alone(Prefetch::Stall(Bare {})), 0).expect("queued");
        }
        let header =
            DispatchCommand::bare(Dispatch::WriteHost(WriteHost { length: 80, ..Default::default() })).encode();
        let xy = queue.board().banks[0].ports[0].word();
        let [relay] = alone(Prefetch::RelayLinear(RelayLinear { length: 64, noc_xy: xy, addr: 0x2_0000 }));
        queue.send_together(&[noflush(header), relay], 0).expect("queued");
        queue.device().settle(1 << 30);
        let hazards: Vec<Hazard> = queue.device().findings().iter().map(|finding| finding.hazard).collect();
        match ordered {
            true => {
                assert_eq!(hazards, []);
                assert_eq!(queue.completion().expect("comes back").bytes, [7; 64]);
            }
            false => assert_eq!(hazards, [Hazard::QueuesRace]),
        }
    }
}

/// Operations that exist only for a single queue are rejected, and tiles of the other queue are not workers.
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
