//! Names for the contents of a recorded run.

use std::collections::BTreeMap;

use slipring_ir::{Line, Source};
use slipring_machine::{CoreKind, Platform, Role};
use slipring_passes::PassContext;
use slipring_passes::memory::allocate::{MapBuffer, memory_maps};
use slipring_program::{Extent, Program, SyncRole};
use slipring_tile::Space;

use crate::Prepared;

/// The meaning of the numbers in a record.
pub struct Names<'a> {
    pub(crate) program: &'a Program,
    source: &'a Source,
    /// The line of each site.
    lines: Vec<Option<u32>>,
    /// The contents of each local memory.
    tiles: BTreeMap<(bool, u8), Vec<Tile>>,
}

impl<'a> Names<'a> {
    /// For a kernel compiled for a platform.
    pub fn new(prepared: &'a Prepared, platform: &Platform) -> Names<'a> {
        let source = &*prepared.written.source;
        let mut tiles: BTreeMap<(bool, u8), Vec<Tile>> = BTreeMap::new();
        for map in memory_maps(&prepared.module, &PassContext::of(platform)) {
            let line = |step: usize| map.steps.get(step).map_or(0, |span| source.line_column(span.start).0 as u32);
            let own = tiles.entry((map.core == CoreKind::Cube, map.space as u8)).or_default();
            own.extend(map.buffers.iter().map(|buffer| Tile {
                buffer: buffer.clone(),
                lines: buffer.lives.iter().map(|[first, last]| (line(*first), line(*last))).collect(),
            }));
        }
        let program = &prepared.decoded.program;
        let rows = (0..program.sites.len() as u32).map(|site| prepared.row(site).map(|row| row as u32));
        Names { program, source, lines: rows.collect(), tiles }
    }

    /// The line of the text that an instruction comes from; [`Names::shown`] is the line displayed to users.
    pub fn line(&self, site: u32) -> Option<u32> {
        self.lines.get(site as usize).copied().flatten()
    }

    /// As [`Names::line`], as a line of the file that it comes from.
    pub fn at(&self, site: u32) -> Option<Line> {
        self.line(site).map(|line| self.shown(line))
    }

    /// A line of the text as a line of the file that it comes from.
    pub fn shown(&self, line: u32) -> Line {
        self.source.shown_line(line as usize)
    }

    /// The tile at an address when an instruction uses it: if there are several, the one in use at its line.
    pub fn tile(&self, extent: &Extent, site: u32) -> Option<String> {
        let own = self.tiles.get(&(extent.core.kind() == CoreKind::Cube, extent.space as u8))?;
        let line = self.line(site).unwrap_or(0);
        let holds = |tile: &&Tile| {
            let (first, bytes) = (tile.buffer.address, tile.buffer.bytes);
            extent.space != Space::Gm && (first..first.saturating_add(bytes)).contains(&extent.start)
        };
        let used = |tile: &Tile| tile.lines.is_empty() || tile.lines.iter().any(|(a, b)| (*a..=*b).contains(&line));
        let best = own.iter().filter(holds).min_by_key(|tile| (!used(tile), tile.buffer.bytes, tile.buffer.address))?;
        Some(best.buffer.name.trim_start_matches('%').to_string())
    }

    /// Unused bytes of a core's local memory; `None` if its contents are unknown.
    pub fn free(&self, platform: &Platform, core: Role, space: Space) -> Option<u64> {
        let own = self.tiles.get(&(core.kind() == CoreKind::Cube, space as u8))?;
        let spec = platform.space(space)?;
        let end = own.iter().map(|tile| tile.buffer.address.saturating_add(tile.buffer.bytes)).max().unwrap_or(0);
        Some(spec.bytes.saturating_sub(spec.reserved).saturating_sub(end))
    }

    /// The role of an object.
    pub fn role(&self, sync: u32) -> Option<SyncRole> {
        self.program.syncs.get(sync as usize).map(|decl| decl.role)
    }

    /// The name of an object.
    pub fn object(&self, sync: u32) -> String {
        self.program.syncs.get(sync as usize).map_or(String::new(), |decl| decl.name.to_string())
    }

    /// A line of the source without surrounding whitespace.
    pub fn text(&self, line: u32) -> String {
        let line = self.source.text.lines().nth((line as usize).saturating_sub(1));
        line.unwrap_or_default().trim().to_string()
    }
}

/// A tile or a ring, with the lines between which it is in use; none for a ring, which is always in use.
pub(crate) struct Tile {
    buffer: MapBuffer,
    lines: Vec<(u32, u32)>,
}
