//! Host functions: Python code that a program calls between its tasks, and that only its caller can run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use slipring_ir::{Diagnostic, Span};
use slipring_tasks::{Act, HostCall};

type Call = dyn Fn(&HostCall, &mut [Vec<u8>]) -> Result<(), String> + Send + Sync;

/// Runs the host functions that a program calls.
#[derive(Clone, Default)]
pub struct HostFunctions(Option<Arc<Call>>);

impl fmt::Debug for HostFunctions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "HostFunctions(given)" } else { "HostFunctions(none)" })
    }
}

impl HostFunctions {
    /// Functions run by `call`. It receives the call and the elements of each [part](HostCall::parts) that is passed,
    /// concatenated; the contents that it leaves in written parts are stored back. An error states why it did not
    /// complete.
    pub fn new(call: impl Fn(&HostCall, &mut [Vec<u8>]) -> Result<(), String> + Send + Sync + 'static) -> Self {
        HostFunctions(Some(Arc::new(call)))
    }
}

/// Recorded calls, by task: the contents of their parts before and after. A program that is run again on the same bytes
/// does not repeat the call.
pub(super) type Called = BTreeMap<usize, (Vec<Vec<u8>>, Vec<Vec<u8>>)>;

/// Performs an action of the orchestration itself. True if it was done, false for a host function that nobody runs and
/// that changes nothing.
///
/// # Errors
/// Why it cannot be done.
pub(super) fn act(
    (task, act): (usize, &Act),
    tensors: &mut [Vec<u8>],
    functions: &HostFunctions,
    called: &mut Called,
) -> Result<bool, String> {
    let Act::Host(call) = act else {
        act.apply(tensors);
        return Ok(true);
    };
    let found: Vec<Vec<u8>> = call.parts().map(|(piece, _)| piece.gathered(tensors)).collect();
    let left = match (called.get(&task), &functions.0) {
        (Some((before, left)), _) if *before == found => left.clone(),
        (_, Some(run)) => {
            let mut parts = found.clone();
            run(call, &mut parts)?;
            if parts.len() != found.len() || parts.iter().zip(&found).any(|(left, found)| left.len() != found.len()) {
                return Err(format!("`{}` left parts of other sizes than it was passed", call.name));
            }
            called.insert(task, (found, parts.clone()));
            parts
        }
        (_, None) if call.writes() => {
            return Err(format!(
                "`{}` is a Python function of the host that writes tensors: run the file with `python -m slipring.pypto`",
                call.name
            ));
        }
        (_, None) => return Ok(false),
    };
    for ((piece, direction), elements) in call.parts().zip(&left) {
        if direction.writes() {
            piece.scatter(elements, tensors);
        }
    }
    Ok(true)
}

/// The message about a host function that was not run.
pub(super) fn not_run(name: &str, span: Span) -> Diagnostic {
    Diagnostic::warning("host-call", span, format!("`{name}` is a Python function of the host: it was not called"))
        .note("what it checks was not checked")
        .help("`python -m slipring.pypto FILE` runs the file with it")
}
