//! Bytes on the wire: commands, their parts, and the words that name locations on the chip.
//!
//! All integers are little-endian and nothing is padded implicitly. Offsets count from a command's first byte, its id.
//!
//! [`Prefetch`] and [`Dispatch`] are headers: small, `Copy`, and sufficient for an actor that has the rest in its
//! memory. [`DispatchCommand`] and [`PrefetchCommand`] are whole commands, which own their bytes; the functions next to
//! them build those that the fixed host sends.
//!
//! Layout and ids are those of the firmware in which TIMESTAMP is 18; other firmware numbers them differently.

mod build;
mod command;
mod dispatch;
mod error;
mod extent;
#[cfg(test)]
mod golden;
mod message;
mod packed;
mod place;
mod prefetch;

pub use build::{
    FieldRange, Packets, host_event, relay_inline, send_go, set_go_tiles, set_write_offsets, timestamp, wait_barrier,
    wait_stream, write_packed, write_packed_large,
};
pub use command::{DispatchCommand, PrefetchCommand, RelaySubs, Subs};
pub(crate) use command::{DispatchParts, RelayParts};
pub use dispatch::*;
pub use error::WireError;
pub use extent::Extent;
pub use message::{GoMessage, LaunchMessage};
pub use packed::{CommandInfo, Field, Packed};
pub use place::{PCIE_XY, Rect, Xy};
pub use prefetch::*;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_read_back_what_they_write() {
        for id in 0..=255u8 {
            let bytes: Vec<u8> = std::iter::once(id).chain(1..32).collect();
            for (known, decoded) in [
                (
                    (1..=14).contains(&id),
                    Prefetch::decode(&bytes).map(|c| (c.id(), encoded(|out| c.encode(out)), c.fields())),
                ),
                (
                    (1..=18).contains(&id),
                    Dispatch::decode(&bytes).map(|c| (c.id(), encoded(|out| c.encode(out)), c.fields())),
                ),
            ] {
                assert_eq!(decoded.is_ok(), known, "{id}");
                let Ok((again, out, fields)) = decoded else { continue };
                assert_eq!((again, out[0]), (id, id));
                for (field, _) in fields {
                    let range = field.offset..field.offset + field.bytes;
                    assert_eq!(out[range.clone()], bytes[range], "{id}: {}", field.name);
                }
            }
        }
    }

    #[test]
    fn fields_do_not_overlap_and_stay_inside() {
        for id in 1..=18u8 {
            let bytes = [[id].as_slice(), &[0; 31]].concat();
            let prefetch = Prefetch::decode(&bytes).map(|c| (c.header_bytes(), c.fields()));
            let dispatch = Dispatch::decode(&bytes).map(|c| (c.header_bytes(), c.fields()));
            for (size, fields) in [prefetch, dispatch].into_iter().flatten() {
                let ends = fields.iter().map(|(f, _)| f.offset + f.bytes).chain([0]);
                assert!(ends.max().is_some_and(|end| end <= size));
                assert!(fields.windows(2).all(|w| w[0].0.offset + w[0].0.bytes <= w[1].0.offset), "{id}");
                assert!(fields.iter().all(|(f, _)| f.offset >= 1));
            }
        }
    }

    fn encoded(encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        encode(&mut out);
        out
    }
}
