//! Gather and selection: elements at indices held in memory, or picked by a pattern or a comparison.
//!
//! Indices count from the first element of a tile in memory order, including columns outside its valid shape: the tiles
//! are stored row by row. An index that is outside its tile is a fault.

use slipring_machine::Units;
use slipring_program::{Access, Choice, Discover, Effect, Env, Extent, Fault, Memory, Run};
use slipring_tile::compare::unpack_bits;
use slipring_tile::copy::{read_row, write_row};
use slipring_tile::{BLOCK_BYTES, Compare, Elem, View};

use super::operands::{Rect, Shape};
use super::{Local, Number, TileArg, tile_units};
use crate::region::apart;

/// Bytes of a repeat.
const REPEAT: u32 = 256;

/// All bytes of a tile, valid or not.
fn storage(tile: &TileArg, local: Local, args: &[u64]) -> Extent {
    Extent::run(local.space, local.core, args[tile.at], tile.layout.bytes() as u32)
}

/// The elements of a rectangle, row by row.
pub(super) fn take(memory: &Memory, (env, local): (Env, Local), rect: Rect, args: &[u64], out: &mut Vec<u8>) {
    let Rect { tile, rows, cols } = rect;
    let (bytes, start) = memory.locate(env, local.core, local.space, args[tile.at]);
    let view = View::tile(&tile.layout, 0, 0);
    let step = cols as usize * tile.layout.elem.bytes();
    out.clear();
    out.resize(rows as usize * step, 0);
    if step > 0 {
        for (row, line) in out.chunks_mut(step).enumerate() {
            read_row(&bytes[start..], &view, row, 0, line);
        }
    }
}

/// As [`take`], for an effect that discovers its accesses: the reads are added to `access`.
///
/// # Errors
/// If some bytes are outside of the memory.
pub(super) fn read(
    memory: &Memory,
    (env, local): (Env, Local),
    rect: Rect,
    args: &[u64],
    (out, access): (&mut Vec<u8>, &mut Access),
) -> Result<(), Fault> {
    rect.extents(local, args, &mut access.reads);
    if let Some(range) = access.reads.iter().find(|range| !memory.has(range, env)) {
        return Err(memory.miss(range, "reads", env));
    }
    take(memory, (env, local), rect, args, out);
    Ok(())
}

/// The reverse of [`take`].
pub(super) fn put(memory: &mut Memory, (env, local): (Env, Local), rect: Rect, args: &[u64], elements: &[u8]) {
    let Rect { tile, cols, .. } = rect;
    let (bytes, start) = memory.locate_mut(env, local.core, local.space, args[tile.at]);
    let view = View::tile(&tile.layout, 0, 0);
    let step = cols as usize * tile.layout.elem.bytes();
    if step > 0 {
        for (row, line) in elements.chunks(step).enumerate() {
            write_row(&mut bytes[start..], &view, row, 0, line);
        }
    }
}

/// An unsigned integer, lowest byte first.
pub(super) fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte))
}

/// Indices as used by the unit, unsigned, and their form for messages.
fn numbers(bytes: &[u8], elem: Elem) -> impl Iterator<Item = (usize, u64, i64)> + '_ {
    bytes.chunks(elem.bytes()).enumerate().map(move |(at, bytes)| {
        let (word, unused) = (word(bytes), 64 - 8 * bytes.len() as u32);
        let said = if elem.is_signed_int() { ((word << unused) as i64) >> unused } else { word as i64 };
        (at, word, said)
    })
}

fn no_element(numbers: &TileArg, (row, col): (usize, usize), said: i64, of: &TileArg, unit: &str, all: usize) -> Fault {
    Fault::new(
        "index-bounds",
        format!("element ({row}, {col}) of `{}` is {said}, `{}` has {all} {unit}", numbers.name, of.name),
    )
    .help("what the device does then is not defined; correct the number")
}

/// `dst[r, c] = src[indices[r, c]]` for the valid shape of `dst`, the elements of `src` counted row by row.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Gather {
    pub local: Local,
    pub dst: TileArg,
    pub src: TileArg,
    pub indices: TileArg,
}

impl Effect for Gather {
    fn judges(&self) -> Option<Choice> {
        Some(Choice::Access)
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, cols) = self.dst.valid(args)?;
        self.indices.covers(args, &self.dst, (rows, cols))?;
        self.indices.rect(rows, cols).extents(self.local, args, &mut access.reads);
        self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        access.units = tile_units(&self.dst.layout, rows, cols);
        let source = storage(&self.src, self.local, args);
        access.reads.push(source);
        apart("operand-overlap", &access.writes, &[source])
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let (rows, cols) = self.dst.valid(args)?;
        let at = (env, self.local);
        let [indices, out, ..] = &mut scratch.bytes;
        take(memory, at, self.indices.rect(rows, cols), args, indices);
        let (elem, size) = (self.indices.layout.elem, self.src.layout.elem.bytes());
        let all = self.src.layout.bytes();
        let source = memory.bytes(env, self.local.core, self.local.space, args[self.src.at], all);
        out.clear();
        for (place, index, said) in numbers(indices, elem) {
            let found = usize::try_from(index).ok().and_then(|k| source.get(k.checked_mul(size)?..)?.get(..size));
            let Some(found) = found else {
                let (row, col) = (place / cols as usize, place % cols as usize);
                return Err(no_element(&self.indices, (row, col), said, &self.src, "elements", all / size));
            };
            out.extend_from_slice(found);
        }
        put(memory, at, self.dst.rect(rows, cols), args, out);
        Ok(0)
    }
}

/// Blocks of 32 bytes: block `b` of row `r` of `dst` is the block of `src` that begins at byte `offsets[r, b]`, for the
/// valid shape of `dst`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct GatherBlocks {
    pub local: Local,
    pub dst: TileArg,
    pub src: TileArg,
    pub offsets: TileArg,
    /// The unit writes whole repeats of 256 bytes: the part after a row's valid columns is uninitialised afterwards.
    pub whole_repeats: bool,
}

impl GatherBlocks {
    /// Blocks per row.
    fn blocks(&self, cols: u32) -> u32 {
        (cols * self.dst.layout.elem.bytes() as u32).div_ceil(BLOCK_BYTES as u32)
    }

    /// The bytes overwritten after the valid columns.
    fn behind(&self, args: &[u64], (rows, cols): Shape, out: &mut Vec<Extent>) {
        let size = self.dst.layout.elem.bytes() as u32;
        let (used, pitch) = (cols * size, self.dst.layout.cols * size);
        let whole = used.next_multiple_of(REPEAT);
        if !self.whole_repeats || rows == 0 || used == whole {
            return;
        }
        let Local { space, core } = self.local;
        let start = args[self.dst.at] + u64::from(used);
        // If a row is shorter than a repeat, the next row's repeat overwrites the part that extends into it.
        let row_bytes = whole.min(pitch) - used;
        out.push(Extent { space, core, start, rows, row_bytes, stride: pitch.into() });
        out.retain(|extent| extent.bytes() > 0);
    }
}

impl Effect for GatherBlocks {
    fn judges(&self) -> Option<Choice> {
        Some(Choice::Access)
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, cols) = self.dst.valid(args)?;
        let blocks = self.blocks(cols);
        let (have, width) = self.offsets.valid(args)?;
        if have < rows || width < blocks {
            return Err(Fault::new(
                "tile-valid",
                format!(
                    "`{}` needs {rows} x {blocks} valid elements, one for each 32 bytes of `{}`, but has {have} x {width}",
                    self.offsets.name, self.dst.name
                ),
            ));
        }
        self.offsets.rect(rows, blocks).extents(self.local, args, &mut access.reads);
        self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        self.behind(args, (rows, cols), &mut access.undefined);
        access.writes.extend_from_slice(&access.undefined);
        access.units = tile_units(&self.dst.layout, rows, cols);
        let source = storage(&self.src, self.local, args);
        access.reads.push(source);
        apart("operand-overlap", &access.writes, &[source])
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let (rows, cols) = self.dst.valid(args)?;
        let (at, blocks) = ((env, self.local), self.blocks(cols) as usize);
        let [offsets, out, ..] = &mut scratch.bytes;
        take(memory, at, self.offsets.rect(rows, blocks as u32), args, offsets);
        let all = self.src.layout.bytes();
        let source = memory.bytes(env, self.local.core, self.local.space, args[self.src.at], all);
        let width = cols as usize * self.dst.layout.elem.bytes();
        out.clear();
        for (place, offset, said) in numbers(offsets, Elem::U32) {
            let (row, block) = (place / blocks, place % blocks);
            if offset % BLOCK_BYTES != 0 {
                let message = format!("element ({row}, {block}) of `{}` is {said}", self.offsets.name);
                return Err(Fault::new("index-bounds", message).help("a block begins at a multiple of 32 bytes"));
            }
            // The last block of a row may be partial.
            let part = (width - block * BLOCK_BYTES as usize).min(BLOCK_BYTES as usize);
            let Some(found) = source.get(offset as usize..).and_then(|rest| rest.get(..part)) else {
                return Err(no_element(&self.offsets, (row, block), said, &self.src, "bytes", all));
            };
            out.extend_from_slice(found);
        }
        put(memory, at, self.dst.rect(rows, cols), args, out);
        Ok(0)
    }
}

/// All of `dst` becomes zero; then `dst[indices[r, c]] = src[r, c]` for the valid shape of `indices`, row by row, the
/// elements of `dst` counted row by row. If several go to one element, the last one wins.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Scatter {
    pub local: Local,
    pub dst: TileArg,
    pub src: TileArg,
    pub indices: TileArg,
}

impl Effect for Scatter {
    fn judges(&self) -> Option<Choice> {
        Some(Choice::Access)
    }

    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, cols) = self.indices.valid(args)?;
        self.src.covers(args, &self.indices, (rows, cols))?;
        self.src.rect(rows, cols).extents(self.local, args, &mut access.reads);
        self.indices.rect(rows, cols).extents(self.local, args, &mut access.reads);
        access.writes.push(storage(&self.dst, self.local, args));
        let all = tile_units(&self.dst.layout, self.dst.layout.rows, self.dst.layout.cols);
        access.units = Units::of(all.total + tile_units(&self.src.layout, rows, cols).total);
        apart("operand-overlap", &access.writes, &access.reads)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let (rows, cols) = self.indices.valid(args)?;
        let at = (env, self.local);
        let [indices, elements, ..] = &mut scratch.bytes;
        take(memory, at, self.indices.rect(rows, cols), args, indices);
        take(memory, at, self.src.rect(rows, cols), args, elements);
        let (size, all) = (self.dst.layout.elem.bytes(), self.dst.layout.bytes());
        let target = memory.bytes_mut(env, self.local.core, self.local.space, args[self.dst.at], all);
        target.fill(0);
        for ((place, index, said), element) in numbers(indices, self.indices.layout.elem).zip(elements.chunks(size)) {
            let found =
                usize::try_from(index).ok().and_then(|k| target.get_mut(k.checked_mul(size)?..)?.get_mut(..size));
            let Some(found) = found else {
                let (row, col) = (place / cols as usize, place % cols as usize);
                return Err(no_element(&self.indices, (row, col), said, &self.dst, "elements", all / size));
            };
            found.copy_from_slice(element);
        }
        Ok(0)
    }
}

/// All of `dst` becomes 0 (unless `every` is 1); then each element of the valid shape of `src` goes to row or column
/// `every` × its own + `first` of it.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct ScatterPattern {
    pub local: Local,
    pub dst: TileArg,
    pub src: TileArg,
    pub every: u32,
    pub first: u32,
    /// True if rows are spread, false if columns are.
    pub rows: bool,
}

impl ScatterPattern {
    /// Valid shape of the source; the destination has `every` times as many rows or columns.
    fn shape(&self, args: &[u64]) -> Result<Shape, Fault> {
        let (rows, cols) = self.src.valid(args)?;
        let wanted = if self.rows { (rows * self.every, cols) } else { (rows, cols * self.every) };
        let (has_rows, has_cols) = self.dst.valid(args)?;
        if wanted != (has_rows, has_cols) {
            let message = format!(
                "{rows} × {cols} elements of `{}` are spread over {} × {}, and `{}` has {has_rows} × {has_cols} valid ones",
                self.src.name, wanted.0, wanted.1, self.dst.name
            );
            return Err(Fault::new("tile-valid", message));
        }
        Ok((rows, cols))
    }
}

impl Effect for ScatterPattern {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let (rows, cols) = self.shape(args)?;
        self.src.rect(rows, cols).extents(self.local, args, &mut access.reads);
        if self.every == 1 {
            self.dst.rect(rows, cols).extents(self.local, args, &mut access.writes);
        } else {
            access.writes.push(storage(&self.dst, self.local, args));
        }
        let all = tile_units(&self.dst.layout, self.dst.layout.rows, self.dst.layout.cols);
        access.units = Units::of(all.total + tile_units(&self.src.layout, rows, cols).total);
        apart("operand-overlap", &access.writes, &access.reads)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let (rows, cols) = self.shape(args)?;
        let [elements, ..] = &mut scratch.bytes;
        take(memory, (env, self.local), self.src.rect(rows, cols), args, elements);
        let (size, all) = (self.dst.layout.elem.bytes(), self.dst.layout.bytes());
        let target = memory.bytes_mut(env, self.local.core, self.local.space, args[self.dst.at], all);
        if self.every > 1 {
            target.fill(0);
        }
        let spread = |at: u32| at * self.every + self.first;
        for (place, element) in elements.chunks(size).enumerate() {
            let (row, col) = (place as u32 / cols, place as u32 % cols);
            let at = if self.rows { (spread(row), col) } else { (row, spread(col)) };
            target[self.dst.layout.offset(at.0, at.1)..][..size].copy_from_slice(element);
        }
        Ok(0)
    }
}

/// The elements of the valid shape of `src` whose column is `first` modulo `every`, row by row, stored contiguously
/// from the first element of `dst`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct GatherPattern {
    pub local: Local,
    pub dst: TileArg,
    pub src: TileArg,
    pub every: u32,
    pub first: u32,
}

impl GatherPattern {
    /// Valid shape of the source, and the number of selected elements.
    fn shape(&self, args: &[u64]) -> Result<(Shape, u32), Fault> {
        let (rows, cols) = self.src.valid(args)?;
        let kept = rows * cols.saturating_sub(self.first).div_ceil(self.every);
        let capacity = self.dst.layout.rows * self.dst.layout.cols;
        if kept > capacity {
            let message =
                format!("{kept} elements of `{}` do not fit into the {capacity} of `{}`", self.src.name, self.dst.name);
            return Err(Fault::new("tile-valid", message));
        }
        Ok(((rows, cols), kept))
    }
}

impl Effect for GatherPattern {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let ((rows, cols), kept) = self.shape(args)?;
        self.src.rect(rows, cols).extents(self.local, args, &mut access.reads);
        let bytes = kept * self.dst.layout.elem.bytes() as u32;
        access.writes.push(Extent::run(self.local.space, self.local.core, args[self.dst.at], bytes));
        access.units = tile_units(&self.src.layout, rows, cols);
        Ok(())
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let ((rows, cols), kept) = self.shape(args)?;
        let [elements, ..] = &mut scratch.bytes;
        take(memory, (env, self.local), self.src.rect(rows, cols), args, elements);
        let size = self.dst.layout.elem.bytes();
        let target = memory.bytes_mut(env, self.local.core, self.local.space, args[self.dst.at], kept as usize * size);
        let picked = elements.chunks(size).enumerate().filter(|(at, _)| {
            let col = at % cols as usize;
            col % self.every as usize == self.first as usize
        });
        for (place, (_, element)) in target.chunks_mut(size).zip(picked) {
            place.copy_from_slice(element);
        }
        Ok(0)
    }
}

/// Indices of the elements of `src` for which a comparison with a scalar holds: row `r` of `dst` begins with the
/// indices, `counts[r]` is their number. An element's index is `offset`, plus the column, plus `pitch` for each
/// preceding row.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct GatherWhere {
    pub local: Local,
    pub mode: Compare,
    pub dst: TileArg,
    pub counts: TileArg,
    pub src: TileArg,
    pub number: Number,
    pub offset: u32,
    pub pitch: Pitch,
}

/// The index distance between two rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pitch {
    /// The columns of the tile.
    Columns,
    /// The valid columns, rounded up to a multiple of this.
    Valid(u32),
}

impl Discover for GatherWhere {
    fn local(&self) -> bool {
        true
    }

    fn discover(&self, args: &[u64], run: Run<'_>, access: &mut Access) -> Result<u64, Fault> {
        let Run { env, memory, scratch, .. } = run;
        let (rows, cols) = self.src.valid(args)?;
        let Local { space, core } = self.local;
        let elem = self.src.layout.elem;
        self.number.check(args[self.number.at])?;
        let [elements, ..] = &mut scratch.bytes;
        read(memory, (env, self.local), self.src.rect(rows, cols), args, (elements, access))?;
        let number = self.number.element(args[self.number.at])[..elem.bytes()].repeat(cols as usize);
        let pitch = match self.pitch {
            Pitch::Columns => self.src.layout.cols,
            Pitch::Valid(unit) => cols.next_multiple_of(unit),
        };
        let mut counts = Vec::new();
        for row in 0..rows {
            let line = &elements[row as usize * number.len()..][..number.len()];
            let mut packed = vec![0; (cols as usize).div_ceil(8)];
            let mut holds = vec![0; cols as usize];
            self.mode.run_packed(elem, line, &number, &mut packed);
            unpack_bits(&packed, &mut holds);
            let first = self.offset.wrapping_add(row * pitch);
            let found = (0u32..).zip(&holds).filter(|(_, holds)| **holds != 0).map(|(col, _)| first.wrapping_add(col));
            let found: Vec<u8> = found.flat_map(u32::to_le_bytes).collect();
            counts.extend_from_slice(&((found.len() / 4) as u32).to_le_bytes());
            if row >= self.dst.layout.rows || found.len() > self.dst.layout.cols as usize * 4 {
                let message = format!("{} numbers of row {row} do not fit into `{}`", found.len() / 4, self.dst.name);
                return Err(Fault::new("tile-valid", message));
            }
            let start = args[self.dst.at] + u64::from(row) * u64::from(self.dst.layout.cols) * 4;
            write(memory, env, Extent::run(space, core, start, found.len() as u32), &found, access)?;
        }
        if counts.len() > self.counts.layout.bytes() {
            let message = format!("the counts of {rows} rows do not fit into `{}`", self.counts.name);
            return Err(Fault::new("tile-valid", message));
        }
        write(memory, env, Extent::run(space, core, args[self.counts.at], counts.len() as u32), &counts, access)?;
        access.units = tile_units(&self.src.layout, rows, cols);
        Ok(0)
    }
}

pub(super) fn write(
    memory: &mut Memory,
    env: Env,
    range: Extent,
    bytes: &[u8],
    access: &mut Access,
) -> Result<(), Fault> {
    if bytes.is_empty() {
        return Ok(());
    }
    if !memory.has(&range, env) {
        return Err(memory.miss(&range, "writes", env));
    }
    apart("operand-overlap", &[range], &access.reads)?;
    memory.bytes_mut(env, range.core, range.space, range.start, bytes.len()).copy_from_slice(bytes);
    access.writes.push(range);
    Ok(())
}
