//! A board with its queue: what a machine consists of.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use crate::host::WindowTarget;
use crate::machine::world::{Stop, World};
use crate::sanitize::Finding;

type Kernel = Pin<Box<dyn Future<Output = Result<(), Stop>>>>;

/// A board with its queue, as a driver meets it.
pub struct Machine {
    pub(super) world: Rc<RefCell<World>>,
    pub(super) kernels: [Option<Kernel>; 3],
    pub(super) device: Host,
    /// Whether it is kept who did what when.
    pub(super) traced: bool,
    /// The other one of two queues.
    pub(super) second: Option<Second>,
}

/// The queue that does not have the board in hand.
pub(super) struct Second {
    pub(super) world: Rc<RefCell<World>>,
    pub(super) kernels: [Option<Kernel>; 3],
    /// Steps of both orders that were held against each other last.
    pub(super) judged: usize,
}

/// Windows, and what a driver is told of the board.
pub(super) struct Host {
    pub(super) windows: Vec<Option<(u64, WindowTarget)>>,
    /// Free windows of 2 MiB and of 4 GiB.
    pub(super) free: [u32; 2],
    pub(super) telemetry: Telemetry,
    /// Loads in a row in which nothing could happen.
    pub(super) quiet: u32,
    /// What keeps everything from going on.
    pub(super) hang: Option<Box<Finding>>,
}

/// What the management core says of the board.
pub(crate) struct Telemetry {
    pub(super) columns: u32,
    pub(super) banks: u32,
}
