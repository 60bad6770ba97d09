//! The report of a whole program's run, as facts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use slipring_ir::Line;
use slipring_machine::{Backing, Platform};
use slipring_report::{
    BufferFacts, CheckFacts, LineFacts, MessageFacts, Table, buffers_text, checks_text, digest, printed_text,
    write_line,
};
use slipring_sim::Stats;
use slipring_tasks::{Held, Link, Plan, chain};
use slipring_tile::Elem;

use super::Program;
use slipring_session::Flags;

/// The complete report of a whole program's run.
#[derive(Clone, Debug, Default, Serialize)]
#[allow(missing_docs)]
pub struct ProgramFacts {
    pub program: String,
    pub platform: String,
    pub description: String,
    /// Clusters of each device.
    pub clusters: u32,
    /// Devices that its tasks run on.
    pub devices: u32,
    /// The number that selected among tasks that could start; 0 for the order of the text.
    pub order: u64,
    /// Flags between the pipes of a core: `inserted` by the compiler in some kernel, `by hand`, or `none`.
    pub flags: String,
    pub complete: bool,
    pub checks: Vec<CheckFacts>,
    /// End of the last task.
    pub cycles: u64,
    pub microseconds: f64,
    /// True if the cycles of some task are an estimate.
    pub estimate: bool,
    /// The evidence behind the cycles of all tasks.
    pub evidence: Backing,
    /// Tasks of the graph, including those that did not run.
    pub submitted: usize,
    /// Edges of the graph.
    pub edges: usize,
    /// In order of start.
    pub tasks: Vec<TaskFacts>,
    pub critical_path: PathFacts,
    /// The chain of waits that determined the last cycle of this run, first task first; their times are contiguous.
    pub held_up: Vec<HeldFacts>,
    pub busy: Vec<ClusterFacts>,
    /// The work of the kernels, each summed over its tasks.
    pub kernels: Vec<WorkFacts>,
    /// Lines of the source, over all tasks, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<LineFacts>>,
    pub buffers: Vec<BufferFacts>,
    pub printed: Vec<String>,
    pub findings: Vec<MessageFacts>,
    /// Its activity on a board, if it was sent to one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<ProgramQueueFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A task that ran.
#[derive(Clone, Debug, Serialize)]
pub struct TaskFacts {
    /// Its index, from 0, in order of submission.
    pub task: usize,
    /// Name of its kernel or scope.
    pub name: String,
    /// Values of the loops around it.
    pub iteration: String,
    /// Line where it is submitted.
    #[serde(flatten, serialize_with = "write_line")]
    pub line: Line,
    /// Blocks.
    pub blocks: u32,
    /// Tasks that it waits for.
    pub after: Vec<usize>,
    /// Cycle at which all of those were complete.
    pub ready: u64,
    /// Cycle at which its first block started.
    pub start: u64,
    /// Cycle at which it was complete.
    pub end: u64,
    /// The clusters of its blocks, in order.
    pub clusters: Vec<u32>,
    /// True if its predicate did not hold, so it did nothing.
    pub skipped: bool,
}

/// The longest chain of dependent tasks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PathFacts {
    /// Total cycles of its tasks: no number of clusters makes the program faster.
    pub cycles: u64,
    /// Indices of its tasks.
    pub tasks: Vec<usize>,
}

/// A task on the critical path of the run.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct HeldFacts {
    pub task: usize,
    /// The cycles in which it was on the critical path.
    pub start: u64,
    pub end: u64,
    /// What determined its start: `begin`, `task` (a predecessor ended), `cluster` (one became free) or `signal`.
    pub by: &'static str,
    /// That task, that cluster, or the task that gave the signal.
    pub number: Option<u64>,
}

impl HeldFacts {
    fn of(link: &Link) -> HeldFacts {
        let (by, number) = match link.held {
            Held::Begin => ("begin", None),
            Held::Task(task) => ("task", Some(task as u64)),
            Held::Cluster(cluster) => ("cluster", Some(cluster.into())),
            Held::Signal(task) => ("signal", Some(task as u64)),
        };
        HeldFacts { task: link.task, start: link.start, end: link.end, by, number }
    }

    /// What determined its start, as text; empty if the preceding task implies it.
    pub(super) fn why(&self) -> String {
        match (self.by, self.number) {
            ("cluster", Some(cluster)) => format!("when cluster {cluster} was free"),
            ("signal", Some(task)) => format!("on a signal of #{task}"),
            _ => String::new(),
        }
    }
}

/// A cluster.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterFacts {
    /// Its number.
    pub cluster: u32,
    /// Busy cycles.
    pub busy: u64,
}

/// The combined work of all tasks of a kernel.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct WorkFacts {
    pub kernel: String,
    pub tasks: u64,
    pub cycles: u64,
    /// Busy cycles of each active pipe: core, pipe, cycles.
    pub pipes: Vec<(String, String, u64)>,
}

/// Sums over the tasks of a kernel.
#[derive(Default)]
pub(super) struct Work {
    tasks: u64,
    cycles: u64,
    backing: Backing,
    pipes: BTreeMap<(usize, usize), (String, String, u64)>,
}

impl Work {
    pub fn add(&mut self, stats: &Stats) {
        self.tasks += 1;
        self.backing.add(&stats.backing());
        self.cycles += stats.cycles;
        for core in &stats.cores {
            for pipe in &core.pipes {
                let key = (core.role.index(), pipe.pipe.index());
                let name = || (core.role.name().to_string(), pipe.pipe.name().to_string(), 0);
                self.pipes.entry(key).or_insert_with(name).2 += pipe.busy;
            }
        }
    }
}

pub(super) fn facts(
    program: &Program,
    platform: &Platform,
    plan: &Plan,
    (clusters, order): (u32, u64),
    (stats, skipped): (&BTreeMap<usize, Work>, &[usize]),
) -> ProgramFacts {
    let graph = program.graph();
    let before = graph.before();
    let tasks = plan.ended.iter().map(|ended| TaskFacts {
        task: ended.task,
        name: graph.tasks[ended.task].name.clone(),
        iteration: graph.tasks[ended.task].iteration.clone(),
        line: program.line(ended.task),
        blocks: graph.tasks[ended.task].blocks,
        after: before[ended.task].clone(),
        ready: ended.ready,
        start: ended.start,
        end: ended.end,
        clusters: ended.blocks.iter().map(|block| block.0).collect(),
        skipped: skipped.contains(&ended.task),
    });
    let work = |(kernel, work): (&usize, &Work)| WorkFacts {
        kernel: program.orchestration.kernels[*kernel].info.name.clone(),
        tasks: work.tasks,
        cycles: work.cycles,
        pipes: work.pipes.values().filter(|pipe| pipe.2 > 0).cloned().collect(),
    };
    let mut evidence = Backing::default();
    stats.values().for_each(|work| evidence.add(&work.backing));
    ProgramFacts {
        program: program.name().to_string(),
        platform: platform.name.clone(),
        description: platform.description.clone(),
        clusters,
        devices: (plan.busy.len() as u32 / clusters.max(1)).max(1),
        order,
        flags: flags(program).word().into(),
        complete: plan.complete,
        cycles: plan.cycles,
        microseconds: plan.cycles as f64 / f64::from(platform.clock_mhz),
        estimate: evidence.is_estimate(),
        evidence,
        submitted: graph.tasks.len(),
        edges: graph.edges.len(),
        tasks: tasks.collect(),
        critical_path: PathFacts { cycles: plan.critical.1, tasks: plan.critical.0.clone() },
        held_up: chain(graph, plan).iter().map(HeldFacts::of).collect(),
        busy: plan.busy.iter().enumerate().map(|(at, busy)| ClusterFacts { cluster: at as u32, busy: *busy }).collect(),
        kernels: stats.iter().map(work).collect(),
        ..ProgramFacts::default()
    }
}

/// How the pipes are synchronised in the kernels of a program.
fn flags(program: &Program) -> Flags {
    let own = program.compiled().into_iter().flatten().map(|compiled| compiled.prepared.flags);
    own.fold(Flags::None, |all, own| match (all, own) {
        (Flags::Inserted, _) | (_, Flags::Inserted) => Flags::Inserted,
        (Flags::ByHand, _) | (_, Flags::ByHand) => Flags::ByHand,
        _ => Flags::None,
    })
}

/// Maximum number of tasks in a report.
const LISTED: usize = 40;
/// Maximum number of clusters and path steps in a report.
const SHOWN: usize = 12;

impl Program {
    /// The report about the tensors that are passed or returned, given the contents of all tensors, and those of the
    /// parameters before the run.
    pub(super) fn buffer_facts(&self, tensors: &[Vec<u8>], before: &[Option<Vec<u8>>]) -> Vec<BufferFacts> {
        let facts = |name: &str, elem: Elem, shape: &[u64], after: &[u8], changed| {
            let extents: Vec<String> = shape.iter().map(u64::to_string).collect();
            BufferFacts {
                name: name.into(),
                elem: format!("{elem}[{}]", extents.join("x")),
                bytes: after.len(),
                changed,
                uninitialised: Vec::new(),
                digest: digest(elem, after),
            }
        };
        let own = &self.orchestration;
        let passed = own.params.iter().enumerate().filter_map(|(index, param)| {
            let after = &tensors[(*own.tensor_of.get(index)?)?][..];
            let changed = before[index].as_deref() != Some(after);
            Some(facts(&param.name, param.elem, param.shape.as_deref()?, after, changed))
        });
        // Tensors that the program returns without having received them.
        let made = own.returned.iter().map(|piece| piece.tensor).filter(|at| !own.tensor_of.contains(&Some(*at)));
        let made = made.map(|tensor| {
            let of = &self.graph().tensors[tensor];
            facts(&of.name, of.elem, &of.shape, &tensors[tensor], true)
        });
        passed.chain(made).collect()
    }
}

impl ProgramFacts {
    /// The report in the format of the command line.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
        let _ = writeln!(
            text,
            "{} on {} ({}), {} with {} on {}{}",
            self.program,
            self.platform,
            self.description,
            count(self.submitted, "task"),
            count(self.edges, "edge"),
            count(self.clusters as usize, "cluster") + &self.of_devices(),
            if self.flags == Flags::Inserted.word() { ", flags inserted" } else { "" },
        );
        text += &checks_text(&self.checks);
        let stopped = if self.complete { "" } else { ", when the program stopped" };
        let (range, estimate) = (self.evidence.range(), self.evidence.mark());
        let _ =
            writeln!(text, "\ntime: {} cycles{range} ({:.2} us{estimate}){stopped}", self.cycles, self.microseconds);
        text += &self.evidence.why_line();
        if let Some(queue) = &self.queue {
            text += &queue.text(self.submitted);
        }
        text += &self.tasks_text();
        text += &self.path_text();
        text += &self.clusters_text();
        if !self.kernels.is_empty() {
            let mut table = Table::new(1, &["kernel", "tasks", "cycles", "busiest pipe", "%"]).left(&[3]);
            for kernel in &self.kernels {
                let busiest = kernel.pipes.iter().max_by_key(|pipe| pipe.2);
                let pipe = busiest.map_or("-".into(), |(core, pipe, _)| format!("{core} {pipe}"));
                let share = busiest.map_or(String::new(), |pipe| percent(pipe.2, kernel.cycles));
                table.row(vec![
                    kernel.kernel.clone(),
                    kernel.tasks.to_string(),
                    kernel.cycles.to_string(),
                    pipe,
                    share,
                ]);
            }
            text += &format!("\nkernels\n{}", table.render());
        }
        text + &printed_text(&self.printed) + &buffers_text(&self.buffers)
    }

    fn of_devices(&self) -> String {
        if self.devices > 1 { format!(" of each of {} devices", self.devices) } else { String::new() }
    }

    /// A cluster's number, preceded by that of its device if there are several.
    fn cluster_name(&self, cluster: u32) -> String {
        match self.devices {
            0 | 1 => cluster.to_string(),
            _ => format!("{}:{}", cluster / self.clusters, cluster % self.clusters),
        }
    }

    fn tasks_text(&self) -> String {
        if self.tasks.is_empty() {
            return String::new();
        }
        let mut table = Table::new(
            2,
            &["task", "", "line", "blocks", "ready", "start", "end", "cycles", "waited", "cluster", "after"],
        )
        .left(&[9, 10]);
        for task in self.tasks.iter().take(LISTED) {
            let list = |numbers: Vec<String>| match numbers.len() {
                0 => "-".to_string(),
                n if n > 4 => format!("{} … {}", numbers[0], numbers[n - 1]),
                _ => numbers.join(" "),
            };
            let iteration = if task.iteration.is_empty() { String::new() } else { format!(" ({})", task.iteration) };
            let skipped = if task.skipped { " skipped" } else { "" };
            let mut clusters: Vec<u32> = task.clusters.clone();
            clusters.sort_unstable();
            clusters.dedup();
            table.row(vec![
                format!("#{}", task.task),
                format!("{}{iteration}{skipped}", task.name),
                task.line.to_string(),
                task.blocks.to_string(),
                task.ready.to_string(),
                task.start.to_string(),
                task.end.to_string(),
                (task.end - task.start).to_string(),
                (task.start - task.ready).to_string(),
                list(clusters.iter().map(|own| self.cluster_name(*own)).collect()),
                list(task.after.iter().map(|task| format!("#{task}")).collect()),
            ]);
        }
        let mut text = format!("\ntasks\n{}", table.render());
        if self.tasks.len() > LISTED {
            let _ = writeln!(text, "  … and {} more: `--json` has all", self.tasks.len() - LISTED);
        }
        text
    }

    fn path_text(&self) -> String {
        if self.critical_path.tasks.is_empty() || !self.complete {
            return String::new();
        }
        let name = |task: &usize| {
            let own = self.tasks.iter().find(|own| own.task == *task);
            format!("#{task} {}", own.map_or("", |own| own.name.as_str()))
        };
        let path = &self.critical_path.tasks;
        let mut steps: Vec<String> = path.iter().take(SHOWN).map(name).collect();
        if path.len() > SHOWN {
            steps.push(format!("… {} more", path.len() - SHOWN));
        }
        let cycles = self.critical_path.cycles;
        format!(
            "\ncritical path: {cycles} cycles, {}% of the time: {}\n",
            percent(cycles, self.cycles),
            steps.join(" → ")
        ) + &self.held_text(name)
    }

    /// The critical path of the run, if the dependences alone do not explain it: busy clusters, signals of running
    /// tasks.
    fn held_text(&self, name: impl Fn(&usize) -> String) -> String {
        if self.held_up.iter().all(|own| !matches!(own.by, "cluster" | "signal")) {
            return String::new();
        }
        let step = |own: &HeldFacts| match own.why() {
            why if why.is_empty() => name(&own.task),
            why => format!("{} ({why})", name(&own.task)),
        };
        let mut steps: Vec<String> = self.held_up.iter().take(SHOWN).map(step).collect();
        if self.held_up.len() > SHOWN {
            steps.push(format!("… {} more", self.held_up.len() - SHOWN));
        }
        format!("the end waited for: {}\n", steps.join(" → "))
    }

    fn clusters_text(&self) -> String {
        let busy: u64 = self.busy.iter().map(|cluster| cluster.busy).sum();
        let used: Vec<_> = self.busy.iter().filter(|cluster| cluster.busy > 0).collect();
        if used.is_empty() {
            return String::new();
        }
        let waited: u64 = self.tasks.iter().map(|task| task.start - task.ready).sum();
        let name =
            |own: &&ClusterFacts| format!("{} {}%", self.cluster_name(own.cluster), percent(own.busy, self.cycles));
        let mut each: Vec<String> = used.iter().take(SHOWN).map(name).collect();
        if used.len() > SHOWN {
            each.push(format!("… {} more", used.len() - SHOWN));
        }
        let clusters = self.clusters * self.devices.max(1);
        let all = self.cycles * u64::from(clusters);
        format!(
            "clusters: {} of {} used, {}% busy; tasks waited {waited} cycles for a free one\n  {}\n",
            used.len(),
            clusters,
            percent(busy, all),
            each.join("  ")
        )
    }
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "0".into() } else { format!("{:.0}", 100.0 * part as f64 / whole as f64) }
}

/// The activity of a program on a board, in cycles of the board.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs)]
pub struct ProgramQueueFacts {
    pub device: String,
    /// Number of launched tasks.
    pub launched: usize,
    /// Launches of workers: one per block.
    pub launches: u64,
    pub workers: usize,
    pub records: u64,
    pub prefetch_commands: u64,
    pub dispatch_commands: u64,
    /// From the first launch to the end of the last.
    pub cycles: u64,
    /// From the start of the board to its end, including buffer transfers to and from DRAM.
    pub all_cycles: u64,
    pub microseconds: f64,
}

impl ProgramQueueFacts {
    /// The lines of the report.
    pub fn text(&self, tasks: usize) -> String {
        format!(
            "queue: {} of {tasks} tasks launched through the command queue of a {}, {} launches of its {} workers, {} cycles of the \
             board\n  {} records, {} prefetch and {} dispatch commands; {} cycles ({:.1} us) with buffers to DRAM and back\n",
            self.launched,
            self.device,
            self.launches,
            self.workers,
            self.cycles,
            self.records,
            self.prefetch_commands,
            self.dispatch_commands,
            self.all_cycles,
            self.microseconds,
        )
    }
}
