//! The threads that kernels run on. One that is done waits for the next run, which finds there what the allocator kept.

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
    /// One of the threads of this process.
    fn taken() -> Option<Sender<Work>> {
        // In a process that was forked meanwhile the lock may stay locked: then each run has a thread of its own.
        let mut idle = IDLE.try_lock().ok()?;
        let process = std::process::id();
        if idle.process != process {
            // The other ends are gone without having been closed.
            mem::forget(mem::take(&mut idle.threads));
            idle.process = process;
        }
        idle.threads.pop()
    }

    /// Lets a thread wait for work. False if there are enough of them.
    fn waits(thread: &Sender<Work>) -> bool {
        let Ok(mut idle) = IDLE.try_lock() else { return false };
        let free = idle.process == std::process::id() && idle.threads.len() < MOST_IDLE;
        if free {
            idle.threads.push(thread.clone());
        }
        free
    }
}

/// Does something on a thread that is none of the caller's.
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
