//! Runs of captured streams: one attempt at a stream, the combined findings of the run and of its bytes, and the memory
//! that a stream asks to show.

use slipring_ir::Diagnostic;
use slipring_machine::{Platform, built_in};
use slipring_queue::board::Board;
use slipring_queue::capture::{ActKind, Capture, Entry, hex};
use slipring_queue::host::{Data, Lowering, Program, Role, lower_programs};
use slipring_queue::lint::lint;
use slipring_queue::machine::{Config, Machine};
use slipring_queue::replay::Replay;
use slipring_queue::sanitize::Finding;
use slipring_queue::wire::{FieldRange, LaunchMessage, Xy, host_event, relay_inline};
use slipring_queue::worker::{Acknowledge, Worker};
use slipring_queue::{Layout, layout::L1_ALIGN};

use crate::{BlockRun, KernelWorker, Runs};

/// The workers of a run.
#[derive(Clone, Debug)]
pub enum QueueWork {
    /// They acknowledge launches after this many cycles.
    Acknowledge(u64),
    /// They run the kernels of the images sent to them: on a platform, or on that named by an image's program.
    Kernels(Option<Box<Platform>>),
}

impl QueueWork {
    /// Kernels of the images sent to workers, on a built-in platform with this name, or on that named by an image's
    /// program.
    ///
    /// # Errors
    /// If no platform has that name.
    pub fn kernels(platform: Option<&str>) -> Result<QueueWork, String> {
        let platform = platform.map(built_in).transpose().map_err(|error| error.to_string())?;
        Ok(QueueWork::Kernels(platform.map(Box::new)))
    }

    /// Workers of a board, and the handle for their runs: empty if they only acknowledge. `record`: with a timeline of
    /// each block.
    pub fn workers(&self, board: &Board, record: bool) -> (Box<dyn Worker>, Runs) {
        match self {
            QueueWork::Acknowledge(cycles) => (Box::new(Acknowledge { cycles: *cycles }), Runs::default()),
            QueueWork::Kernels(platform) => {
                let platform = platform.as_deref().cloned();
                let (worker, runs) = KernelWorker::new(platform, board.clock_mhz, slipring_sim::Limits::default());
                (Box::new(worker.recording(record)), runs)
            }
        }
    }
}

/// The engine's findings in the blocks that workers ran; those found in several are reported once. A stream does not
/// contain their text, so locations are omitted.
pub fn queue_block_findings(runs: &[BlockRun]) -> Vec<Diagnostic> {
    let mut list: Vec<(String, usize, Diagnostic)> = Vec::new();
    for run in runs {
        for message in &run.messages {
            let (primary, secondary) = (None, Vec::new());
            let message = Diagnostic { primary, secondary, ..message.clone() };
            match list.iter_mut().find(|(.., known)| known.says_the_same(&message)) {
                Some((_, count, _)) => *count += 1,
                None => list.push((format!("block {} at worker {}", run.block, run.tile), 1, message)),
            }
        }
    }
    let note = |(first, count, mut message): (String, usize, Diagnostic)| {
        message.notes.push(match count {
            1 => format!("in {first}"),
            _ => format!("in {count} blocks, first in {first}"),
        });
        message
    };
    list.into_iter().map(note).collect()
}

/// A message of [`queue_block_findings`] as text, in the format of the queue's findings.
pub fn queue_block_text(message: &Diagnostic) -> String {
    let head = format!("{}[{}]: {}", message.severity.name(), message.code, message.message);
    let help = message.help.iter().map(|help| format!("help: {help}"));
    let more = message.notes.iter().cloned().chain(help);
    std::iter::once(head).chain(more.map(|line| format!("  {line}"))).collect::<Vec<_>>().join("\n")
}

/// The findings of the run with a configuration, followed by those that the bytes alone show and the run did not reach.
pub fn queue_findings(replayed: &Replay, capture: &Capture, config: &Config) -> Vec<Finding> {
    let mut all = replayed.findings.clone();
    let mut judged = lint(capture, &config.board, &config.layout);
    judged.allow(&config.allowed);
    let record = |finding: &Finding| (finding.queue, finding.record.map(|record| record.index), finding.act);
    for mut finding in judged.findings {
        if !all.iter().any(|other| other.hazard == finding.hazard && record(other) == record(&finding)) {
            finding.notes.push("the bytes of the stream show it, whatever the timing".to_string());
            all.push(finding);
        }
    }
    all
}

/// The stream of a host that repeatedly runs a small program on all workers: separate arguments for each, one image for
/// all.
///
/// # Errors
/// If the board has too many workers for the fields of a command.
pub fn queue_demo(board: &Board, launches: u32) -> Result<Capture, FieldRange> {
    let tiles: Vec<Xy> = board.workers().collect();
    let layout = Layout::default();
    let launch = LaunchMessage {
        kernel_config_base: layout.kernel_config_base,
        local_cb_offset: L1_ALIGN as u16,
        enables: 1,
        ..LaunchMessage::default()
    };
    let program = Program {
        args: Data::Each(
            tiles.iter().map(|tile| [u32::from(tile.x), u32::from(tile.y), 0].map(u32::to_le_bytes).concat()).collect(),
        ),
        roles: vec![Role { tiles: tiles.clone(), launch, image: vec![0x13; 6000] }],
        tiles,
    };
    let mut entries = Vec::new();
    // Sequentially: data for one launch are reused by the next.
    for event in 1..=launches {
        let mut commands = lower_programs(std::slice::from_ref(&program), Lowering::CAREFUL, board, &layout)?;
        commands.push(host_event(event));
        for command in commands {
            entries.push(Entry::new(relay_inline(command.encode())?.encode()));
        }
    }
    Ok(Capture { board: board.name.clone(), entries, ..Capture::default() })
}

/// The data loaded by the stream's host, and the memory that the stream asks to show.
///
/// # Errors
/// If there is no such memory on its board.
pub fn queue_dumps(capture: &Capture, replayed: &mut Replay) -> Result<String, String> {
    let mut text = String::new();
    for (act, bytes) in &replayed.loaded {
        if let Some(ActKind::Load { tile, addr, .. }) = capture.acts.get(*act).map(|act| &act.kind) {
            let place = tile.map_or_else(|| "pcie".to_string(), |tile| tile.to_string());
            text += &format!("loaded {place} {addr:#x}: {}\n", hex(bytes));
        }
    }
    let machine: &Machine = replayed.queue.device();
    for dump in &capture.dumps {
        let mut bytes = vec![0; dump.bytes as usize];
        machine.peek(dump.tile, dump.addr, &mut bytes).map_err(|why| format!("cannot show memory: {why}"))?;
        text += &format!("{} {:#x}: {}\n", dump.tile, dump.addr, hex(&bytes));
    }
    Ok(text)
}
