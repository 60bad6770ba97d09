//! A sign of life for runs that take long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use slipring::Control;

/// How long a run may take before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);
const REFRESH: Duration = Duration::from_millis(200);

/// Shows on the terminal's standard error how far a run has come, once it has lasted a second. The line goes away when this is
/// dropped. It changes nothing about the run.
#[derive(Debug)]
pub(super) struct Progress {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts watching a launch.
    pub fn start(control: &Control) -> Progress {
        let (over, control) = (Arc::new(AtomicBool::new(false)), control.clone());
        let ended = Arc::clone(&over);
        let thread = std::thread::Builder::new().name("progress".into()).spawn(move || show(&ended, &control)).ok();
        Progress { over, thread }
    }
}

fn show(over: &AtomicBool, control: &Control) {
    std::thread::park_timeout(PATIENCE);
    if over.load(Ordering::Relaxed) {
        return;
    }
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
        bar.set_style(style);
    }
    while !over.load(Ordering::Relaxed) {
        let [done, blocks] = control.blocks();
        bar.set_message(format!("cycle {}, {done} of {blocks} blocks over", control.cycle()));
        bar.tick();
        std::thread::park_timeout(REFRESH);
    }
    bar.finish_and_clear();
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
