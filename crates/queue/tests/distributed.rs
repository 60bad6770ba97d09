//! The distributed configuration: the subordinate sends the go signals when the dispatcher permits it.

use slipring_queue::Layout;
use slipring_queue::board::built_in;
use slipring_queue::host::{HostError, Kernels, Queue, Settings};
use slipring_queue::machine::{Actor, Config, Machine, SpanActor};
use slipring_queue::sanitize::Hazard;
use slipring_queue::wire::*;

fn open(config: Config) -> Queue<Machine> {
    let layout = Layout { distributed: true, sems: 4, ..Layout::default() };
    let config = config.with_layout(layout.clone());
    let board = config.board.clone();
    let machine = Machine::new(config).expect("a possible configuration");
    Queue::open(machine, board, layout, Settings::CAREFUL, &Kernels::default()).expect("opens")
}

fn config() -> Config {
    Config { trace: true, ..Config::new(built_in("p100").expect("a built-in board")) }
}

/// Sends a command to the subordinate.
fn subordinate(queue: &mut Queue<Machine>, command: &DispatchCommand) -> Result<(), HostError> {
    let mut relay = relay_inline(command.encode()).expect("fits");
    if let Prefetch::RelayInline(inline) = &mut relay.header {
        inline.dispatcher_type = 1;
    }
    queue.send_together(&[relay], 0)
}

fn notify(wait: u8) -> DispatchCommand {
    DispatchCommand::bare(Dispatch::NotifySubordinate(NotifySubordinate { wait, index_bitmask: 1 }))
}

/// Launches all workers repeatedly: the subordinate may run ahead as far as the dispatcher permits.
fn launches(queue: &mut Queue<Machine>, times: u32, barrier: u8) -> Result<(), HostError> {
    let tiles: Vec<Xy> = queue.board().workers().collect();
    let go = queue.board().go_word();
    subordinate(queue, &set_go_tiles(&tiles))?;
    for i in 0..times {
        let image =
            write_packed_large(&[Rect::new(Xy::new(1, 2), Xy::new(7, 11))], 0x8700, &[i as u8; 64]).expect("fits");
        subordinate(queue, &send_go(go, tiles.len(), 48).expect("fits"))?;
        queue.send(&image)?;
        queue.send(&notify(barrier))?;
        queue.send(&wait_stream(48, tiles.len() as u32))?;
    }
    queue.finish()
}

#[test]
fn the_subordinate_launches_when_the_dispatcher_lets_it() {
    for seed in [None, Some(1), Some(2), Some(3)] {
        let mut queue = open(Config { seed, ..config() });
        // Enough go signals to wrap its ring of pages: 128 pages of 256 bytes.
        launches(&mut queue, 150, 1).expect("runs");
        let machine = queue.device();
        assert_eq!(machine.findings(), []);
        let status = machine.status();
        assert_eq!((status.launches, status.commands[2]), (150 * 118, 151));
        let mut image = [0; 64];
        machine.peek(Xy::new(7, 11), 0x8700, &mut image).expect("L1");
        assert_eq!(image, [149; 64]);
        // A go signal ends before the workers that it started do, and they end before the dispatcher's wait.
        let spans = machine.spans();
        let of = |actor, name| spans.iter().filter(move |s| s.actor == actor && s.name == name);
        let go = of(SpanActor::Queue(Actor::Subordinate), "SEND_GO_SIGNAL").next().expect("a go signal");
        let wait = of(SpanActor::Queue(Actor::Dispatch), "WAIT").next().expect("a wait");
        let worker = of(SpanActor::Worker(Xy::new(1, 2)), "kernel").next().expect("a kernel");
        assert!(
            go.start < worker.start && worker.start < worker.end && worker.end < wait.end,
            "{go:?} {worker:?} {wait:?}"
        );
    }
}

#[test]
fn leave_that_is_given_too_early_or_never() {
    let mut queue = open(config());
    launches(&mut queue, 1, 0).expect_err("is stopped");
    let found = queue.device().stopped_at().expect("a finding");
    assert_eq!(found.hazard, Hazard::GoBeforePayload);

    let mut queue = open(config());
    subordinate(&mut queue, &set_go_tiles(&[Xy::new(1, 2)])).expect("queued");
    let go = queue.board().go_word();
    subordinate(&mut queue, &send_go(go, 1, 48).expect("fits")).expect("queued");
    queue.send(&wait_stream(48, 1)).expect("queued");
    queue.finish().expect_err("hangs");
    let findings = queue.device().findings();
    assert_eq!(findings[0].hazard, Hazard::WaitUnreachable);
    assert!(findings[0].notes[2].contains("waits for leave to send go signal 1"), "{}", findings[0]);
}
