//! `.npy` headers: any bytes end in a header that fits its data, or in an error.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| slipring_fuzz::targets::npy(bytes));
