//! Streams: decode, lint and run.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null;

use slipring_queue::board;
use slipring_queue::capture::{Capture, CaptureError, print};
use slipring_queue::lint::lint;
use slipring_queue::machine::Config;
use slipring_queue::replay::replay;
use slipring_queue::sanitize::{Finding, Hazard};
use slipring_queue::worker::Acknowledge;

use crate::board::bytes;
use crate::{given, settings};

/// The findings of a stream, and its results if it was run.
#[derive(Default)]
pub struct Judged {
    codes: Vec<CString>,
    texts: Vec<CString>,
    not_judged: Vec<CString>,
    complete: bool,
    cycles: u64,
    events: Vec<u32>,
    met: Vec<(Hazard, u64)>,
}

fn line(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// A stream in either form, and the configuration that it runs on: a board named in the settings overrides the stream's
/// own.
unsafe fn read(data: *const c_void, size: usize, options: *const c_char) -> Result<(Capture, Config), String> {
    // SAFETY: a string or null, and at least `size` bytes.
    let (text, data) = unsafe { ((!options.is_null()).then(|| CStr::from_ptr(options)), bytes(data, size)?) };
    let given = text.is_some_and(|text| text.to_string_lossy().lines().any(|line| line.trim().starts_with("board=")));
    let mut config = settings(text)?.config()?;
    let capture = Capture::read_for(data, given.then_some(&config.board)).map_err(|error| match error {
        CaptureError::Text(errors) => errors
            .iter()
            .map(|error| format!("byte {}: {}", error.span.start, error.message))
            .collect::<Vec<_>>()
            .join("\n"),
        other => other.to_string(),
    })?;
    if !given {
        let name = if capture.board.is_empty() { "p100" } else { &capture.board };
        config.board = board::built_in(name).map_err(|error| error.to_string())?;
    }
    Ok((capture, config))
}

fn found(findings: &[Finding]) -> Judged {
    Judged {
        codes: findings.iter().map(|finding| line(finding.hazard.def().code)).collect(),
        texts: findings.iter().map(|finding| line(&finding.to_string())).collect(),
        ..Judged::default()
    }
}

fn whole<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let failed = |_| Err("internal error: slipring itself failed; please report it".to_owned());
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(failed)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_decode(
    data: *const c_void,
    size: usize,
    out: *mut c_char,
    capacity: usize,
    message: *mut c_char,
    message_size: usize,
) -> usize {
    // SAFETY: each pointer is as the header requires; the same holds in all functions below.
    unsafe {
        match whole(|| Ok(print(&read(data, size, null())?.0))) {
            Ok(text) => {
                let most = text.len().min(capacity.saturating_sub(1));
                if let (true, Ok(out)) = (capacity > 0, crate::out_slice(out.cast(), capacity)) {
                    out[..most].copy_from_slice(&text.as_bytes()[..most]);
                    out[most] = 0;
                }
                text.len() + 1
            }
            Err(error) => {
                given::<()>(Err(error), message, message_size);
                0
            }
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_lint(
    data: *const c_void,
    size: usize,
    options: *const c_char,
    message: *mut c_char,
    message_size: usize,
) -> *mut Judged {
    unsafe {
        let judged = whole(|| {
            let (capture, config) = read(data, size, options)?;
            let mut report = lint(&capture, &config.board, &config.layout);
            let met = report.allow(&config.allowed);
            let not_judged = report.not_judged.iter().map(|what| line(what)).collect();
            Ok(Judged { not_judged, met, complete: true, ..found(&report.findings) })
        });
        given(judged, message, message_size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_run(
    data: *const c_void,
    size: usize,
    options: *const c_char,
    kernel_cycles: u64,
    message: *mut c_char,
    message_size: usize,
) -> *mut Judged {
    unsafe {
        let judged = whole(|| {
            let (capture, config) = read(data, size, options)?;
            let worker = Box::new(Acknowledge { cycles: kernel_cycles });
            let mut run = replay(&capture, config, worker, |_, _| {})?;
            let machine = run.queue.device();
            let (cycles, met) = (machine.now_cycles(), machine.allowed());
            let events = run.completions.iter().filter_map(|completion| completion.event()).collect();
            Ok(Judged { complete: run.complete, cycles, events, met, ..found(&run.findings) })
        });
        given(judged, message, message_size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_judged_free(judged: *mut Judged) {
    if !judged.is_null() {
        drop(unsafe { Box::from_raw(judged) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_judged_findings(judged: *const Judged) -> usize {
    unsafe { judged.as_ref() }.map_or(0, |judged| judged.codes.len())
}

unsafe fn listed(judged: *const Judged, at: usize, list: fn(&Judged) -> &[CString]) -> *const c_char {
    unsafe { judged.as_ref() }.and_then(|judged| list(judged).get(at)).map_or(null(), |text| text.as_ptr())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_judged_code(judged: *const Judged, at: usize) -> *const c_char {
    unsafe { listed(judged, at, |judged| &judged.codes) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_judged_text(judged: *const Judged, at: usize) -> *const c_char {
    unsafe { listed(judged, at, |judged| &judged.texts) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_judged_open(judged: *const Judged, at: usize) -> *const c_char {
    unsafe { listed(judged, at, |judged| &judged.not_judged) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_judged_complete(judged: *const Judged) -> c_int {
    unsafe { judged.as_ref() }.map_or(0, |judged| c_int::from(judged.complete))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_judged_cycles(judged: *const Judged) -> u64 {
    unsafe { judged.as_ref() }.map_or(0, |judged| judged.cycles)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_judged_events(judged: *const Judged, out: *mut u32, capacity: usize) -> usize {
    let Some(judged) = (unsafe { judged.as_ref() }) else { return 0 };
    if !out.is_null() {
        for (at, event) in judged.events.iter().take(capacity).enumerate() {
            unsafe { out.add(at).write(*event) };
        }
    }
    judged.events.len()
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_judged_allowed(judged: *const Judged, code: *const c_char) -> u64 {
    let Some(judged) = (unsafe { judged.as_ref() }) else { return 0 };
    let code = (!code.is_null()).then(|| unsafe { CStr::from_ptr(code) }).and_then(|code| code.to_str().ok());
    judged.met.iter().find(|(hazard, _)| Some(hazard.def().code) == code).map_or(0, |(_, times)| *times)
}
