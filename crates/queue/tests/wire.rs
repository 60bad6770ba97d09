//! Properties of the command codec: any bytes decode to a command or an error, and a decoded command encodes to the
//! same bytes.

use proptest::prelude::*;
use slipring_queue::wire::{Dispatch, DispatchCommand, Prefetch, PrefetchCommand};

/// Bytes that often start like a command: a likely id, small numbers, then arbitrary bytes.
fn likely() -> impl Strategy<Value = Vec<u8>> {
    let small = prop_oneof![4 => Just(0u8), 2 => 0u8..40, 1 => any::<u8>()];
    (0u8..20, prop::collection::vec(small, 15..300)).prop_map(|(id, rest)| [vec![id], rest].concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn dispatch_commands_come_back(bytes in likely()) {
        if let Ok((command, length)) = DispatchCommand::decode(&bytes) {
            prop_assert!(length <= bytes.len());
            let written = command.encode();
            prop_assert_eq!(DispatchCommand::decode(&written), Ok((command, written.len())));
            let header = Dispatch::decode(&bytes).expect("decoded before");
            for (field, value) in header.fields() {
                let mut raw = [0; 8];
                raw[..field.bytes].copy_from_slice(&written[field.offset..field.offset + field.bytes]);
                prop_assert_eq!(u64::from_le_bytes(raw), value);
            }
            if written.len() == length && header.reserved_in_use(&bytes).is_none() {
                let gap = header.extent(&bytes).expect("decoded before");
                let (gap_from, gap_to) = (gap.subs.end, (gap.data.start as usize).min(length));
                if bytes[gap_from..gap_to.max(gap_from)].iter().all(|b| *b == 0) {
                    prop_assert_eq!(&written, &bytes[..length]);
                }
            }
        }
    }

    #[test]
    fn prefetch_commands_come_back(bytes in likely()) {
        if let Ok((command, length)) = PrefetchCommand::decode(&bytes) {
            prop_assert!(length <= bytes.len());
            let written = command.encode();
            prop_assert_eq!(written.len(), length);
            if Prefetch::decode(&bytes).is_ok_and(|header| header.reserved_in_use(&bytes).is_none()) {
                prop_assert_eq!(&written, &bytes[..length]);
            }
        }
    }
}
