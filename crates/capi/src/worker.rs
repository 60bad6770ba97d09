//! Workers implemented as C functions.

use std::ffi::{c_char, c_int, c_void};

use slipring_queue::wire::{LaunchMessage, Packed};
use slipring_queue::worker::{Call, Callback};

use crate::Board;
use crate::board::{bytes, call, call_inside, out_slice};

/// A launch, valid while its function runs.
pub struct Job<'a, 'c, 'm> {
    call: &'a mut Call<'c, 'm>,
    launch: [u8; LaunchMessage::SIZE],
    why: String,
}

/// A worker's function: returns its cycles, or a negative number on failure.
type Function = unsafe extern "C" fn(context: *mut c_void, job: *mut Job<'_, '_, '_>) -> i64;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_set_worker(
    board: *mut Board,
    function: Option<Function>,
    context: *mut c_void,
) -> c_int {
    // SAFETY: each pointer is as the header requires; the same holds in all functions below.
    unsafe {
        call(board, |session| {
            let function = function.ok_or("a null pointer is not a function")?;
            let worker = Callback::new(move |call: &mut Call<'_, '_>| {
                let mut launch = [0; LaunchMessage::SIZE];
                call.job().launch.write(&mut launch);
                let mut job = Job { call, launch, why: String::new() };
                let cycles = call_inside(|| function(context, &raw mut job));
                let failed = |_| match job.why.is_empty() {
                    true => format!("its function gives {cycles}"),
                    false => job.why.clone(),
                };
                u64::try_from(cycles).map_err(failed)
            });
            session.set_worker(Box::new(worker)).map_err(Into::into)
        })
    }
}

/// Runs an operation on a job: 0, or -1 with a reason that becomes the finding if the function then fails.
unsafe fn with(job: *mut Job<'_, '_, '_>, act: impl FnOnce(&mut Call<'_, '_>) -> Result<(), String>) -> c_int {
    let Some(job) = (unsafe { job.as_mut() }) else { return -1 };
    match act(job.call) {
        Ok(()) => 0,
        Err(why) => {
            job.why = why;
            -1
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_job_place(
    job: *const Job<'_, '_, '_>,
    x: *mut u8,
    y: *mut u8,
    worker: *mut u32,
) -> c_int {
    let Some(job) = (unsafe { job.as_ref() }) else { return -1 };
    let launched = job.call.job();
    unsafe {
        if let Some(x) = x.as_mut() {
            *x = launched.tile.x;
        }
        if let Some(y) = y.as_mut() {
            *y = launched.tile.y;
        }
        if let Some(worker) = worker.as_mut() {
            *worker = launched.worker;
        }
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_job_launch(job: *const Job<'_, '_, '_>) -> *const u8 {
    unsafe { job.as_ref() }.map_or(std::ptr::null(), |job| job.launch.as_ptr())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_job_fail(job: *mut Job<'_, '_, '_>, why: *const c_char) -> i64 {
    if let (Some(job), false) = (unsafe { job.as_mut() }, why.is_null()) {
        job.why = unsafe { std::ffi::CStr::from_ptr(why) }.to_string_lossy().into_owned();
    }
    -1
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_job_read(
    job: *mut Job<'_, '_, '_>,
    addr: u32,
    out: *mut c_void,
    size: usize,
) -> c_int {
    unsafe { with(job, |call| call.read(addr, out_slice(out, size)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_job_write(
    job: *mut Job<'_, '_, '_>,
    addr: u32,
    data: *const c_void,
    size: usize,
) -> c_int {
    unsafe { with(job, |call| call.write(addr, bytes(data, size)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_job_read_dram(
    job: *mut Job<'_, '_, '_>,
    bank: u32,
    addr: u64,
    out: *mut c_void,
    size: usize,
) -> c_int {
    unsafe { with(job, |call| call.read_dram(bank, addr, out_slice(out, size)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_job_write_dram(
    job: *mut Job<'_, '_, '_>,
    bank: u32,
    addr: u64,
    data: *const c_void,
    size: usize,
) -> c_int {
    unsafe { with(job, |call| call.write_dram(bank, addr, bytes(data, size)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_job_read_host(
    job: *mut Job<'_, '_, '_>,
    address: u64,
    out: *mut c_void,
    size: usize,
) -> c_int {
    unsafe { with(job, |call| call.read_host(address & !PCIE, out_slice(out, size)?)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn slipring_job_write_host(
    job: *mut Job<'_, '_, '_>,
    address: u64,
    data: *const c_void,
    size: usize,
) -> c_int {
    unsafe { with(job, |call| call.write_host(address & !PCIE, bytes(data, size)?)) }
}

/// The bit that marks addresses reached through PCIe.
const PCIE: u64 = 1 << 60;
