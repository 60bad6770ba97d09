//! Selected fractals on the way from L1 into L0A, L0B and the memories of their scales.

use slipring_program::{Access, Effect, Env, Fault, Run, arguments};
use slipring_tile::copy::{Cast, View, copy};
use slipring_tile::{Elem, Space};

use super::bursts::{BurstArgs, Bursts, nest_extents};
use super::fractal::{C0, CORE, ROWS, square_width};
use super::outside;

/// The size of a fractal of an operand in bytes.
pub const FRACTAL: u64 = C0 * ROWS;

arguments! {
    /// Source and destination address; the first fractal in its line, the first line; fractals of a line, lines; from
    /// line to line in source and destination. All but addresses count fractals.
    pub struct SelectArgs { from, to, start, line, step, lines, from_stride, to_stride }
}

/// Copies `lines` lines of `step` consecutive fractals.
///
/// Arguments: [`SelectArgs`]. The unit of its cost is a byte.
#[derive(Clone, Copy, Debug)]
pub struct FractalSelect {
    /// The two ends, and the bytes of a fractal.
    pub rows: Bursts,
    /// The names of the fields in the order of the arguments, with their ranges.
    pub fields: [(&'static str, [i64; 2]); 6],
    /// Bytes of the address for each byte of the destination: it is the address of the data that scales belong to.
    pub per: u64,
    /// The elements that are exchanged: element (i, j) of the selected region goes to place (j, i).
    pub turned: Option<Elem>,
}

impl FractalSelect {
    fn given(&self, args: &[u64]) -> Result<SelectArgs<u64>, Fault> {
        let given = SelectArgs::of(args);
        let values = [given.start, given.line, given.step, given.lines, given.from_stride, given.to_stride];
        for ((name, [least, most]), value) in self.fields.iter().zip(values) {
            if !(*least..=*most).contains(&(value as i64)) {
                let message = format!("`{name}` is {}", value as i64);
                return Err(Fault::new("dma-operand", message).help(format!("it lies between {least} and {most}")));
            }
        }
        if !given.to.is_multiple_of(self.per) {
            let message = format!("the address {} of the data is not a multiple of {} bytes", given.to, self.per);
            return Err(Fault::new("dma-alignment", message));
        }
        if let Some(elem) = self.turned {
            self.whole_squares(&given, elem)?;
        }
        Ok(given)
    }

    /// Reports a region that is not made of whole squares.
    fn whole_squares(&self, given: &SelectArgs<u64>, elem: Elem) -> Result<(), Fault> {
        let width = square_width(elem);
        let lane = C0 / elem.bytes() as u64;
        for ((name, _), extent) in [self.fields[2], self.fields[3]].iter().zip([given.step * ROWS, given.lines * lane])
        {
            if !extent.is_multiple_of(width) {
                let message = format!("elements of {elem} are exchanged in squares of {width}, `{name}` is odd");
                return Err(Fault::new("dma-operand", message).help("copy an even number of fractals"));
            }
        }
        Ok(())
    }

    /// The copy as rows of bytes.
    fn bursts(&self, given: &SelectArgs<u64>) -> Vec<u64> {
        let first = given.line * given.from_stride + given.start;
        let from = given.from.saturating_add(first * self.rows.unit);
        let mut args = BurstArgs { from, to: given.to / self.per, len: given.step }.list();
        args.extend([given.lines, given.from_stride, given.to_stride]);
        args
    }
}

impl Effect for FractalSelect {
    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault> {
        let given = self.given(args)?;
        let written = access.writes.len();
        self.rows.plan(&self.bursts(&given), env, access)?;
        if let Some(elem) = self.turned {
            access.writes.truncate(written);
            let lane = C0 / elem.bytes() as u64;
            let levels = [(given.step * ROWS / lane, [given.to_stride * FRACTAL])];
            nest_extents((self.rows.to.space, CORE, given.to), given.lines * lane * C0, &levels, &mut access.writes);
        }
        Ok(())
    }

    fn run(&self, args: &[u64], run: Run<'_>) -> Result<u64, Fault> {
        let given = self.given(args)?;
        let rows = self.bursts(&given);
        let Some(elem) = self.turned else { return self.rows.run(&rows, run) };
        let Run { env, memory, scratch, .. } = run;
        let size = elem.bytes() as u64;
        let lane = C0 / size;
        let source = (CORE, Space::Mat, BurstArgs::of(&rows).from, usize::MAX);
        let target = (CORE, self.rows.to.space, given.to);
        let mut outcome = Ok(());
        memory.with_pair(env, source, target, &mut scratch.bytes[0], |src, dst| {
            for (line, block) in (0..given.lines).flat_map(|line| (0..given.step * ROWS / lane).map(move |b| (line, b)))
            {
                let from = line * given.from_stride * FRACTAL + block * lane * C0;
                let to = block * given.to_stride * FRACTAL + line * lane * C0;
                let view =
                    |at: u64, down: u64, right: u64| View::strided(elem, at as usize, down as usize, right as usize);
                let (lane, cast) = (lane as usize, Cast::default());
                let moved = copy(dst, &view(to, C0, size), src, &view(from, size, C0), lane, lane, cast);
                outcome = std::mem::replace(&mut outcome, Ok(())).and(moved);
            }
        });
        outcome.map_err(outside)?;
        Ok(0)
    }
}
