//! A whole program as one timeline and as one page: its tasks on clusters, what orders them, and the pipes of their kernels.

use std::collections::{BTreeMap, BTreeSet};

use slipring_report::{
    End, Flow, Group, Legend, LineFacts, Page, PathFacts, PathPart, RingTrace, RunFacts, SegmentKind, Slice, SliceKind,
    Trace, Track, Value, html,
};
use slipring_tasks::{Ended, Reason};

use super::{HeldFacts, ProgramRun};
use slipring_session::memory_map;
use slipring_session::recorded::Names;

/// The timeline under construction.
#[derive(Default)]
struct Build {
    trace: Trace,
    clusters: BTreeMap<u32, Rows>,
    /// Slices of each task's blocks.
    blocks: BTreeMap<usize, Vec<End>>,
    /// Rows of pipes by cluster, core, index of the block in the cluster, and pipe.
    pipes: BTreeMap<(u32, String, usize, String), usize>,
}

/// Groups and rows of a cluster.
struct Rows {
    group: usize,
    cores: BTreeMap<(String, usize), usize>,
    tasks: usize,
}

impl ProgramRun<'_> {
    /// The timeline of all tasks: for each cluster a track with its tasks, and below it the tracks of the kernels'
    /// pipes; arrows along the edges of the graph and between pipes; counters. `None` if the run was not recorded.
    pub fn trace(&self) -> Option<Trace> {
        self.timetable().map(|(trace, _)| trace)
    }

    /// The timeline, and the slices of each task's blocks.
    fn timetable(&self) -> Option<(Trace, BTreeMap<usize, Vec<End>>)> {
        let kept = self.kept.as_ref()?;
        let mut build = Build::default();
        build.trace.clock_mhz = self.platform.clock_mhz;
        let compiled = self.program.compiled().ok()?;
        // Clusters in order, each with its tasks.
        let used: BTreeSet<u32> = self.plan.ended.iter().flat_map(|ended| &ended.blocks).map(|block| block.0).collect();
        for cluster in used {
            let (group, tasks) = (build.trace.groups.len(), build.trace.tracks.len());
            build.trace.groups.push(Group { name: format!("cluster {cluster}"), parent: None });
            build.trace.tracks.push(Track { name: "tasks".into(), group, slices: Vec::new() });
            build.clusters.insert(cluster, Rows { group, cores: BTreeMap::new(), tasks });
        }
        self.plan.ended.iter().for_each(|ended| self.add_task(&mut build, ended));
        for own in kept {
            let Some(ended) = self.plan.ended.iter().find(|ended| ended.task == own.task) else { continue };
            let names = Names::new(&compiled[own.kernel].prepared, &compiled[own.kernel].platform);
            let places = Legend {
                program: &compiled[own.kernel].prepared.decoded.program,
                line: &|site| names.at(site),
                tile: &|extent, site| names.tile(extent, site),
                buffers: &own.buffers,
            };
            // Blocks may share a cluster, each with one of its Vector cores, which its program knows as AIV0.
            let each = own.record.blocks.len().div_ceil(ended.blocks.len().max(1)).max(1);
            for part in own.record.apart() {
                let Some(block) = part.blocks.first().copied() else { continue };
                let (share, beside) = (block.block as usize / each, block.block as usize % each);
                let Some((cluster, start, _)) = ended.blocks.get(share).copied() else { continue };
                build.add_block(&part.trace(&places).0, own.task, (cluster, beside), (block.start, start));
            }
        }
        self.add_edges(&mut build);
        Some(build.in_order())
    }

    fn add_task(&self, build: &mut Build, ended: &Ended) {
        let graph = self.program.graph();
        let own = &graph.tasks[ended.task];
        for (block, (cluster, start, end)) in ended.blocks.iter().enumerate() {
            let Some(rows) = build.clusters.get(cluster) else { continue };
            let iteration = if own.iteration.is_empty() { String::new() } else { format!(" ({})", own.iteration) };
            let line = self.program.line(ended.task);
            let mut args = vec![("line", Value::Number(line.number.into()))];
            args.extend(line.file.map(|file| ("file", Value::Text(file))));
            args.extend([
                ("task", Value::Number(ended.task as u64)),
                ("block", Value::Number(block as u64)),
                ("ready", Value::Number(ended.ready)),
            ]);
            if *start > ended.ready {
                args.push(("waited for a cluster", Value::Number(start - ended.ready)));
            }
            let name = format!("#{} {}{iteration}", ended.task, own.name);
            let slice = Slice { name: name.into(), kind: SliceKind::Work, start: *start, end: *end, args };
            let track = &mut build.trace.tracks[rows.tasks];
            build.blocks.entry(ended.task).or_default().push((rows.tasks, track.slices.len()));
            track.slices.push(slice);
        }
    }

    /// An arrow for each edge, from the block that ends last to the one that starts first. A node that does not run,
    /// such as a join, passes its edges on.
    fn add_edges(&self, build: &mut Build) {
        let graph = self.program.graph();
        let mut into: Vec<Vec<(usize, &'static str)>> = vec![Vec::new(); graph.tasks.len()];
        for edge in &graph.edges {
            let what = match edge.why.first() {
                Some(Reason::Reads { .. }) => "reads",
                Some(Reason::Writes { .. }) => "writes",
                Some(Reason::Overwrites { .. }) => "overwrites",
                Some(Reason::Submitted) => "submitted",
                Some(Reason::Declared) | None => "declared",
            };
            into[edge.to].push((edge.from, what));
        }
        let mut flows = Vec::new();
        for (task, ends) in &build.blocks {
            let time = |end: &End| build.trace.slice(*end).map_or(0, |slice| slice.start);
            let Some(to) = ends.iter().min_by_key(|end| (time(end), **end)).copied() else { continue };
            let (mut open, mut seen) = (into[*task].clone(), BTreeSet::new());
            while let Some((before, what)) = open.pop() {
                if !seen.insert(before) {
                    continue;
                }
                let over = |end: &End| build.trace.slice(*end).map_or(0, |slice| slice.end);
                match build.blocks.get(&before).and_then(|ends| ends.iter().max_by_key(|end| (over(end), **end))) {
                    Some(from) => flows.push(Flow { what, from: *from, to }),
                    None => open.extend(into[before].iter().copied()),
                }
            }
        }
        build.trace.flows.extend(flows);
    }

    /// Cycles, stalls and bytes by source line, over all tasks; the critical path consists of the tasks on the
    /// program's critical path. `None` if the run was not recorded.
    pub fn lines(&self) -> Option<Vec<LineFacts>> {
        self.whole().and_then(|facts| facts.lines)
    }

    /// All tasks as one run; `None` if it was not recorded.
    fn whole(&self) -> Option<RunFacts> {
        let kept = self.kept.as_ref()?;
        let compiled = self.program.compiled().ok()?;
        let mut whole: Option<RunFacts> = None;
        for own in kept {
            let compiled = &compiled[own.kernel];
            let program = &compiled.prepared.decoded.program;
            let names = Names::new(&compiled.prepared, &compiled.platform);
            let blocks = self.program.graph().tasks[own.task].blocks;
            let rings = RingTrace::default();
            let mut facts = RunFacts::new(program, &self.platform, blocks, &own.stats, &rings, true);
            let mut lines = own.record.lines(
                |site| names.line(site),
                |sync| names.role(sync),
                |line| (names.shown(line), names.text(line)),
            );
            if !self.facts.held_up.iter().any(|held| held.task == own.task) {
                lines.iter_mut().for_each(|line| line.path = 0);
            }
            facts.lines = Some(lines);
            facts.rings.iter_mut().for_each(|ring| ring.name = format!("{} of {}", ring.name, program.name));
            match &mut whole {
                Some(whole) => whole.add_work(&facts),
                None => whole = Some(facts),
            }
        }
        let mut whole = whole?;
        let own = &self.facts;
        whole.kernel.clone_from(&own.program);
        // Shares are relative to the time of all clusters.
        whole.blocks = own.clusters * own.devices.max(1);
        (whole.complete, whole.cycles, whole.microseconds) = (own.complete, own.cycles, own.microseconds);
        whole.checks.clone_from(&own.checks);
        whole.buffers.clone_from(&own.buffers);
        whole.printed.clone_from(&own.printed);
        whole.findings.clone_from(&own.findings);
        let part = |held: &HeldFacts| {
            let own = own.tasks.iter().find(|own| own.task == held.task)?;
            let why = held.why();
            let why = if why.is_empty() { why } else { format!(", {why}") };
            Some(PathPart {
                kind: SegmentKind::Work,
                core: own.clusters.first().map_or(String::new(), |cluster| format!("cluster {cluster}")),
                pipe: format!("#{}", held.task),
                what: format!("{}{why}", format!("{} {}", own.name, own.iteration).trim_end()),
                line: Some(own.line.clone()),
                count: own.blocks.into(),
                cycles: held.end - held.start,
            })
        };
        let parts = own.held_up.iter().filter_map(part).collect();
        whole.path = Some(PathFacts { cycles: own.cycles, parts });
        Some(whole)
    }

    /// A self-contained page with everything that the run shows, which needs no other file and no network; `None` if
    /// the run was not recorded, or no task ran.
    ///
    /// # Errors
    /// A defect of the template.
    pub fn html(&self) -> Option<Result<String, String>> {
        let facts = self.whole()?;
        let (trace, blocks) = self.timetable()?;
        let on_path = self.facts.held_up.iter().filter_map(|held| blocks.get(&held.task)).flatten().copied().collect();
        let kernels = self.program.compiled().ok()?;
        let memory: Vec<_> = kernels.iter().flat_map(|own| memory_map(&own.prepared.module, &own.platform)).collect();
        let (source, own) = (self.program.source(), &self.facts);
        let page = Page {
            facts: &facts,
            trace: &trace,
            on_path: &on_path,
            source: (&source.name, &source.text),
            shown: &|line| source.shown_line(line),
            memory: &memory,
            roofline: None,
            advice: &[],
            what_if: &[],
            edits: &[],
            against: "",
            against_estimate: false,
            launch: Some(format!("{} tasks on {} clusters", own.submitted, own.clusters)),
        };
        Some(html(&page))
    }
}

impl Build {
    /// The rows of a core, given its name in the block and the index of the block on the cluster.
    fn core(&mut self, cluster: u32, name: &str, beside: usize) -> Option<usize> {
        let rows = self.clusters.get_mut(&cluster)?;
        let key = (name.to_string(), beside);
        if let Some(known) = rows.cores.get(&key) {
            return Some(*known);
        }
        let group = self.trace.groups.len();
        rows.cores.insert(key, group);
        self.trace.groups.push(Group { name: name.to_string(), parent: Some(rows.group) });
        Some(group)
    }

    /// Adds a block's activity, shifted from its launch's time to the program's.
    fn add_block(&mut self, own: &Trace, task: usize, (cluster, beside): (u32, usize), (from, to): (u64, u64)) {
        let moved = |at: u64| (at + to).saturating_sub(from);
        let rows: Vec<Option<usize>> = own.tracks.iter().map(|track| self.row(own, track, (cluster, beside))).collect();
        let ends = self.trace.take_in(own, |_, row| rows[row], moved);
        for (row, number) in ends.into_values() {
            self.trace.tracks[row].slices[number].args.push(("task", Value::Number(task as u64)));
        }
        if let Some(group) = self.clusters.get(&cluster).map(|rows| rows.group) {
            own.counters.iter().for_each(|counter| self.trace.take_in_counter(counter, group, moved));
        }
    }

    /// The row for a track of a block.
    fn row(&mut self, own: &Trace, track: &Track, (cluster, beside): (u32, usize)) -> Option<usize> {
        // A track in a cluster but not in a core is that of its blocks, which the tasks have.
        let core = own.groups.get(track.group).filter(|group| group.parent.is_some())?.name.clone();
        let group = self.core(cluster, &core, beside)?;
        let tracks = &mut self.trace.tracks;
        Some(*self.pipes.entry((cluster, core, beside, track.name.clone())).or_insert_with(|| {
            tracks.push(Track { name: track.name.clone(), group, slices: Vec::new() });
            tracks.len() - 1
        }))
    }

    /// The timeline with the slices of every track in order of time, and tracks of a group adjacent.
    fn in_order(mut self) -> (Trace, BTreeMap<usize, Vec<End>>) {
        let mut rows: Vec<usize> = (0..self.trace.tracks.len()).collect();
        let key = |row: &usize| {
            let track = &self.trace.tracks[*row];
            let cluster = self.trace.groups[track.group].parent.unwrap_or(track.group);
            let core =
                self.trace.groups[track.group].parent.map(|_| (&self.trace.groups[track.group].name, track.group));
            (cluster, core, *row)
        };
        rows.sort_by_key(key);
        let mut ends: BTreeMap<End, End> = BTreeMap::new();
        let mut tracks = Vec::with_capacity(rows.len());
        for (new, old) in rows.into_iter().enumerate() {
            let mut track = std::mem::take(&mut self.trace.tracks[old]);
            let mut order: Vec<usize> = (0..track.slices.len()).collect();
            order.sort_by_key(|at| (track.slices[*at].start, *at));
            for (place, at) in order.iter().enumerate() {
                ends.insert((old, *at), (new, place));
            }
            track.slices = order.iter().map(|at| track.slices[*at].clone()).collect();
            tracks.push(track);
        }
        self.trace.tracks = tracks;
        for flow in &mut self.trace.flows {
            (flow.from, flow.to) = (ends[&flow.from], ends[&flow.to]);
        }
        for counter in &mut self.trace.counters {
            counter.samples.sort_by_key(|(at, _)| *at);
        }
        let blocks = self.blocks.into_iter().map(|(task, own)| (task, own.iter().map(|end| ends[end]).collect()));
        (self.trace, blocks.collect())
    }
}
