//! Filling the elements outside a valid shape.

use slipring_machine::interpretations::FINITE_PAD;
use slipring_program::{Access, Effect, Env, Fault, Run};
use slipring_tile::View;
use slipring_tile::copy::{Cast, OutOfBounds, copy, fill_rect};

use super::operands::{Shape, Source};
use super::{Local, TileArg, tile_units, with_operands};
use crate::{outside, rect_extents};

/// Copies the source's valid shape and writes a value to all other elements of the destination's full shape. Nothing is
/// copied if both are the same tile.
#[derive(Clone, Copy, Debug)]
pub struct Pad {
    /// The memory of both.
    pub local: Local,
    /// The destination.
    pub dst: TileArg,
    /// The source, which is not larger.
    pub src: TileArg,
    /// The bytes of the value.
    pub value: [u8; 8],
    /// Whether sources disagree about the value.
    pub asked: bool,
}

impl Pad {
    /// The parts of the destination below and to the right of the copied rows: first row and column, rows, columns.
    fn outside(&self, (rows, cols): Shape) -> [(Shape, u32, u32); 2] {
        let all = &self.dst.layout;
        [((0, cols), rows, all.cols.saturating_sub(cols)), ((rows, 0), all.rows.saturating_sub(rows), all.cols)]
    }

    fn shape(&self, args: &[u64]) -> Result<Shape, Fault> {
        let (rows, cols) = self.src.valid(args)?;
        let all = &self.dst.layout;
        if rows > all.rows || cols > all.cols {
            return Err(Fault::new(
                "tile-valid",
                format!(
                    "`{}` has {rows} x {cols} valid elements, `{}` only {} x {}",
                    self.src.name, self.dst.name, all.rows, all.cols
                ),
            ));
        }
        Ok((rows, cols))
    }

    fn in_place(&self, args: &[u64]) -> bool {
        args[self.src.at] == args[self.dst.at] && self.src.layout == self.dst.layout
    }
}

impl Effect for Pad {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, cols) = self.shape(args)?;
        let Local { space, core } = self.local;
        let layout = &self.dst.layout;
        let at = args[self.dst.at];
        if !self.in_place(args) {
            self.src.rect(rows, cols).extents(self.local, args, &mut access.reads);
            self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        }
        for (from, rows, cols) in self.outside((rows, cols)) {
            rect_extents(space, core, layout, at, from, rows, cols, &mut access.writes);
        }
        access.units = tile_units(layout, layout.rows, layout.cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        let (rows, cols) = self.shape(args)?;
        if self.asked && self.outside((rows, cols)).iter().any(|(_, rows, cols)| *rows > 0 && *cols > 0) {
            output.depends_on(&FINITE_PAD);
        }
        let layout = self.dst.layout;
        let value = &self.value[..layout.elem.bytes()];
        let in_place = self.in_place(args);
        let from = if in_place { (0, 0) } else { (rows, cols) };
        with_operands(
            (memory, env, self.local),
            args,
            self.dst.rect(layout.rows, layout.cols),
            ([Source::Rect(self.src.rect(from.0, from.1))], from, self.src.layout.elem),
            &mut scratch.bytes,
            |dst, [(bytes, mut from)]| {
                if !in_place {
                    // The bits are moved: types of equal size may differ.
                    from.elem = layout.elem;
                    let to = View::tile(&layout, 0, 0);
                    copy(dst, &to, bytes, &from, rows as usize, cols as usize, Cast::default())?;
                }
                for ((row, col), rows, cols) in self.outside((rows, cols)) {
                    let to = View::tile(&layout, row as usize, col as usize);
                    fill_rect(dst, &to, rows as usize, cols as usize, value)?;
                }
                Ok::<(), OutOfBounds>(())
            },
        )
        .map_err(outside)?;
        Ok(0)
    }
}
