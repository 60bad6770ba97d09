//! `.npy` headers: any bytes end in a header that fits its data, or in an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slipring::args::Npy;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(npy) = Npy::read(bytes) {
        let count: usize = npy.shape.iter().product();
        assert_eq!(bytes.len() - npy.data_at, count * npy.elem.bytes());
    }
});
