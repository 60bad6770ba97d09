//! The temporary file that is being written: removed however the process ends, except for a signal that cannot be
//! caught.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// Files being written now.
static CURRENT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn current() -> MutexGuard<'static, Vec<PathBuf>> {
    CURRENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file without its final name. Dropping it removes the file.
pub(super) struct Unfinished(PathBuf);

impl Unfinished {
    /// A new, empty file next to `path`.
    ///
    /// # Errors
    /// If the folder accepts none.
    pub fn create(path: &Path) -> io::Result<(Unfinished, File)> {
        static WATCH: Once = Once::new();
        WATCH.call_once(watch);
        let mut current = current();
        let id = std::process::id();
        let mut number = 0;
        loop {
            let beside = path.with_file_name(format!(".slipring-{id}-{number}.tmp"));
            match OpenOptions::new().write(true).create_new(true).open(&beside) {
                Ok(file) => {
                    current.push(beside.clone());
                    return Ok((Unfinished(beside), file));
                }
                // It belongs to another process, with the same id in another container.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives the file its final name.
    ///
    /// # Errors
    /// The system's error; the file is then removed.
    pub fn rename(self, path: &Path) -> io::Result<()> {
        let mut current = current();
        std::fs::rename(&self.0, path)?;
        current.retain(|file| *file != self.0);
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut current = current();
        if let Some(at) = current.iter().position(|file| *file == self.0) {
            let _ = std::fs::remove_file(current.swap_remove(at));
        }
    }
}

/// From now on a signal that ends the process removes the file first.
#[cfg(unix)]
fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXFSZ};
    // Exceeding the file size limit is then an error of the write.
    let _ = signal_hook::flag::register(SIGXFSZ, std::sync::Arc::<std::sync::atomic::AtomicBool>::default());
    let ignored = ignored();
    let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) else { return };
    let wait = move || {
        for signal in signals.forever() {
            let current = current();
            for file in current.iter() {
                let _ = std::fs::remove_file(file);
            }
            // Ends the process: nothing is renamed any more, because the lock is held.
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    };
    let _ = std::thread::Builder::new().name("signals".into()).spawn(wait);
}

/// Signals that the parent process wants ignored, as with `nohup`: one bit each. None if the system does not tell.
#[cfg(unix)]
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

#[cfg(not(unix))]
fn watch() {}
