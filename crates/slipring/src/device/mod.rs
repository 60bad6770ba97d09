//! A kernel through the command queue of a board: its buffers go to DRAM, an image of the program to the L1 of a worker for each
//! block, the workers run it, and the buffers come back.

mod dram;
mod resident;
mod worker;

use slipring_machine::Platform;
use slipring_queue::Layout;
use slipring_queue::board::Board;
use slipring_queue::host::{
    Data, DeviceError, HostError, Kernels, Program, Queue, Role, Settings, Times, lower_programs,
};
use slipring_queue::layout::L1_ALIGN;
use slipring_queue::machine::{Config, Limits, Machine, Span, Status};
use slipring_queue::sanitize::Finding;
use slipring_queue::wire::{LaunchMessage, Xy};
use slipring_queue::worker::image::{Image, TEXT};

pub(crate) use resident::{Launch, Piece, Resident};
pub use worker::{BlockRun, KernelWorker, Runs};

use crate::args::Passed;

/// How far the machine may go on by itself, in cycles.
const LONGEST: u64 = 1 << 40;

/// Where and how a kernel is launched.
#[derive(Clone, Debug)]
pub struct Order {
    /// The board.
    pub board: Board,
    /// Blocks: each runs on a worker of its own; more than there are workers run in waves.
    pub blocks: u32,
    /// Seed of the board's delays; `None`: each takes its usual time.
    pub delays: Option<u64>,
    /// Zeroed bytes behind every buffer that the kernel may touch.
    pub gm_slack: u64,
    /// When the run of a block is given up.
    pub limits: slipring_sim::Limits,
    /// Whether it is kept who did what when.
    pub trace: bool,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct DeviceRun {
    /// For each parameter that is a buffer its contents; empty if the run did not complete.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// What the workers did, by block.
    pub runs: Vec<BlockRun>,
    /// What was found on the way through the queue.
    pub findings: Vec<Finding>,
    /// The machine at the end.
    pub status: Status,
    /// Who did what when, where that was asked for.
    pub spans: Vec<Span>,
    /// From before the first wave to behind the last, on the dispatcher's clock.
    pub launch: Times,
    /// Bytes of the image that each worker is sent.
    pub image_bytes: usize,
    /// Bytes of buffers that were written to DRAM, and read back.
    pub bytes: [u64; 2],
    /// Whether every block ran to its end and all buffers came back.
    pub complete: bool,
}

/// Runs a kernel, given as text and the name of its function where there are several, on these arguments, one for each parameter.
///
/// # Errors
/// If program or buffers do not fit the board, or the queue cannot be driven. What goes wrong on the board is in the result.
pub fn run_on_device(
    text: &str,
    function: Option<&str>,
    platform: &Platform,
    values: &[impl Passed],
    order: &Order,
) -> Result<DeviceRun, String> {
    let contents: Vec<&[u8]> = values.iter().filter_map(Passed::contents).collect();
    let placed = dram::place(contents.iter().map(|data| data.len() as u64 + order.gm_slack), &order.board)?;
    let image = Image {
        kind: TEXT,
        entry: function.unwrap_or_default().into(),
        buffers: placed,
        scalars: values.iter().filter_map(Passed::bits).collect(),
        program: text.as_bytes().to_vec(),
    };
    let layout = Layout::default();
    let bytes = image.encode();
    let room = image_room(&layout);
    if bytes.len() > room {
        return Err(format!("the image of the program has {} bytes, and a worker has room for {room}", bytes.len()));
    }
    // What fits the board may be used: the buffers are the caller's own.
    let limits = Limits { bytes: u64::MAX, ..Limits::default() };
    let config = Config { seed: order.delays, limits, trace: order.trace, ..Config::new(order.board.clone()) };
    let (worker, runs) = KernelWorker::with_limits(platform.clone(), order.board.clock_mhz, order.limits);
    let machine = Machine::with_worker(config, Box::new(worker))?;
    let queue = Queue::open(machine, order.board.clone(), layout, Settings::CAREFUL, &Kernels::default());
    let mut queue = queue.map_err(|error| error.to_string())?;

    let image_bytes = bytes.len();
    let programs = waves(&order.board, order.blocks, &bytes, queue.layout());
    let mut run = DeviceRun {
        buffers: Vec::new(),
        runs: Vec::new(),
        findings: Vec::new(),
        status: queue.device().status(),
        spans: Vec::new(),
        launch: Times::default(),
        image_bytes,
        bytes: [0; 2],
        complete: false,
    };
    let end = run.drive(&mut queue, &programs, &image, &contents);
    let machine = queue.device();
    run.findings = machine.findings();
    match end {
        Ok(back) => {
            let mut back = back.into_iter();
            run.buffers = values.iter().map(|value| value.contents().and_then(|_| back.next())).collect();
            run.complete = true;
        }
        Err(HostError::Device(DeviceError::Violation(_))) => {}
        Err(error) => match machine.diagnose() {
            Some(hang) => run.findings.push(hang),
            None => return Err(error.to_string()),
        },
    }
    run.status = machine.status();
    run.spans = machine.spans();
    run.runs = runs.borrow().clone();
    run.runs.sort_by_key(|run| run.block);
    Ok(run)
}

/// Bytes that a worker has for an image.
fn image_room(layout: &Layout) -> usize {
    (layout.l1_bytes - layout.kernel_config_base - L1_ALIGN) as usize
}

/// A program for each wave: all workers get the same image, and each the words that say which block it is.
fn waves(board: &Board, blocks: u32, image: &[u8], layout: &Layout) -> Vec<Program> {
    let workers: Vec<Xy> = board.workers().collect();
    let all: Vec<u32> = (0..blocks).collect();
    let launch = LaunchMessage {
        kernel_config_base: layout.kernel_config_base,
        local_cb_offset: L1_ALIGN as u16,
        enables: 1,
        ..LaunchMessage::default()
    };
    let wave = |wave: &[u32]| {
        let tiles = workers[..wave.len()].to_vec();
        let args = wave.iter().map(|block| [*block, blocks].map(u32::to_le_bytes).concat()).collect();
        let role = Role { tiles: tiles.clone(), launch, image: image.to_vec() };
        Program { tiles, args: Data::Each(args), roles: vec![role] }
    };
    all.chunks(workers.len().max(1)).map(wave).collect()
}

impl DeviceRun {
    /// Everything a host does: buffers down, launches, buffers back.
    fn drive(
        &mut self,
        queue: &mut Queue<Machine>,
        programs: &[Program],
        image: &Image,
        contents: &[&[u8]],
    ) -> Result<Vec<Vec<u8>>, HostError> {
        for (buffer, data) in image.buffers.iter().zip(contents) {
            dram::upload(queue, buffer, data)?;
            self.bytes[0] += data.len() as u64;
        }
        let commands = lower_programs(programs, Settings::CAREFUL.lowering, queue.board(), queue.layout())?;
        for command in &commands {
            queue.send(command)?;
        }
        let event = queue.event()?;
        // Kernels may take longer than a driver waits for a completion.
        queue.device().settle(LONGEST);
        queue.wait_event(event)?;
        if 2 * programs.len() <= queue.layout().sysmem.timestamp_slots as usize
            && let Some(last) = programs.len().checked_sub(1)
        {
            self.launch = Times { start: queue.times(0)?.start, end: queue.times(last as u32)?.end };
        }
        let mut back = Vec::new();
        for (buffer, data) in image.buffers.iter().zip(contents) {
            back.push(dram::download(queue, buffer, data.len())?);
            self.bytes[1] += data.len() as u64;
        }
        Ok(back)
    }
}

#[cfg(test)]
mod tests;
