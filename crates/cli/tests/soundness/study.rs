//! The study: programs, verdicts, and the oracle's results.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use slipring::{
    Bound, ExecuteOptions, Prepared, VerifyOutcome, execute, load_file, prepare, slot_buffers, to_diagnostics, verify,
};
use slipring_check::Schedules;
use slipring_ir::text::print;
use slipring_ir::{Diags, Severity, Source};
use slipring_machine::built_in;
use slipring_op::{Decoding, decode};
use slipring_program::{Param, ParamKind};
use slipring_sim::ExecutionMode;

use crate::here::root;
use crate::ready::{Ready, args_of, of_blocks};
use crate::soundness::mutate::{Intent, Mutant, mutants, pairs};
use crate::soundness::oracle::{Trial, Wrong, wrong};
use crate::soundness::random;

/// A text and its launch.
struct Subject {
    name: String,
    text: String,
    arch: &'static str,
    blocks: u32,
    words: Vec<String>,
}

/// The size of the study.
pub struct Study {
    pub mutants: usize,
    pub random: usize,
    pub timings: u64,
    pub seed: u64,
}

/// A row: the results for the programs of a class.
#[derive(Default, Clone)]
struct Row {
    programs: usize,
    refused: usize,
    /// Wrong according to the oracle.
    wrong: usize,
    /// All bytes are correct, but a slot is used after its free.
    by_rule: usize,
    caught: usize,
    missed: usize,
    right: usize,
    flagged: usize,
}

/// All rows, and every program on which the tools and the oracle disagree.
#[derive(Default)]
pub struct Table {
    rows: BTreeMap<String, Row>,
    pub holes: Vec<String>,
}

/// The tools' results for a program that ran.
struct Said {
    /// The first error, or `verify` for a difference from the sequential semantics.
    first: Option<String>,
    /// The only errors are races by the platform's rule about order inside one pipe.
    same_pipe: bool,
    /// The verdict covers all schedules.
    all_schedules: bool,
}

/// A program that can be run, and its arguments.
type Given = (Ready, Vec<Bound<'static>>);

fn ready(text: &str, subject: &Subject) -> Option<Given> {
    let ready = Ready::of("mutant.pto", text, &built_in(subject.arch).unwrap()).ok()?;
    let values = ready.values(&subject.words)?;
    Some((ready, values))
}

fn said((ready, values): &Given, blocks: u32) -> Said {
    let Ready { prepared, platform } = ready;
    let (execution, report) = ready.checked(values, blocks);
    let errors: Vec<_> = to_diagnostics(&report.findings, &prepared.decoded.program)
        .into_iter()
        .filter(|d| d.severity == Severity::Error)
        .collect();
    let all_schedules = report.scope.schedules == Schedules::All;
    if let Some(first) = errors.first() {
        let same_pipe = errors.iter().all(|e| e.code == "race" && one_pipe(&e.message));
        return Said { first: Some(format!("{}: {}", first.code, first.message)), same_pipe, all_schedules };
    }
    let mut diags = Diags::default();
    let first = match verify(prepared, platform, values, of_blocks(blocks), &execution, &mut diags) {
        VerifyOutcome::Same(_) => None,
        _ => Some("verify".to_string()),
    };
    Said { first, same_pipe: false, all_schedules }
}

/// Whether a race exists only by the platform's rule about order inside one pipe: timings do not show it.
fn one_pipe(message: &str) -> bool {
    let mut agents = message.split(" on ").skip(1).filter_map(|rest| rest.strip_prefix("pipe "));
    let mut agent = || agents.next().map(|rest| rest.split_whitespace().take(3).collect::<Vec<_>>());
    matches!((agent(), agent()), (Some(a), Some(b)) if a == b)
}

/// The expected contents of each buffer: the sequential semantics.
fn wanted((ready, values): &Given, blocks: u32) -> Option<Vec<Option<Vec<u8>>>> {
    let Ready { prepared, platform } = ready;
    let mut diags = Diags::default();
    let decoded = decode(&prepared.written, &prepared.kernel, platform, Decoding::Reference, &mut diags).ok()?;
    let options = ExecuteOptions { mode: ExecutionMode::Sequential, ..of_blocks(blocks) };
    let run = execute(&decoded, platform, values, options, &mut ());
    let slots = slot_buffers(prepared, values);
    let mut buffers = 0..;
    let mut of = |(index, param): (usize, &Param)| {
        let place = matches!(param.kind, ParamKind::Buffer { .. }).then(|| buffers.next()).flatten()?;
        (!slots.contains(&place)).then(|| run.buffer(values, index).map(<[u8]>::to_vec)).flatten()
    };
    run.result.complete.then(|| decoded.program.params.iter().enumerate().map(&mut of).collect())
}

impl Study {
    /// Tests everything and fills the table.
    pub fn run(&self, table: &mut Table) {
        let subjects = subjects();
        assert!(subjects.len() > 20, "{} programs", subjects.len());
        let mut all: Vec<(usize, Mutant)> = Vec::new();
        for (at, subject) in subjects.iter().enumerate() {
            let ready = ready(&subject.text, subject).unwrap_or_else(|| panic!("{} is not run", subject.name));
            let Some(wanted) = wanted(&ready, subject.blocks) else {
                panic!("{}: no sequential semantics", subject.name)
            };
            let whole =
                Mutant { class: "as it is", intent: Intent::Keep, what: String::new(), text: subject.text.clone() };
            self.judge(table, subject, &whole, Some(&wanted));
            let singles = mutants(&subject.text);
            let doubles = pairs(&subject.text, &singles, singles.len() / 4, self.seed + at as u64);
            all.extend(singles.into_iter().chain(doubles).map(|mutant| (at, mutant)));
        }
        // A fixed stride through all mutants, from a start that depends on the seed.
        let step = (all.len() / self.mutants.max(1)).max(1);
        let mut wants: BTreeMap<usize, Option<Vec<Option<Vec<u8>>>>> = BTreeMap::new();
        for (at, mutant) in all.iter().skip(self.seed as usize % step).step_by(step) {
            let subject = &subjects[*at];
            let wanted = wants
                .entry(*at)
                .or_insert_with(|| ready(&subject.text, subject).and_then(|ready| wanted(&ready, subject.blocks)));
            self.judge(table, subject, mutant, wanted.as_deref());
        }
        for number in 0..self.random as u64 {
            let seed = self.seed.wrapping_mul(1_000_003).wrapping_add(number);
            let text = random::program(seed);
            let words = args_of(&text).expect("random programs say their arguments");
            let subject = Subject { name: format!("random program {seed}"), text, arch: "a5", blocks: 1, words };
            let mutant = Mutant {
                class: "random programs",
                intent: Intent::Break,
                what: String::new(),
                text: subject.text.clone(),
            };
            self.judge(table, &subject, &mutant, None);
        }
    }

    fn judge(&self, table: &mut Table, subject: &Subject, mutant: &Mutant, original: Option<&[Option<Vec<u8>>]>) {
        let row = table.rows.entry(mutant.class.to_string()).or_default();
        row.programs += 1;
        let Some(ready) = ready(&mutant.text, subject) else {
            row.refused += 1;
            return;
        };
        let own;
        let wanted = match original {
            Some(wanted) => wanted,
            None => {
                own = wanted_or_none(&ready, subject.blocks);
                &own
            }
        };
        let Said { first, same_pipe, all_schedules } = said(&ready, subject.blocks);
        let trial = Trial {
            decoded: &ready.0.prepared.decoded,
            platform: &ready.0.platform,
            values: &ready.1,
            blocks: subject.blocks,
            wanted,
            timings: self.timings,
        };
        let refuted = wrong(&trial);
        let label = format!("{} on {}: {}: {}", subject.name, subject.arch, mutant.class, mutant.what);
        let row = table.rows.get_mut(mutant.class).expect("made above");
        match &refuted {
            Some(Wrong::Seen(_)) => row.wrong += 1,
            Some(Wrong::Rule(_)) => row.by_rule += 1,
            None => row.right += 1,
        }
        match (&refuted, &first) {
            (Some(_), Some(_)) => row.caught += 1,
            // Not called clean: the verdict only covers this schedule.
            (Some(_), None) if !all_schedules => row.caught += 1,
            (Some(Wrong::Seen(why) | Wrong::Rule(why)), None) => {
                row.missed += 1;
                table.holes.push(format!("MISSED {label}\n  the oracle: {why}{}", shown(mutant)));
            }
            (None, Some(code)) => {
                // A platform rule about one pipe, or a difference from the sequential semantics, does not depend on
                // timing.
                if !same_pipe {
                    row.flagged += 1;
                    table.holes.push(format!("FLAGGED {label}\n  the tools: {code}{}", shown(mutant)));
                }
            }
            (None, None) => {}
        }
    }
}

fn shown(mutant: &Mutant) -> String {
    match std::env::var("SHOW") {
        Ok(_) => format!("\n{}", mutant.text),
        Err(_) => String::new(),
    }
}

fn wanted_or_none(ready: &Given, blocks: u32) -> Vec<Option<Vec<u8>>> {
    wanted(ready, blocks).unwrap_or_else(|| vec![None; ready.0.prepared.decoded.program.params.len()])
}

fn blocks_of(text: &str) -> u32 {
    let line = text.lines().find_map(|l| l.trim_start().strip_prefix("// blocks:"));
    line.and_then(|n| n.trim().parse().ok()).unwrap_or(1)
}

/// The examples on both platforms, after the passes: their text contains every wait and flag.
fn subjects() -> Vec<Subject> {
    let mut files: Vec<PathBuf> = ["examples", "examples/sync", "examples/pipes", "examples/lang"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root().join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "pto" || e == "py"))
        .collect();
    files.sort();
    let mut list = Vec::new();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        for arch in ["a5", "a2a3"] {
            let platform = built_in(arch).unwrap();
            let loaded = load_file(Source::new(&name, source.as_str()));
            assert!(!loaded.diags.has_errors(), "{name}");
            let mut diags = Diags::default();
            let Some(prepared) = prepare(loaded.module, None, &platform, &mut diags) else { continue };
            let words = args_of(&source).unwrap_or_else(|| made_up(&prepared));
            // As written if the text synchronises itself or leaves rings to be decoded; else as compiled.
            let text = print(&prepared.module);
            let subject = Subject { name: name.clone(), text, arch, blocks: blocks_of(&source), words };
            // Programs that need more than their text (several launches, for example) are skipped.
            if ready(&subject.text, &subject).is_some_and(|ready| wanted(&ready, subject.blocks).is_some()) {
                list.push(subject);
            }
        }
    }
    list
}

/// Arguments for a kernel whose file gives none: numbers for its inputs.
fn made_up(prepared: &Prepared) -> Vec<String> {
    let params = prepared.decoded.program.params.iter().filter(|p| p.is_passed()).enumerate();
    params
        .map(|(at, param)| match &param.kind {
            ParamKind::Buffer { elem, bytes: Some(bytes) } => {
                format!("rand:{elem}[{}],seed={}", bytes / elem.bytes() as u64, at + 1)
            }
            _ => "3:i32".into(),
        })
        .collect()
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "| change | programs | refused | wrong | by rule | caught | missed | right | right but reported |"
        )?;
        writeln!(f, "|---|---|---|---|---|---|---|---|---|")?;
        let mut all = Row::default();
        let line = |f: &mut fmt::Formatter<'_>, name: &str, r: &Row| {
            writeln!(
                f,
                "| {name} | {} | {} | {} | {} | {} | {} | {} | {} |",
                r.programs, r.refused, r.wrong, r.by_rule, r.caught, r.missed, r.right, r.flagged
            )
        };
        for (name, row) in &self.rows {
            line(f, name, row)?;
            all.programs += row.programs;
            all.refused += row.refused;
            all.wrong += row.wrong;
            all.by_rule += row.by_rule;
            all.caught += row.caught;
            all.missed += row.missed;
            all.right += row.right;
            all.flagged += row.flagged;
        }
        line(f, "all", &all)
    }
}
