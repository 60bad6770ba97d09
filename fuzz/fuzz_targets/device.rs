//! The command queue's device: any bytes as records end in findings, strictly and as silicon would; any bytes as a worker's
//! image end in an image or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slipring_queue::board::built_in;
use slipring_queue::host::{Device, Kernels, Queue, Settings};
use slipring_queue::machine::{Config, Machine};
use slipring_queue::sanitize::AtError;
use slipring_queue::wire::relay_inline;
use slipring_queue::worker::image::Image;

fuzz_target!(|bytes: &[u8]| {
    let _ = Image::decode(bytes);
    let Some((first, rest)) = bytes.split_first() else { return };
    let board = built_in("p100").expect("p100");
    let mode = if first & 1 == 0 { AtError::Strict } else { AtError::Silicon };
    let config = Config::new(board.clone()).with_mode(mode).with_seed(u64::from(*first));
    let layout = config.layout.clone();
    let settings = Settings { completion_timeout_ns: 1_000_000, ..Settings::CAREFUL };
    let machine = Machine::new(config).expect("a machine");
    let mut queue = Queue::open(machine, board, layout, settings, &Kernels::default()).expect("opens");
    for chunk in rest.chunks(200) {
        // Half of the chunks reach the dispatcher whole, the others are for the prefetcher.
        let mut record = match first & 2 {
            0 => relay_inline(chunk.to_vec()).expect("fits").encode(),
            _ => chunk.to_vec(),
        };
        record.resize(record.len().next_multiple_of(64), 0);
        if queue.push(&record).is_err() {
            return;
        }
    }
    let _ = queue.device().wait(1_000_000);
    let _ = queue.finish();
});
