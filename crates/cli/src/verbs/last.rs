//! The last word of a process that cannot go on: where the system gives no more memory, Rust's own library aborts. That is an
//! error like others here, with its exit code, its message and, where one was asked for, its object.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether an object is wanted.
static AS_JSON: AtomicBool = AtomicBool::new(false);

/// From now on an abort says whether an object is wanted as well.
pub(super) fn as_json(wanted: bool) {
    AS_JSON.store(wanted, Ordering::Relaxed);
}

/// From now on an abort is an error. Nothing is allocated for that: it comes before everything else.
#[cfg(unix)]
pub(super) fn words() {
    extern "C" fn say(_: libc::c_int) {
        const MESSAGE: &[u8] = b"error: slipring ran out of memory: the system refused an allocation\n";
        const OBJECT: &[u8] =
            b"{\n  \"schema\": 2,\n  \"complete\": false,\n  \"error\": \"slipring ran out of memory: the system refused an allocation\",\
            \n  \"findings\": []\n}\n";
        // SAFETY: these calls may be made in a handler of signals; the bytes are there forever.
        unsafe {
            libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
            if AS_JSON.load(Ordering::Relaxed) {
                libc::write(1, OBJECT.as_ptr().cast(), OBJECT.len());
            }
            libc::_exit(super::exit::Exit::BadInput as i32);
        }
    }
    let handler: extern "C" fn(libc::c_int) = say;
    // SAFETY: the handler only reads a flag, writes and ends the process.
    unsafe { libc::signal(libc::SIGABRT, handler as libc::sighandler_t) };
}

#[cfg(not(unix))]
pub(super) fn words() {}
