//! A board behind an opaque pointer, and the entry of calls into it.

use std::cell::Cell;
use std::ffi::{CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::{self, ThreadId};

use slipring_queue::host::{DeviceError, Session};

/// A machine, and the text that was returned last.
pub struct Board {
    pub(crate) session: Session,
    /// Error message of the last call.
    pub(crate) error: String,
    pub(crate) text: CString,
    /// The thread that created the board, the only one that may use it.
    pub(crate) thread: ThreadId,
}

/// An index or a range is out of bounds.
const RANGE: c_int = -2;
/// A board is used by a thread that did not create it.
const THREAD: c_int = -3;

impl Board {
    pub(crate) fn say(&mut self, text: &str) -> *const c_char {
        self.text = CString::new(text.replace('\0', "")).unwrap_or_default();
        self.text.as_ptr()
    }
}

/// A failed call: a code and a message.
pub(crate) struct Failed(pub(crate) c_int, pub(crate) String);

impl From<String> for Failed {
    fn from(message: String) -> Failed {
        Failed(-1, message)
    }
}

impl From<&str> for Failed {
    fn from(message: &str) -> Failed {
        Failed(-1, message.to_owned())
    }
}

impl From<DeviceError> for Failed {
    fn from(error: DeviceError) -> Failed {
        let code = if matches!(error, DeviceError::Bounds { .. }) { RANGE } else { -1 };
        Failed(code, error.to_string())
    }
}

/// The board behind a pointer, if this thread created it.
pub(crate) unsafe fn own<'a>(board: *mut Board) -> Option<&'a mut Board> {
    // SAFETY: a board or null. The thread id is written before the board is handed out; only that thread goes on.
    unsafe {
        if inside() {
            return None;
        }
        let thread = (!board.is_null()).then(|| (&raw const (*board).thread).read())?;
        if thread == thread::current().id() { board.as_mut() } else { None }
    }
}

/// Runs a call on a board: 0, or an error code; the board keeps the message.
pub(crate) unsafe fn call(board: *mut Board, work: impl FnOnce(&mut Session) -> Result<(), Failed>) -> c_int {
    if board.is_null() || inside() {
        return -1;
    }
    // SAFETY: a board.
    let Some(board) = (unsafe { own(board) }) else { return THREAD };
    let done = catch_unwind(AssertUnwindSafe(|| work(&mut board.session)));
    match done.unwrap_or_else(|_| Err("internal error: slipring itself failed; please report it".into())) {
        Ok(()) => 0,
        Err(Failed(code, message)) => {
            board.error = message;
            code
        }
    }
}

pub(crate) fn text(error: DeviceError) -> Failed {
    error.into()
}

pub(crate) unsafe fn put<T>(to: *mut T, value: T) -> Result<(), Failed> {
    // SAFETY: points to a writable value, or null.
    unsafe { to.as_mut() }.map(|to| *to = value).ok_or_else(|| "a null pointer cannot take a result".into())
}

pub(crate) unsafe fn bytes<'a>(data: *const c_void, size: usize) -> Result<&'a [u8], String> {
    match size {
        0 => Ok(&[]),
        _ if data.is_null() => Err("a null pointer has no bytes".to_owned()),
        // SAFETY: points to at least `size` bytes, as the header requires.
        _ => Ok(unsafe { std::slice::from_raw_parts(data.cast(), size) }),
    }
}

pub(crate) unsafe fn out_slice<'a>(out: *mut c_void, size: usize) -> Result<&'a mut [u8], String> {
    match size {
        0 => Ok(&mut []),
        _ if out.is_null() => Err("a null pointer has no room".to_owned()),
        // SAFETY: points to at least `size` writable bytes, as the header requires.
        _ => Ok(unsafe { std::slice::from_raw_parts_mut(out.cast(), size) }),
    }
}

thread_local! {
    /// Set while a worker's function runs: its board is busy, and accepts no calls.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Whether a worker's function is running.
fn inside() -> bool {
    INSIDE.get()
}

/// Calls a worker's function.
pub(crate) fn call_inside<T>(function: impl FnOnce() -> T) -> T {
    let before = INSIDE.replace(true);
    let result = function();
    INSIDE.set(before);
    result
}
