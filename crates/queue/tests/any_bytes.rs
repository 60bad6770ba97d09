//! Whatever a driver sends, the device reports findings: it neither panics nor runs forever.

use proptest::prelude::*;
use slipring_queue::Layout;
use slipring_queue::board::built_in;
use slipring_queue::host::{Device, Kernels, Queue, Settings};
use slipring_queue::machine::{Config, Machine};
use slipring_queue::sanitize::AtError;
use slipring_queue::wire::{Dispatch, LargeSub, Packed, Prefetch, relay_inline};

fn open(mode: AtError) -> Queue<Machine> {
    let board = built_in("p100").expect("a built-in board");
    let layout = Layout { sems: 4, ..Layout::default() };
    let config = Config::new(board.clone()).with_mode(mode).with_layout(layout.clone()).with_seed(1);
    let settings = Settings { completion_timeout_ns: 1_000_000, ..Settings::CAREFUL };
    Queue::open(Machine::new(config).expect("a machine"), board, layout, settings, &Kernels::default()).expect("opens")
}

/// Bytes that start like a command of the dispatcher: valid ids, with small or arbitrary fields.
fn command(ids: std::ops::RangeInclusive<u8>) -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![Just(0u8), Just(1), Just(2), 0..=255u8];
    let bytes = prop::collection::vec(field, 16..300);
    (ids, bytes).prop_map(|(id, mut bytes)| {
        bytes[0] = id;
        bytes
    })
}

fn run(mode: AtError, records: &[(Vec<u8>, u16)]) {
    let mut queue = open(mode);
    for (record, flags) in records {
        let mut record = record.clone();
        record.resize(record.len().next_multiple_of(64), 0);
        if queue.push_with(&record, *flags).is_err() {
            break;
        }
    }
    let _ = queue.device().wait(1_000_000);
    let _ = queue.finish();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn dispatch_commands(commands in prop::collection::vec(command(0..=19), 1..6)) {
        let records: Vec<_> =
            commands.into_iter().map(|c| (relay_inline(c).expect("fits").encode(), 0)).collect();
        run(AtError::Silicon, &records);
        run(AtError::Strict, &records);
    }

    #[test]
    fn prefetch_commands(
        commands in prop::collection::vec((command(0..=15), any::<bool>()), 1..6),
        stride in prop::option::of(0u32..400),
    ) {
        let records: Vec<_> = commands
            .into_iter()
            .map(|(mut c, stall)| {
                if let (Some(stride), true) = (stride, c.len() > 16) {
                    c[8..12].copy_from_slice(&stride.to_le_bytes());
                }
                (c, u16::from(stall) << 15)
            })
            .collect();
        run(AtError::Silicon, &records);
        run(AtError::Strict, &records);
    }

    #[test]
    fn large_writes(subs in prop::collection::vec(prop::collection::vec(any::<u8>(), 12), 1..36), data in 0usize..3000) {
        let mut bytes = vec![6, 1, subs.len() as u8, 0, 16, 0, 0, 0];
        bytes.resize(16, 0);
        for sub in &subs {
            let mut sub = LargeSub::read(sub).expect("12 bytes");
            sub.length_minus1 %= 200;
            let at = bytes.len();
            bytes.resize(at + 12, 0);
            sub.write(&mut bytes[at..]);
        }
        bytes.resize(bytes.len() + data, 1);
        let records = [(relay_inline(bytes).expect("fits").encode(), 0)];
        run(AtError::Silicon, &records);
    }

    #[test]
    fn headers_of_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = (Prefetch::decode(&bytes), Dispatch::decode(&bytes));
    }
}
