//! Words of the command line: any text is an argument, a duration rule, a type or a name, or an error that says why not.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slipring::args::{Defaults, read_arg};
use slipring_sim::Timing;
use slipring_tile::{Elem, Space};

/// Most elements of a generated buffer: larger ones are made too, slowly.
const MOST: u64 = 1 << 16;

fuzz_target!(|text: &str| {
    let _ = text.parse::<Timing>();
    let _ = (Elem::parse(text), Space::parse(text), slipring_machine::Pipe::parse(text));
    // Each part in brackets may be the shape and each number after a colon a size in bytes, whatever else there is.
    let product = |part: &str| {
        let numbers = part.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse::<u64>().ok());
        numbers.filter(|n| *n > 0).fold(1, u64::saturating_mul)
    };
    let shapes = text.split('[').skip(1).map(|part| product(part.split(']').next().unwrap_or_default()));
    let bytes = text.split(':').skip(1).map(|part| {
        let digits = part.trim_start().find(|c: char| !c.is_ascii_digit()).unwrap_or(part.trim_start().len());
        product(&part.trim_start()[..digits])
    });
    let mut sizes = shapes.chain(bytes);
    let in_file = text.contains('@');
    if !in_file && sizes.all(|size| size <= MOST || size > 1 << 40) {
        let _ = read_arg(text, &Defaults::default());
    }
});
