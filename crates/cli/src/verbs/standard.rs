//! Standard output with its errors: Rust's own standard output silently ignores writes to a closed descriptor.

use std::io;

/// Writes all bytes to standard output at once.
///
/// # Errors
///
/// The system's error, also if standard output is closed.
#[cfg(unix)]
pub(super) fn write_output(bytes: &[u8]) -> io::Result<()> {
    use std::fs::File;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::sync::OnceLock;
    use std::sync::atomic::Ordering;

    static OUTPUT: OnceLock<Option<File>> = OnceLock::new();
    if CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::other("it is closed"));
    }
    let open = || io::stdout().as_fd().try_clone_to_owned().map(File::from).ok();
    match OUTPUT.get_or_init(open) {
        Some(file) => {
            let mut file = file;
            file.write_all(bytes)
        }
        None => Err(io::Error::other("it is closed")),
    }
}

/// The fallback where there are no file descriptors.
#[cfg(not(unix))]
pub(super) fn write_output(bytes: &[u8]) -> io::Result<()> {
    io::Write::write_all(&mut io::stdout(), bytes)
}

/// True if the process began with standard output closed.
#[cfg(unix)]
static CLOSED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

// Before `main`, Rust opens /dev/null in place of closed standard descriptors, after which it cannot be distinguished
// from a requested /dev/null. Only code that the loader calls earlier can.
#[cfg(target_os = "linux")]
#[used]
// SAFETY: the loader calls each pointer of this section before `main`, as a function without results.
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

#[cfg(target_os = "linux")]
extern "C" fn look() {
    // SAFETY: only reads the flags of a descriptor; any descriptor number is valid here.
    let closed = unsafe { libc::fcntl(1, libc::F_GETFD) } == -1;
    CLOSED.store(closed, std::sync::atomic::Ordering::Relaxed);
}
