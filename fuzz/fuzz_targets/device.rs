//! The command queue's device: any bytes as records end in findings, strictly and as silicon would; any bytes as a worker's
//! image end in an image or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| slipring_fuzz::targets::device(bytes));
