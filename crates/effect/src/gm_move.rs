//! Moving tiles to and from windows of global memory.

use slipring_machine::interpretations::FINITE_PAD;
use slipring_program::{Access, Effect, Env, Fault, Run, Update, UpdateKind, arguments};
use slipring_tile::copy::{View, fill_rect};
use slipring_tile::{BLOCK_BYTES, BLayout, SLayout, Space};

use super::region::rect_extents;
use super::strided::{Strided, StridedWindow};
use super::{Finish, Payload, Scales, TilePlace, outside, pad_value, pads_with_infinity, valid_shape};

arguments! {
    /// Address of the tile, its valid shape, bits of the `f32` scale or the address of a table, address of the window.
    /// Dimensions and strides follow, and the window's place in its tensor where that is given.
    pub struct GmMoveArgs { tile, rows, cols, scale, window }
}

/// Moves the intersection of a tile's valid shape and a window of global memory.
///
/// Arguments: [`GmMoveArgs`]; the window's dimensions, its strides, its place in its tensor (see [`Strided`]). The unit
/// of its cost is a byte of the wider side.
#[derive(Clone, Copy, Debug)]
pub struct GmMove {
    /// The tile.
    pub tile: TilePlace,
    /// The window.
    pub window: Strided,
    /// True: from global memory into the tile.
    pub load: bool,
    /// Padding of a loaded tile (see [`pad_value`]): it fills the rest of each row's last 32 bytes.
    pub pad: u8,
    /// The processing of elements in transit.
    pub finish: Finish,
}

impl GmMove {
    fn extent(&self, args: &[u64]) -> Result<(StridedWindow, (u32, u32)), Fault> {
        let given = GmMoveArgs::of(args);
        let valid = valid_shape("tile", &self.tile.layout, given.rows, given.cols)?;
        let window = self.window.window(&args[GmMoveArgs::COUNT..], valid)?;
        Ok((window, valid))
    }

    /// Columns written by a load, including the padding.
    fn padded(&self, cols: u32) -> u32 {
        let layout = &self.tile.layout;
        let plain = layout.slayout == SLayout::NoneBox && layout.blayout == BLayout::RowMajor;
        if !self.load || self.pad == 0 || self.tile.space != Space::Vec || !plain || cols == 0 {
            return cols;
        }
        cols.next_multiple_of(BLOCK_BYTES as u32 / layout.elem.bytes() as u32).min(layout.cols)
    }
}

impl Effect for GmMove {
    fn decides(&self, index: usize) -> bool {
        if index >= GmMoveArgs::COUNT {
            return !self.window.is_place(index - GmMoveArgs::COUNT);
        }
        index != GmMoveArgs::AT.scale || self.finish.scale == Some(Payload::Table)
    }

    fn doubts(&self, index: usize) -> bool {
        index >= GmMoveArgs::COUNT && self.window.is_checked(index - GmMoveArgs::COUNT)
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let given = GmMoveArgs::of(args);
        let (window, valid) = self.extent(args)?;
        let (rows, cols) = window.clip(valid);
        let verb = if self.load { "reads" } else { "writes" };
        self.window.inside(&args[GmMoveArgs::COUNT..], verb, valid, (rows, cols))?;
        let tile = &self.tile;
        self.finish.reads_table(tile.core, given.scale, cols, &mut access.reads);
        let (local, global) =
            if self.load { (&mut access.writes, &mut access.reads) } else { (&mut access.reads, &mut access.writes) };
        rect_extents(tile.space, tile.core, &tile.layout, given.tile, (0, 0), rows, self.padded(cols), local);
        window.extents(given.window, rows, cols, global);
        if self.finish.add {
            access.update = Some(Update { kind: UpdateKind::Add, elem: self.window.elem });
            window.extents(given.window, rows, cols, &mut access.reads);
        }
        let widest = tile.layout.elem.bytes().max(self.window.elem.bytes()) as u64;
        access.units.total += u64::from(rows) * u64::from(cols) * widest;
        access.units.rows += window.outer(rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        let given = GmMoveArgs::of(args);
        let (window, valid) = self.extent(args)?;
        let (rows, cols) = window.clip(valid);
        if rows == 0 || cols == 0 {
            return Ok(0);
        }
        let tile = &self.tile;
        let table = self.finish.table(env, memory, tile.core, given.scale, cols);
        let scales = Scales { number: f32::from_bits(given.scale as u32), table: &table };
        let (local, global) = ((tile.core, tile.space, given.tile), (tile.core, Space::Gm, given.window));
        let (from, to) = if self.load { (global, local) } else { (local, global) };
        let source = (from.0, from.1, from.2, usize::MAX);
        memory
            .with_pair(env, source, to, &mut scratch.bytes[0], |src, dst| {
                window.blocks(rows, cols, |block| {
                    let inside = View::tile(&tile.layout, block.at.0 as usize, block.at.1 as usize);
                    let steps = [block.offset, block.row_step, block.col_step].map(|n| n as usize);
                    let outside = View::strided(self.window.elem, steps[0], steps[1], steps[2]);
                    let (from, to) = if self.load { (&outside, &inside) } else { (&inside, &outside) };
                    let scales = scales.from_column(block.at.1);
                    self.finish.run(dst, to, src, from, block.rows as usize, block.cols as usize, scales)
                })?;
                let width = self.padded(cols) - cols;
                if let Some(value) = pad_value(tile.layout.elem, self.pad).filter(|_| width > 0) {
                    if pads_with_infinity(tile.layout.elem, self.pad) {
                        output.depends_on(&FINITE_PAD);
                    }
                    let view = View::tile(&tile.layout, 0, cols as usize);
                    fill_rect(dst, &view, rows as usize, width as usize, &value[..tile.layout.elem.bytes()])?;
                }
                Ok(())
            })
            .map_err(outside)?;
        Ok(0)
    }
}
