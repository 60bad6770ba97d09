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

/// What must be free before a thread begins: much more than its stack, a second one for the signal of an overflow and the
/// allocator's own. A block of this size is asked of the system each time, where a smaller one may come from what was freed.
const SPARE_BYTES: usize = 33 << 20;

/// Starts a thread, and waits until it runs.
///
/// The standard library ends the process where a new thread finds no memory for what it begins with. So that is asked for
/// first, and no other thread begins at the same time.
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
    // What they held is there for those of the pool.
    started.into_iter().for_each(|thread| drop(thread.join()));
    given
}
