//! Threads that run kernels. A thread that has finished waits for the next run, so that its allocator's memory is
//! reused.

use std::io;
use std::mem;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

/// A job for such a thread.
type Work = Box<dyn FnOnce() + Send>;

/// The stack of a thread, in bytes.
const STACK: usize = 16 << 20;

/// Maximum number of idle threads.
const MOST_IDLE: usize = 2;

/// The idle threads.
struct Idle {
    /// The process to which the threads belong: they do not survive a fork.
    process: u32,
    threads: Vec<Sender<Work>>,
}

static IDLE: Mutex<Idle> = Mutex::new(Idle { process: 0, threads: Vec::new() });

impl Idle {
    /// An idle thread of this process, if there is one.
    fn taken() -> Option<Sender<Work>> {
        // After a fork the lock may be held forever: each run then gets a new thread.
        let mut idle = IDLE.try_lock().ok()?;
        let process = std::process::id();
        if idle.process != process {
            // The threads do not exist in this process, so their channels must not be closed either.
            mem::forget(mem::take(&mut idle.threads));
            idle.process = process;
        }
        idle.threads.pop()
    }

    /// Registers a thread as idle. Returns false if there are already enough.
    fn waits(thread: &Sender<Work>) -> bool {
        let Ok(mut idle) = IDLE.try_lock() else { return false };
        let free = idle.process == std::process::id() && idle.threads.len() < MOST_IDLE;
        if free {
            idle.threads.push(thread.clone());
        }
        free
    }
}

/// Runs a job on another thread.
///
/// # Errors
///
/// If the system cannot create a thread.
pub fn on_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut work: Work = Box::new(work);
    if let Some(thread) = Idle::taken() {
        match thread.send(work) {
            Ok(()) => return Ok(()),
            Err(unsent) => work = unsent.0,
        }
    }
    std::thread::Builder::new().name("slipring".into()).stack_size(STACK).spawn(move || {
        let (own, given) = channel();
        work();
        while Idle::waits(&own) {
            let Ok(next) = given.recv() else { return };
            next();
        }
    })?;
    Ok(())
}
