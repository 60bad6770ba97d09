//! A kernel run through the command queue of a board: its buffers are written to DRAM and an image of the program to
//! the L1 of one worker per block, the workers run it, and the buffers are read back.

mod dram;
mod order;
mod resident;
mod worker;

pub use order::Order;
use slipring_machine::Platform;
use slipring_queue::capture::Capture;
use slipring_queue::host::Times;
use slipring_queue::machine::{Span, Status};
use slipring_queue::sanitize::Finding;

pub use resident::{Launch, Piece, Resident};
pub use worker::{BlockRun, KernelWorker, Runs};

use slipring_session::Bound;

/// The result of a run through the queue.
#[derive(Clone, Debug)]
pub struct DeviceRun {
    /// The contents of each buffer parameter; empty if the run did not complete.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// The workers' runs, by block.
    pub runs: Vec<BlockRun>,
    /// Findings of the queue.
    pub findings: Vec<Finding>,
    /// The final state of the machine.
    pub status: Status,
    /// Spans of activity, if requested.
    pub spans: Vec<Span>,
    /// The stream queued by the host, if requested.
    pub recorded: Option<Capture>,
    /// From before the first wave to after the last, on the dispatcher's clock.
    pub launch: Times,
    /// Size in bytes of the image sent to each worker.
    pub image_bytes: usize,
    /// Bytes of buffers written to DRAM, and read back.
    pub bytes: [u64; 2],
    /// Whether every block completed and all buffers were read back.
    pub complete: bool,
}

/// Runs a kernel, given as text with the name of its function if there are several, with these arguments, one for each
/// parameter.
///
/// # Errors
/// If program or buffers do not fit the board, or the queue cannot be driven. Errors on the board are in the result.
pub fn run_on_device(
    text: &str,
    function: Option<&str>,
    platform: &Platform,
    values: &[Bound<'_>],
    order: &Order,
) -> Result<DeviceRun, String> {
    let contents: Vec<&[u8]> = values.iter().filter_map(Bound::contents).collect();
    let sizes = contents.iter().map(|data| data.len() as u64 + order.gm_slack);
    let mut board = Resident::open(order, platform, sizes)?;
    let launch = Launch {
        task: 0,
        text: text.to_owned(),
        entry: function.unwrap_or_default().to_owned(),
        buffers: (0..contents.len()).map(|buffer| Piece { buffer, offset: 0 }).collect(),
        scalars: values.iter().filter_map(Bound::bits).collect(),
        blocks: order.blocks,
    };
    // Checked before anything is written: it may not fit.
    let image_bytes = board.image(&launch)?.len();
    let back = drive(&mut board, launch, &contents)?;
    let mut run = DeviceRun {
        buffers: Vec::new(),
        runs: board.runs().iter().map(|(_, run)| run.clone()).collect(),
        findings: board.findings(),
        status: board.status(),
        spans: board.spans(),
        recorded: board.recorded(),
        launch: Times::default(),
        image_bytes,
        bytes: board.moved(),
        complete: back.is_some(),
    };
    if let Some(back) = back {
        let mut back = back.into_iter();
        run.buffers = values.iter().map(|value| value.contents().and_then(|_| back.next())).collect();
        run.launch = board.times();
    }
    run.runs.sort_by_key(|run| run.block);
    Ok(run)
}

/// All actions of a host: write buffers, launch, read buffers. `None`: the board has stopped.
fn drive(board: &mut Resident, launch: Launch, contents: &[&[u8]]) -> Result<Option<Vec<Vec<u8>>>, String> {
    for (buffer, data) in contents.iter().enumerate() {
        if !board.upload(buffer, data)? {
            return Ok(None);
        }
    }
    if !board.launch(&[launch])? || !board.wait()? {
        return Ok(None);
    }
    let back = contents.iter().enumerate().map(|(buffer, data)| board.download(buffer, data.len()));
    back.collect()
}

#[cfg(test)]
mod tests;
