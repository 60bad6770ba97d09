//! Moving windows of tiles between local memories and layouts.

use slipring_machine::{Role, Units};
use slipring_program::{Access, Effect, Env, Fault, Run, arguments};
use slipring_tile::{Layout, Space};

use super::region::rect_extents;
use super::{Corner, Finish, Payload, Scales, TilePlace, outside, valid_shape};

/// The rectangle that is moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taken {
    /// The intersection of both valid shapes, from the first element of both.
    Common,
    /// The destination's valid shape, starting at a row and column of the source.
    Extract,
    /// The source's valid shape, starting at a row and column of the destination.
    Insert,
}

arguments! {
    /// Address and valid shape of both tiles; row and column of the window; bits of the `f32` scale or the address of a table.
    pub struct TileMoveArgs { from, from_rows, from_cols, to, to_rows, to_cols, row, col, scale }
}

/// Moves a rectangle of a tile to another tile.
///
/// Arguments: [`TileMoveArgs`]. The unit of its cost is a byte of the wider side.
#[derive(Clone, Copy, Debug)]
pub struct TileMove {
    /// The source.
    pub from: TilePlace,
    /// The destination.
    pub to: TilePlace,
    /// The rectangle that is moved.
    pub taken: Taken,
    /// The axis along which each of the two Vector cores gets half of the source, as much as its tile holds: 0 rows, 1
    /// columns.
    pub halves: Option<usize>,
    /// The processing of elements in transit.
    pub finish: Finish,
}

/// One rectangle of a move.
#[derive(Clone, Copy, Debug)]
struct Part {
    from: (u32, u32),
    to: (u32, u32),
    core: Role,
    rows: u32,
    cols: u32,
}

impl TileMove {
    fn parts(&self, args: &[u64]) -> Result<[Option<Part>; 2], Fault> {
        let given = TileMoveArgs::of(args);
        let source = valid_shape("source", &self.from.layout, given.from_rows, given.from_cols)?;
        let target = valid_shape("destination", &self.to.layout, given.to_rows, given.to_cols)?;
        let common = (source.0.min(target.0), source.1.min(target.1));
        let (origin, core) = ((0, 0), self.to.core);
        let one = |from, to, (rows, cols): (u32, u32)| Ok([Some(Part { from, to, core, rows, cols }), None]);
        if let Some(axis) = self.halves {
            return self.in_halves(&given, axis, source, target);
        }
        match self.taken {
            Taken::Common => one(origin, origin, common),
            Taken::Extract => {
                let at = window("source", &self.from.layout, (given.row, given.col), target)?;
                one(at, origin, target)
            }
            Taken::Insert => {
                let at = window("destination", &self.to.layout, (given.row, given.col), source)?;
                one(origin, at, source)
            }
        }
    }

    /// The parts of the two Vector cores: lane 1's begins in the source after lane 0's half.
    fn in_halves(
        &self,
        given: &TileMoveArgs<u64>,
        axis: usize,
        source: (u32, u32),
        target: (u32, u32),
    ) -> Result<[Option<Part>; 2], Fault> {
        let mut half = <[u32; 2]>::from(source);
        half[axis] /= 2;
        let taken = (half[0].min(target.0), half[1].min(target.1));
        let (from, to) = match self.taken {
            Taken::Common => ((0, 0), (0, 0)),
            Taken::Extract => (window("source", &self.from.layout, (given.row, given.col), source)?, (0, 0)),
            Taken::Insert => {
                let part = half.into();
                ((0, 0), window("destination", &self.to.layout, (given.row, given.col), part)?)
            }
        };
        // An inserted window stays at its given position.
        let (rows, cols) = if self.taken == Taken::Insert { half.into() } else { taken };
        let part = |lane: u32| {
            let mut from = <[u32; 2]>::from(from);
            from[axis] += lane * half[axis];
            Some(Part { from: from.into(), to, core: Role::lane(lane as usize), rows, cols })
        };
        Ok([part(0), part(1)])
    }
}

/// Row and column of a window, which must be inside its tile.
fn window(what: &str, layout: &Layout, at: (u64, u64), (rows, cols): (u32, u32)) -> Result<(u32, u32), Fault> {
    let fits = |first: u64, n: u32, all: u32| first.checked_add(n.into()).is_some_and(|end| end <= all.into());
    if fits(at.0, rows, layout.rows) && fits(at.1, cols, layout.cols) {
        return Ok((at.0 as u32, at.1 as u32));
    }
    Err(Fault::new(
        "tile-window",
        format!(
            "a window of {rows} x {cols} at row {}, column {} does not lie inside the {what}, which has {} x {} elements",
            at.0 as i64, at.1 as i64, layout.rows, layout.cols
        ),
    ))
}

impl Effect for TileMove {
    fn decides(&self, index: usize) -> bool {
        index != TileMoveArgs::AT.scale || self.finish.scale == Some(Payload::Table)
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = TileMoveArgs::of(args);
        let (from, to) = (&self.from, &self.to);
        let widest = from.layout.elem.bytes().max(to.layout.elem.bytes()) as u64;
        for part in self.parts(args)?.into_iter().flatten() {
            let (rows, cols) = (part.rows, part.cols);
            self.finish.reads_table(from.core, given.scale, cols, &mut access.reads);
            rect_extents(from.space, from.core, &from.layout, given.from, part.from, rows, cols, &mut access.reads);
            rect_extents(to.space, part.core, &to.layout, given.to, part.to, rows, cols, &mut access.writes);
            let bytes = u64::from(cols) * widest;
            // The vector unit moves row by row, whatever the tiles' order in memory.
            access.units = match (from.space, to.space) {
                (Space::Vec, Space::Vec) => Units::rows(rows.into(), bytes, cols >= to.layout.cols),
                _ => Units::of(access.units.total + u64::from(rows) * bytes),
            };
        }
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = TileMoveArgs::of(args);
        let (from, to) = (&self.from, &self.to);
        let number = f32::from_bits(given.scale as u32);
        for part in self.parts(args)?.into_iter().flatten() {
            if part.rows == 0 || part.cols == 0 {
                continue;
            }
            let table = self.finish.table(env, memory, from.core, given.scale, part.cols);
            let scales = Scales { number, table: &table };
            let bytes = (from.core, from.space, given.from, from.layout.bytes());
            memory
                .with_pair(env, bytes, (part.core, to.space, given.to), &mut scratch.bytes[0], |src, dst| {
                    let source = Corner { layout: &from.layout, at: part.from };
                    let target = Corner { layout: &to.layout, at: part.to };
                    self.finish.run_tiles((dst, target), (src, source), (part.rows, part.cols), scales)
                })
                .map_err(outside)?;
        }
        Ok(0)
    }
}
