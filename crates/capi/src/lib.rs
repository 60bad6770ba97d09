//! The command queue as a C library. `include/slipring_queue.h` says what each function does; here stands how.
//!
//! # Safety
//! Every pointer is what the header says: a board of [`slipring_new`] that has not been freed, numbers and structures to read or
//! write, memory of at least the bytes that are named. Null pointers are refused.

#![allow(
    clippy::missing_safety_doc,
    clippy::undocumented_unsafe_blocks,
    missing_docs,
    reason = "the header documents each function"
)]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::{NonNull, null, null_mut};

use slipring_queue::board;
use slipring_queue::host::{DeviceError, Ordering, Session, WindowTarget};
use slipring_queue::machine::Config;
use slipring_queue::sanitize::AtError;
use slipring_queue::wire::{Rect, Xy};

/// A machine, and the text that was given out last.
pub struct Board {
    session: Session,
    /// What the last call said that went wrong.
    error: String,
    text: CString,
}

impl Board {
    fn say(&mut self, text: &str) -> *const c_char {
        self.text = CString::new(text.replace('\0', "")).unwrap_or_default();
        self.text.as_ptr()
    }
}

/// Where a window looks.
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
    let tiles = Rect::new(Xy { x: at.x0, y: at.y0 }, Xy { x: at.x1, y: at.y1 });
    Ok(WindowTarget { tiles, multicast: at.multicast != 0, addr: at.addr, noc: at.noc, ordering })
}

/// Does something with a board: 0, or -1 and the message.
unsafe fn call(board: *mut Board, work: impl FnOnce(&mut Session) -> Result<(), String>) -> c_int {
    // SAFETY: a board or null, which nobody else uses.
    let Some(board) = (unsafe { board.as_mut() }) else { return -1 };
    let done = catch_unwind(AssertUnwindSafe(|| work(&mut board.session)));
    match done.unwrap_or_else(|_| Err("internal error: slipring itself failed; please report it".to_owned())) {
        Ok(()) => 0,
        Err(message) => {
            board.error = message;
            -1
        }
    }
}

fn text(error: DeviceError) -> String {
    error.to_string()
}

unsafe fn put<T>(to: *mut T, value: T) -> Result<(), String> {
    // SAFETY: room for one, or null.
    unsafe { to.as_mut() }.map(|to| *to = value).ok_or_else(|| "a null pointer is no place for a result".to_owned())
}

unsafe fn bytes<'a>(data: *const c_void, size: usize) -> Result<&'a [u8], String> {
    match size {
        0 => Ok(&[]),
        _ if data.is_null() => Err("a null pointer has no bytes".to_owned()),
        // SAFETY: so many bytes, as the header says.
        _ => Ok(unsafe { std::slice::from_raw_parts(data.cast(), size) }),
    }
}

unsafe fn room<'a>(out: *mut c_void, size: usize) -> Result<&'a mut [u8], String> {
    match size {
        0 => Ok(&mut []),
        _ if out.is_null() => Err("a null pointer has no room".to_owned()),
        // SAFETY: room for so many bytes, as the header says.
        _ => Ok(unsafe { std::slice::from_raw_parts_mut(out.cast(), size) }),
    }
}

fn new(name: Option<&CStr>, silicon: bool, seed: Option<u64>) -> Result<Board, String> {
    let name = name.and_then(|name| name.to_str().ok()).ok_or("no board is named")?;
    let board = board::built_in(name).map_err(|error| error.to_string())?;
    let mode = if silicon { AtError::Silicon } else { AtError::Strict };
    let session = Session::new(Config { seed, mode, ..Config::new(board) })?;
    Ok(Board { session, error: String::new(), text: CString::default() })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_new(
    name: *const c_char,
    silicon: c_int,
    seed: *const u64,
    message: *mut c_char,
    size: usize,
) -> *mut Board {
    // SAFETY: a string and a number, or null.
    let (name, seed) = unsafe { ((!name.is_null()).then(|| CStr::from_ptr(name)), seed.as_ref().copied()) };
    let made = catch_unwind(|| new(name, silicon != 0, seed)).unwrap_or_else(|_| Err("internal error".to_owned()));
    match made {
        Ok(board) => Box::into_raw(Box::new(board)),
        Err(error) => {
            // SAFETY: room for `size` bytes, or null.
            if let Ok(room) = unsafe { room(message.cast(), if message.is_null() { 0 } else { size }) }
                && let Some((end, head)) = room.split_last_mut()
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
pub unsafe extern "C" fn slipring_free(board: *mut Board) {
    if !board.is_null() {
        // SAFETY: made by `slipring_new`, and not freed before.
        drop(unsafe { Box::from_raw(board) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_error(board: *mut Board) -> *const c_char {
    // SAFETY: a board or null.
    match unsafe { board.as_mut() } {
        Some(board) => {
            let error = board.error.clone();
            board.say(&error)
        }
        None => c"no board is given".as_ptr(),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_pin(board: *mut Board, size: u64, number: *mut u32, address: *mut u64) -> c_int {
    // SAFETY: what the header says of each pointer; so in all functions below.
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
            let first = NonNull::new(memory.cast()).ok_or("a null pointer is no memory")?;
            let memory = session.pin_lent(first, size).map_err(text)?;
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
    unsafe { call(board, |session| session.host_read(number, offset, room(out, size)?).map_err(text)) }
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
    unsafe { call(board, |session| session.read(window, offset, room(out, size)?).map_err(text)) }
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
    unsafe { board.as_ref() }.map_or(0, |board| board.session.now())
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
    unsafe { call(board, |session| session.peek(Xy { x, y }, addr, room(out, size)?).map_err(text)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_findings(board: *mut Board) -> usize {
    // SAFETY: a board or null.
    unsafe { board.as_ref() }.map_or(0, |board| board.session.findings().len())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_finding(board: *mut Board, at: usize) -> *const c_char {
    // SAFETY: a board or null.
    let Some(board) = (unsafe { board.as_mut() }) else { return null() };
    let finding = board.session.findings().get(at).map(ToString::to_string).unwrap_or_default();
    board.say(&finding)
}
