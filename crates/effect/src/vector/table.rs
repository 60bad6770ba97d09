//! Elements and rows of a table in global memory at places that numbers in a tile name.

use slipring_machine::Units;
use slipring_program::{Access, Discover, Env, Extent, Fault, Memory, Run, Update, UpdateKind};
use slipring_tile::{Elem, Space};

use super::operands::Shape;
use super::{Local, TileArg};
use crate::arithmetic::{ADD, MAX, MIN};

/// What happens with a number that names nothing of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outside {
    /// A fault.
    Fault,
    /// The last one is meant.
    Clamp,
    /// The numbers begin anew after the last one.
    Wrap,
    /// It gives zeros, or nothing is stored.
    Nothing,
}

/// A table and where its arguments stand: its address, its dimensions, its strides in elements.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct TableArg {
    /// The declared operand's name, for messages.
    pub name: &'static str,
    pub elem: Elem,
    pub at: usize,
    pub rank: usize,
}

/// Moves between a tile and a table. Where the numbers are a column and the tile has more, each names a row of the table, else
/// an element; both are counted from the first one, elements as they lie in memory.
#[derive(Clone, Copy, Debug)]
pub struct TableMove {
    /// The memory of the tiles.
    pub local: Local,
    /// Where the elements go, or come from.
    pub tile: TileArg,
    /// The numbers.
    pub indices: TileArg,
    /// The table.
    pub table: TableArg,
    /// What a number does that names nothing.
    pub outside: Outside,
    /// `None`: from the table. Else to the table, with what is done to what it holds.
    pub store: Option<Option<UpdateKind>>,
}

/// The scalar unit reads the numbers of a tile, to issue a move for each row that they name.
#[derive(Clone, Copy, Debug)]
pub struct ReadNumbers {
    /// The memory of the tile.
    pub local: Local,
    /// The numbers.
    pub indices: TileArg,
}

impl Discover for ReadNumbers {
    fn discover(&self, args: &[u64], Run { env, memory, .. }: Run<'_>, access: &mut Access) -> Result<u64, Fault> {
        let (rows, cols) = self.indices.valid(args)?;
        self.indices.rect(rows, cols).extents(self.local, args, &mut access.reads);
        access.reads.iter().try_for_each(|range| check(memory, env, range, "reads"))?;
        access.units = Units::of(u64::from(rows) * u64::from(cols));
        Ok(0)
    }
}

impl TableMove {
    fn shape(&self, args: &[u64]) -> Result<(Shape, bool), Fault> {
        let (rows, cols) = self.tile.valid(args)?;
        let (lines, width) = self.indices.valid(args)?;
        let by_row = width == 1 && cols != 1;
        if lines < rows || (!by_row && width < cols) {
            return Err(Fault::new(
                "tile-valid",
                format!(
                    "`{}` has {lines} x {width} valid numbers, `{}` {rows} x {cols} valid elements: a number for each row or \
                     for each element",
                    self.indices.name, self.tile.name
                ),
            ));
        }
        Ok(((rows, cols), by_row))
    }

    /// How many places the table has, and how many bytes they are apart.
    fn places(&self, args: &[u64], by_row: bool, cols: u32) -> Result<(u64, u64), Fault> {
        let TableArg { at, rank, elem, name } = self.table;
        let dims = &args[at + 1..][..rank];
        let product = |dims: &[u64]| dims.iter().fold(1u64, |all, n| all.saturating_mul(*n));
        let size = elem.bytes() as u64;
        if !by_row {
            return Ok((product(dims), size));
        }
        let Some((width, outer)) = dims.split_last() else { return Ok((1, size)) };
        if *width < u64::from(cols) {
            let message = format!("a row of `{name}` has {width} elements, one of `{}` {cols}", self.tile.name);
            return Err(Fault::new("tile-valid", message));
        }
        let pitch = if rank > 1 { args[at + 1 + rank + rank - 2] } else { *width };
        Ok((product(outer), pitch.saturating_mul(size)))
    }

    /// The place that a number names; `None` where it names none and nothing is to happen.
    fn place(&self, index: u64, places: u64, (row, col): (u32, u32)) -> Result<Option<u64>, Fault> {
        match self.outside {
            _ if index < places => Ok(Some(index)),
            Outside::Clamp if places > 0 => Ok(Some(places - 1)),
            Outside::Wrap if places > 0 => Ok(Some(index % places)),
            Outside::Nothing => Ok(None),
            _ => Err(Fault::new(
                "index-bounds",
                format!(
                    "element ({row}, {col}) of `{}` is {}, `{}` has {places} places",
                    self.indices.name, index as u32 as i32, self.table.name
                ),
            )
            .help("what the device does then is not defined; correct the number")),
        }
    }

    fn element<'m>(
        &self,
        memory: &'m Memory,
        env: Env,
        tile: &TileArg,
        args: &[u64],
        at: (u32, u32),
        n: u32,
    ) -> &'m [u8] {
        let Local { space, core } = self.local;
        let start = args[tile.at] + tile.layout.offset(at.0, at.1) as u64;
        memory.bytes(env, core, space, start, n as usize * tile.layout.elem.bytes())
    }
}

fn check(memory: &Memory, env: Env, range: &Extent, verb: &str) -> Result<(), Fault> {
    if memory.has(range, env) { Ok(()) } else { Err(memory.miss(range, verb, env)) }
}

impl Discover for TableMove {
    fn discover(
        &self,
        args: &[u64],
        Run { env, memory, scratch, .. }: Run<'_>,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        let ((rows, cols), by_row) = self.shape(args)?;
        if rows == 0 || cols == 0 {
            return Ok(0);
        }
        let (places, pitch) = self.places(args, by_row, cols)?;
        let size = self.table.elem.bytes();
        let base = args[self.table.at];
        let (local, index_cols) = (&mut Vec::new(), if by_row { 1 } else { cols });
        self.indices.rect(rows, index_cols).extents(self.local, args, &mut access.reads);
        self.tile.rect(rows, cols).extents(self.local, args, local);
        for range in access.reads.iter().chain(local.iter()) {
            check(memory, env, range, "uses")?;
        }
        if self.store.is_some() { &mut access.reads } else { &mut access.writes }.append(local);
        // Elements that are moved for one number.
        let run = if by_row { cols } else { 1 };
        let [line, ..] = &mut scratch.bytes;
        for (row, col) in (0..rows).flat_map(|row| (0..cols).step_by(run as usize).map(move |col| (row, col))) {
            let index = self.element(memory, env, &self.indices, args, (row, if by_row { 0 } else { col }), 1);
            let index = index.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            let place = self.place(index, places, (row, if by_row { 0 } else { col }))?;
            let global = place.map(|place| {
                let start = base.saturating_add(place.saturating_mul(pitch));
                Extent::run(Space::Gm, self.local.core, start, run * size as u32)
            });
            line.clear();
            if let Some(store) = self.store {
                let Some(global) = global else { continue };
                check(memory, env, &global, "writes")?;
                for at in col..col + run {
                    line.extend_from_slice(self.element(memory, env, &self.tile, args, (row, at), 1));
                }
                let target = memory.bytes_mut(env, global.core, Space::Gm, global.start, line.len());
                match store {
                    None => target.copy_from_slice(line),
                    Some(kind) => {
                        let op = match kind {
                            UpdateKind::Add => &ADD,
                            UpdateKind::Max => &MAX,
                            UpdateKind::Min => &MIN,
                        };
                        op.run_in_place(self.table.elem, target, line);
                        access.update = Some(Update { kind, elem: self.table.elem });
                        access.reads.push(global);
                    }
                }
                access.writes.push(global);
                continue;
            }
            match global {
                None => line.resize(run as usize * size, 0),
                Some(global) => {
                    check(memory, env, &global, "reads")?;
                    line.extend_from_slice(memory.bytes(
                        env,
                        global.core,
                        Space::Gm,
                        global.start,
                        run as usize * size,
                    ));
                    access.reads.push(global);
                }
            }
            for (at, element) in (col..).zip(line.chunks(size)) {
                let start = args[self.tile.at] + self.tile.layout.offset(row, at) as u64;
                memory.bytes_mut(env, self.local.core, self.local.space, start, size).copy_from_slice(element);
            }
        }
        access.units = Units::of(u64::from(rows) * u64::from(cols) * size as u64);
        Ok(0)
    }
}
