//! Moving, repeating, converting and concatenating elements.

use slipring_machine::interpretations::LIBRARY_SATURATION;
use slipring_program::{Access, Effect, Env, Fault, Run};
use slipring_tile::View;
use slipring_tile::copy::{Cast, copy, fill_rect};

use super::operands::Source;
use super::{Input, Local, TileArg, tile_units, with_operands};
use crate::outside;

/// `dst[r, c] = input[r, c]` for the destination's valid shape, converted to its type. Its cost counts the wider type.
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The memory of both.
    pub local: Local,
    /// The destination.
    pub dst: TileArg,
    /// The source.
    pub input: Input,
    /// The conversion.
    pub cast: Cast,
    /// What the tile library does by itself (`LIBRARY_SATURATION`), if the text leaves the conversion to it: where the
    /// results differ, the work depends on the question.
    pub other: Option<Cast>,
}

impl Effect for Spread {
    fn decides(&self, index: usize) -> bool {
        !self.input.is_number(index)
    }

    fn doubts(&self, index: usize) -> bool {
        self.input.doubts(index)
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let Some((rows, cols)) = self.dst.filled(args)? else { return Ok(()) };
        let [source] = Source::all(&[self.input], args, &self.dst, (rows, cols))?;
        source.extents(self.local, args, &mut access.reads);
        self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        let counted = match self.input {
            Input::Tile(tile) if tile.layout.elem.bytes() > self.dst.layout.elem.bytes() => tile.layout,
            _ => self.dst.layout,
        };
        access.units = tile_units(&counted, rows, cols);
        access.consults |= self.other.is_some();
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        let Some((rows, cols)) = self.dst.filled(args)? else { return Ok(0) };
        let to = View::tile(&self.dst.layout, 0, 0);
        let source = Source::all(&[self.input], args, &self.dst, (rows, cols))?;
        // A tile keeps its own type up to the copy, which converts it; a scalar is converted before.
        let elem = match self.input {
            Input::Scalar(_) => to.elem,
            Input::Tile(tile)
            | Input::PerRow(tile)
            | Input::PerRowFirst(tile)
            | Input::FirstColumn(tile)
            | Input::FirstRow(tile) => tile.layout.elem,
        };
        with_operands(
            (memory, env, self.local),
            args,
            self.dst.rect(rows, cols),
            (source, (rows, cols), elem),
            &mut scratch.bytes,
            |dst, [(bytes, from)]| match self.input {
                Input::Scalar(_) => fill_rect(dst, &to, rows as usize, cols as usize, bytes),
                _ => {
                    let (rows, cols) = (rows as usize, cols as usize);
                    let otherwise = self.other.map(|cast| {
                        let mut bytes_of_other = dst.to_vec();
                        copy(&mut bytes_of_other, &to, bytes, &from, rows, cols, cast).map(|()| bytes_of_other)
                    });
                    copy(dst, &to, bytes, &from, rows, cols, self.cast)?;
                    if otherwise.transpose()?.is_some_and(|other| other[..] != dst[..]) {
                        output.depends_on(&LIBRARY_SATURATION);
                    }
                    Ok(())
                }
            },
        )
        .map_err(outside)?;
        Ok(0)
    }
}

/// `dst[r, c] = src[c, r]` for the destination's valid shape.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Transpose {
    pub local: Local,
    pub dst: TileArg,
    pub src: TileArg,
}

impl Effect for Transpose {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let Some((rows, cols)) = self.dst.filled(args)? else { return Ok(()) };
        self.src.covers(args, &self.dst, (cols, rows))?;
        self.src.rect(cols, rows).extents(self.local, args, &mut access.reads);
        self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.dst.layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let Some((rows, cols)) = self.dst.filled(args)? else { return Ok(0) };
        let to = View::tile(&self.dst.layout, 0, 0);
        with_operands(
            (memory, env, self.local),
            args,
            self.dst.rect(rows, cols),
            ([Source::Rect(self.src.rect(cols, rows))], (cols, rows), self.src.layout.elem),
            &mut scratch.bytes,
            |dst, [(bytes, from)]| {
                // The bits are moved: types of equal size may differ.
                let mut from = from.transposed();
                from.elem = to.elem;
                copy(dst, &to, bytes, &from, rows as usize, cols as usize, Cast::default())
            },
        )
        .map_err(outside)?;
        Ok(0)
    }
}

/// The valid columns of two sources concatenated, for the destination's valid rows.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Concat {
    pub local: Local,
    pub dst: TileArg,
    pub sources: [TileArg; 2],
}

impl Concat {
    /// Rows, and the columns of each source.
    fn shapes(&self, args: &[u64]) -> Result<(u32, [u32; 2]), Fault> {
        let (rows, _) = self.dst.valid(args)?;
        let cols = self.dst.layout.cols;
        let [(_, a), (_, b)] = [self.sources[0].valid(args)?, self.sources[1].valid(args)?];
        for (source, cols) in self.sources.iter().zip([a, b]) {
            source.covers(args, &self.dst, (rows, cols))?;
        }
        if a.saturating_add(b) > cols {
            return Err(Fault::new(
                "tile-valid",
                format!("{a} and {b} columns do not fit into the {cols} columns of `{}`", self.dst.name),
            ));
        }
        Ok((rows, [a, b]))
    }

    /// The destination starting at column `first`.
    fn window(&self, first: u32) -> View {
        View::tile(&self.dst.layout, 0, first as usize)
    }
}

impl Effect for Concat {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, [a, b]) = self.shapes(args)?;
        self.sources[0].rect(rows, a).extents(self.local, args, &mut access.reads);
        self.sources[1].rect(rows, b).extents(self.local, args, &mut access.reads);
        self.dst.rect(rows, a + b).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.dst.layout, rows, a + b);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let (rows, [a, b]) = self.shapes(args)?;
        if rows == 0 || a + b == 0 {
            return Ok(0);
        }
        let sources = [self.sources[0].rect(rows, a), self.sources[1].rect(rows, b)].map(Source::Rect);
        with_operands(
            (memory, env, self.local),
            args,
            self.dst.rect(rows, a + b),
            (sources, (rows, a + b), self.dst.layout.elem),
            &mut scratch.bytes,
            |dst, [left, right]| {
                let rows = rows as usize;
                copy(dst, &self.window(0), left.0, &left.1, rows, a as usize, Cast::default())?;
                copy(dst, &self.window(a), right.0, &right.1, rows, b as usize, Cast::default())
            },
        )
        .map_err(outside)?;
        Ok(0)
    }
}
