//! Programs launched on complete boards: the contents of the workers' memories, clean programs, and faulty ones.

use slipring_queue::Layout;
use slipring_queue::board::{Board, built_in};
use slipring_queue::capture::{ActKind, Capture};
use slipring_queue::host::{Data, Kernels, Program, Queue, Role, Settings};
use slipring_queue::machine::{Config, Machine};
use slipring_queue::replay::replay;
use slipring_queue::sanitize::{AtError, Hazard};
use slipring_queue::wire::LaunchMessage;
use slipring_queue::worker::Acknowledge;

fn board(name: &str) -> Board {
    built_in(name).expect("a built-in board")
}

fn open(config: Config, settings: Settings) -> Queue<Machine> {
    let (board, layout) = (config.board.clone(), config.layout.clone());
    let machine = Machine::new(config).expect("a possible configuration");
    Queue::open(machine, board, layout, settings, &Kernels::default()).expect("opens")
}

/// A program that gives each tile its own arguments, and all tiles the same image.
fn program(board: &Board, image: Vec<u8>) -> Program {
    let tiles: Vec<_> = board.workers().collect();
    let args = tiles.iter().map(|tile| [tile.word().to_le_bytes(), [7; 4], [8; 4]].concat()).collect();
    let launch = LaunchMessage {
        kernel_config_base: Layout::default().kernel_config_base,
        local_cb_offset: 0x40,
        enables: 1,
        host_assigned_id: 5,
        ..Default::default()
    };
    Program { roles: vec![Role { tiles: tiles.clone(), launch, image }], tiles, args: Data::Each(args) }
}

#[test]
fn a_careful_host_is_clean_on_both_boards_under_any_delays() {
    for name in ["p100", "p150"] {
        let board = board(name);
        let image: Vec<u8> = (0..6000u32).map(|i| (i * 7 % 251) as u8).collect();
        for seed in [None, Some(1), Some(2), Some(3)] {
            let config = Config { seed, ..Config::new(board.clone()) };
            let mut queue = open(config, Settings::CAREFUL);
            let programs = vec![program(&board, image.clone()); 12];
            queue.run(&programs).expect("runs");
            let machine = queue.device();
            assert_eq!(machine.findings(), []);
            let status = machine.status();
            assert_eq!(status.launches, 12 * board.workers().count() as u64);
            for tile in board.workers() {
                let mut args = [0; 12];
                machine.peek(tile, 0x86B0, &mut args).expect("L1");
                assert_eq!(args[..4], tile.word().to_le_bytes(), "{tile}");
                let mut found = vec![0; image.len()];
                machine.peek(tile, 0x86B0 + 0x40, &mut found).expect("L1");
                assert!(found == image, "{tile}");
            }
            let times = queue.times(11).expect("a slot");
            assert!(times.start < times.end, "{times:?}");
            queue.close().expect("closes");
        }
    }
}

/// The commands of a live host are recorded as a stream: when run again, it has the same effect, and waits where the
/// host waited.
#[test]
fn a_live_host_is_recorded() {
    let board = board("p100");
    let config = Config { record: true, ..Config::new(board.clone()) };
    let mut queue = open(config.clone(), Settings::CAREFUL);
    let program = program(&board, vec![9; 600]);
    queue.run(std::slice::from_ref(&program)).expect("runs");
    queue.run(&[program]).expect("runs");
    let announced = queue.device().status().announced;
    let capture = queue.device().recorded("p100").expect("it was asked for");
    assert_eq!(capture.entries.len() as u64, announced);
    let waits: Vec<usize> = (0..capture.entries.len()).filter(|at| capture.entries[*at].waits).collect();
    assert_eq!(waits, [capture.entries.len() / 2]);
    // The completions that the host took, and the times at which it stored each slot.
    let taken: Vec<usize> = capture.acts.iter().filter(|act| act.kind == ActKind::Take).map(|act| act.before).collect();
    assert_eq!(taken, [capture.entries.len() / 2, capture.entries.len()]);
    assert!(capture.entries[0].cycle > 0 && capture.entries.is_sorted_by_key(|entry| entry.cycle));
    let again = Capture::from_bytes(&capture.to_bytes()).expect("a stream");
    assert_eq!(again, capture);
    let mut run = replay(&again, config, Box::new(Acknowledge::default()), |_, _| {}).expect("runs");
    assert!(run.complete && run.findings.is_empty(), "{:?}", run.findings);
    for tile in board.workers() {
        let (mut first, mut second) = ([0; 612], [0; 612]);
        queue.device().peek(tile, 0x86B0, &mut first).expect("L1");
        run.queue.device().peek(tile, 0x86B0, &mut second).expect("L1");
        assert!(first == second, "{tile}");
    }
    assert_eq!(run.queue.device().recorded("p100").expect("it was asked for").entries.len() as u64, announced);
}

#[test]
fn the_fixed_host_lets_go_signals_overtake_its_kernels() {
    let board = board("p100");
    let mut queue = open(Config::new(board.clone()), Settings::FIXED_HOST);
    let error = queue.run(&[program(&board, vec![1; 6000])]).expect_err("is stopped").to_string();
    assert!(error.contains("go-before-payload"), "{error}");
    let found = queue.device().stopped_at().expect("a finding");
    assert_eq!(found.hazard, Hazard::GoBeforePayload);
    assert_eq!(found.command.map(|c| c.name), Some("SEND_GO_SIGNAL"));
    // On silicon this usually works.
    let mut queue = open(Config::new(board.clone()).with_mode(AtError::Silicon), Settings::FIXED_HOST);
    queue.run(&[program(&board, vec![1; 6000])]).expect("runs");
    let hazards: Vec<_> = queue.device().findings().iter().map(|f| f.hazard).collect();
    assert!(hazards.iter().all(|h| *h == Hazard::GoBeforePayload), "{hazards:?}");
}

/// All 138 workers of a P150 in one packed write: the dispatcher's cache overflows, and every target is still served.
/// The host is the unmodified fixed one; it times its cores.
#[test]
fn the_fixed_host_comes_through_on_a_p150() {
    for (seed, allow) in [(None, false), (Some(1), false), (Some(2), true)] {
        let board = board("p150");
        let known = vec![Hazard::PackedTooMany, Hazard::GoBeforePayload];
        let config = Config { seed, ..Config::new(board.clone()) };
        let config = match allow {
            true => Config { allowed: known.clone(), ..config },
            false => config.with_mode(AtError::Silicon),
        };
        let mut queue = open(config, Settings::FIXED_HOST);
        let image: Vec<u8> = (0..6000u32).map(|i| (i * 5 % 241) as u8).collect();
        queue.run(&vec![program(&board, image); 3]).expect("runs");
        // Kernels that arrive after their go signal are the same mistake from the worker's point of view.
        let late = [Hazard::WriteWhileRunning];
        let mut found: Vec<Hazard> = queue.device().findings().iter().map(|f| f.hazard).collect();
        found.retain(|hazard| !late.contains(hazard));
        found.sort_unstable();
        found.dedup();
        assert!(if allow { found.is_empty() } else { found == known }, "{found:?}");
        assert_eq!(queue.device().status().launches, 3 * 138);
        for tile in board.workers() {
            let mut args = [0; 4];
            queue.device().peek(tile, 0x86B0, &mut args).expect("L1");
            assert_eq!(args, tile.word().to_le_bytes(), "{tile}");
        }
        let mut last = 0;
        for index in 0..3 {
            let program = queue.times(index).expect("a slot");
            assert!(program.start < program.end, "{program:?}");
            for order in 0..138 {
                let core = queue.core_times(index, 138, order).expect("a slot");
                assert!(
                    core.start >= program.start && core.end <= program.end && core.start + 1000 <= core.end,
                    "{core:?}"
                );
                assert!(core.start > last, "{core:?}");
            }
            last = program.end;
        }
    }
}
