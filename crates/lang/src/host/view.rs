//! Tensors of a followed program, and memory of its devices.

use std::rc::Rc;

use slipring_tasks::Bytes;
use slipring_tile::Elem;

use crate::value::{Domain, dense};

/// A part of a tensor in global memory.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct View {
    /// The tensor's index in the graph.
    pub tensor: usize,
    pub elem: Elem,
    /// First element.
    pub offset: u64,
    pub shape: Vec<u64>,
    /// The distance in elements between neighbours in each dimension.
    pub strides: Vec<u64>,
    /// False after `pl.no_dep`.
    pub tracked: bool,
    /// The owner, if it is a part of memory of all devices.
    pub domain: Option<Domain>,
    /// True for booleans, a byte for each.
    pub truths: bool,
}

impl View {
    /// The same tensor, whose elements are booleans or not.
    pub(super) fn of_truths(self: Rc<View>, truths: bool) -> Rc<View> {
        if truths { Rc::new(View { truths, ..(*self).clone() }) } else { self }
    }

    pub(super) fn bytes(&self) -> Bytes {
        let size = self.elem.bytes() as u64;
        Bytes::window(self.offset * size, size, &self.shape, &self.strides)
    }

    /// True for a device's own window of this shape, ignoring leading extents of 1: the same elements in the same
    /// order.
    pub(super) fn is_window_of(&self, shape: &[u64]) -> bool {
        let own = |shape: &[u64]| shape.iter().skip_while(|extent| **extent == 1).copied().collect::<Vec<_>>();
        self.domain.is_some() && self.strides == dense_strides(&self.shape) && own(shape) == own(&self.shape)
    }

    pub(super) fn first_byte(&self) -> u64 {
        self.offset * self.elem.bytes() as u64
    }
}

/// Such memory as a tensor; the device is known once it is passed to a function that runs on one.
#[derive(Debug)]
pub(crate) struct DeviceWindow {
    pub(super) buffer: usize,
    /// Shape, element type, and whether the bytes are booleans.
    pub(super) view: Option<(Vec<u64>, Elem, bool)>,
}

/// The strides of a contiguous tensor.
pub(crate) fn dense_strides(shape: &[u64]) -> Vec<u64> {
    dense(shape).to_vec()
}
