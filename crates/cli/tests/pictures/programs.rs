//! Timelines of whole programs agree with the sums in their tables.

use std::collections::BTreeMap;

use slipring::{CompileRequest, Program, ProgramOptions, ProgramRun, Tensor};
use slipring_report::{SliceKind, Trace, chrome, perfetto};

use super::page::act;
use super::top;
use super::trace::{arrows, read};

/// Programs of the examples and of the file tests that run without explicit arguments.
fn programs() -> Vec<(String, Program)> {
    let mut files = Vec::new();
    for folder in ["examples/programs", "tests/files/programs"] {
        for entry in std::fs::read_dir(top().join(folder)).expect("a folder of programs") {
            files.push(entry.expect("an entry").path());
        }
    }
    files.sort();
    let program = |path: std::path::PathBuf| {
        let program = Program::open(&path, &CompileRequest::default()).ok().flatten()?;
        let name = path.file_name()?.to_string_lossy().into_owned();
        program.arguments(&[], 0).ok().map(|_| (name, program))
    };
    let all: Vec<_> = files.into_iter().filter_map(program).collect();
    assert!(all.len() >= 6, "{}", all.len());
    all
}

fn run(program: &Program, clusters: u32) -> Option<ProgramRun<'_>> {
    let args: Vec<Tensor<'static>> = program.arguments(&[], 0).ok()?;
    let mut options = ProgramOptions::default();
    (options.clusters, options.record) = (Some(clusters), true);
    program.run(args, &options).ok().filter(ProgramRun::is_complete)
}

/// Busy cycles of the pipes, summed over all kernels.
fn busy(trace: &Trace) -> BTreeMap<(String, String), u64> {
    let mut sums = BTreeMap::new();
    for track in trace.tracks.iter().filter(|track| trace.groups[track.group].parent.is_some()) {
        let own =
            track.slices.iter().filter(|slice| slice.kind == SliceKind::Work).map(|slice| slice.cycles()).sum::<u64>();
        *sums.entry((trace.groups[track.group].name.clone(), track.name.clone())).or_default() += own;
    }
    sums.retain(|_, cycles| *cycles > 0);
    sums
}

#[test]
fn timelines_of_programs_say_what_their_tables_say() {
    let (mut looked, mut edges) = (0, 0);
    for (name, program) in programs() {
        let Some(run) = run(&program, 3) else { continue };
        let (facts, trace) = (run.facts(), run.trace().expect("a trace"));
        let slices = read(&perfetto(&trace));
        assert_eq!(arrows(&slices), trace.flows.len(), "{name}");
        assert_eq!(slices.len(), trace.tracks.iter().map(|track| track.slices.len()).sum::<usize>(), "{name}");
        // A slice for each block of a task that ran, as in the table.
        let tasks = trace.tracks.iter().filter(|track| track.name == "tasks");
        let mut shown: Vec<(u64, u64, u64)> = tasks
            .flat_map(|track| &track.slices)
            .map(|slice| (slice.fact("task").expect("a task"), slice.start, slice.end))
            .collect();
        shown.sort_unstable();
        let blocks =
            run.plan().ended.iter().flat_map(|own| own.blocks.iter().map(|block| (own.task as u64, block.1, block.2)));
        let mut wanted: Vec<(u64, u64, u64)> = blocks.collect();
        wanted.sort_unstable();
        assert_eq!(shown, wanted, "{name}");
        // Pipes: as summed in the table; each slice is within a block of its task on its cluster, and slices do not
        // overlap.
        let mut table: BTreeMap<(String, String), u64> = BTreeMap::new();
        for kernel in &facts.kernels {
            for (core, pipe, cycles) in &kernel.pipes {
                *table.entry((core.clone(), pipe.clone())).or_default() += cycles;
            }
        }
        assert_eq!(busy(&trace), table, "{name}");
        for track in trace.tracks.iter().filter(|track| trace.groups[track.group].parent.is_some()) {
            assert!(track.slices.windows(2).all(|pair| pair[0].end <= pair[1].start), "{name}: {}", track.name);
            let cluster = trace.groups[track.group].parent.expect("a cluster");
            let own = trace.tracks.iter().find(|own| own.group == cluster && own.name == "tasks").expect("tasks");
            for slice in &track.slices {
                let task = slice.fact("task");
                let inside = own
                    .slices
                    .iter()
                    .any(|of| of.fact("task") == task && of.start <= slice.start && slice.end <= of.end);
                assert!(inside, "{name}: {slice:?}");
            }
        }
        // An arrow for each edge between tasks that ran.
        let ran = |task: usize| run.plan().ended.iter().any(|own| own.task == task && !own.blocks.is_empty());
        let direct = program.graph().edges.iter().filter(|edge| ran(edge.from) && ran(edge.to)).count();
        let between = trace.flows.iter().filter(|flow| trace.tracks[flow.from.0].name == "tasks").count();
        assert!(between >= direct, "{name}: {between} arrows for {direct} edges");
        assert!(trace.end() <= facts.cycles, "{name}");
        let again = run_again(&program);
        assert!(chrome(&again) == chrome(&trace), "{name}: other bytes");
        (looked, edges) = (looked + 1, edges + direct);
        let lines = run.lines().expect("lines");
        let of_lines: u64 = lines.iter().map(|line| line.busy).sum();
        assert!(of_lines <= table.values().sum(), "{name}");
    }
    assert!(looked >= 4 && edges > 10, "{looked} programs, {edges} edges");
}

fn run_again(program: &Program) -> Trace {
    run(program, 3).expect("runs").trace().expect("a trace")
}

#[test]
fn pages_of_programs_open() {
    let path = top().join("examples/programs/feed_forward.py");
    let program = Program::open(path, &CompileRequest::default()).expect("reads").expect("a program");
    let run = run(&program, 4).expect("runs");
    let page = run.html().expect("a record").expect("a page");
    assert!(page.contains("12 tasks on 4 clusters"));
    let trace = run.trace().expect("a trace");
    let slices: usize = trace.tracks.iter().map(|track| track.slices.len()).sum();
    let script = "say('slices ' + report.slices + ' arrows ' + report.flows);
        const search = document.getElementById('search'); search.value = '#4 '; search.oninput(); say(report.found());
        document.getElementById('next').click(); say(document.getElementById('chosen').textContent.split('\\n')[0]);
        say((document.querySelector('#source tr.chosen') || { id: 'none' }).id);";
    let Some(said) = act(&page, script) else { return };
    assert_eq!(said[0], format!("slices {slices} arrows {}", trace.flows.len()));
    assert_eq!(said[1], "1");
    assert!(said[2].starts_with("#4 relu (r = 32)   cluster ") && said[2].ends_with(" tasks"), "{said:?}");
    assert_eq!(said[3], format!("L{}", program.line(4).number));
}
