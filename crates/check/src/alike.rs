//! Whether two cores hold the same tile for all buffer contents.
//!
//! An effect that compares the contents of two cores may find no difference with the given contents; that does not
//! imply it for all contents. Here each run of bytes has a number that identifies how it was computed: the same
//! instruction of the text applied to inputs with equal numbers gives an equal number. If both sides of a comparison
//! have equal numbers, they are equal for any contents. Anything that is not tracked gets a fresh number that is shared
//! with nothing.

use std::collections::{BTreeMap, BTreeSet};

use slipring_machine::Role;
use slipring_program::{Action, Extent, SiteRef, runs};
use slipring_sim::{Launch, WorkRun};

use crate::places::LaunchMemory;

/// Bytes with a common origin.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: u64,
    end: u64,
    number: u64,
    /// Their offset within everything that has the number.
    at: u64,
    /// The tile that was moved here, and its total size in bytes.
    tile: Option<(u64, u64)>,
}

/// Tracks the origin of bytes, in programs with a comparison.
#[derive(Debug, Default)]
pub(crate) struct Equivalence {
    places: BTreeMap<LaunchMemory, Vec<Piece>>,
    /// By core and work: the number of its operation, `None` if its operands come from buffers.
    works: BTreeMap<(Role, u32), Option<u64>>,
    /// Locations that compare, and those of them whose sides had different origins.
    compares: BTreeSet<SiteRef>,
    differ: BTreeSet<SiteRef>,
    /// The last number that is shared with nothing.
    last: u64,
}

/// Combines two numbers.
fn mix(one: u64, other: u64) -> u64 {
    let mixed = (one ^ other.rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(one)
}

fn mix_all(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0x2545_f491_4f6c_dd1d, mix)
}

/// The shape of a range, regardless of its location.
fn shape(extent: &Extent) -> [u64; 3] {
    [u64::from(extent.rows), u64::from(extent.row_bytes), if extent.rows > 1 { extent.stride } else { 0 }]
}

impl Equivalence {
    /// Starts tracking a launch.
    pub fn new(launch: &Launch<'_>) -> Equivalence {
        let mut alike = Equivalence::default();
        for core in &launch.program.cores {
            for (inst, site) in core.insts.iter().zip(&core.inst_sites) {
                if let slipring_program::Inst::Issue { work } = inst
                    && let Action::Planned(effect) = &core.works[*work as usize].effect
                    && effect.compares()
                {
                    alike.compares.insert(*site);
                }
            }
        }
        if alike.compares.is_empty() {
            return alike;
        }
        for core in &launch.program.cores {
            let flow = launch.program.flow(core);
            for (inst, site) in core.insts.iter().zip(&core.inst_sites) {
                let slipring_program::Inst::Issue { work: id } = inst else { continue };
                let work = &core.works[*id as usize];
                let of_data = work.args.iter().any(|arg| flow.of(*arg).data);
                // The operation is identified by its own description, the same on either Vector core, and its location
                // in the text.
                let says = format!("{:?}", work.effect).replace("Aiv1", "Aiv0");
                let place = launch.program.sites.get(*site as usize).map_or((0, 0), |site| site.span);
                let place = [u64::from(place.0), u64::from(place.1)];
                let number = mix_all(says.bytes().map(u64::from).chain(place));
                alike.works.insert((core.role, *id), (!of_data).then_some(number));
            }
        }
        alike
    }

    /// True for a comparison whose sides were equal for a reason that holds with any contents.
    pub fn holds(&self, site: SiteRef) -> bool {
        self.compares.contains(&site) && !self.differ.contains(&site)
    }

    /// True if there is nothing to track.
    pub fn is_idle(&self) -> bool {
        self.compares.is_empty()
    }

    /// A block starts on a cluster: its local memories are fresh.
    pub fn restart(&mut self, at: u32) {
        self.places.retain(|place, _| !matches!(place, LaunchMemory::Local { cluster, .. } if *cluster == at));
    }

    fn new_number(&mut self) -> u64 {
        self.last += 1;
        mix_all([self.last, u64::MAX])
    }

    /// The pieces that make up a range, clipped to it.
    fn pieces(&self, extent: &Extent, cluster: u32) -> Vec<Piece> {
        let (place, start) = LaunchMemory::of(extent, cluster);
        let known = self.places.get(&place).map_or(&[][..], Vec::as_slice);
        let own = match place {
            // A passed buffer is the same for all.
            LaunchMemory::Buffer(buffer) => mix_all([buffer as u64, 1]),
            LaunchMemory::Local { cluster, core, space } => {
                mix_all([cluster.into(), core.index() as u64, space as u64, 2])
            }
        };
        let mut list = Vec::new();
        for (from, to) in runs(extent, start) {
            let first = |start, end| Piece { start, end, number: own, at: start, tile: None };
            let mut at = from;
            for piece in &known[known.partition_point(|piece| piece.end <= from)..] {
                if piece.start >= to {
                    break;
                }
                if at < piece.start {
                    list.push(first(at, piece.start));
                }
                let start = piece.start.max(from);
                let end = piece.end.min(to);
                list.push(Piece { start, end, at: piece.at + (start - piece.start), ..*piece });
                at = end;
            }
            if at < to {
                list.push(first(at, to));
            }
        }
        list
    }

    fn put(&mut self, extent: &Extent, cluster: u32, number: u64, tile: Option<(u64, u64)>) {
        let (place, start) = LaunchMemory::of(extent, cluster);
        let list = self.places.entry(place).or_default();
        for (row, (from, to)) in (0u64..).zip(runs(extent, start)) {
            let first = list.partition_point(|piece| piece.end <= from);
            let last = list.partition_point(|piece| piece.start < to);
            let mut new = Vec::with_capacity(3);
            if let Some(piece) = list[first..last].first().filter(|piece| piece.start < from) {
                new.push(Piece { end: from, ..*piece });
            }
            new.push(Piece { start: from, end: to, number: mix(number, row), at: 0, tile });
            if let Some(piece) = list[first..last].last().filter(|piece| piece.end > to) {
                new.push(Piece { start: to, at: piece.at + (to - piece.start), ..*piece });
            }
            list.splice(first..last, new);
        }
    }

    /// A number for the contents of ranges.
    fn number_of(&self, extents: &[Extent], cluster: u32) -> u64 {
        let mut numbers = Vec::new();
        for extent in extents {
            numbers.extend(shape(extent));
            let pieces = self.pieces(extent, cluster).into_iter();
            numbers.extend(pieces.flat_map(|piece| [piece.number, piece.at, piece.end - piece.start]));
        }
        mix_all(numbers)
    }

    /// The tile in the ranges: if a whole tile was moved there, that tile, otherwise their contents.
    fn tile_of(&self, extents: &[Extent], cluster: u32) -> u64 {
        let mut pieces = extents.iter().flat_map(|extent| self.pieces(extent, cluster));
        let Some(first) = pieces.next() else { return 0 };
        let mut bytes = first.end - first.start;
        let same = pieces.all(|piece| {
            bytes += piece.end - piece.start;
            piece.tile == first.tile
        });
        match first.tile {
            Some((tile, all)) if same && bytes == all => tile,
            _ => self.number_of(extents, cluster),
        }
    }

    /// Work has completed.
    pub fn end(&mut self, run: &WorkRun<'_>) {
        if self.compares.is_empty() {
            return;
        }
        let (access, cluster) = (run.access, run.agent.block);
        let known = self.works.get(&(run.agent.role, run.id)).copied().flatten();
        let mut moves = false;
        if let Action::Planned(effect) = &run.work.effect {
            moves = effect.moves();
            if effect.compares() {
                let (one, other) = access.reads.split_at(access.reads.len() / 2);
                if self.tile_of(one, cluster) != self.tile_of(other, cluster) {
                    self.differ.insert(run.site);
                }
                return;
            }
        }
        if moves && access.update.is_none() && known.is_some() {
            self.moved(&access.reads, &access.writes, cluster);
        } else {
            let what = match known.filter(|_| access.update.is_none()) {
                Some(number) => {
                    mix_all(run.args.iter().copied().chain([number, self.number_of(&access.reads, cluster)]))
                }
                None => self.new_number(),
            };
            for (at, extent) in (0u64..).zip(&access.writes) {
                self.put(extent, cluster, mix_all([what, at].into_iter().chain(shape(extent))), None);
            }
        }
        for extent in &access.undefined {
            let number = self.new_number();
            self.put(extent, cluster, number, None);
        }
    }

    /// A tile was moved, or parts of it to several cores, one after the other.
    fn moved(&mut self, reads: &[Extent], writes: &[Extent], cluster: u32) {
        let mut cores: Vec<Role> = Vec::new();
        for extent in writes {
            if !cores.contains(&extent.core) {
                cores.push(extent.core);
            }
        }
        let each = reads.len() / cores.len().max(1);
        let divided = each * cores.len() == reads.len();
        let tiles: Vec<u64> = (0..cores.len())
            .map(|at| match divided {
                true => self.tile_of(&reads[at * each..][..each], cluster),
                false => mix(self.number_of(reads, cluster), at as u64),
            })
            .collect();
        for (core, tile) in cores.into_iter().zip(tiles) {
            let own: Vec<Extent> = writes.iter().filter(|extent| extent.core == core).copied().collect();
            let all = own.iter().map(Extent::bytes).sum();
            for (at, extent) in (0u64..).zip(&own) {
                let number = mix_all([tile, at].into_iter().chain(shape(extent)));
                self.put(extent, cluster, number, Some((tile, all)));
            }
        }
    }
}
