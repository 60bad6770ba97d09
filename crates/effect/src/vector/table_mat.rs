//! Gather of rows and elements of a table in global memory into L1, at indices held in global memory.
//!
//! The scalar unit of a Cube core reads the indices. It has rows loaded one by one. It copies single elements itself,
//! in the order of the tile's fractals, into a scratch area of global memory, and has them loaded in one piece.

use slipring_machine::Units;
use slipring_program::{Access, Discover, Env, Extent, Fault, Memory, Run};
use slipring_tile::Space;

use super::gather::word;
use super::table::{Outside, TableArg, check};
use super::{Local, TileArg};

/// The scalar unit reads an index for each valid row of a tile: they are contiguous.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ReadRowNumbers {
    pub local: Local,
    pub tile: TileArg,
    pub numbers: TableArg,
}

/// The indexed rows, each to its row of a tile in L1.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct RowsToMat {
    pub numbers: ReadRowNumbers,
    pub table: TableArg,
    /// The treatment of an out-of-range index; if that gives a row of zeros, the whole tile is zeroed beforehand.
    pub outside: Outside,
}

/// The scalar unit copies the indexed elements into global memory, in their L1 order, with zeros for the rest.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct StageElements {
    pub local: Local,
    pub tile: TileArg,
    pub numbers: TableArg,
    pub table: TableArg,
    pub outside: Outside,
    pub staging: TableArg,
}

/// Moves the staged elements to L1.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct StagedToMat {
    pub local: Local,
    pub tile: TileArg,
    pub staging: TableArg,
}

/// A run of global memory, which must exist.
fn global(memory: &Memory, env: Env, local: Local, start: u64, bytes: usize, verb: &str) -> Result<Extent, Fault> {
    let range = Extent::run(Space::Gm, local.core, start, u32::try_from(bytes).unwrap_or(u32::MAX));
    check(memory, env, &range, verb)?;
    Ok(range)
}

fn number(memory: &Memory, env: Env, local: Local, start: u64) -> u64 {
    word(memory.bytes(env, local.core, Space::Gm, start, 4))
}

/// The bytes of a whole tile.
fn whole(tile: &TileArg) -> usize {
    tile.layout.rows as usize * tile.layout.cols as usize * tile.layout.elem.bytes()
}

impl ReadRowNumbers {
    /// The indices of this many rows.
    fn range(&self, args: &[u64], memory: &Memory, env: Env, rows: u32) -> Result<Extent, Fault> {
        let have = self.numbers.elements(args);
        if have < u64::from(rows) {
            let message = format!(
                "`{}` has {have} numbers, `{}` {rows} valid rows: a number for each row",
                self.numbers.name, self.tile.name
            );
            return Err(Fault::new("tile-valid", message));
        }
        global(memory, env, self.local, args[self.numbers.at], rows as usize * 4, "reads")
    }
}

impl Discover for ReadRowNumbers {
    fn discover(&self, args: &[u64], Run { env, memory, .. }: Run<'_>, access: &mut Access) -> Result<u64, Fault> {
        let (rows, _) = self.tile.valid(args)?;
        access.reads.push(self.range(args, memory, env, rows)?);
        access.units = Units::of(u64::from(rows));
        Ok(0)
    }
}

impl Discover for RowsToMat {
    fn discover(
        &self,
        args: &[u64],
        Run { env, memory, scratch, .. }: Run<'_>,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        let ReadRowNumbers { local, tile, numbers } = self.numbers;
        let (rows, cols) = tile.valid(args)?;
        if rows == 0 || cols == 0 {
            return Ok(0);
        }
        let (places, pitch) = self.table.places(args, Some((tile.name, cols)))?;
        access.reads.push(self.numbers.range(args, memory, env, rows)?);
        let size = tile.layout.elem.bytes();
        if self.outside == Outside::Nothing {
            let all = Extent::run(local.space, local.core, args[tile.at], whole(&tile) as u32);
            check(memory, env, &all, "writes")?;
            memory.bytes_mut(env, local.core, local.space, all.start, whole(&tile)).fill(0);
            access.writes.push(all);
        } else {
            tile.rect(rows, cols).extents(local, args, &mut access.writes);
            access.writes.iter().try_for_each(|range| check(memory, env, range, "writes"))?;
        }
        let [line, ..] = &mut scratch.bytes;
        for row in 0..rows {
            let index = number(memory, env, local, args[numbers.at] + u64::from(row) * 4);
            let names = [numbers.name, self.table.name];
            let Some(place) = self.outside.place(index, places, (0, row), names)? else { continue };
            let start = args[self.table.at].saturating_add(place.saturating_mul(pitch));
            let from = global(memory, env, local, start, cols as usize * size, "reads")?;
            access.reads.push(from);
            line.clear();
            line.extend_from_slice(memory.bytes(env, local.core, Space::Gm, start, cols as usize * size));
            for (col, element) in (0..cols).zip(line.chunks(size)) {
                let to = args[tile.at] + tile.layout.offset(row, col) as u64;
                memory.bytes_mut(env, local.core, local.space, to, size).copy_from_slice(element);
            }
        }
        access.units = Units::of(u64::from(rows) * u64::from(cols) * size as u64);
        Ok(0)
    }
}

/// The staging memory, which must hold the whole tile.
fn staging(
    staging: &TableArg,
    tile: &TileArg,
    local: Local,
    args: &[u64],
    memory: &Memory,
    env: Env,
) -> Result<Extent, Fault> {
    let (have, need) = (staging.elements(args), u64::from(tile.layout.rows) * u64::from(tile.layout.cols));
    if have < need {
        let message = format!("`{}` has {have} elements, `{}` {need}: all of it is put there", staging.name, tile.name);
        return Err(Fault::new("tile-valid", message));
    }
    global(memory, env, local, args[staging.at], whole(tile), "uses")
}

impl Discover for StageElements {
    fn discover(
        &self,
        args: &[u64],
        Run { env, memory, scratch, .. }: Run<'_>,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        let StageElements { local, tile, numbers, table, outside, .. } = *self;
        let (rows, cols) = tile.valid(args)?;
        let to = staging(&self.staging, &tile, local, args, memory, env)?;
        let (places, size) = (table.elements(args), tile.layout.elem.bytes());
        let [staged, ..] = &mut scratch.bytes;
        staged.clear();
        staged.resize(whole(&tile), 0);
        for row in 0..rows {
            let line =
                args[numbers.at].saturating_add(u64::from(row).saturating_mul(numbers.pitch(args)).saturating_mul(4));
            access.reads.push(global(memory, env, local, line, cols as usize * 4, "reads")?);
            for col in 0..cols {
                let index = number(memory, env, local, line + u64::from(col) * 4);
                let Some(place) = outside.place(index, places, (row, col), [numbers.name, table.name])? else {
                    continue;
                };
                let start = args[table.at].saturating_add(place.saturating_mul(size as u64));
                access.reads.push(global(memory, env, local, start, size, "reads")?);
                let at = tile.layout.offset(row, col);
                staged[at..at + size].copy_from_slice(memory.bytes(env, local.core, Space::Gm, start, size));
            }
        }
        memory.bytes_mut(env, local.core, Space::Gm, to.start, staged.len()).copy_from_slice(staged);
        access.writes.push(to);
        access.units = Units::of(u64::from(rows) * u64::from(cols) * size as u64);
        Ok(0)
    }
}

impl Discover for StagedToMat {
    fn discover(
        &self,
        args: &[u64],
        Run { env, memory, scratch, .. }: Run<'_>,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        let StagedToMat { local, tile, .. } = *self;
        let from = staging(&self.staging, &tile, local, args, memory, env)?;
        let to = Extent::run(local.space, local.core, args[tile.at], whole(&tile) as u32);
        check(memory, env, &to, "writes")?;
        let [line, ..] = &mut scratch.bytes;
        line.clear();
        line.extend_from_slice(memory.bytes(env, local.core, Space::Gm, from.start, whole(&tile)));
        memory.bytes_mut(env, local.core, local.space, to.start, line.len()).copy_from_slice(line);
        access.reads.push(from);
        access.writes.push(to);
        access.units = Units::of(whole(&tile) as u64);
        Ok(0)
    }
}
