//! Moving rectangles of tiles between memories and layouts.

use slipring_machine::Role;
use slipring_program::{Access, Effect, Env, Extent, Fault, Run, arguments};
use slipring_tile::{Elem, Layout, Space};

use super::region::rect_extents;
use super::{Corner, Finish, Payload, Scales, outside};

/// A memory, and the layout of a tile in it.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct TilePlace {
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
    /// The core whose memory receives it.
    pub core: Role,
    /// First row and column in the destination.
    pub to: (u32, u32),
    /// Capacity in rows and columns. The valid part may be smaller; a larger one is an error.
    pub rows: u32,
    pub cols: u32,
    /// Its lane, if the move divides a tile.
    pub lane: u32,
}

impl MovePart {
    /// A whole tile.
    pub const fn all(core: Role, rows: u32, cols: u32) -> MovePart {
        MovePart { from: (0, 0), core, to: (0, 0), rows, cols, lane: 0 }
    }
}

/// How a move divides the valid part of a tile between the two Vector cores, half each.
#[derive(Clone, Copy, Debug)]
pub struct Divide {
    /// The divided axis: 0 rows, 1 columns.
    pub axis: usize,
    /// True if the move is given the valid shape of the whole tile, false if it is given that of a lane's part.
    pub whole: bool,
    /// True if lane 1's part comes after lane 0's in the source.
    pub from: bool,
    /// True if lane 1's part comes after lane 0's in the destination.
    pub to: bool,
    /// A lane's rows or columns according to the type of the tile at the other end, if that determines them.
    pub expect: Option<u32>,
}

arguments! {
    /// Source address, destination address, valid rows, valid columns; bits of the `f32` scale or the address of a table.
    pub struct MoveArgs { from, to, rows, cols, scale }
}

/// Moves the valid part of a tile, converting layout and element type.
///
/// Arguments: [`MoveArgs`]. The unit of its cost is a byte of the
/// wider side.
#[derive(Clone, Debug)]
pub struct MoveEffect {
    /// The source.
    pub from: TilePlace,
    /// The destination; `core` comes from the parts.
    pub to: TilePlace,
    /// The parts that are moved.
    pub parts: Vec<MovePart>,
    /// How the tile is divided between lanes.
    pub divide: Option<Divide>,
    /// Destination capacity in bytes: that of the slot of a ring.
    pub capacity: Option<u64>,
    /// The processing of elements in transit.
    pub finish: Finish,
}

impl Default for MoveEffect {
    fn default() -> MoveEffect {
        let place = TilePlace { space: Space::Gm, core: Role::Aic, layout: Layout::nd(Elem::F32, 0, 0) };
        MoveEffect {
            from: place,
            to: place,
            parts: Vec::new(),
            divide: None,
            capacity: None,
            finish: Finish::default(),
        }
    }
}

/// The moved part of a rectangle.
struct Rect {
    from: (u32, u32),
    to: (u32, u32),
    rows: u32,
    cols: u32,
}

impl MoveEffect {
    fn rect(&self, part: &MovePart, args: &[u64]) -> Result<Rect, Fault> {
        let given = MoveArgs::of(args);
        let mut extent = [given.rows, given.cols].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let (mut from, mut to) = (<[u32; 2]>::from(part.from), <[u32; 2]>::from(part.to));
        if let Some(divide) = &self.divide {
            let n = &mut extent[divide.axis];
            let what = ["rows", "columns"][divide.axis];
            if divide.whole {
                if *n % 2 != 0 {
                    return Err(odd(u64::from(*n), divide.axis));
                }
                *n /= 2;
            }
            if let Some(expected) = divide.expect.filter(|expected| expected != n) {
                let message = format!("a lane's half of the tile has {n} {what}, its type at the other end {expected}");
                return Err(Fault::new("ring-shape", message).help("push and pop tiles of one valid shape"));
            }
            let before = part.lane * *n;
            from[divide.axis] += if divide.from { before } else { 0 };
            to[divide.axis] += if divide.to { before } else { 0 };
        }
        let [rows, cols] = extent;
        if rows > part.rows || cols > part.cols {
            let message = format!(
                "{rows} × {cols} valid elements do not fit the tile at the other end, which has room for {} × {}",
                part.rows, part.cols
            );
            return Err(Fault::new("ring-shape", message).help("push and pop tiles of one valid shape"));
        }
        Ok(Rect { from: from.into(), to: to.into(), rows, cols })
    }
}

/// The fault for an extent that cannot be halved between two lanes. `axis` is 0 for rows, 1 for columns.
pub fn odd(n: u64, axis: usize) -> Fault {
    let what = ["rows", "columns"][axis];
    Fault::new("split-odd", format!("{n} valid {what} cannot be divided evenly between two Vector cores"))
        .help("pad the tile to an even extent, or split the other axis")
}

impl Effect for MoveEffect {
    fn moves(&self) -> bool {
        true
    }

    fn decides(&self, index: usize) -> bool {
        index != MoveArgs::AT.scale || self.finish.scale == Some(Payload::Table)
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = MoveArgs::of(args);
        let widest = self.from.layout.elem.bytes().max(self.to.layout.elem.bytes()) as u64;
        for part in &self.parts {
            let Rect { from: first, to: target, rows, cols } = self.rect(part, args)?;
            let (from, to) = (&self.from, &self.to);
            self.finish.reads_table(from.core, given.scale, cols, &mut access.reads);
            rect_extents(from.space, from.core, &from.layout, given.from, first, rows, cols, &mut access.reads);
            rect_extents(to.space, part.core, &to.layout, given.to, target, rows, cols, &mut access.writes);
            access.units.total += u64::from(rows) * u64::from(cols) * widest;
        }
        let end = access.writes.iter().map(Extent::end).max().unwrap_or(0);
        match self.capacity {
            Some(capacity) if end > given.to.saturating_add(capacity) => Err(Fault::new(
                "ring-slot-size",
                format!(
                    "the valid part of the tile ends {} bytes after the start of a slot of {capacity}",
                    end - given.to
                ),
            )
            .help("enlarge `slot_size` at both ends of the pipe")),
            _ => Ok(()),
        }
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = MoveArgs::of(args);
        for part in &self.parts {
            let Rect { from: first, to: target, rows, cols } = self.rect(part, args)?;
            if rows == 0 || cols == 0 {
                continue;
            }
            let (from, to) = (&self.from, &self.to);
            let table = self.finish.table(env, memory, from.core, given.scale, cols);
            let scales = Scales { number: f32::from_bits(given.scale as u32), table: &table };
            let source = Corner { layout: &from.layout, at: first };
            let target = Corner { layout: &to.layout, at: target };
            memory
                .with_pair(
                    env,
                    (from.core, from.space, given.from, from.layout.bytes()),
                    (part.core, to.space, given.to),
                    &mut scratch.bytes[0],
                    |src, dst| self.finish.run_tiles((dst, target), (src, source), (rows, cols), scales),
                )
                .map_err(outside)?;
        }
        Ok(0)
    }
}
