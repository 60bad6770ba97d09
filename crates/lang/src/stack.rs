//! A separate stack that is large enough for the deepest text.

use slipring_ir::{Diagnostic, Span};

/// Runs `work` on a separate stack that is large enough for the deepest text.
///
/// # Errors
/// If the system cannot create a thread.
pub(crate) fn on_own_stack<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Box<Diagnostic>> {
    std::thread::scope(|scope| {
        let Ok(thread) = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work) else {
            let message = format!("the system cannot create a thread with a stack of {} MiB", STACK_BYTES >> 20);
            let error = Diagnostic { primary: None, ..Diagnostic::error("no-thread", Span::default(), message) };
            return Err(Box::new(
                error.help("raise the limits of memory (`ulimit -v`) and of processes (`ulimit -u`)"),
            ));
        };
        match thread.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Large enough for the deepest text that [`parse`](crate::syntax::parse) accepts, with nested calls.
const STACK_BYTES: usize = 64 << 20;
