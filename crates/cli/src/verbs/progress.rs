//! Progress of long runs: a line on the terminal for a single run, lines on standard error for a series of runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use slipring::Control;

use super::output::note;

/// How long a run may take before anything is shown.
const PATIENCE: Duration = Duration::from_secs(1);
const REFRESH: Duration = Duration::from_millis(200);

/// When a series of runs first reports its progress. It reports again each time the elapsed time has doubled, and at
/// least every [`MOST`].
const FIRST: Duration = Duration::from_secs(1);
/// The longest time without a report.
const MOST: Duration = Duration::from_secs(10);

/// Reports the progress of a series of runs, such as a proof, on standard error, even if that is a file. It does not
/// affect the runs.
#[derive(Debug)]
pub(super) struct Stages {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Stages {
    /// Starts reporting.
    pub fn start(control: &Control) -> Stages {
        let (over, control) = (Arc::new(AtomicBool::new(false)), control.clone());
        let ended = Arc::clone(&over);
        let thread = std::thread::Builder::new().name("stages".into()).spawn(move || tell(&ended, &control)).ok();
        Stages { over, thread }
    }
}

fn tell(over: &AtomicBool, control: &Control) {
    let (begin, mut next) = (Instant::now(), FIRST);
    while !over.load(Ordering::Relaxed) {
        std::thread::park_timeout(next.saturating_sub(begin.elapsed()));
        if begin.elapsed() >= next && !over.load(Ordering::Relaxed) {
            note(format!("not decided after {} s: {}", begin.elapsed().as_secs(), control.stage()));
            next += next.min(MOST);
        }
    }
}

impl Drop for Stages {
    fn drop(&mut self) {
        end(&self.over, &mut self.thread);
    }
}

/// Stops a reporting thread.
fn end(over: &AtomicBool, thread: &mut Option<JoinHandle<()>>) {
    over.store(true, Ordering::Relaxed);
    if let Some(thread) = thread.take() {
        thread.thread().unpark();
        let _ = thread.join();
    }
}

/// Shows the progress of a run on the terminal's standard error, once it has lasted a second. The line is removed when
/// this is dropped. It does not affect the run.
#[derive(Debug)]
pub(super) struct Progress {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts reporting on a launch.
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
        end(&self.over, &mut self.thread);
    }
}
