//! How a launch is asked for.

use slipring_queue::board::Board;

/// Where and how a kernel is launched.
#[derive(Clone, Debug)]
pub struct Order {
    /// The board.
    pub board: Board,
    /// Blocks: each runs on a worker of its own; more than there are workers run in waves.
    pub blocks: u32,
    /// Seed of the board's delays; `None`: each takes its usual time.
    pub delays: Option<u64>,
    /// Zeroed bytes after every buffer that the kernel may touch.
    pub gm_slack: u64,
    /// When the run of a block is given up.
    pub limits: slipring_sim::Limits,
    /// Whether it is kept who did what when.
    pub trace: bool,
    /// Whether what the host queues is kept, as a stream.
    pub record: bool,
}
