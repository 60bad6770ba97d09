//! The thread pool for large products and for blocks.

use std::error::Error;
use std::io;
use std::sync::{Arc, OnceLock, RwLock, mpsc};
use std::thread::JoinHandle;

/// Stack size of a thread.
const STACK_BYTES: usize = 2 << 20;

/// Creates the pool: `threads` threads, by default as many as the machine has cores. If the system cannot provide all
/// of them, the current thread does all the work, with the same results.
///
/// # Errors
///
/// If even that fails.
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
            // An error without a source means that the process already has a pool, as when the Python package has used
            // it before.
            Err(_) | Ok(()) => Ok(()),
        }
    })
    .clone()
}

/// Memory that must be available before a thread starts: more than its stack, its signal stack and the allocator's
/// bookkeeping take together. The allocator requests a block of this size from the system each time; it could serve a
/// smaller one from freed memory.
const SPARE_BYTES: usize = 33 << 20;

/// Starts a thread, and waits until it runs.
///
/// The standard library aborts the process if a new thread cannot allocate its signal stack. Therefore the memory is
/// checked first, and threads start one at a time.
///
/// # Errors
///
/// If memory is insufficient, or the system cannot create a thread.
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

/// Whether the system can run `count` threads at once, found by trial: a pool does not always report that some of its
/// threads are missing.
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
    // Their memory must be freed before the pool starts.
    started.into_iter().for_each(|thread| drop(thread.join()));
    given
}
