//! Arguments that are passed to kernels.

use std::rc::Rc;

use slipring_tile::Elem;

use crate::value::{Const, Domain};

/// An argument of a kernel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Passed {
    /// A tensor of this shape and type.
    Tensor(Vec<u64>, Elem),
    /// A part of a tensor, with its strides in elements. If `written`, it is written, whatever the signature declares.
    Part {
        shape: Vec<u64>,
        elem: Elem,
        strides: Vec<u64>,
        written: bool,
        domain: Option<Domain>,
    },
    Number(Const),
    Unknown,
}

/// A call of a kernel by the host code of its file.
#[derive(PartialEq)]
pub(crate) struct HostCall {
    /// Index of the kernel.
    pub kernel: usize,
    /// Positional and keyword arguments.
    pub args: Vec<(Option<Rc<str>>, Passed)>,
}
