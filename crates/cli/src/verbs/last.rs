//! The last word of a process that cannot go on: where the system gives no more memory, Rust's own library aborts. That is an
//! error like others here, with its exit code, its message and, where one was asked for, its object.

use std::sync::atomic::{AtomicBool, Ordering};

#[cfg(unix)]
use super::output::SCHEMA;

/// Whether an object is wanted.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// From now on an abort says whether an object is wanted as well.
pub(super) fn as_json(wanted: bool) {
    AS_JSON.store(wanted, Ordering::Relaxed);
}

macro_rules! why {
    () => {
        "slipring ran out of memory: the system refused an allocation"
    };
}

/// From now on an abort is an error. Nothing is allocated for that: it comes before everything else.
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
            // SAFETY: this call may be made in a handler of signals; the bytes are there forever.
            unsafe { libc::write(to, bytes.as_ptr().cast(), bytes.len()) };
        };
        write(2, MESSAGE);
        if AS_JSON.load(Ordering::Relaxed) {
            OBJECT.iter().for_each(|part| write(1, part));
        }
        // SAFETY: this call may be made in a handler of signals.
        unsafe { libc::_exit(super::exit::Exit::BadInput as i32) };
    }
    let handler: extern "C" fn(libc::c_int) = say;
    // SAFETY: the handler only reads a flag, writes and ends the process.
    unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
}

#[cfg(not(unix))]
pub(super) fn words() {}
