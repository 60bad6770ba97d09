//! What the public tile library of some platforms does of a ring otherwise than the engine: an undivided tile of a ring on chip is
//! for AIV0 alone, rows that are pushed into L1 stay rows; a ring of one Vector core alone does not work where signals
//! of both are heard at once.
//!
//! The engine does what the seeds say of such tiles, and a verdict that leans on it says so. With the questions answered otherwise
//! it does what the library does. What leaves for a tool that calls the library may not lean on either.

use slipring_ir::{Diagnostic, Diags, TileType};
use slipring_machine::Platform;
use slipring_machine::interpretations::{ROWS_TO_L1, UNDIVIDED_TO_BOTH};
use slipring_program::Direction;
use slipring_tile::{Layout, SLayout, Space};

use super::split::Split;
use crate::def::OpRef;

/// What of a ring the library does otherwise.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Library {
    /// Both Vector cores are at an end of the ring, and no tile of it is divided.
    pub undivided: bool,
    /// Rows are pushed that are popped in blocks.
    pub rows: bool,
    /// One Vector core alone is at an end of the ring, and the Cube core hears both at once.
    pub alone: bool,
}

impl Library {
    /// Looks at the ops of a ring. `lanes` are the Vector cores at its other end.
    pub fn of(
        platform: &Platform,
        direction: Direction,
        space: Space,
        lanes: [bool; 2],
        [pushes, pops]: [&[OpRef<'_>]; 2],
        pushed_and_popped: (impl Iterator<Item = TileType>, Option<&TileType>),
    ) -> Library {
        let alone = platform.sync.broadcast_reduce && lanes.contains(&false) && !(pushes.is_empty() && pops.is_empty());
        if !platform.ring.undivided_to_first || space == Space::Gm {
            return Library { alone, ..Library::default() };
        }
        let mut all = pushes.iter().chain(pops);
        let undivided = lanes == [true, true]
            && !(pushes.is_empty() && pops.is_empty())
            && all.all(|op| Split::of(op) == Some(Split::None));
        let (mut pushed, popped) = pushed_and_popped;
        let blocks = popped.is_some_and(|tile| tile.layout.slayout != SLayout::NoneBox);
        let rows = direction == Direction::V2C && blocks && pushed.any(|tile| tile.layout.slayout == SLayout::NoneBox);
        Library { undivided, rows, alone }
    }

    /// The Vector cores that the library serves, where the platform's answer is the library's.
    pub fn lanes(self, platform: &Platform, lanes: [bool; 2]) -> [bool; 2] {
        if self.undivided && platform.reads_otherwise(&UNDIVIDED_TO_BOTH) { [true, false] } else { lanes }
    }

    /// What of this is left to the engine's answer.
    pub fn leaning(self, platform: &Platform) -> Library {
        Library {
            undivided: self.undivided && !platform.reads_otherwise(&UNDIVIDED_TO_BOTH),
            rows: self.rows && !platform.reads_otherwise(&ROWS_TO_L1),
            alone: self.alone,
        }
    }

    /// How what is pushed lies in a slot: as rows, where the platform's answer is the library's.
    pub fn layout(self, leaning: Library, popped: Layout) -> Layout {
        match self.rows && !leaning.rows {
            true => Layout::nd(popped.elem, popped.rows, popped.cols),
            false => popped,
        }
    }

    /// Refuses what may not leave for a tool that calls the library, and warns of what a launch has to know.
    pub fn check(self, platform: &Platform, pushes: &[OpRef<'_>], pops: &[OpRef<'_>], diags: &mut Diags) {
        let Some(op) = pushes.first().or(pops.first()).filter(|_| platform.ring.by_library) else { return };
        if self.undivided {
            let message = format!(
                "the tile library of `{}` moves undivided tiles between the Cube core and AIV0 only, and both Vector cores use this \
                 ring: AIV1 would wait forever",
                platform.name
            );
            let help = "divide the tile (`split = 1` or `2`), or leave the work to AIV0: a kernel that does not ask which Vector \
                        core it runs on runs on that one";
            diags.push(op.error("pipe-undivided", message).help(help));
        }
        if self.alone {
            let message = format!(
                "on `{}` the Cube core hears both Vector cores at once, and one of them alone uses this ring here",
                platform.name
            );
            let help = "launch it on both, where both do all of it, or divide the tile (`split = 1` or `2`)";
            diags.push(Diagnostic::warning("pipe-undivided", op.span(), message).help(help));
        }
        let rows = |op: &&OpRef<'_>| {
            let tile = super::spec::ring_tile(op).and_then(|tile| op.module.ty(tile).as_tile());
            tile.is_some_and(|tile| tile.layout.slayout == SLayout::NoneBox)
        };
        if let Some(op) = pushes.iter().find(rows).filter(|_| self.rows) {
            let message = format!(
                "the tile library of `{}` copies rows into L1 as they are, and the pop takes blocks of them",
                platform.name
            );
            let help =
                "move the tile into one with `blayout=col_major, slayout=row_major` first (`pto.tmov`), and push that";
            diags.push(op.error("pipe-rows", message).help(help));
        }
    }
}
