//! What is passed for a parameter.

use std::ops::Range;

/// What is passed for a parameter.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// Contents of a device buffer.
    Buffer(Vec<u8>),
    /// A scalar as registers keep it.
    Scalar(u64),
}

impl Value {
    /// The buffer.
    pub fn buffer(&self) -> Option<&Vec<u8>> {
        match self {
            Value::Buffer(data) => Some(data),
            Value::Scalar(_) => None,
        }
    }
}

/// What a run takes for a parameter: bytes, which it copies into the device's memory, or a scalar.
pub trait Passed {
    /// The contents of a buffer; `None` for a scalar.
    fn contents(&self) -> Option<&[u8]>;
    /// The bits of a scalar; `None` for a buffer.
    fn bits(&self) -> Option<u64>;
    /// The parts of the contents that may hold other bytes than zeros; `None` where that is not known.
    fn held(&self) -> Option<&[Range<usize>]> {
        None
    }
    /// Where a buffer lies that shares its memory with others of the launch; `None` for one that has its own.
    fn within(&self) -> Option<Within> {
        None
    }
}

impl Passed for Value {
    fn contents(&self) -> Option<&[u8]> {
        match self {
            Value::Buffer(data) => Some(data),
            Value::Scalar(_) => None,
        }
    }

    fn bits(&self) -> Option<u64> {
        match self {
            Value::Buffer(_) => None,
            Value::Scalar(bits) => Some(*bits),
        }
    }
}

/// A part of a memory that several arguments lie in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Within {
    /// Which memory: arguments of one launch with the same number lie in the same.
    pub memory: u32,
    /// The byte of it at which the argument begins.
    pub offset: usize,
}
