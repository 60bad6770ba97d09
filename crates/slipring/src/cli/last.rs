//! The last word of a process that cannot go on: where the system gives no more memory, Rust's own library aborts. That is an
//! error like others here, with its exit code, its message and, where one was asked for, its object.

/// From now on an abort is an error. `as_json` says whether an object is wanted.
#[cfg(unix)]
pub(super) fn words(as_json: bool) {
    use signal_hook::consts::SIGABRT;

    let say = move || {
        const MESSAGE: &[u8] = b"error: slipring has to give up: the system gives it no more memory\n";
        const OBJECT: &[u8] =
            b"{\n  \"complete\": false,\n  \"error\": \"slipring has to give up: the system gives it no more memory\",\
            \n  \"findings\": []\n}\n";
        // SAFETY: both calls may be made in a handler of signals; the bytes are there for ever.
        unsafe {
            libc::write(2, MESSAGE.as_ptr().cast(), MESSAGE.len());
            if as_json {
                libc::write(1, OBJECT.as_ptr().cast(), OBJECT.len());
            }
            libc::_exit(super::Exit::BadInput as i32);
        }
    };
    // SAFETY: the handler only writes and ends the process.
    let _ = unsafe { signal_hook::low_level::register(SIGABRT, say) };
}

#[cfg(not(unix))]
pub(super) fn words(_: bool) {}
