//! A lane's share of a tile, as the boundary ops define it. Reference runs copy element by element according to it; it
//! is unrelated to how rings divide tiles.

use slipring_program::{Access, Effect, Env, Fault, Run};

use super::TilePlace;
use super::move_rect::{MoveArgs, odd};
use super::region::rect_extents;

/// Copies a lane's half of a tile's valid rows or columns from the whole tile, or into it.
///
/// Arguments: [`MoveArgs`], with the valid shape of the source. The unit of its cost is an element.
#[derive(Clone, Copy, Debug)]
pub struct ShareEffect {
    /// The source.
    pub from: TilePlace,
    /// The destination.
    pub to: TilePlace,
    /// The divided axis: 0 rows, 1 columns.
    pub axis: usize,
    /// The lane.
    pub lane: u32,
    /// True if a lane's tile is copied into the whole one, false if it is copied out of it.
    pub gather: bool,
}

impl ShareEffect {
    /// First row and column in the source and in the destination, rows and columns.
    fn rect(&self, args: &[u64]) -> Result<[(u32, u32); 3], Fault> {
        let given = MoveArgs::of(args);
        let mut own = [given.rows, given.cols];
        if !self.gather {
            if own[self.axis] % 2 == 1 {
                return Err(odd(own[self.axis], self.axis));
            }
            own[self.axis] /= 2;
        }
        let mut first = [0, 0];
        first[self.axis] = u64::from(self.lane) * own[self.axis];
        let (source, target) = if self.gather { ([0, 0], first) } else { (first, [0, 0]) };
        let inside = |corner: [u64; 2], place: &TilePlace| {
            corner[0].saturating_add(own[0]) <= u64::from(place.layout.rows)
                && corner[1].saturating_add(own[1]) <= u64::from(place.layout.cols)
        };
        if !inside(source, &self.from) || !inside(target, &self.to) {
            let message = format!("a lane's part of {} × {} valid elements does not fit its tile", own[0], own[1]);
            return Err(Fault::new("split-shape", message));
        }
        // Inside a tile everything fits.
        let pair = |[rows, cols]: [u64; 2]| (rows as u32, cols as u32);
        Ok([pair(source), pair(target), pair(own)])
    }
}

impl Effect for ShareEffect {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = MoveArgs::of(args);
        let [source, target, (rows, cols)] = self.rect(args)?;
        let (from, to) = (&self.from, &self.to);
        rect_extents(from.space, from.core, &from.layout, given.from, source, rows, cols, &mut access.reads);
        rect_extents(to.space, to.core, &to.layout, given.to, target, rows, cols, &mut access.writes);
        access.units.total += u64::from(rows) * u64::from(cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let given = MoveArgs::of(args);
        let [source, target, (rows, cols)] = self.rect(args)?;
        let (from, to) = (&self.from, &self.to);
        let size = from.layout.elem.bytes();
        memory.with_pair(
            env,
            (from.core, from.space, given.from, from.layout.bytes()),
            (to.core, to.space, given.to),
            &mut scratch.bytes[0],
            |src, dst| {
                for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
                    let at = from.layout.offset(source.0 + row, source.1 + col);
                    let to = to.layout.offset(target.0 + row, target.1 + col);
                    dst[to..to + size].copy_from_slice(&src[at..at + size]);
                }
            },
        );
        Ok(0)
    }
}
