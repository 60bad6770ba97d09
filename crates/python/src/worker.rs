//! Threads that run kernels. A thread that has finished waits for the next run, which reuses the memory that its allocator holds.

use std::io;
use std::mem;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};

/// Something to do on such a thread.
type Work = Box<dyn FnOnce() + Send>;

/// The stack of a thread, in bytes.
const STACK: usize = 16 << 20;

/// The most threads that wait for work.
const MOST_IDLE: usize = 2;

/// Threads that wait for work.
struct Idle {
    /// The process that they are threads of: they do not survive a fork.
    process: u32,
    threads: Vec<Sender<Work>>,
}

static IDLE: Mutex<Idle> = Mutex::new(Idle { process: 0, threads: Vec::new() });

impl Idle {
    /// An idle thread of this process, if there is one.
    fn taken() -> Option<Sender<Work>> {
        // After a fork the lock may be held for ever: then each run gets a new thread.
        let mut idle = IDLE.try_lock().ok()?;
        let process = std::process::id();
        if idle.process != process {
            // Their threads do not exist here, so their channels must not be closed either.
            mem::forget(mem::take(&mut idle.threads));
            idle.process = process;
        }
        idle.threads.pop()
    }

    /// Registers a thread as idle. False if enough of them are.
    fn waits(thread: &Sender<Work>) -> bool {
        let Ok(mut idle) = IDLE.try_lock() else { return false };
        let free = idle.process == std::process::id() && idle.threads.len() < MOST_IDLE;
        if free {
            idle.threads.push(thread.clone());
        }
        free
    }
}

/// Runs something on another thread.
///
/// # Errors
/// If the system gives no thread.
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
