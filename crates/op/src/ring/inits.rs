//! The ops that make pipes, and the ops that use rings.

use slipring_machine::CoreKind;

use crate::def::{OpRef, RingPart};
use crate::ring::key::PipeKey;
use crate::ring::spec::PipeSpec;

/// An op that uses a ring, with the kind of core that it runs on.
pub(super) struct Part<'a> {
    pub op: OpRef<'a>,
    pub part: RingPart,
    pub kind: CoreKind,
    pub key: Option<PipeKey>,
}

/// An op that makes an end of a pipe.
pub(super) struct Init<'a> {
    pub op: OpRef<'a>,
    pub kind: CoreKind,
    pub spec: PipeSpec,
}
