//! For every hazard, a driver commits the mistake and the hazard is reported under its own name, with the command, the
//! record, and the state of all actors. The same drivers run on a device that continues as silicon would, which may
//! hang, but neither panics nor loops.

mod dispatcher;
mod host;
mod launches;
mod prefetcher;
mod queues;

use slipring_queue::board::{Board, built_in};
use slipring_queue::host::{Device, DeviceError, HostError, Kernels, Queue, STALL, Settings, WindowTarget};
use slipring_queue::layout::{PCIE_NOC_BIT, SysmemLayout};
use slipring_queue::machine::{Config, Delay, Machine, Quirks};
use slipring_queue::sanitize::{AtError, Finding, Hazard};
use slipring_queue::wire::*;
use slipring_queue::worker::{Acknowledge, Job, Worker, WorkerMemory};
use slipring_queue::{Layout, wire};

type Q = Queue<Machine>;
type Done = Result<(), HostError>;

const WORKER: Xy = Xy::new(1, 2);

fn board() -> Board {
    built_in("p100").expect("a built-in board")
}

fn fixed() -> Config {
    Config::new(board())
}

/// Rings of 16 pages in blocks of 4, a small completion ring, and semaphores for everything.
fn small() -> Config {
    let mut layout = Layout { sems: 4, ..Layout::default() };
    layout.dispatch.cb_pages = 16;
    layout.sysmem = SysmemLayout::new(0x4_0000, 4 * 4096);
    fixed().with_layout(layout)
}

fn open(config: Config, worker: Box<dyn Worker>) -> Q {
    let (board, layout) = (config.board.clone(), config.layout.clone());
    let machine = Machine::with_worker(config, worker).expect("a possible configuration");
    let settings = Settings { poll_ns: 1000, completion_timeout_ns: 30_000_000, ..Settings::CAREFUL };
    Queue::open(machine, board, layout, settings, &Kernels::default()).expect("opens")
}

/// Runs a faulty driver, both in strict mode and as silicon would; returns the findings in strict mode.
fn findings(config: Config, worker: fn() -> Box<dyn Worker>, act: fn(&mut Q) -> Done) -> Vec<Finding> {
    let run = |mode| {
        let mut queue = open(config.clone().with_mode(mode), worker());
        if act(&mut queue).is_ok() {
            let _ = queue.finish();
        }
        queue.device().findings()
    };
    let (strict, silicon) = (run(AtError::Strict), run(AtError::Silicon));
    for finding in strict.iter().filter(|f| f.severity() == slipring_queue::sanitize::Severity::Error) {
        assert!(silicon.iter().any(|f| f.hazard == finding.hazard), "both name {finding}: {silicon:#?}");
    }
    strict
}

fn acknowledge() -> Box<dyn Worker> {
    Box::new(Acknowledge { cycles: 20_000 })
}

/// The hazard is found under its name, at a command of a record.
fn by_command(hazard: Hazard, config: Config, act: fn(&mut Q) -> Done) -> Finding {
    let found = anywhere(hazard, config, act);
    assert!(found.record.is_some() && found.command.is_some(), "{found}");
    found
}

/// The hazard is found under its name.
fn anywhere(hazard: Hazard, config: Config, act: fn(&mut Q) -> Done) -> Finding {
    let all = findings(config, acknowledge, act);
    let found = all.iter().find(|f| f.hazard == hazard);
    let found = found.unwrap_or_else(|| panic!("{hazard:?} is not among {all:#?}")).clone();
    assert!(found.notes.len() >= 5, "what all actors were doing: {found}");
    found
}

fn bare(header: Dispatch) -> DispatchCommand {
    DispatchCommand::bare(header)
}

fn write_linear(xy: u32, addr: u64, data: Vec<u8>, num_mcast_dests: u8) -> DispatchCommand {
    let header = WriteLinear { num_mcast_dests, write_offset_index: 0, noc_xy: xy, addr, length: data.len() as u64 };
    DispatchCommand { header: Dispatch::WriteLinear(header), subs: Subs::None, data }
}

fn noflush(payload: Vec<u8>) -> PrefetchCommand {
    let inline = Inline { dispatcher_type: 0, length: payload.len() as u32, stride: 64 };
    let padding = vec![0; 48 - payload.len()];
    PrefetchCommand { header: Prefetch::RelayInlineNoflush(inline), subs: RelaySubs::None, payload, padding }
}

fn alone(header: Prefetch) -> [PrefetchCommand; 1] {
    [PrefetchCommand::bare(header)]
}

fn window(queue: &mut Q, tile: Xy) -> slipring_queue::host::Window {
    queue.device().open(2 << 20, WindowTarget::tile(tile, 0)).expect("a window")
}

/// Stores a slot, bypassing the driver.
fn slot(queue: &mut Q, number: u32, value: u16) -> Done {
    let (core, addr) = (queue.board().prefetch, queue.layout().prefetch.q_base + 2 * number);
    let window = window(queue, core);
    Ok(queue.device().write16(window, addr.into(), value)?)
}

/// Writes issue memory, bypassing the driver.
fn issue(queue: &mut Q, offset: u32, bytes: &[u8]) -> Done {
    let (sysmem, at) = (queue.sysmem(), queue.layout().sysmem.issue + offset);
    Ok(queue.device().host_write(sysmem, at.into(), bytes)?)
}

fn event_record() -> Vec<u8> {
    relay_inline(host_event(1).encode()).expect("fits").encode()
}

/// Every hazard of the table has a driver above: this list has those that only the linter finds.
#[test]
fn every_hazard_of_the_device_has_a_test() {
    let source = [
        include_str!("host.rs"),
        include_str!("prefetcher.rs"),
        include_str!("dispatcher.rs"),
        include_str!("launches.rs"),
        include_str!("queues.rs"),
    ]
    .concat();
    let of_the_linter = ["trailing-bytes", "reserved-bytes", "wait-too-early", "after-terminate"];
    for hazard in Hazard::ALL {
        let named =
            source.contains(&format!("(Hazard::{hazard:?},")) || source.contains(&format!("[Hazard::{hazard:?}]"));
        let compared = source.contains(&format!("hazard, Hazard::{hazard:?})"));
        assert!(named || compared || of_the_linter.contains(&hazard.def().code), "{hazard:?} has no test");
    }
}
