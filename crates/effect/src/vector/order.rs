//! Sorting tiles: rows into records, and merges of lists of records.

use slipring_machine::Units;
use slipring_program::{Access, Discover, Effect, Env, Extent, Fault, Run};
use slipring_tile::Elem;

use super::{Local, TileArg};
use crate::region::apart;
use crate::sort::{GROUP, RECORD, merge, sort_groups, sorted_list};

/// Sorts groups of 32 elements of each row in descending order, and writes an 8-byte record for each: the element and
/// its index.
///
/// The unit of its cost is a group.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct SortRows {
    pub local: Local,
    pub dst: TileArg,
    pub src: TileArg,
    /// A row of indices for each row, or one for all.
    pub indices: TileArg,
    /// A partial last group of a row is filled up with values that sort last; otherwise it is omitted.
    pub fills: bool,
}

/// Rows, valid columns of the source, groups per row, and whether each row has its own indices.
struct Shape {
    rows: u32,
    cols: u32,
    groups: u32,
    own: bool,
}

impl SortRows {
    fn shape(&self, args: &[u64]) -> Result<Shape, Fault> {
        let (rows, _) = self.dst.valid(args)?;
        let (have, cols) = self.src.valid(args)?;
        let (lines, width) = self.indices.valid(args)?;
        let groups = if self.fills { cols.div_ceil(GROUP as u32) } else { cols / GROUP as u32 };
        let own = lines != 1;
        let (records, needed) = (groups * GROUP as u32, if self.fills { cols } else { groups * GROUP as u32 });
        let capacity = self.dst.layout.cols as usize * self.dst.layout.elem.bytes() / RECORD;
        let lacks =
            |what: &str| Err(Fault::new("tile-valid", format!("{rows} rows of {cols} elements are sorted: {what}")));
        if have < rows {
            return lacks(&format!("`{}` has {have} valid rows", self.src.name));
        }
        if records as usize > capacity {
            return lacks(&format!("a row of `{}` has room for {capacity} of {records} records", self.dst.name));
        }
        if width < needed || records > self.indices.layout.cols || (own && lines < rows) {
            return lacks(&format!("`{}` has {lines} x {width} valid indices", self.indices.name));
        }
        Ok(Shape { rows, cols, groups, own })
    }

    /// Rows of this many bytes that begin at `tile`'s rows.
    fn lines(&self, tile: &TileArg, args: &[u64], rows: u32, row_bytes: u32) -> Extent {
        let stride = u64::from(tile.layout.cols) * tile.layout.elem.bytes() as u64;
        Extent { space: self.local.space, core: self.local.core, start: args[tile.at], rows, row_bytes, stride }
    }
}

impl Effect for SortRows {
    fn plan(&self, args: &[u64], _: Env, access: &mut Access) -> Result<(), Fault> {
        let Shape { rows, cols, groups, own } = self.shape(args)?;
        if rows == 0 || groups == 0 {
            return Ok(());
        }
        let size = self.src.layout.elem.bytes() as u32;
        let records = groups * GROUP as u32;
        access.reads.push(self.lines(&self.src, args, rows, cols.min(records) * size));
        access.reads.push(self.lines(&self.indices, args, if own { rows } else { 1 }, records * 4));
        access.writes.push(self.lines(&self.dst, args, rows, records * RECORD as u32));
        access.units = Units::of(u64::from(rows * records) * RECORD as u64);
        apart("operand-overlap", &access.writes, &access.reads)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, .. }: Run<'_>) -> Result<u64, Fault> {
        let Shape { rows, cols, groups, own } = self.shape(args)?;
        if rows == 0 || groups == 0 {
            return Ok(0);
        }
        let Local { space, core } = self.local;
        let (elem, count) = (self.src.layout.elem, groups as usize * GROUP as usize);
        let [scores, indices, records, ..] = &mut scratch.bytes;
        let at = |tile: &TileArg, row: u32| {
            args[tile.at] + u64::from(row) * u64::from(tile.layout.cols) * tile.layout.elem.bytes() as u64
        };
        for row in 0..rows {
            scores.clear();
            let part = count.min(cols as usize) * elem.bytes();
            scores.extend_from_slice(memory.bytes(env, core, space, at(&self.src, row), part));
            while scores.len() < count * elem.bytes() {
                scores.extend_from_slice(last(elem));
            }
            indices.clear();
            let line = at(&self.indices, if own { row } else { 0 });
            indices.extend_from_slice(memory.bytes(env, core, space, line, count * 4));
            records.clear();
            sort_groups(elem, scores, indices, records);
            memory.bytes_mut(env, core, space, at(&self.dst, row), records.len()).copy_from_slice(records);
        }
        Ok(0)
    }
}

/// The NaN with the sign set, which sorts after all numbers.
fn last(elem: Elem) -> &'static [u8] {
    if elem == Elem::F16 { &[0x00, 0xfe] } else { &[0x00, 0x00, 0xc0, 0xff] }
}

/// The inputs of a merge.
#[derive(Clone, Debug)]
pub enum Merge {
    /// Every four blocks of the source; the argument index of the number of elements per block.
    Blocks(usize),
    /// Two to four sources, first into working memory; with `stops` until one of them is exhausted.
    Lists {
        /// With the shape of the result; none if it is not given, and what is used is not modelled.
        tmp: Option<TileArg>,
        /// Whether it ends when the first source is exhausted.
        stops: bool,
    },
}

/// Merges sorted lists of records in single-row tiles. The unit of its cost is a record of the result.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct MergeRows {
    pub local: Local,
    pub dst: TileArg,
    pub sources: Vec<TileArg>,
    pub merge: Merge,
}

/// Maximum number of repeats and of records per list: the instruction has 8 and 16 bits for them.
const MOST_REPEATS: u64 = 255;
const MOST_RECORDS: u64 = 0xffff;

impl MergeRows {
    fn run(&self, start: u64, bytes: u64) -> Extent {
        Extent::run(self.local.space, self.local.core, start, bytes as u32)
    }

    /// Addresses and bytes of the lists of every merge.
    fn lists(&self, args: &[u64]) -> Result<Vec<Vec<Extent>>, Fault> {
        let bytes = |tile: &TileArg| -> Result<u64, Fault> {
            let (_, cols) = tile.valid(args)?;
            Ok(u64::from(cols) * tile.layout.elem.bytes() as u64 / RECORD as u64 * RECORD as u64)
        };
        let too_long = |records: u64| {
            Fault::new("sort-config", format!("a list has {records} records; the instruction has 16 bits for it"))
        };
        let Merge::Blocks(at) = self.merge else {
            let mut lists = Vec::new();
            for source in &self.sources {
                let length = bytes(source)?;
                if length / RECORD as u64 > MOST_RECORDS {
                    return Err(too_long(length / RECORD as u64));
                }
                lists.push(self.run(args[source.at], length));
            }
            return Ok(vec![lists]);
        };
        let source = &self.sources[0];
        let (_, cols) = source.valid(args)?;
        let (block, cols) = (args[at], u64::from(cols));
        if block == 0 || block % 64 != 0 || block > cols.max(64) {
            let message = format!("`blockLen` is {}, `{}` has {cols} valid columns", block as i64, source.name);
            return Err(Fault::new("sort-config", message).help("a block has a multiple of 64 elements"));
        }
        let repeats = cols / (4 * block);
        if cols % (4 * block) != 0 || !(1..=MOST_REPEATS).contains(&repeats) {
            let message =
                format!("{cols} valid columns of `{}` are not one to 255 times four blocks of {block}", source.name);
            return Err(Fault::new("sort-config", message).help("merge a whole number of four blocks"));
        }
        let length = block * source.layout.elem.bytes() as u64;
        if length / RECORD as u64 > MOST_RECORDS {
            return Err(too_long(length / RECORD as u64));
        }
        let list = |number: u64| self.run(args[source.at] + number * length, length);
        Ok((0..repeats).map(|repeat| (4 * repeat..4 * repeat + 4).map(list).collect()).collect())
    }
}

impl Discover for MergeRows {
    fn local(&self) -> bool {
        true
    }

    fn discover(
        &self,
        args: &[u64],
        Run { env, memory, scratch, .. }: Run<'_>,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        let elem = self.dst.layout.elem;
        let stops = matches!(self.merge, Merge::Lists { stops: true, .. });
        let records = &mut scratch.bytes[0];
        records.clear();
        for ranges in self.lists(args)? {
            let mut lists = Vec::new();
            for (number, range) in ranges.iter().enumerate() {
                lists.push(sorted_list(elem, memory, env, range, number)?);
                access.reads.push(*range);
            }
            merge(elem, &lists, stops, records);
        }
        access.units = Units::of(records.len() as u64);
        let merged = records.len();
        let mut apart_from = access.reads.clone();
        let result = match &self.merge {
            Merge::Blocks(_) => self.run(args[self.dst.at], merged as u64),
            Merge::Lists { tmp, .. } => {
                let (_, cols) = self.dst.valid(args)?;
                // Copied in blocks of 32 bytes.
                let bytes = (cols as usize * elem.bytes()).next_multiple_of(32).min(self.dst.layout.bytes());
                if let Some(tmp) = tmp {
                    let work = self.run(args[tmp.at], merged.max(bytes) as u64);
                    if !memory.has(&work, env) {
                        return Err(memory.miss(&work, "writes", env));
                    }
                    apart("operand-overlap", &[work], &access.reads)?;
                    if merged > tmp.layout.bytes() {
                        let message = format!("{merged} bytes of records do not fit into `{}`", tmp.name);
                        return Err(Fault::new("tile-valid", message));
                    }
                    access.writes.push(work);
                    access.undefined.push(work);
                    apart_from.push(work);
                }
                records.truncate(bytes);
                self.run(args[self.dst.at], bytes as u64)
            }
        };
        if result.bytes() > self.dst.layout.bytes() as u64 {
            let message = format!("{} bytes of records do not fit into `{}`", result.bytes(), self.dst.name);
            return Err(Fault::new("tile-valid", message));
        }
        if !memory.has(&result, env) {
            return Err(memory.miss(&result, "writes", env));
        }
        // The bytes copied beyond the merged records come from the previous contents of the working memory.
        let rest = result.bytes() as usize - records.len();
        if rest > 0 {
            access.undefined.push(self.run(result.start + records.len() as u64, rest as u64));
        }
        apart("operand-overlap", &[result], &apart_from)?;
        let Local { space, core } = self.local;
        memory.bytes_mut(env, core, space, result.start, records.len()).copy_from_slice(records);
        access.writes.push(result);
        Ok(0)
    }
}
