//! The threads that large products and the work of blocks are done on.

use std::error::Error;
use std::io;
use std::sync::{Arc, OnceLock, RwLock, mpsc};
use std::thread::JoinHandle;

/// Stack of a thread.
const STACK_BYTES: usize = 2 << 20;

/// Makes them: so many, by default as many as the machine has. Where the system gives no more than some of them, this thread
/// does everything, with the same results.
///
/// # Errors
/// If even that cannot be prepared.
pub(super) fn make(threads: Option<usize>) -> Result<(), String> {
    static MADE: OnceLock<Result<(), String>> = OnceLock::new();
    MADE.get_or_init(|| {
        let asked = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let pool = rayon::ThreadPoolBuilder::new();
        let made = match asked > 1 && are_given(asked) {
            true => pool.num_threads(asked).spawn_handler(|thread| start(|| thread.run()).map(drop)).build_global(),
            false => pool.num_threads(1).use_current_thread().build_global(),
        };
        match made {
            Err(error) if error.source().is_some() => Err(format!("cannot start worker threads: {error}")),
            // Without a cause: the process has a pool already, as the package has worked in it before.
            Err(_) | Ok(()) => Ok(()),
        }
    })
    .clone()
}

/// Memory that must be available before a thread starts: more than its stack, its signal stack and the allocator's bookkeeping
/// take. The allocator asks the system for a block of this size each time; a smaller one it may serve from freed memory.
const SPARE_BYTES: usize = 33 << 20;

/// Starts a thread, and waits until it runs.
///
/// The standard library aborts the process if a new thread cannot allocate its signal stack. So the memory is checked first, and
/// threads start one at a time.
///
/// # Errors
/// If there is no memory, or the system gives no thread.
fn start(work: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Vec::<u8>::new().try_reserve_exact(SPARE_BYTES).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let (runs, begun) = mpsc::sync_channel(1);
    let body = move || {
        let _ = runs.send(());
        work();
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(body)?;
    begun.recv().map_err(|_| io::ErrorKind::OutOfMemory)?;
    Ok(thread)
}

/// True if the system gives so many threads at once, as a trial: a pool of which some are missing does not say so in every case.
fn are_given(count: usize) -> bool {
    let open = Arc::new(RwLock::new(()));
    let held = open.write();
    let one = |_| {
        let open = Arc::clone(&open);
        start(move || drop(open.read())).ok()
    };
    let started: Vec<_> = (0..count).map_while(one).collect();
    drop(held);
    let given = started.len() == count;
    // Their memory must be free again before the pool starts.
    started.into_iter().for_each(|thread| drop(thread.join()));
    given
}
