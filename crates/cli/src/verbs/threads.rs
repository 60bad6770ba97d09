//! The threads that large products and the work of blocks are done on.

use std::error::Error;
use std::sync::OnceLock;

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
            true => pool.num_threads(asked).stack_size(STACK_BYTES).build_global(),
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

/// True if the system gives so many threads at once, as a trial: a pool of which some are missing does not say so in every case.
fn are_given(count: usize) -> bool {
    let open = std::sync::RwLock::new(());
    let held = open.write();
    std::thread::scope(|scope| {
        let one = |_| std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || drop(open.read()));
        let given = (0..count).map(one).all(|thread| thread.is_ok());
        drop(held);
        given
    })
}
