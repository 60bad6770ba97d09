//! The command queue as a C library. `include/slipring_queue.h` documents the functions; this is their implementation.
//!
//! # Safety
//!
//! Every pointer must be what the header requires: a board from [`slipring_new`] that has not been freed, values and
//! structures to read or write, or memory of at least the stated size. Null pointers are rejected.

#![allow(
    clippy::missing_safety_doc,
    clippy::undocumented_unsafe_blocks,
    missing_docs,
    reason = "the header documents each function"
)]

use crate::board::{Failed, bytes, call, out_slice, own, put, text};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs;
use std::panic::catch_unwind;
use std::ptr::{NonNull, null, null_mut};
use std::thread::{self};

use slipring_queue::host::{Ordering, Session, SessionOptions, WindowTarget};
use slipring_queue::machine::SpanActor;
use slipring_queue::wire::{Rect, Xy};

pub use board::Board;

mod board;
mod stream;
mod worker;

/// The target of a window.
#[repr(C)]
pub struct Target {
    x0: u8,
    y0: u8,
    x1: u8,
    y1: u8,
    multicast: u8,
    noc: u8,
    ordering: u8,
    addr: u64,
}

fn target(at: Option<&Target>) -> Result<WindowTarget, String> {
    let at = at.ok_or("no target is given")?;
    let ordering = match at.ordering {
        0 => Ordering::Relaxed,
        1 => Ordering::Strict,
        2 => Ordering::Posted,
        other => return Err(format!("stores are relaxed (0), strict (1) or posted (2), not {other}")),
    };
    if at.multicast > 1 {
        return Err(format!("`multicast` is 0 or 1, not {}", at.multicast));
    }
    let tiles = Rect::new(Xy { x: at.x0, y: at.y0 }, Xy { x: at.x1, y: at.y1 });
    Ok(WindowTarget { tiles, multicast: at.multicast != 0, addr: at.addr, noc: at.noc, ordering })
}

fn new(name: Option<&CStr>, silicon: bool, seed: Option<u64>) -> Result<Board, String> {
    let name = name.and_then(|name| name.to_str().ok()).ok_or("no board is named")?;
    let mut options = SessionOptions::default();
    options.set("board", name)?;
    options.set("mode", if silicon { "silicon" } else { "strict" })?;
    if let Some(seed) = seed {
        options.set("seed", &seed.to_string())?;
    }
    made(&options)
}

fn made(options: &SessionOptions) -> Result<Board, String> {
    let session = Session::new(options.config()?)?;
    Ok(Board { session, error: String::new(), text: CString::default(), thread: thread::current().id() })
}

/// Parses settings, one per line.
fn settings(text: Option<&CStr>) -> Result<SessionOptions, String> {
    let mut options = SessionOptions::default();
    let text = text.map_or(Ok(""), |text| text.to_str().map_err(|_| "the settings are not UTF-8 text".to_owned()))?;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once('=').ok_or_else(|| format!("`{line}` is not a setting: name=value"))?;
        match (name, value.ends_with(".toml")) {
            ("board", true) => {
                let file = fs::read_to_string(value).map_err(|error| format!("cannot read `{value}`: {error}"))?;
                options.set("board-text", &file)?;
            }
            _ => options.set(name, value)?,
        }
    }
    Ok(options)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_new(
    name: *const c_char,
    silicon: c_int,
    seed: *const u64,
    message: *mut c_char,
    size: usize,
) -> *mut Board {
    // SAFETY: a string and an integer, or null.
    let (name, seed) = unsafe { ((!name.is_null()).then(|| CStr::from_ptr(name)), seed.as_ref().copied()) };
    let made = catch_unwind(|| new(name, silicon != 0, seed)).unwrap_or_else(|_| Err("internal error".to_owned()));
    unsafe { given(made, message, size) }
}

/// Boxes a new object; on error, returns null and writes the message.
unsafe fn given<T>(made: Result<T, String>, message: *mut c_char, size: usize) -> *mut T {
    match made {
        Ok(made) => Box::into_raw(Box::new(made)),
        Err(error) => {
            // SAFETY: `size` writable bytes, or null.
            if let Ok(out_slice) = unsafe { out_slice(message.cast(), if message.is_null() { 0 } else { size }) }
                && let Some((end, head)) = out_slice.split_last_mut()
            {
                let most = error.len().min(head.len());
                head.fill(0);
                head[..most].copy_from_slice(&error.as_bytes()[..most]);
                *end = 0;
            }
            null_mut()
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_new_with(options: *const c_char, message: *mut c_char, size: usize) -> *mut Board {
    // SAFETY: a string or null, and a buffer for the message.
    unsafe {
        let text = (!options.is_null()).then(|| CStr::from_ptr(options));
        let made = catch_unwind(|| made(&settings(text)?)).unwrap_or_else(|_| Err("internal error".to_owned()));
        given(made, message, size)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_free(board: *mut Board) {
    if !board.is_null() {
        // SAFETY: made by `slipring_new`, and not freed before.
        drop(unsafe { Box::from_raw(board) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_error(board: *mut Board) -> *const c_char {
    // SAFETY: a board or null.
    match unsafe { own(board) } {
        Some(board) => {
            let error = board.error.clone();
            board.say(&error)
        }
        None if board.is_null() => c"no board is given".as_ptr(),
        None => c"a board is used by the thread that made it, and by no other".as_ptr(),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_pin(board: *mut Board, size: u64, number: *mut u32, address: *mut u64) -> c_int {
    // SAFETY: each pointer is as the header requires; the same holds in all functions below.
    unsafe {
        call(board, |session| {
            let memory = session.pin(size).map_err(text)?;
            put(number, memory.id)?;
            put(address, memory.noc_addr)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_pin_memory(
    board: *mut Board,
    memory: *mut c_void,
    size: usize,
    number: *mut u32,
    address: *mut u64,
) -> c_int {
    unsafe {
        call(board, |session| {
            let first = NonNull::new(memory.cast()).ok_or("a null pointer is not memory")?;
            let memory = session.pin_borrowed(first, size).map_err(text)?;
            put(number, memory.id)?;
            put(address, memory.noc_addr)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_unpin(board: *mut Board, number: u32) -> c_int {
    unsafe { call(board, |session| session.unpin(number).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_host_read(
    board: *mut Board,
    number: u32,
    offset: u64,
    out: *mut c_void,
    size: usize,
) -> c_int {
    unsafe { call(board, |session| session.host_read(number, offset, out_slice(out, size)?).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_host_write(
    board: *mut Board,
    number: u32,
    offset: u64,
    data: *const c_void,
    size: usize,
) -> c_int {
    unsafe { call(board, |session| session.host_write(number, offset, bytes(data, size)?).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_open(board: *mut Board, size: u64, at: *const Target, window: *mut u32) -> c_int {
    unsafe { call(board, |session| put(window, session.open(size, target(at.as_ref())?).map_err(text)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_retarget(board: *mut Board, window: u32, at: *const Target) -> c_int {
    unsafe { call(board, |session| session.retarget(window, target(at.as_ref())?).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_close(board: *mut Board, window: u32) -> c_int {
    unsafe { call(board, |session| session.close(window).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_read(
    board: *mut Board,
    window: u32,
    offset: u64,
    out: *mut c_void,
    size: usize,
) -> c_int {
    unsafe { call(board, |session| session.read(window, offset, out_slice(out, size)?).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_write(
    board: *mut Board,
    window: u32,
    offset: u64,
    data: *const c_void,
    size: usize,
) -> c_int {
    unsafe { call(board, |session| session.write(window, offset, bytes(data, size)?).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_write32(board: *mut Board, window: u32, offset: u64, value: u32) -> c_int {
    unsafe { call(board, |session| session.write(window, offset, &value.to_le_bytes()).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_register(board: *mut Board, offset: u64, value: *mut u32) -> c_int {
    unsafe { call(board, |session| put(value, session.arc_read(offset).map_err(text)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_wait(board: *mut Board, nanoseconds: u64) -> c_int {
    unsafe { call(board, |session| session.wait(nanoseconds).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_now(board: *const Board) -> u64 {
    // SAFETY: a board or null.
    unsafe { own(board.cast_mut()) }.map_or(0, |board| board.session.now())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_peek(
    board: *mut Board,
    x: u8,
    y: u8,
    addr: u64,
    out: *mut c_void,
    size: usize,
) -> c_int {
    unsafe { call(board, |session| session.peek(Xy { x, y }, addr, out_slice(out, size)?).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_findings(board: *mut Board) -> usize {
    // SAFETY: a board or null.
    unsafe { own(board) }.map_or(0, |board| board.session.findings().len())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_finding(board: *mut Board, at: usize) -> *const c_char {
    // SAFETY: a board or null.
    let Some(board) = (unsafe { own(board) }) else { return null() };
    let finding = board.session.findings().get(at).map(ToString::to_string).unwrap_or_default();
    board.say(&finding)
}

/// The progress of a machine.
#[repr(C)]
pub struct State {
    cycle: u64,
    announced: u64,
    queued: u64,
    commands: [u64; 3],
    credits: u64,
    pages: u64,
    completions: u64,
    flights: u64,
    running: u64,
    launches: u64,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_state(board: *mut Board, state: *mut State) -> c_int {
    unsafe {
        call(board, |session| {
            let status = session.status();
            let now = State {
                cycle: status.cycle,
                announced: status.announced,
                queued: status.queued,
                commands: status.commands,
                credits: status.credits.into(),
                pages: status.pages,
                completions: status.completions,
                flights: status.flights,
                running: status.running.into(),
                launches: status.launches,
            };
            put(state, now)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_diagnose(board: *mut Board) -> *const c_char {
    // SAFETY: a board or null.
    let Some(board) = (unsafe { own(board) }) else { return null() };
    let said = board.session.diagnose().map(|finding| finding.to_string()).unwrap_or_default();
    board.say(&said)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_allowed(board: *mut Board, code: *const c_char) -> u64 {
    // SAFETY: a board or null, and a string or null.
    let Some(board) = (unsafe { own(board) }) else { return 0 };
    let code = (!code.is_null()).then(|| unsafe { CStr::from_ptr(code) }).and_then(|code| code.to_str().ok());
    let met = board.session.allowed().into_iter().find(|(hazard, _)| Some(hazard.def().code) == code);
    met.map_or(0, |(_, times)| times)
}

fn path(path: *const c_char) -> Result<String, Failed> {
    // SAFETY: a string or null, as the header requires.
    let path = (!path.is_null()).then(|| unsafe { CStr::from_ptr(path) }).and_then(|path| path.to_str().ok());
    path.map(str::to_owned).ok_or_else(|| "no file is named".into())
}

fn written(path: &str, bytes: &[u8]) -> Result<(), Failed> {
    fs::write(path, bytes).map_err(|error| Failed(-1, format!("cannot write `{path}`: {error}")))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_record(board: *mut Board, file: *const c_char) -> c_int {
    unsafe { call(board, |session| written(&path(file)?, &session.recorded()?.to_bytes())) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_trace(board: *mut Board, file: *const c_char) -> c_int {
    unsafe {
        call(board, |session| {
            let mut text = String::from("actor,name,waits,command,record,start,end\n");
            for span in session.spans()? {
                let actor = match span.actor {
                    SpanActor::Host => "host".into(),
                    SpanActor::Queue(actor) => actor.to_string(),
                    SpanActor::Second(actor) => format!("{actor} of queue 1"),
                    SpanActor::Worker(tile) => format!("{} {}", tile.x, tile.y),
                };
                let record = span.record.map_or(String::new(), |record| record.to_string());
                text += &format!(
                    "{actor},{},{},{},{record},{},{}\n",
                    span.name,
                    u8::from(span.waits),
                    span.index,
                    span.start,
                    span.end
                );
            }
            written(&path(file)?, text.as_bytes())
        })
    }
}
