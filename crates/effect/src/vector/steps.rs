//! Arithmetic in the element type of the sources, with the result converted to that of the destination.

use slipring_program::{Access, Effect, Env, Fault, Run};
use slipring_tile::copy::{Cast, copy};
use slipring_tile::{Binary, Elem, View};

use super::operands::Source;
use super::{Input, Local, Number, TileArg, tile_units, with_operands};
use crate::outside;

/// `dst[r, c] = op(a[r, c], b[r, c])` in the element type of the sources, then, with a factor, `scaled(result, factor)`
/// in f32, then converted. Its cost is based on the element type of the sources.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Steps {
    pub local: Local,
    pub op: &'static Binary,
    pub scaled: Option<(&'static Binary, Number)>,
    pub dst: TileArg,
    pub sources: [TileArg; 2],
    pub cast: Cast,
}

impl Steps {
    fn sources(&self, args: &[u64], shape: (u32, u32)) -> Result<[Source; 2], Fault> {
        Source::all(&self.sources.map(Input::Tile), args, &self.dst, shape)
    }
}

impl Effect for Steps {
    fn decides(&self, index: usize) -> bool {
        !matches!(self.scaled, Some((_, number)) if number.at == index)
    }

    fn doubts(&self, index: usize) -> bool {
        matches!(self.scaled, Some((_, number)) if number.at == index && number.may_fault())
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let Some((rows, cols)) = self.dst.filled(args)? else { return Ok(()) };
        if let Some((_, number)) = self.scaled {
            number.check(args[number.at])?;
        }
        for source in self.sources(args, (rows, cols))? {
            source.extents(self.local, args, &mut access.reads);
        }
        self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.sources[0].layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let Some((rows, cols)) = self.dst.filled(args)? else { return Ok(0) };
        let elem = self.sources[0].layout.elem;
        let (to, sources) = (View::tile(&self.dst.layout, 0, 0), self.sources(args, (rows, cols))?);
        let dense = |elem: Elem| View::strided(elem, 0, cols as usize * elem.bytes(), elem.bytes());
        with_operands(
            (memory, env, self.local),
            args,
            self.dst.rect(rows, cols),
            (sources, (rows, cols), elem),
            &mut scratch.bytes,
            |dst, inputs| {
                let (height, width) = (rows as usize, cols as usize);
                let mut first = vec![0; height * width * elem.bytes()];
                self.op.run_views(&mut first, dense(elem), inputs, height, width)?;
                let Some((scaled, number)) = self.scaled else {
                    return copy(dst, &to, &first, &dense(elem), height, width, self.cast);
                };
                let mut floats = vec![0; 4 * height * width];
                copy(&mut floats, &dense(Elem::F32), &first, &dense(elem), height, width, Cast::default())?;
                let mut second = vec![0; floats.len()];
                scaled.run_scalar(Elem::F32, &floats, &number.element(args[number.at])[..4], &mut second);
                copy(dst, &to, &second, &dense(Elem::F32), height, width, self.cast)
            },
        )
        .map_err(outside)?;
        Ok(0)
    }
}
