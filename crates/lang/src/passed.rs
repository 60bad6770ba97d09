//! What is passed to kernels.

use std::rc::Rc;

use slipring_tile::Elem;

use crate::value::{Const, Domain};

/// What is passed to a kernel.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Passed {
    /// A tensor of this shape and type.
    Tensor(Vec<u64>, Elem),
    /// A part of a tensor: its strides in elements. `written` says that it is written, whatever the signature says.
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
    /// Position of the kernel in the list of those found.
    pub kernel: usize,
    /// Arguments in order, and those by name.
    pub args: Vec<(Option<Rc<str>>, Passed)>,
}
