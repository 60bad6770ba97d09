//! Working memory of an instruction.

use slipring_program::{Access, Discover, Effect, Env, Extent, Fault, Run, runs};
use slipring_tile::Layout;

use super::{Local, TileArg};

/// A tile as seen by an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Found {
    /// Element type, allocated shape and layout.
    pub layout: Layout,
    /// Valid rows and columns.
    pub valid: [u64; 2],
    /// Whether its type fixes these, so that a library built for the type can depend on them.
    pub fixed: bool,
}

impl Found {
    /// Bytes of one element.
    pub fn elem(&self) -> u64 {
        self.layout.elem.bytes() as u64
    }

    /// Row stride in bytes, as libraries count it.
    pub fn row(&self) -> u64 {
        u64::from(self.layout.cols) * self.elem()
    }
}

/// The tiles that determine how much working memory an instruction uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Around {
    /// The first source tile; the result if there is none.
    pub src: Found,
    /// The result.
    pub dst: Found,
    /// The working memory itself.
    pub tmp: Found,
}

/// Bytes of working memory that an instruction writes: this many in each of some rows of the tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorkingSpan {
    /// Start of the first row's bytes, relative to the start of the tile.
    pub at: u64,
    /// Number of rows.
    pub rows: u64,
    /// Bytes per row.
    pub bytes: u64,
    /// Whether the public library exceeds a tile that its own rules accept: the tile is then not checked.
    pub beyond: bool,
}

impl WorkingSpan {
    /// Contiguous bytes.
    pub const fn run(at: u64, bytes: u64) -> WorkingSpan {
        WorkingSpan { at, rows: 1, bytes, beyond: false }
    }

    /// The first bytes of the first rows.
    pub const fn rows(rows: u64, bytes: u64) -> WorkingSpan {
        WorkingSpan { at: 0, rows, bytes, beyond: false }
    }

    /// Its end in this tile, relative to the start of the tile.
    fn end(&self, tmp: &Found) -> u64 {
        self.at + (self.rows - 1) * tmp.row() + self.bytes
    }

    /// What a tile lacks for it: the required and the actual size.
    fn lack(&self, tmp: &Found) -> Option<(String, String)> {
        let (rows, cols) = (u64::from(tmp.layout.rows), u64::from(tmp.layout.cols));
        let have = format!("`tmp` has {rows} x {cols} elements of {}, {} bytes", tmp.layout.elem, tmp.layout.bytes());
        if self.rows == 0 || self.bytes == 0 || self.beyond {
            return None;
        }
        if self.rows > 1 && (self.bytes > tmp.row() || self.rows > rows) {
            let columns = self.bytes.div_ceil(tmp.elem());
            let needed = format!("{} rows of at least {columns} columns ({} bytes) in `tmp`", self.rows, self.bytes);
            return Some((needed, have));
        }
        (self.end(tmp) > tmp.layout.bytes() as u64)
            .then(|| (format!("at least {} bytes in `tmp`", self.end(tmp)), have))
    }

    /// Adds its bytes in a tile at this address.
    fn extents(&self, local: Local, tmp: &Found, addr: u64, out: &mut Vec<Extent>) {
        if self.rows == 0 || self.bytes == 0 {
            return;
        }
        let bytes = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        let (start, stride) = (addr + self.at, tmp.row());
        if self.rows == 1 || self.bytes >= stride {
            out.push(Extent::run(local.space, local.core, start, bytes(self.end(tmp) - self.at)));
            return;
        }
        let rows = u32::try_from(self.rows).unwrap_or(u32::MAX);
        let (space, core) = (local.space, local.core);
        out.push(Extent { space, core, start, rows, row_bytes: bytes(self.bytes), stride });
    }
}

/// The writes of an instruction to its working memory, depending on the tiles involved.
pub type WorkingSpans = fn(&Around) -> Vec<WorkingSpan>;

/// Nothing is written if there is nothing to do.
fn used(spans: WorkingSpans, around: &Around) -> Vec<WorkingSpan> {
    if around.dst.valid.contains(&0) { Vec::new() } else { spans(around) }
}

/// The first deficiency of the working memory: the required and the actual size.
pub fn lacking(spans: WorkingSpans, around: &Around) -> Option<(String, String)> {
    used(spans, around).iter().find_map(|span| span.lack(&around.tmp))
}

/// A tile and whether its type fixes its valid shape.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The tile.
    pub tile: TileArg,
    /// See [`Found::fixed`].
    pub fixed: bool,
}

impl Seen {
    fn found(&self, args: &[u64]) -> Result<Found, Fault> {
        let (rows, cols) = self.tile.valid(args)?;
        Ok(Found { layout: self.tile.layout, valid: [rows.into(), cols.into()], fixed: self.fixed })
    }
}

/// Working memory of one work item.
#[derive(Clone, Copy, Debug)]
pub struct WorkingTile {
    /// The working memory.
    pub tmp: Seen,
    /// The first source tile.
    pub src: Option<Seen>,
    /// The result.
    pub dst: Seen,
    /// The writes.
    pub spans: WorkingSpans,
}

impl WorkingTile {
    /// Adds the bytes that are written.
    fn extents(&self, local: Local, args: &[u64], out: &mut Vec<Extent>) -> Result<(), Fault> {
        let (tmp, dst) = (self.tmp.found(args)?, self.dst.found(args)?);
        let src = self.src.map(|src| src.found(args)).transpose()?.unwrap_or(dst);
        let around = Around { src, dst, tmp };
        if let Some((needed, have)) = lacking(self.spans, &around) {
            let fault = Fault::new("tmp-size", format!("this needs {needed}: {have}"));
            return Err(fault.help("make `tmp` as large as that: what follows it is overwritten"));
        }
        for span in used(self.spans, &around) {
            span.extents(local, &tmp, args[self.tmp.tile.at], out);
        }
        Ok(())
    }
}

/// An effect with working memory: the bytes it writes there are uninitialised afterwards.
#[derive(Clone, Debug)]
pub struct Working<E> {
    /// The effect.
    pub effect: E,
    /// The memory of the tiles.
    pub local: Local,
    /// The working memory.
    pub tiles: Vec<WorkingTile>,
    /// Results are written after the last use of working memory: where both share bytes, results are kept.
    pub before_results: bool,
}

impl<E> Working<E> {
    /// Adds the tiles to the writes.
    fn name(&self, args: &[u64], access: &mut Access) -> Result<(), Fault> {
        let known = access.undefined.len();
        for tile in &self.tiles {
            tile.extents(self.local, args, &mut access.undefined)?;
        }
        if self.before_results {
            let Access { undefined, writes, .. } = access;
            let own = undefined.split_off(known);
            let within = |range: &Extent| {
                let held = |(from, to)| from <= range.start && range.end() <= to;
                writes.iter().any(|write| {
                    (write.space, write.core) == (range.space, range.core) && runs(write, write.start).any(held)
                })
            };
            undefined.extend(own.into_iter().filter(|range| !within(range)));
        }
        access.writes.extend_from_slice(&access.undefined[known..]);
        Ok(())
    }
}
impl<E: Effect> Effect for Working<E> {
    slipring_program::effect_of_field!(effect);

    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault> {
        self.effect.plan(args, env, access)?;
        self.name(args, access)
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch, output }: Run<'_>) -> Result<u64, Fault> {
        self.effect.run(args, Run { env, memory, scratch, output })
    }
}

impl<E: Discover> Discover for Working<E> {
    slipring_program::discovery_of_field!(effect);

    fn discover(&self, args: &[u64], run: Run<'_>, access: &mut Access) -> Result<u64, Fault> {
        self.name(args, access)?;
        let missing = access.undefined.iter().find(|range| !run.memory.has(range, run.env));
        if let Some(range) = missing {
            return Err(run.memory.miss(range, "writes", run.env));
        }
        self.effect.discover(args, run, access)
    }
}
