//! A board with its queue: the parts of a machine.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use crate::host::WindowTarget;
use crate::machine::world::{Stop, World};
use crate::sanitize::Finding;

type Kernel = Pin<Box<dyn Future<Output = Result<(), Stop>>>>;

/// A board with its queue, as seen by a driver.
pub struct Machine {
    pub(super) world: Rc<RefCell<World>>,
    pub(super) kernels: [Option<Kernel>; 3],
    pub(super) device: Host,
    /// Whether spans of activity are recorded.
    pub(super) traced: bool,
    /// The other one of two queues.
    pub(super) second: Option<Second>,
}

/// The queue that does not currently hold the board.
pub(super) struct Second {
    pub(super) world: Rc<RefCell<World>>,
    pub(super) kernels: [Option<Kernel>; 3],
    /// Number of steps of both orders at their last comparison.
    pub(super) judged: usize,
}

/// Windows, and the board data reported to a driver.
pub(super) struct Host {
    pub(super) windows: Vec<Option<(u64, WindowTarget)>>,
    /// Free windows of 2 MiB and of 4 GiB.
    pub(super) free: [u32; 2],
    pub(super) telemetry: Telemetry,
    /// Number of consecutive loads during which nothing could happen.
    pub(super) quiet: u32,
    /// The reason why nothing can continue.
    pub(super) hang: Option<Box<Finding>>,
}

/// The management core's data about the board.
pub(crate) struct Telemetry {
    pub(super) columns: u32,
    pub(super) banks: u32,
}
