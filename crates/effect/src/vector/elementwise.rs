//! Elementwise operations.

use slipring_machine::interpretations::FIRST_COLUMN;
use slipring_program::{Access, Effect, Env, Fault, Run};
use slipring_tile::copy::{Cast, copy};
use slipring_tile::lanes::PerElement;
use slipring_tile::{Binary, View};

use super::operands::{Shape, Source};
use super::{Input, Local, TileArg, tile_units, with_operands};
use crate::outside;

/// `dst[r, c] = op(inputs[r, c]…)` for the destination's valid shape, in the destination's type; inputs of other
/// types are converted first, exactly or rounded to the nearest.
#[derive(Clone, Copy, Debug)]
pub struct Elementwise<const N: usize> {
    /// The memory of all operands.
    pub local: Local,
    /// The operation.
    pub op: &'static PerElement<N>,
    /// The destination.
    pub dst: TileArg,
    /// What it is applied to.
    pub inputs: [Input; N],
}

impl<const N: usize> Effect for Elementwise<N> {
    fn decides(&self, index: usize) -> bool {
        !self.inputs.iter().any(|input| input.is_number(index))
    }

    fn doubts(&self, index: usize) -> bool {
        self.inputs.iter().any(|input| input.doubts(index))
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let Some((rows, cols)) = self.dst.filled(args)? else { return Ok(()) };
        for source in Source::all(&self.inputs, args, &self.dst, (rows, cols))? {
            source.extents(self.local, args, &mut access.reads);
            access.consults |= source.may_differ_in_rows();
        }
        self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.dst.layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        let Some((rows, cols)) = self.dst.filled(args)? else { return Ok(0) };
        let to = View::tile(&self.dst.layout, 0, 0);
        let sources = Source::all(&self.inputs, args, &self.dst, (rows, cols))?;
        if sources.iter().any(|source| source.differs_in_rows(memory, env, self.local, args)) {
            output.depends_on(&FIRST_COLUMN);
        }
        with_operands(
            (memory, env, self.local),
            args,
            self.dst.rect(rows, cols),
            (sources, (rows, cols), to.elem),
            &mut scratch.bytes,
            |dst, inputs| self.op.run_views(dst, to, inputs, rows as usize, cols as usize),
        )
        .map_err(outside)?;
        Ok(0)
    }
}

/// `dst = op(a, b)` where both have valid elements, otherwise the element of the one that has it. One of them must have
/// the destination's valid shape, the other none larger.
#[derive(Clone, Copy, Debug)]
pub struct Partial {
    /// The memory of all operands.
    pub local: Local,
    /// The operation.
    pub op: &'static Binary,
    /// The destination.
    pub dst: TileArg,
    /// The operands.
    pub sources: [TileArg; 2],
}

impl Partial {
    /// The destination's valid shape, the intersection of both sources, and which source covers all of it.
    fn shapes(&self, args: &[u64]) -> Result<(Shape, Shape, usize), Fault> {
        let shape = self.dst.valid(args)?;
        let [a, b] = [self.sources[0].valid(args)?, self.sources[1].valid(args)?];
        let common = (a.0.min(b.0), a.1.min(b.1));
        let whole = [a, b].iter().position(|s| *s == shape);
        match whole {
            Some(whole) if a.0.max(b.0) <= shape.0 && a.1.max(b.1) <= shape.1 => Ok((shape, common, whole)),
            _ => Err(Fault::new(
                slipring_program::Kind::TileValid,
                format!(
                    "`{}` has {} x {} valid elements, the sources {} x {} and {} x {}",
                    self.dst.name, shape.0, shape.1, a.0, a.1, b.0, b.1
                ),
            )
            .help("one source has the valid shape of the destination, the other none larger")),
        }
    }
}

impl Effect for Partial {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (shape, common, whole) = self.shapes(args)?;
        self.sources[whole].rect(shape.0, shape.1).extents(self.local, args, &mut access.reads);
        self.sources[1 - whole].rect(common.0, common.1).extents(self.local, args, &mut access.reads);
        self.dst.rect(shape.0, shape.1).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.dst.layout, shape.0, shape.1);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let ((rows, cols), common, whole) = self.shapes(args)?;
        if rows == 0 || cols == 0 {
            return Ok(0);
        }
        let to = View::tile(&self.dst.layout, 0, 0);
        // The smaller source is read where it is valid, the full one everywhere.
        let mut sources = [self.sources[0].rect(common.0, common.1), self.sources[1].rect(common.0, common.1)];
        (sources[whole].rows, sources[whole].cols) = (rows, cols);
        with_operands(
            (memory, env, self.local),
            args,
            self.dst.rect(rows, cols),
            (sources.map(Source::Rect), (rows, cols), to.elem),
            &mut scratch.bytes,
            |dst, inputs| {
                let (bytes, from) = inputs[whole];
                copy(dst, &to, bytes, &from, rows as usize, cols as usize, Cast::default())?;
                self.op.run_views(dst, to, inputs, common.0 as usize, common.1 as usize)
            },
        )
        .map_err(outside)?;
        Ok(0)
    }
}
