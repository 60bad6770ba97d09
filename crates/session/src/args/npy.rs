//! The `.npy` format: a header with type and shape, followed by the data.

use slipring_tile::Elem;

/// The contents of a `.npy` header.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Npy {
    /// Element type.
    pub elem: Elem,
    /// Shape, row-major.
    pub shape: Vec<usize>,
    /// Where the data begins, in bytes.
    pub data_at: usize,
    /// The header as it was read.
    pub header: Vec<u8>,
}

/// The prefix of every such file.
const MAGIC: &[u8] = b"\x93NUMPY";

impl Npy {
    /// True if these bytes begin like a `.npy` file.
    pub fn begins(bytes: &[u8]) -> bool {
        bytes.starts_with(MAGIC)
    }

    /// Reads the header of a file and checks that the data is complete.
    ///
    /// # Errors
    /// What is wrong with it, or that it holds something that a device buffer cannot.
    pub fn read(bytes: &[u8]) -> Result<Npy, String> {
        Npy::head(bytes, bytes.len() as u64)
    }

    /// The header of a new file; `None` if numpy has no such elements.
    pub fn new(elem: Elem, shape: &[usize]) -> Option<Npy> {
        let code = CODES.iter().find(|(_, known)| *known == elem)?.0;
        let order = if elem.bytes() == 1 { '|' } else { '<' };
        let dims: String = shape.iter().map(|n| format!("{n}, ")).collect();
        let mut text =
            format!("{{'descr': '{order}{code}', 'fortran_order': False, 'shape': ({}), }}", dims.trim_end());
        // The data begins at a multiple of 64.
        while !(MAGIC.len() + 4 + text.len() + 1).is_multiple_of(64) {
            text.push(' ');
        }
        text.push('\n');
        let mut header = [MAGIC, &[1, 0]].concat();
        header.extend(u16::try_from(text.len()).ok()?.to_le_bytes());
        header.extend(text.as_bytes());
        Some(Npy { elem, shape: shape.to_vec(), data_at: header.len(), header })
    }

    /// Reads the header of a file of this size from its beginning.
    ///
    /// # Errors
    /// What is wrong with it, or that it holds something that a device buffer cannot.
    pub(super) fn head(bytes: &[u8], size: u64) -> Result<Npy, String> {
        let rest = bytes.strip_prefix(MAGIC).ok_or("not a .npy file")?;
        let (length, at) = match rest {
            [1, _, a, b, ..] => (usize::from(u16::from_le_bytes([*a, *b])), 10),
            [2 | 3, _, a, b, c, d, ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
            _ => return Err("unknown .npy version".into()),
        };
        let data_at = at + length;
        let header = bytes.get(at..data_at).ok_or("the header is cut off")?;
        let text = std::str::from_utf8(header).map_err(|_| "the header is not text")?;
        let value = |key: &str| {
            let at = text.find(&format!("'{key}'")).or_else(|| text.find(&format!("\"{key}\"")))?;
            text[at + key.len() + 2..].trim_start().strip_prefix(':').map(str::trim_start)
        };
        let descr = value("descr").ok_or("the header says no type")?;
        let name: String = descr.chars().skip(1).take_while(|c| *c != '\'' && *c != '"').collect();
        let elem = elem_of(&name).ok_or_else(|| format!("elements of type `{name}` cannot be passed"))?;
        if value("fortran_order").is_some_and(|v| v.starts_with("True")) {
            return Err("the array is in column-major order; save it with `numpy.ascontiguousarray`".into());
        }
        let shape = value("shape").and_then(|v| v.strip_prefix('(')).ok_or("the header says no shape")?;
        let shape = shape.split_once(')').ok_or("the header says no shape")?.0;
        let dims = shape.split(',').map(str::trim).filter(|d| !d.is_empty());
        let shape =
            dims.map(|d| d.parse::<usize>()).collect::<Result<Vec<_>, _>>().map_err(|_| "the shape is not numbers")?;
        let count =
            shape.iter().try_fold(elem.bytes(), |n, dim| n.checked_mul(*dim)).ok_or("the shape is too large")?;
        let there = size.saturating_sub(data_at as u64);
        if there != count as u64 {
            return Err(format!("the header announces {count} bytes of data, there are {there}"));
        }
        Ok(Npy { elem, shape, data_at, header: bytes[..data_at].to_vec() })
    }
}

/// Element type of a numpy type code. `V2` is numpy's code for bfloat16, which it does not support.
fn elem_of(code: &str) -> Option<Elem> {
    let code = code.trim_start_matches(['<', '|', '=']);
    CODES.iter().find(|(known, _)| *known == code).map(|(_, elem)| *elem)
}

/// numpy's type codes; the first one for a type is the one that is written.
const CODES: [(&str, Elem); 13] = [
    ("f4", Elem::F32),
    ("f2", Elem::F16),
    ("V2", Elem::BF16),
    ("bfloat16", Elem::BF16),
    ("i1", Elem::I8),
    ("i2", Elem::I16),
    ("i4", Elem::I32),
    ("i8", Elem::I64),
    ("u1", Elem::U8),
    ("b1", Elem::U8),
    ("u2", Elem::U16),
    ("u4", Elem::U32),
    ("u8", Elem::U64),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    #[test]
    fn headers() {
        let bytes = file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", &[0; 24]);
        let npy = Npy::read(&bytes).unwrap();
        assert_eq!((npy.elem, npy.shape.as_slice(), bytes.len() - npy.data_at), (Elem::F32, &[2, 3][..], 24));
        let scalar = file("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", &[7]);
        assert_eq!(Npy::read(&scalar).unwrap().shape, [0usize; 0]);
    }

    #[test]
    fn what_is_refused() {
        assert!(Npy::read(b"").is_err());
        assert!(Npy::read(b"\x93NUMPY\x01\x00\xff\xff").is_err());
        for (header, data) in [
            ("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 8),
            ("{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4),
            ("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", 16),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", 12),
            ("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999, 9999999999999), }", 12),
        ] {
            assert!(Npy::read(&file(header, &vec![0; data])).is_err(), "{header}");
        }
    }
}
