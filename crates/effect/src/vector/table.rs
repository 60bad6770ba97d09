//! Gather and scatter of elements and rows of a table in global memory, at indices held in a tile.

use std::collections::BTreeSet;

use slipring_machine::Units;
use slipring_machine::interpretations::SCATTERED_TWICE;
use slipring_program::{Access, Discover, Env, Extent, Fault, Memory, Run, Update, UpdateKind};
use slipring_tile::{Elem, Space};

use super::gather::word;
use super::{Local, TileArg};
use crate::arithmetic::{ADD, MAX, MIN};

/// The treatment of an out-of-range index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outside {
    /// A fault.
    Fault,
    /// The last element is used.
    Clamp,
    /// Indices wrap around.
    Wrap,
    /// It yields zeros, or nothing is stored.
    Nothing,
}

/// A table and its arguments: its address, its dimensions, its strides in elements.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct TableArg {
    /// The declared operand's name, for messages.
    pub name: &'static str,
    pub elem: Elem,
    pub at: usize,
    pub rank: usize,
}

impl TableArg {
    /// Number of elements.
    pub(super) fn elements(&self, args: &[u64]) -> u64 {
        args[self.at + 1..][..self.rank].iter().fold(1u64, |all, n| all.saturating_mul(*n))
    }

    /// Row stride of its last two dimensions, in elements.
    pub(super) fn pitch(&self, args: &[u64]) -> u64 {
        let TableArg { at, rank, .. } = *self;
        match rank {
            0 => 1,
            1 => args[at + 1],
            _ => args[at + 1 + rank + rank - 2],
        }
    }

    /// The number of valid indices for elements, or for rows of a tile with this name and number of columns; and the
    /// distance between them in bytes.
    pub(super) fn places(&self, args: &[u64], rows: Option<(&str, u32)>) -> Result<(u64, u64), Fault> {
        let (size, elements) = (self.elem.bytes() as u64, self.elements(args));
        let Some((tile, cols)) = rows else { return Ok((elements, size)) };
        let Some(width) = self.rank.checked_sub(1).map(|last| args[self.at + 1 + last]) else { return Ok((1, size)) };
        if width < u64::from(cols) {
            let message = format!("a row of `{}` has {width} elements, one of `{tile}` {cols}", self.name);
            return Err(Fault::new("tile-valid", message));
        }
        Ok((elements.checked_div(width).unwrap_or(0), self.pitch(args).saturating_mul(size)))
    }
}

impl Outside {
    /// The address for an index; `None` if it is out of range and is to be ignored. `numbers` and `table` are names.
    pub(super) fn place(
        self,
        index: u64,
        places: u64,
        (row, col): (u32, u32),
        [numbers, table]: [&str; 2],
    ) -> Result<Option<u64>, Fault> {
        match self {
            _ if index < places => Ok(Some(index)),
            Outside::Clamp if places > 0 => Ok(Some(places - 1)),
            Outside::Wrap if places > 0 => Ok(Some(index % places)),
            Outside::Nothing => Ok(None),
            _ => Err(Fault::new(
                "index-bounds",
                format!(
                    "element ({row}, {col}) of `{numbers}` is {}, `{table}` has {places} places",
                    index as u32 as i32
                ),
            )
            .help("what the device does then is not defined; correct the number")),
        }
    }
}

/// Moves between a tile and a table. If the op specifies it, or if the indices are a column and the tile has more
/// columns, each index is that of a row of the table, otherwise of an element; both count from the first one, elements
/// in memory order.
#[derive(Clone, Copy, Debug)]
pub struct TableMove {
    /// The memory of the tiles.
    pub local: Local,
    /// The destination, or the source, of the elements.
    pub tile: TileArg,
    /// The indices.
    pub indices: TileArg,
    /// Whether each is a row index; `None`: the valid shapes determine it.
    pub rows: Option<bool>,
    /// The table.
    pub table: TableArg,
    /// The treatment of an out-of-range index.
    pub outside: Outside,
    /// `None`: from the table. Otherwise to the table, with the kind of update.
    pub store: Option<Option<UpdateKind>>,
    /// What stays where several are stored without an update.
    pub stays: Stays,
}

/// Which of several elements stays that are stored to one place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stays {
    /// The last one.
    Last,
    /// Any: here the last one, or the first one if `first` is set.
    Any {
        /// The interpretation that was asked for.
        first: bool,
    },
}

/// The scalar unit reads the indices in a tile, to issue a move for each row.
#[derive(Clone, Copy, Debug)]
pub struct ReadNumbers {
    /// The memory of the tile.
    pub local: Local,
    /// The indices.
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

/// The resolved form of a move: the elements of the tile, whether each index is that of a row, and whether row indices
/// are in a line.
struct Plan {
    rows: u32,
    cols: u32,
    by_row: bool,
    in_line: bool,
}

impl TableMove {
    fn shape(&self, args: &[u64]) -> Result<Plan, Fault> {
        let (rows, cols) = self.tile.valid(args)?;
        let (lines, width) = self.indices.valid(args)?;
        let by_row = self.rows.unwrap_or(width == 1 && cols != 1);
        // Row indices are in a column, or in a line if the op specifies row indices.
        let in_line = by_row && self.rows.is_some() && lines == 1;
        let enough =
            if by_row { if in_line { width >= rows } else { lines >= rows } } else { lines >= rows && width >= cols };
        if !enough {
            return Err(Fault::new(
                "tile-valid",
                format!(
                    "`{}` has {lines} x {width} valid numbers, `{}` {rows} x {cols} valid elements: a number for each row or \
                     for each element",
                    self.indices.name, self.tile.name
                ),
            ));
        }
        Ok(Plan { rows, cols, by_row, in_line })
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

pub(super) fn check(memory: &Memory, env: Env, range: &Extent, verb: &str) -> Result<(), Fault> {
    if memory.has(range, env) { Ok(()) } else { Err(memory.miss(range, verb, env)) }
}

impl Discover for TableMove {
    fn discover(
        &self,
        args: &[u64],
        Run { env, memory, scratch, output }: Run<'_>,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        let Plan { rows, cols, by_row, in_line } = self.shape(args)?;
        if rows == 0 || cols == 0 {
            return Ok(0);
        }
        let (places, pitch) = self.table.places(args, by_row.then_some((self.tile.name, cols)))?;
        let size = self.table.elem.bytes();
        let base = args[self.table.at];
        let (lines, width) = match (by_row, in_line) {
            (true, true) => (1, rows),
            (true, false) => (rows, 1),
            (false, _) => (rows, cols),
        };
        let local = &mut Vec::new();
        self.indices.rect(lines, width).extents(self.local, args, &mut access.reads);
        self.tile.rect(rows, cols).extents(self.local, args, local);
        for range in access.reads.iter().chain(local.iter()) {
            check(memory, env, range, "uses")?;
        }
        if self.store.is_some() { &mut access.reads } else { &mut access.writes }.append(local);
        // Elements moved per index.
        let run = if by_row { cols } else { 1 };
        let mut stored = BTreeSet::new();
        let tries = scratch.tries;
        let [line, ..] = &mut scratch.bytes;
        for (row, col) in (0..rows).flat_map(|row| (0..cols).step_by(run as usize).map(move |col| (row, col))) {
            let at = match (by_row, in_line) {
                (true, true) => (0, row),
                (true, false) => (row, 0),
                (false, _) => (row, col),
            };
            let index = word(self.element(memory, env, &self.indices, args, at, 1));
            let place = self.outside.place(index, places, at, [self.indices.name, self.table.name])?;
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
                    None => {
                        let again = self.stays != Stays::Last && !stored.insert(global.start);
                        if !(again && self.stays == (Stays::Any { first: true })) {
                            if again && target != line.as_slice() && !tries {
                                output.depends_on(&SCATTERED_TWICE);
                            }
                            target.copy_from_slice(line);
                        }
                    }
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
