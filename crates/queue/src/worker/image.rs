//! The format in which a program is sent to a worker: bytes in place of its kernel's code.
//!
//! All integers are little-endian. An image starts at a multiple of 16 in L1:
//!
//! | bytes | content |
//! |--:|---|
//! | 0..4 | `SLPR` |
//! | 4..6 | version: 2 |
//! | 6..8 | kind of program: 1 is text, UTF-8 |
//! | 8..12 | bytes of the program |
//! | 12..16 | number of buffers |
//! | 16..20 | bytes of the entry's name |
//! | 20..24 | number of scalar arguments |
//! | 24..32 | FNV-1a, 64 bits, of everything after these 32 bytes |
//! | then | 32 bytes per buffer: address of page 0 in every DRAM bank (u64), offset of its first byte in these pages (u64), its size (u64), page size (u32), flags (u32): bit 0: the program reads it; bit 1: the program writes it |
//! | then | 8 bytes per scalar |
//! | then | the entry's name, then the program |
//!
//! Pages are interleaved over the DRAM banks: page `i` is in bank `i mod banks`, at the buffer's address plus `i div
//! banks` times the page size rounded up to 64.
//!
//! Two words of runtime arguments at the kernel configuration base, one set per worker, give a worker's position in the
//! grid: its block, and the number of blocks. The image is `local_cb_offset` bytes after that base, as given in the
//! launch message.

use thiserror::Error;

use crate::interleave::Interleave;

/// First bytes of an image.
pub const MAGIC: [u8; 4] = *b"SLPR";
/// The version supported by this module.
pub const VERSION: u16 = 2;
/// Kind: text, UTF-8.
pub const TEXT: u16 = 1;
/// Bytes of its header.
pub const HEADER: usize = 32;
const BUFFER: usize = 32;

/// A buffer in DRAM.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// Address of page 0 in every bank.
    pub addr: u64,
    /// Offset of the buffer's first byte in its pages.
    pub skip: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// Page size in bytes.
    pub page: u32,
    /// Whether the program reads it.
    pub read: bool,
    /// Whether the program writes it.
    pub written: bool,
}

impl Buffer {
    /// The pieces of the buffer in order: bank, address there, and bytes.
    pub fn pieces(&self, banks: u32) -> impl Iterator<Item = (u32, u64, usize)> + use<> {
        self.range(0, self.bytes, banks)
    }

    /// The pieces of `bytes` bytes from `offset`, as far as the buffer extends.
    pub fn range(&self, offset: u64, bytes: u64, banks: u32) -> impl Iterator<Item = (u32, u64, usize)> + use<> {
        let (buffer, page, banks) = (*self, u64::from(self.page.max(1)), Interleave::dram(banks));
        let end = offset.saturating_add(bytes).min(buffer.bytes);
        let mut at = offset;
        std::iter::from_fn(move || {
            let left = end.checked_sub(at).filter(|left| *left > 0)?;
            let place = at.saturating_add(buffer.skip);
            let (index, inside) = (place / page, place % page);
            let (bank, behind) = banks.page(page, index);
            let bytes = (page - inside).min(left);
            at += bytes;
            Some((bank, buffer.addr.saturating_add(behind).saturating_add(inside), bytes as usize))
        })
    }
}

/// A program with everything it needs to run, except its block index.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Image {
    /// The kind of `program`, such as [`TEXT`].
    pub kind: u16,
    /// The function to run; empty if the program has only one candidate.
    pub entry: String,
    /// Its buffers, in the order of its parameters.
    pub buffers: Vec<Buffer>,
    /// Its scalar arguments, in their order, as 64-bit words.
    pub scalars: Vec<u64>,
    /// The program.
    pub program: Vec<u8>,
}

/// Why bytes are not an image.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ImageError {
    /// Wrong first bytes.
    #[error("no image starts here: the first bytes are {0:02x?} instead of `SLPR`")]
    Magic([u8; 4]),
    /// Another version.
    #[error("the image has version {0}; this is a reader of version {VERSION}")]
    Version(u16),
    /// The bytes end too early.
    #[error("the image takes {needs} bytes, and there are {has}")]
    Truncated {
        /// Number of bytes required.
        needs: u64,
        /// Number of bytes available.
        has: u64,
    },
    /// Its bytes do not match the hash: truncated, or overwritten.
    #[error("the image is cut or damaged: its bytes have the hash {found:016x}, and its header says {stated:016x}")]
    Damaged {
        /// The hash in the header.
        stated: u64,
        /// The actual hash.
        found: u64,
    },
    /// The entry's name is not valid text.
    #[error("the entry's name is not UTF-8")]
    Entry,
}

impl Image {
    /// The size of an image, from its first 32 bytes.
    ///
    /// # Errors
    /// [`ImageError`].
    pub fn size(header: &[u8; HEADER]) -> Result<u64, ImageError> {
        let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let magic = [header[0], header[1], header[2], header[3]];
        if magic != MAGIC {
            return Err(ImageError::Magic(magic));
        }
        let version = u16::from_le_bytes([header[4], header[5]]);
        if version != VERSION {
            return Err(ImageError::Version(version));
        }
        let wide = |at| u64::from(word(at));
        Ok(HEADER as u64 + wide(12) * BUFFER as u64 + wide(20) * 8 + wide(16) + wide(8))
    }

    /// Decodes an image; bytes after it are ignored.
    ///
    /// # Errors
    /// [`ImageError`].
    pub fn decode(bytes: &[u8]) -> Result<Image, ImageError> {
        let has = bytes.len() as u64;
        let header: &[u8; HEADER] = bytes.first_chunk().ok_or(ImageError::Truncated { needs: HEADER as u64, has })?;
        let needs = Image::size(header)?;
        if needs > has {
            return Err(ImageError::Truncated { needs, has });
        }
        let mut rest = &bytes[HEADER..needs as usize];
        let (stated, found) = (u64::from_le_bytes(std::array::from_fn(|i| header[24 + i])), fnv(rest));
        if stated != found {
            return Err(ImageError::Damaged { stated, found });
        }
        let mut take = |n: usize| {
            let (head, tail) = rest.split_at(n);
            rest = tail;
            head
        };
        let word =
            |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]) as usize;
        let long = |b: &[u8]| u64::from_le_bytes(std::array::from_fn(|i| b[i]));
        let short = |b: &[u8]| u32::from_le_bytes(std::array::from_fn(|i| b[i]));
        let buffers = (0..word(12))
            .map(|_| {
                let b = take(BUFFER);
                let flags = short(&b[28..]);
                let (read, written) = (flags & 1 != 0, flags & 2 != 0);
                let (addr, skip, bytes) = (long(b), long(&b[8..]), long(&b[16..]));
                Buffer { addr, skip, bytes, page: short(&b[24..]), read, written }
            })
            .collect();
        let scalars = (0..word(20)).map(|_| long(take(8))).collect();
        let entry = std::str::from_utf8(take(word(16))).map_err(|_| ImageError::Entry)?.to_string();
        let program = take(word(8)).to_vec();
        Ok(Image { kind: u16::from_le_bytes([header[6], header[7]]), entry, buffers, scalars, program })
    }

    /// Its bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(HEADER + self.program.len() + 256);
        out.extend(MAGIC);
        out.extend(VERSION.to_le_bytes());
        out.extend(self.kind.to_le_bytes());
        for n in [self.program.len(), self.buffers.len(), self.entry.len(), self.scalars.len()] {
            out.extend((n as u32).to_le_bytes());
        }
        out.resize(HEADER, 0);
        for b in &self.buffers {
            out.extend(b.addr.to_le_bytes());
            out.extend(b.skip.to_le_bytes());
            out.extend(b.bytes.to_le_bytes());
            out.extend(b.page.to_le_bytes());
            out.extend((u32::from(b.read) | u32::from(b.written) << 1).to_le_bytes());
        }
        self.scalars.iter().for_each(|s| out.extend(s.to_le_bytes()));
        out.extend(self.entry.as_bytes());
        out.extend(&self.program);
        let hash = fnv(&out[HEADER..]);
        out[24..HEADER].copy_from_slice(&hash.to_le_bytes());
        out
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image() -> Image {
        let buffer = Buffer { addr: 0x1000, skip: 0, bytes: 5000, page: 2000, read: true, written: false };
        Image {
            kind: TEXT,
            entry: "kernel".into(),
            buffers: vec![buffer, Buffer { skip: 7, read: false, written: true, ..buffer }],
            scalars: vec![3, u64::MAX],
            program: b"module {}".to_vec(),
        }
    }

    #[test]
    fn an_image_reads_as_it_was_written_and_every_cut_is_an_error() {
        let mut bytes = image().encode();
        assert_eq!(Image::decode(&bytes), Ok(image()));
        for end in 0..bytes.len() {
            assert!(matches!(Image::decode(&bytes[..end]), Err(ImageError::Truncated { .. })), "{end}");
        }
        *bytes.last_mut().expect("bytes") = 0;
        assert!(matches!(Image::decode(&bytes), Err(ImageError::Damaged { .. })));
        bytes[4] = 1;
        assert_eq!(Image::decode(&bytes), Err(ImageError::Version(1)));
        bytes[0] = 0;
        assert!(matches!(Image::decode(&bytes), Err(ImageError::Magic(_))));
    }

    #[test]
    fn the_hash_is_fnv() {
        // As published with the algorithm.
        assert_eq!((fnv(b""), fnv(b"foobar")), (0xcbf2_9ce4_8422_2325, 0x8594_4171_f739_67e8));
    }

    #[test]
    fn pages_go_around_the_banks() {
        let range: Vec<_> = image().buffers[0].range(1990, 30, 2).collect();
        assert_eq!(range, [(0, 0x1000 + 1990, 10), (1, 0x1000, 20)]);
        // One that begins in the middle of its pages.
        let inside = Buffer { skip: 1900, ..image().buffers[0] };
        assert_eq!(inside.range(90, 30, 2).collect::<Vec<_>>(), range);
        let pieces: Vec<_> = image().buffers[0].pieces(2).collect();
        assert_eq!(pieces, [(0, 0x1000, 2000), (1, 0x1000, 2000), (0, 0x1000 + 2048, 1000)]);
    }
}
