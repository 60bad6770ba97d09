//! A record as a timeline.

use std::collections::BTreeMap;
use std::sync::Arc;

use slipring_finding::Line;
use slipring_machine::{Pipe, Role};
use slipring_program::{Direction, Extent, Program, SiteRef, SyncRole, gm_split};
use slipring_sim::Stall;
use slipring_tile::Space;

use super::live::{course, live_bytes};
use super::{Doing, Happening, Record, moves, stall_name};
use crate::trace::{Counter, End, Flow, Group, Slice, SliceKind, Trace, Track, Value};

/// Maps the indices of a record to names and lines.
pub struct Legend<'a> {
    /// The program of the run.
    pub program: &'a Program,
    /// The source line of an instruction.
    pub line: &'a dyn Fn(SiteRef) -> Option<Line>,
    /// The tile at an address of a local memory when an instruction accesses it; `None` where it is unknown.
    pub tile: &'a dyn Fn(&Extent, SiteRef) -> Option<String>,
    /// Names of the buffers in global memory.
    pub buffers: &'a [String],
}

impl Record {
    /// A track for each scalar unit and pipe that was active, grouped by core and cluster; arrows from each signal to
    /// its receiver; counters. Also returns the position of each happening in the trace.
    pub fn trace(&self, places: &Legend<'_>) -> (Trace, Vec<End>) {
        let mut build = Build { record: self, places, names: Names::default(), trace: Trace::default() };
        build.trace.clock_mhz = self.clock_mhz;
        let groups = build.groups();
        let mut ends: Vec<End> = Vec::with_capacity(self.happenings.len());
        build.block_tracks(&groups);
        for (agent, range) in self.agents() {
            let row = build.trace.tracks.len();
            ends.extend((0..range.len()).map(|at| (row, at)));
            let slices = self.happenings[range].iter().map(|happening| build.slice(happening)).collect();
            let group = groups.cores[&(agent.cluster, agent.role.index())];
            build.trace.tracks.push(Track { name: agent.pipe.name().into(), group, slices });
        }
        let arrows = self.happenings.iter().enumerate().filter_map(|(at, taken)| {
            let Doing::Take { sync } = taken.doing else { return None };
            let from = taken.cause? as usize;
            Some(Flow { what: build.arrow(sync), from: ends[from], to: ends[at] })
        });
        build.trace.flows = arrows.collect();
        build.trace.counters = build.counters(&groups);
        (build.trace, ends)
    }
}

struct Groups {
    clusters: BTreeMap<u32, usize>,
    cores: BTreeMap<(u32, usize), usize>,
}

/// Interned names, shared by many slices.
#[derive(Default)]
struct Names(BTreeMap<String, Arc<str>>);

impl Names {
    fn of(&mut self, name: String) -> Arc<str> {
        if let Some(known) = self.0.get(&name) {
            return known.clone();
        }
        let shared: Arc<str> = name.as_str().into();
        self.0.insert(name, shared.clone());
        shared
    }
}

struct Build<'a> {
    record: &'a Record,
    places: &'a Legend<'a>,
    names: Names,
    trace: Trace,
}

impl Build<'_> {
    fn groups(&mut self) -> Groups {
        let mut groups = Groups { clusters: BTreeMap::new(), cores: BTreeMap::new() };
        for cluster in self.record.blocks.iter().map(|block| block.cluster) {
            if groups.clusters.contains_key(&cluster) {
                continue;
            }
            let parent = self.trace.groups.len();
            groups.clusters.insert(cluster, parent);
            self.trace.groups.push(Group { name: format!("cluster {cluster}"), parent: None });
            for core in &self.places.program.cores {
                groups.cores.insert((cluster, core.role.index()), self.trace.groups.len());
                self.trace.groups.push(Group { name: core.role.name().into(), parent: Some(parent) });
            }
        }
        groups
    }

    /// A track for each cluster that shows when it ran which block.
    fn block_tracks(&mut self, groups: &Groups) {
        for (cluster, group) in &groups.clusters {
            let own = self.record.blocks.iter().filter(|block| block.cluster == *cluster);
            let slices = own.map(|block| Slice {
                name: format!("block {}", block.block).into(),
                kind: SliceKind::Work,
                start: block.start,
                end: block.end.unwrap_or(self.record.cycles).max(block.start),
                args: vec![("block", Value::Number(block.block.into()))],
            });
            let slices = slices.collect();
            self.trace.tracks.push(Track { name: "blocks".into(), group: *group, slices });
        }
    }

    fn role(&self, sync: u32) -> Option<SyncRole> {
        self.places.program.syncs.get(sync as usize).map(|decl| decl.role)
    }

    fn ring(&self, ring: u32) -> &str {
        self.places.program.rings.get(ring as usize).map_or("a ring", |decl| &decl.name)
    }

    fn object(&self, sync: u32) -> String {
        self.places.program.syncs.get(sync as usize).map_or(String::new(), |decl| decl.name.to_string())
    }

    /// The label of a signal's arrow.
    fn arrow(&self, sync: u32) -> &'static str {
        match self.role(sync) {
            Some(SyncRole::RingReady { .. }) => "tile",
            Some(SyncRole::RingFree { .. }) => "slot",
            Some(SyncRole::Event { .. }) => "flag",
            Some(SyncRole::Semaphore { .. }) => "semaphore",
            Some(SyncRole::Token { .. } | SyncRole::UnitFlag { .. }) | None => "token",
        }
    }

    fn slice(&mut self, happening: &Happening) -> Slice {
        let mut args: Vec<(&'static str, Value)> = Vec::new();
        if let Some(line) = (self.places.line)(happening.site) {
            args.push(("line", Value::Number(line.number.into())));
            args.extend(line.file.map(|file| ("file", Value::Text(file))));
        }
        args.push(("block", Value::Number(happening.agent.block.into())));
        let site = self.places.program.sites.get(happening.site as usize);
        let note = site.map_or("", |site| site.note);
        let (name, kind) = match happening.doing {
            Doing::Work { name, read, written, units, .. } => {
                self.work_args(happening, &mut args);
                for (key, number) in [("bytes_read", read), ("bytes_written", written), ("units", units)] {
                    args.push((key, Value::Number(number)));
                }
                (name.to_string(), SliceKind::Work)
            }
            Doing::Set { sync, lost } => {
                args.push(("object", Value::Text(self.shared_object(sync))));
                let verb = match self.role(sync) {
                    Some(SyncRole::RingReady { ring, .. }) => format!("push {}", self.ring(ring)),
                    Some(SyncRole::RingFree { ring, .. }) => format!("free {}", self.ring(ring)),
                    Some(SyncRole::Token { .. } | SyncRole::UnitFlag { .. }) => {
                        format!("release {}", self.object(sync))
                    }
                    _ => format!("set {}", self.object(sync)),
                };
                (if lost { format!("{verb} (lost)") } else { verb }, SliceKind::Sync)
            }
            Doing::Take { sync } => {
                args.push(("object", Value::Text(self.shared_object(sync))));
                let verb = match self.role(sync) {
                    Some(SyncRole::RingReady { ring, .. }) => format!("pop {}", self.ring(ring)),
                    Some(SyncRole::RingFree { ring, .. }) => format!("take a slot of {}", self.ring(ring)),
                    _ => format!("take {}", self.object(sync)),
                };
                (verb, SliceKind::Sync)
            }
            Doing::Barrier => ("barrier".to_string(), SliceKind::Sync),
            Doing::Stall(stall) => {
                let reason = stall_name(stall, |sync| self.role(sync));
                args.push(("reason", Value::Text(self.names.of(reason.into()))));
                let name = match stall {
                    Stall::QueueFull(pipe) => format!("waits: the queue of {} is full", pipe.name()),
                    Stall::Drain => "waits: the pipes drain".to_string(),
                    Stall::Signal => "waits for a signal in global memory".to_string(),
                    Stall::Wait(sync) => {
                        args.push(("object", Value::Text(self.shared_object(sync))));
                        match self.role(sync) {
                            Some(SyncRole::RingReady { ring, .. }) => {
                                format!("waits for a tile of {}", self.ring(ring))
                            }
                            Some(SyncRole::RingFree { ring, .. }) => {
                                format!("waits for a free slot of {}", self.ring(ring))
                            }
                            _ => format!("waits for {}", self.object(sync)),
                        }
                    }
                };
                (name, SliceKind::Stall)
            }
        };
        if !note.is_empty() {
            args.push(("note", Value::Text(self.names.of(note.into()))));
        }
        let name = self.names.of(name);
        Slice { name, kind, start: happening.start, end: happening.end, args }
    }

    fn shared_object(&mut self, sync: u32) -> Arc<str> {
        let name = self.object(sync);
        self.names.of(name)
    }

    /// Adds the tile names and addresses of an op instance.
    fn work_args(&mut self, happening: &Happening, args: &mut Vec<(&'static str, Value)>) {
        let mut tiles: Vec<String> = Vec::new();
        let mut texts: [Vec<String>; 2] = Default::default();
        for touch in self.record.touches_of(&happening.doing) {
            let name = match touch.extent.space {
                Space::Gm => gm_split(touch.extent.start).and_then(|(at, _)| self.places.buffers.get(at).cloned()),
                _ => (self.places.tile)(&touch.extent, happening.site),
            };
            let text = extent_text(&touch.extent, name.as_deref());
            texts[usize::from(touch.writes)].push(text);
            tiles.extend(name.filter(|name| !tiles.contains(name)));
        }
        let [reads, writes] = texts;
        for (key, list) in [("tiles", tiles), ("reads", reads), ("writes", writes)] {
            if !list.is_empty() {
                args.push((key, Value::Text(self.names.of(list.join(", ")))));
            }
        }
        if happening.agent.pipe != Pipe::S {
            args.push(("issued", Value::Number(happening.issued)));
        }
    }

    fn counters(&self, groups: &Groups) -> Vec<Counter> {
        let mut counters = Vec::new();
        for (cluster, group) in &groups.clusters {
            counters.extend(self.ring_levels(*cluster, *group));
            let mut changes = Vec::new();
            for happening in self.record.happenings.iter().filter(|own| own.agent.cluster == *cluster) {
                if let Doing::Work { written, .. } = happening.doing
                    && moves(happening.agent.pipe)
                {
                    changes.push((happening.start, written as i64));
                    changes.push((happening.end, -(written as i64)));
                }
            }
            let (name, samples) = ("bytes in flight".to_string(), course(changes));
            counters.push(Counter { name, group: *group, bytes: true, samples });
        }
        for ((cluster, role, space), samples) in live_bytes(self.record) {
            if let Some(group) = groups.cores.get(&(cluster, role.index())) {
                let name = format!("{} {}: bytes in use", role.name(), space.name());
                counters.push(Counter { name, group: *group, bytes: true, samples });
            }
        }
        counters
    }

    /// The number of filled slots of each ring of a cluster. A slot is filled from the moment its push has moved the
    /// tile there until its free is signalled.
    fn ring_levels(&self, cluster: u32, group: usize) -> Vec<Counter> {
        let rings = &self.places.program.rings;
        let mut changes: Vec<Vec<(u64, i64)>> = vec![Vec::new(); rings.len()];
        let mut credits: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        let mut own: Vec<&Happening> =
            self.record.happenings.iter().filter(|own| own.agent.cluster == cluster).collect();
        own.sort_by_key(|happening| happening.start);
        for happening in own {
            match happening.doing {
                Doing::Work { fills: Some(first), .. } => {
                    let Some(decl) = rings.get(first as usize) else { continue };
                    // The Cube core fills the slots of both lanes at once.
                    let next = rings.get(first as usize + 1);
                    let both = decl.direction == Direction::C2V && next.is_some_and(|next| next.name == decl.name);
                    for ring in &mut changes[first as usize..=first as usize + usize::from(both)] {
                        ring.push((happening.end, 1));
                    }
                }
                Doing::Set { sync, .. } => {
                    let Some(SyncRole::RingFree { ring, .. }) = self.role(sync) else { continue };
                    let Some(decl) = rings.get(ring as usize) else { continue };
                    let given = credits.entry((happening.agent.block, ring)).or_default();
                    if *given < decl.credits {
                        *given += 1;
                    } else {
                        changes[ring as usize].push((happening.start, -i64::from(decl.period)));
                    }
                }
                _ => {}
            }
        }
        let each = rings.iter().zip(changes).map(|(decl, changes)| {
            let (from, to) = match decl.direction {
                Direction::C2V => (Role::Aic.name(), decl.lane.name()),
                Direction::V2C => (decl.lane.name(), Role::Aic.name()),
            };
            let name = format!(
                "ring {} ({from} to {to}): filled slots of {}",
                decl.name.trim_start_matches("ring "),
                decl.slots
            );
            let start = self.record.blocks.iter().find(|block| block.cluster == cluster).map_or(0, |block| block.start);
            let mut samples = course(changes);
            if samples.first().is_none_or(|(at, _)| *at > start) {
                samples.insert(0, (start, 0));
            }
            Counter { name, group, bytes: false, samples }
        });
        each.collect()
    }
}

/// `k: vec 0x400 to 0x7ff of AIV0`, `a: gm +0x100, 64 rows of 128 bytes, 512 apart`.
fn extent_text(extent: &Extent, name: Option<&str>) -> String {
    let name = name.map_or(String::new(), |name| format!("{name}: "));
    let rows = match extent.rows {
        0 | 1 => format!("{} bytes", extent.row_bytes),
        rows => format!("{rows} rows of {} bytes, {} apart", extent.row_bytes, extent.stride),
    };
    match extent.space {
        Space::Gm => {
            let offset = gm_split(extent.start).map_or(0, |(_, offset)| offset);
            format!("{name}gm +{offset:#x}, {rows}")
        }
        space => format!("{name}{} of {} {:#x}, {rows}", space.name(), extent.core.name(), extent.start),
    }
}
