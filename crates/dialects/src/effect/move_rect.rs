//! Moving rectangles of tiles between memories and layouts.

use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Extent, Fault, Memory, Output, Scratch};
use slipring_tile::{Elem, Layout, Space};

use super::region::rect_extents;
use super::{Corner, Finish, outside};

/// A memory and how a tile lies in it.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Place {
    pub space: Space,
    pub core: Role,
    pub layout: Layout,
}

/// One rectangle of a move.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct MovePart {
    /// First row and column in the source.
    pub from: (u32, u32),
    /// Whose memory receives it.
    pub core: Role,
    /// First row and column in the destination.
    pub to: (u32, u32),
    /// Largest extent; the valid shape may make it smaller.
    pub rows: u32,
    pub cols: u32,
}

impl MovePart {
    /// A whole tile.
    pub const fn all(core: Role, rows: u32, cols: u32) -> MovePart {
        MovePart { from: (0, 0), core, to: (0, 0), rows, cols }
    }
}

/// Moves the valid part of a tile, converting layout and element type.
///
/// Arguments: source address, destination address, valid rows, valid columns (of the source, or of each
/// part where `valid_of_part`). The unit of its cost is a byte of the wider side.
#[derive(Clone, Debug)]
pub struct MoveEffect {
    /// Where the tile is.
    pub from: Place,
    /// Where it goes; `core` is the parts' own.
    pub to: Place,
    /// What is moved.
    pub parts: Vec<MovePart>,
    /// True where the valid shape is the one of the moved part, not of the whole source.
    pub valid_of_part: bool,
    /// Bytes from the destination address on that may be written: those of the slot of a ring.
    pub room: Option<u64>,
}

impl Default for MoveEffect {
    fn default() -> MoveEffect {
        let place = Place { space: Space::Gm, core: Role::Aic, layout: Layout::nd(Elem::F32, 0, 0) };
        MoveEffect { from: place, to: place, parts: Vec::new(), valid_of_part: false, room: None }
    }
}

impl MoveEffect {
    /// Rows and columns of a part that are valid.
    fn extent(&self, part: &MovePart, args: &[u64]) -> (u32, u32) {
        let clip = |valid: u64, first: u32, most: u32| {
            let valid = u32::try_from(valid).unwrap_or(u32::MAX);
            let first = if self.valid_of_part { 0 } else { first };
            valid.saturating_sub(first).min(most)
        };
        (clip(args[2], part.from.0, part.rows), clip(args[3], part.from.1, part.cols))
    }
}

impl Effect for MoveEffect {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let widest = self.from.layout.elem.bytes().max(self.to.layout.elem.bytes()) as u64;
        for part in &self.parts {
            let (rows, cols) = self.extent(part, args);
            let (from, to) = (&self.from, &self.to);
            rect_extents(from.space, from.core, &from.layout, args[0], part.from, rows, cols, &mut access.reads);
            rect_extents(to.space, part.core, &to.layout, args[1], part.to, rows, cols, &mut access.writes);
            access.units += u64::from(rows) * u64::from(cols) * widest;
        }
        let end = access.writes.iter().map(Extent::end).max().unwrap_or(0);
        match self.room {
            Some(room) if end > args[1].saturating_add(room) => Err(Fault::new(
                "ring-slot-size",
                format!("the valid part of the tile ends {} bytes after the start of a slot of {room}", end - args[1]),
            )
            .help("enlarge `slot_size` at both ends of the pipe")),
            _ => Ok(()),
        }
    }

    fn run(
        &self,
        args: &[u64],
        env: Env,
        memory: &mut Memory,
        scratch: &mut Scratch,
        _: &mut Output,
    ) -> Result<u64, Fault> {
        for part in &self.parts {
            let (rows, cols) = self.extent(part, args);
            if rows == 0 || cols == 0 {
                continue;
            }
            let (from, to) = (&self.from, &self.to);
            let source = Corner { layout: &from.layout, at: part.from };
            let target = Corner { layout: &to.layout, at: part.to };
            memory
                .with_pair(
                    env,
                    (from.core, from.space, args[0], from.layout.bytes()),
                    (part.core, to.space, args[1]),
                    &mut scratch.bytes[0],
                    |src, dst| Finish::default().run_tiles((dst, target), (src, source), (rows, cols), 1.0),
                )
                .map_err(outside)?;
        }
        Ok(0)
    }
}
