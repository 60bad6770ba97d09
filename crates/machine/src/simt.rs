//! Launches of workitems (SIMT) on the vector unit.

use serde::Deserialize;

/// The vector unit: timing of launches of workitems. No source gives figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimtSpec {
    /// Cycles before the first instruction.
    pub startup: u32,
    /// Cycles of an instruction of a warp.
    pub instruction: u32,
    /// Cycles of an access of a warp to memory.
    pub memory: u32,
}
