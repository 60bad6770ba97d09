//! The last message of a process that is out of memory, in which case Rust's own library aborts. Here that is an error
//! like others, with its exit code, its message and, if requested, its JSON object.

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use super::output::SCHEMA;

/// Whether JSON was requested.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// Sets whether the message of an abort includes a JSON object.
pub(super) fn as_json(wanted: bool) {
    AS_JSON.store(wanted, Ordering::Relaxed);
}

macro_rules! why {
    () => {
        "slipring ran out of memory: the system refused an allocation"
    };
}

/// Turns an abort into an error from now on. The handler allocates nothing and is installed before everything else.
#[cfg(unix)]
pub(super) fn words() {
    extern "C" fn say(_: libc::c_int) {
        const MESSAGE: &[u8] = concat!("error: ", why!(), "\n").as_bytes();
        const OBJECT: [&[u8]; 3] = [
            b"{\n  \"schema\": ",
            &[b'0' + SCHEMA as u8],
            concat!(",\n  \"complete\": false,\n  \"error\": \"", why!(), "\",\n  \"findings\": []\n}\n").as_bytes(),
        ];
        const { assert!(SCHEMA < 10, "it is one digit") };
        let write = |to: libc::c_int, bytes: &[u8]| {
            // SAFETY: this function is async-signal-safe; the bytes are static.
            unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
        };
        write(2, MESSAGE);
        if AS_JSON.load(Ordering::Relaxed) {
            OBJECT.iter().for_each(|part| write(1, part));
        }
        // SAFETY: this function is async-signal-safe.
        unsafe { libc::_exit(super::exit::Exit::BadInput as i32) };
    }
    let handler: extern "C" fn(libc::c_int) = say;
    // SAFETY: the handler only reads a flag, writes, and ends the process.
    unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
}

#[cfg(not(unix))]
pub(super) fn words() {}
