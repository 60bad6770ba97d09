//! The position of a walk over the ops of a function.

use slipring_ir::{Diagnostic, Span};
use slipring_op::OpRef;

use crate::split::check_split::function::Function;
use crate::split::check_split::lanes::Lanes;
use crate::split::check_split::tiles::Tiles;

/// The position of an op, as far as the lanes are concerned.
#[derive(Clone, Copy)]
pub(super) struct Standing<'a> {
    /// The region around it.
    pub region: Option<OpRef<'a>>,
    /// Why only one lane may reach this point, if that is so.
    pub guard: Option<Span>,
}

/// The walk over a function.
pub(super) struct Walk<'f, 'a> {
    pub function: &'f Function<'a>,
    pub lanes: Lanes<'f, 'a>,
    pub tiles: Tiles,
    /// Whether this is the reporting iteration.
    pub(crate) reports: bool,
    pub(crate) found: Vec<Diagnostic>,
}
