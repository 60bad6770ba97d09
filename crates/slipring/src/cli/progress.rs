//! A sign of life for runs that take long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use slipring_sim::{Observer, WorkRun};

/// How long a run may take before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);
const REFRESH: Duration = Duration::from_millis(200);

#[derive(Debug, Default)]
struct Shared {
    cycle: AtomicU64,
    blocks: AtomicU64,
    over: AtomicBool,
}

/// An observer that shows on the terminal's standard error how far a run has come, once it has lasted a second.
/// The line goes away when this is dropped. It changes nothing about the run.
#[derive(Debug)]
pub(super) struct Progress {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts watching a launch of so many blocks.
    pub fn start(blocks: u32) -> Progress {
        let shared = Arc::new(Shared::default());
        let seen = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("progress".into()).spawn(move || show(&seen, blocks)).ok();
        Progress { shared, thread }
    }
}

fn show(shared: &Shared, blocks: u32) {
    std::thread::park_timeout(PATIENCE);
    if shared.over.load(Ordering::Relaxed) {
        return;
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        bar.set_style(style);
    }
    while !shared.over.load(Ordering::Relaxed) {
        let (cycle, done) = (shared.cycle.load(Ordering::Relaxed), shared.blocks.load(Ordering::Relaxed));
        bar.set_message(format!("cycle {cycle}, {done} of {blocks} blocks over"));
        bar.tick();
        std::thread::park_timeout(REFRESH);
    }
    bar.finish_and_clear();
}

impl Observer for Progress {
    #[inline]
    fn end(&mut self, at: u64, _: &WorkRun<'_>) {
        self.shared.cycle.store(at, Ordering::Relaxed);
    }

    fn block_end(&mut self, _: u64, _: u32, _: u32) {
        self.shared.blocks.fetch_add(1, Ordering::Relaxed);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
