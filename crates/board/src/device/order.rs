//! The parameters of a launch.

use slipring_queue::board::Board;

/// Parameters of a kernel's launch.
#[derive(Clone, Debug)]
pub struct Order {
    /// The board.
    pub board: Board,
    /// Blocks: each runs on its own worker; more than there are workers run in waves.
    pub blocks: u32,
    /// Seed of the board's delays; `None`: usual durations.
    pub delays: Option<u64>,
    /// Zeroed bytes after every buffer that the kernel may touch.
    pub gm_slack: u64,
    /// The limits of a block's run.
    pub limits: slipring_sim::Limits,
    /// Whether spans of activity are recorded.
    pub trace: bool,
    /// Whether the stream queued by the host is recorded.
    pub record: bool,
}
