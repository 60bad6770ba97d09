//! One point of a grid: the kernel with its values, run and checked.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use serde::{Deserialize, Serialize};
use slipring_ir::Module;
use slipring_machine::Platform;
use slipring_op::function::{ask_split, asks_split};
use slipring_op::ring::{PipeKey, PipeSpec, Split, set_slots, set_slots_by};
use slipring_op::{OpRef, SyncAct};
use slipring_report::{CheckStatus, Verified, digest};
use slipring_tile::Elem;

use super::Tune;
use super::vary::{Setting, WORDS, Word, count, meaning};
use slipring::{
    CompileRequest, DEEPEST, Error, Kernel, Program, ProgramOptions, ProveOptions, Report, RunOption, RunOptions,
    Severity, Subject, VerifyOutcome, Way, slot_buffers,
};
use slipring_prove::Judgement;
use slipring_session::places::Places;
use slipring_session::run::start;
use slipring_session::tensor::Bound;
use slipring_session::{Comparison, Compiled, MemoryUse};

use crate::tune::file::MOST_READ;

/// The result of one point.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Point {
    /// Value of each parameter.
    pub values: BTreeMap<String, String>,
    /// Clean, with findings, stopped without one, or refused. A result that is not written, or only in part, is a
    /// finding.
    pub verdict: CheckStatus,
    /// Why it is not clean.
    pub reason: Option<String>,
    /// Cycles of the run; `None` if it was refused, or did not complete.
    pub cycles: Option<u64>,
    /// The cycles in microseconds of the platform's clock.
    pub microseconds: Option<f64>,
    /// Whether the cycles are an estimate.
    #[serde(default)]
    pub estimate: bool,
    /// The error bound of the cycles in per cent; `None` for an estimate.
    #[serde(default)]
    pub error_percent: Option<f64>,
    /// Bytes of local memory used by the tiles and rings of a cluster: those of the Cube core and of each participating
    /// Vector core.
    pub local_memory: Option<u64>,
    /// The bytes by memory.
    pub memory: Vec<MemoryUse>,
    /// The result of the comparison with the sequential semantics; `None` if it was not made.
    pub verified: Option<Verified>,
    /// FNV-1a, 64 bits, of all buffers after the run; `None` if it did not complete.
    pub result: Option<String>,
    /// FNV-1a, 64 bits, of everything that determines the point: the compiled program, its arguments, the platform, the
    /// options.
    pub of: Option<String>,
}

impl Point {
    /// True if it completed without findings.
    pub fn is_clean(&self) -> bool {
        self.verdict == CheckStatus::Clean
    }

    /// Its cycles, with their error bound.
    pub(super) fn figure(&self) -> String {
        slipring_machine::figure(self.cycles.unwrap_or(0), self.error_percent)
    }

    /// The criterion minimised by the best point: time, since platforms have different clocks, then memory.
    pub(super) fn rank(&self) -> (u64, u64) {
        // Times are nonnegative, so their bits are in numeric order.
        let time = self.microseconds.unwrap_or(f64::INFINITY).to_bits();
        (time, self.local_memory.unwrap_or(u64::MAX))
    }

    pub(super) fn refused(settings: &[Setting], error: &Error) -> Point {
        let first = |report: &Report| {
            let facts = report.facts().into_iter().find(|own| own.severity == Severity::Error)?;
            let line = facts.line.map_or(String::new(), |line| format!(" (line {line})"));
            Some(format!("{}: {}{line}", facts.code, facts.message))
        };
        let said = error.report().and_then(first);
        let reason = said.unwrap_or_else(|| error.to_string().lines().next().unwrap_or_default().to_string());
        Point { verdict: CheckStatus::Refused, reason: Some(reason), ..Point::at(settings) }
    }

    fn at(settings: &[Setting]) -> Point {
        Point {
            values: settings.iter().cloned().collect(),
            verdict: CheckStatus::default(),
            reason: None,
            cycles: None,
            microseconds: None,
            estimate: false,
            error_percent: None,
            local_memory: None,
            memory: Vec::new(),
            verified: None,
            result: None,
            of: None,
        }
    }
}

/// The runnable subject of a point.
enum Runnable {
    Kernel(Box<Kernel>),
    Program(Box<Program>),
}

/// The values of a point other than constants.
#[derive(Clone, Default)]
struct Said {
    /// For all rings, or for those of one pipe.
    slots: Vec<(Option<i64>, u32)>,
    split: Option<Split>,
    blocks: Option<u32>,
    clusters: Option<u32>,
}

impl Tune {
    /// The meaning of a name. A constant of the file takes precedence over a parameter of the kernel, and that over a
    /// name with a general meaning.
    pub(super) fn word(&self, (name, value): &Setting) -> Result<Word, Error> {
        let word = meaning(name);
        if self.is_language() && self.takes(name, value)? {
            return Ok(Word::Constant);
        }
        if self.is_number(name) {
            return Ok(Word::Argument);
        }
        word.ok_or_else(|| {
            let of_kernels = WORDS.iter().filter(|(_, word)| *word != Word::Clusters);
            let words: Vec<String> = of_kernels.map(|(word, _)| format!("`{word}`")).collect();
            Error::Arguments(format!(
                "the file has no constant `{name}`, and the kernel no numeric parameter of that name; tunable names: {}",
                words.join(", ")
            ))
        })
    }

    /// Whether a name is a constant of the file, or a parameter of a function that builds kernels.
    fn takes(&self, name: &str, value: &str) -> Result<bool, Error> {
        Ok(self.asking(&[format!("{name}={value}")])?.input().takes(name))
    }

    /// The file with values for its constants: parsed once for all of them, and lowered once for each recently used
    /// set.
    fn asking(&self, sets: &[String]) -> Result<Subject, Error> {
        let asked = CompileRequest::new(self.function.as_deref(), &self.args, sets)?.language(self.language);
        let mut read = self.read.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |(file, _): &(Subject, Subject)| {
            let source = file.source();
            source.name == self.name && source.text.as_bytes() == self.bytes && source.language == self.is_language()
        };
        if !read.iter().all(same) {
            read.clear();
        }
        if let Some((_, known)) = read.iter().find(|(file, _)| *file.asked() == asked) {
            return Ok(known.clone());
        }
        let file = match read.first() {
            Some((other, _)) => other.asking(&asked),
            None => Subject::read(&self.name, self.bytes.clone(), &asked)?,
        };
        let subject = file.executed()?;
        if read.len() == MOST_READ {
            read.remove(0);
        }
        read.push((file, subject.clone()));
        Ok(subject)
    }

    /// Whether a name is a scalar parameter of the kernel in the original file.
    fn is_number(&self, name: &str) -> bool {
        let Ok((Runnable::Kernel(kernel), _)) = self.runnable(&[], &[]) else { return false };
        let parameters = kernel.parameters().unwrap_or_default();
        parameters.iter().any(|own| own.name == *name && !own.is_buffer && own.elem.is_some())
    }

    /// The subject that results from the values.
    fn runnable(&self, settings: &[Setting], words: &[Word]) -> Result<(Runnable, Said), Error> {
        let mut sets = self.sets.clone();
        let (mut said, mut arch) = (Said::default(), None);
        for ((name, value), word) in settings.iter().zip(words) {
            match word {
                Word::Constant => sets.push(format!("{name}={value}")),
                Word::Slots(pipe) => {
                    let slots = value.parse().ok().filter(|slots| (1..=DEEPEST).contains(slots));
                    let wrong = || Error::Arguments(format!("a ring has from 1 to {DEEPEST} slots, not `{value}`"));
                    said.slots.push((*pipe, slots.ok_or_else(wrong)?));
                }
                Word::Split => {
                    let modes = [("NONE", Split::None), ("UP_DOWN", Split::UpDown), ("LEFT_RIGHT", Split::LeftRight)];
                    let own = value.rsplit('.').next().unwrap_or(value);
                    let mode = modes.iter().find(|(name, _)| *name == own);
                    let wrong =
                        || Error::Arguments(format!("`split` is `UP_DOWN`, `LEFT_RIGHT` or `NONE`, not `{value}`"));
                    said.split = Some(mode.ok_or_else(wrong)?.1);
                }
                Word::Blocks => said.blocks = Some(count(name, value)?),
                Word::Clusters => said.clusters = Some(count(name, value)?),
                Word::Arch => arch = Some(value.as_str()),
                Word::Argument => {}
            }
        }
        let platform = match arch {
            Some(name) => {
                let platform = slipring_machine::built_in(name);
                Some(platform.map_err(|error| Error::Platform(error.to_string()))?)
            }
            None => self.platform.clone(),
        };
        let subject = self.asking(&sets)?;
        if let Some(program) = subject.program()? {
            if !said.slots.is_empty() || said.blocks.is_some() || said.split.is_some() {
                let message = "this is a program: its constants, `clusters` and `arch` can vary";
                return Err(Error::Arguments(message.into()));
            }
            let program = match platform {
                Some(platform) => program.on(platform),
                None => program,
            };
            let program = program.interpretations(self.interpretations.iter().cloned())?;
            return Ok((Runnable::Program(Box::new(program)), said));
        }
        if said.clusters.is_some() {
            return Err(Error::Arguments("`clusters` is for programs, and this is a kernel: vary `blocks`".into()));
        }
        let mut kernel = subject.kernel()?;
        if let Some(platform) = platform {
            kernel = kernel.on(platform);
        }
        let kernel = kernel.insert_sync(self.insert_sync).interpretations(self.interpretations.iter().cloned())?;
        Ok((Runnable::Kernel(Box::new(kernel)), said))
    }

    /// Runs a point. `known` are points of an earlier run, which are reused if nothing that determines them has
    /// changed; with `verify` the run is also compared with the sequential semantics.
    pub(super) fn point_of(&self, settings: &[Setting], words: &[Word], known: &[Point], verify: bool) -> Point {
        let made = self.runnable(settings, words).and_then(|(runnable, said)| match runnable {
            Runnable::Kernel(kernel) => self.kernel_point(*kernel, said, (settings, words), known, verify),
            Runnable::Program(program) => self.program_point(&program, said, settings, known, verify),
        });
        made.unwrap_or_else(|error| Point::refused(settings, &error))
    }

    /// The options of a run in which a result that is not written, or only in part, is an error: a point that leaves some
    /// of its work out is faster.
    fn strict(&self) -> RunOptions {
        let mut run = self.run.clone();
        run.strict = true;
        run
    }

    fn kernel_point(
        &self,
        kernel: Kernel,
        said: Said,
        (settings, words): (&[Setting], &[Word]),
        known: &[Point],
        verify: bool,
    ) -> Result<Point, Error> {
        let mut grown = 1;
        let mut kernel = kernel;
        // Values for one pipe take precedence over those for all.
        let (all, one): (Vec<_>, Vec<_>) = said.slots.iter().partition(|(pipe, _)| pipe.is_none());
        for (pipe, slots) in all.into_iter().chain(one) {
            let own = rings(kernel.compiled()?);
            if own == 0 {
                return Err(Error::Arguments("the kernel has no ring whose `slot_num` could vary".into()));
            }
            grown = grown.max(slots.max(own).div_ceil(own) as usize);
            kernel = deeper(kernel, pipe, slots)?;
        }
        let kernel = match said.split {
            Some(mode) => divided(kernel, mode)?,
            None => kernel,
        };
        let mut options = self.strict();
        options.blocks = said.blocks.or(options.blocks);
        (options.events, options.trace, options.record) = (0, false, false);
        let compiled = kernel.compiled()?.clone();
        let tensors = kernel.arguments_with(&self.args, &self.defaults(), &numbers(&kernel, settings, words)?)?;
        let mut bound = kernel.bind(tensors.into())?;
        if grown > 1 {
            let places = Places::new(&bound);
            for buffer in slot_buffers(&compiled.prepared, &bound) {
                if let Some(slots_of) = places.argument_of(buffer).and_then(|at| bound.get_mut(at)) {
                    slots_of.grow(grown);
                }
            }
        }
        let blocks = kernel.blocks(&options)?;
        let mut all = Everything::of(&kernel.text()?, &compiled.platform, &options);
        all.add(&blocks.to_le_bytes());
        bound.iter().for_each(|value| all.add_value(value));
        let of = all.digest();
        if let Some(known) = earlier(known, settings, &of, verify) {
            return Ok(known);
        }
        let places = Places::new(&bound);
        let slots_of: Vec<Option<usize>> =
            slot_buffers(&compiled.prepared, &bound).into_iter().map(|buffer| places.argument_of(buffer)).collect();
        let run = start(&compiled, bound, blocks, &options)?;
        let verdict = run.verdict();
        let memory = kernel.memory_uses()?;
        let result = run.is_complete().then(|| {
            let mut all = Everything::default();
            // The contents of ring slots are not results.
            let results = (0..run.arguments()).filter(|at| !slots_of.contains(&Some(*at)));
            results.filter_map(|at| run.left(at)).for_each(|left| all.add(left));
            all.digest()
        });
        let verified = (verify && verdict.is_clean()).then(|| {
            let Comparison { outcome, facts, .. } = run.compare();
            match outcome {
                VerifyOutcome::Same(_) => Verified::Same,
                VerifyOutcome::NotChecked(why) => Verified::NotChecked(why),
                VerifyOutcome::Different(..) => Verified::Different,
                VerifyOutcome::Faulty(_) => Verified::Faulty(facts.detail),
            }
        });
        let mut point = Point {
            verdict: verdict.status(),
            reason: reason(run.findings()),
            cycles: run.is_complete().then(|| run.cycles()),
            estimate: run.backing().is_estimate(),
            error_percent: run.backing().error_percent(),
            local_memory: Some(memory.iter().map(MemoryUse::of_cluster).sum()),
            memory,
            result,
            of: Some(of),
            ..Point::at(settings)
        };
        point.verified_as(verified);
        point.timed(&compiled.platform);
        Ok(point)
    }

    fn program_point(
        &self,
        program: &Program,
        said: Said,
        settings: &[Setting],
        known: &[Point],
        verify: bool,
    ) -> Result<Point, Error> {
        if let Some(blocks) = RunOption::named("blocks").filter(|_| self.run.blocks.is_some()) {
            return Err(Error::Arguments(blocks.refused(Way::Program)));
        }
        let run = self.strict();
        let mut options = ProgramOptions::from(&run);
        options.clusters = said.clusters.or(self.clusters);
        let tensors = program.arguments_within(&self.args, self.seed, self.run.limits.memory)?;
        let followed = program.followed(&tensors, &options)?;
        let program = followed.as_ref().unwrap_or(program);
        let platform = program.target()?;
        let mut all = Everything::of(&program.source().text, &platform, &run);
        program.compiled()?.iter().for_each(|own| all.add(slipring_ir::text::print(&own.prepared.module).as_bytes()));
        all.add(format!("{:?} {:?}", options.clusters, program.graph()).as_bytes());
        program.contents(tensors.clone().into())?.iter().flatten().for_each(|bytes| all.add(bytes));
        let of = all.digest();
        if let Some(known) = earlier(known, settings, &of, verify) {
            return Ok(known);
        }
        let run = program.run(tensors, &options)?;
        let errors = run.findings().errors();
        let complete = run.is_complete();
        let memory = program.memory_uses()?.unwrap_or_default();
        let result = complete.then(|| {
            let mut all = Everything::default();
            (0..run.arguments()).filter_map(|at| run.left(at)).for_each(|left| all.add(left));
            run.returned().filter(|own| own.0.is_none()).for_each(|own| all.add(own.3));
            all.digest()
        });
        let verified = match verify && complete && errors == 0 {
            true => {
                let (row, _) = run.compare()?;
                Some(match row.verdict {
                    CheckStatus::Clean => Verified::Same,
                    CheckStatus::NotChecked => Verified::NotChecked(row.detail),
                    _ => Verified::Different,
                })
            }
            false => None,
        };
        let mut point = Point {
            verdict: CheckStatus::of(errors, complete),
            reason: reason(run.findings()),
            cycles: complete.then_some(run.facts().cycles),
            estimate: run.facts().estimate,
            error_percent: run.facts().evidence.error_percent(),
            local_memory: Some(memory.iter().map(MemoryUse::of_cluster).sum()),
            memory,
            result,
            of: Some(of),
            ..Point::at(settings)
        };
        point.verified_as(verified);
        point.timed(&platform);
        Ok(point)
    }
}

impl Tune {
    /// Lines of the file, from 0, that contain only a barrier.
    pub(super) fn barriers(&self) -> Vec<usize> {
        let Ok((Runnable::Kernel(kernel), _)) = self.runnable(&[], &[]) else { return Vec::new() };
        let Ok(compiled) = kernel.compiled() else { return Vec::new() };
        let module = &compiled.prepared.written;
        let line = |id| {
            let op = OpRef::of(module, id).filter(|op| matches!(op.sync(), Some(SyncAct::Barrier(_))))?;
            let span = module.op(op.id).span;
            let (first, last) = (module.source.line_column(span.start).0, module.source.line_column(span.end).0);
            (span.end > span.start && first == last && first > 0).then(|| first - 1)
        };
        let mut lines: Vec<usize> = module.walk(module.top).into_iter().filter_map(line).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// The original module, and its platform; `None` for whole programs, and if it cannot be compiled.
    pub(super) fn written(&self) -> Option<(Module, Platform)> {
        let Ok((Runnable::Kernel(kernel), _)) = self.runnable(&[], &[]) else { return None };
        let compiled = kernel.compiled().ok()?;
        Some((compiled.prepared.written.clone(), compiled.platform.clone()))
    }

    /// The result of `prove` for the original kernel; `None` for whole programs, and if it cannot be determined.
    pub(super) fn judgement(&self) -> Option<Judgement> {
        let Ok((Runnable::Kernel(kernel), _)) = self.runnable(&[], &[]) else { return None };
        let tensors = kernel.arguments_with(&self.args, &self.defaults(), &[]).ok()?;
        let options = ProveOptions { run: self.run.clone(), fix: false, ..ProveOptions::default() };
        kernel.prove(tensors, &options).ok().map(|proof| proof.judgement)
    }
}

/// The scalars that a point passes, by parameter, as on the command line.
fn numbers(kernel: &Kernel, settings: &[Setting], words: &[Word]) -> Result<Vec<(String, String)>, Error> {
    let parameters = kernel.parameters()?;
    let given = settings.iter().zip(words).filter(|(_, word)| **word == Word::Argument);
    let typed = given.map(|((name, value), _)| {
        let elem = parameters.iter().find(|own| own.name == *name).and_then(|own| own.elem);
        let typed = elem.filter(|_| !value.contains(':')).map(|elem| format!("{value}:{elem}"));
        (name.clone(), typed.unwrap_or_else(|| value.clone()))
    });
    Ok(typed.collect())
}

impl Point {
    fn timed(&mut self, platform: &Platform) {
        self.microseconds = self.cycles.map(|cycles| cycles as f64 / f64::from(platform.clock_mhz.max(1)));
    }

    /// A run that differs from its source's semantics must not be used.
    fn verified_as(&mut self, verified: Option<Verified>) {
        self.verified = verified;
        let wrong = match &self.verified {
            Some(Verified::Different) => "the results differ from the sequential semantics".to_string(),
            Some(faulty @ Verified::Faulty(_)) => faulty.to_string(),
            Some(Verified::Same | Verified::NotChecked(_)) | None => return,
        };
        self.verdict = CheckStatus::Findings;
        self.reason = Some(format!("verify: {wrong}"));
    }
}

/// The reusable point of an earlier run.
fn earlier(known: &[Point], settings: &[Setting], of: &str, verify: bool) -> Option<Point> {
    let same = |point: &&Point| {
        point.of.as_deref() == Some(of)
            && point.values.len() == settings.len()
            && settings.iter().all(|(name, value)| point.values.get(name) == Some(value))
            && (!verify || point.verified.is_some())
    };
    known.iter().rev().find(same).cloned()
}

/// Slots of the deepest ring.
fn rings(compiled: &Compiled) -> u32 {
    compiled.prepared.decoded.program.rings.iter().map(|ring| ring.slots).max().unwrap_or(0)
}

/// The kernel with this many slots in its rings, or in those of one pipe created by its text.
fn deeper(kernel: Kernel, pipe: Option<i64>, slots: u32) -> Result<Kernel, Error> {
    let Some(pipe) = pipe else { return kernel.altered(|module, platform| set_slots(module, slots, platform)) };
    let is = |spec: &PipeSpec| spec.key == PipeKey::Id(pipe) || spec.key == PipeKey::Flag(pipe);
    let mut there = false;
    let kernel = kernel.altered(|module, platform| {
        set_slots_by(module, platform, |spec| {
            there |= is(spec);
            if is(spec) { slots } else { spec.slots }
        });
    })?;
    let message = format!("the text makes no pipe with the `id` or first flag {pipe}: there is no `slot_num` to vary");
    if there { Ok(kernel) } else { Err(Error::Arguments(message)) }
}

/// The kernel with this division of its Vector work.
fn divided(kernel: Kernel, mode: Split) -> Result<Kernel, Error> {
    let mut asks = false;
    let kernel = kernel.altered(|module: &mut Module, _| {
        let functions: Vec<_> = module.functions().filter(|function| asks_split(module, *function)).collect();
        asks = !functions.is_empty();
        for function in functions {
            ask_split(module, function, (mode != Split::None).then_some(mode as i64));
        }
    })?;
    match asks {
        true => Ok(kernel),
        false => {
            let message = "no function of the file asks the compiler to divide its Vector work, so `split` cannot vary: \
                           a file that divides it by hand varies its own constants";
            Err(Error::Arguments(message.into()))
        }
    }
}

fn reason(findings: &Report) -> Option<String> {
    let first = findings.facts().into_iter().find(|own| own.severity == Severity::Error)?;
    let line = first.line.map_or(String::new(), |line| format!(" (line {line})"));
    let more = match findings.errors() {
        0 | 1 => String::new(),
        n => format!(", and {} more", n - 1),
    };
    Some(format!("{}: {}{line}{more}", first.code, first.message))
}

/// Everything that determines a point.
#[derive(Default)]
struct Everything(Vec<u8>);

impl Everything {
    fn of(text: &str, platform: &Platform, options: &RunOptions) -> Everything {
        let RunOptions { limits, gm_slack, timing, delays, launches, tools, strict, time_only, .. } = options;
        let how = format!(
            "{} {platform:?} {limits:?} {gm_slack} {timing:?} {delays:?} {launches} {tools:?} {strict} {time_only}",
            env!("CARGO_PKG_VERSION")
        );
        let mut all = Everything::default();
        all.add(how.as_bytes());
        all.add(text.as_bytes());
        all
    }

    /// Lengths separate consecutive parts.
    fn add(&mut self, bytes: &[u8]) {
        let hash = digest(Elem::U8, bytes).hash;
        self.0.extend(format!("{} {hash};", bytes.len()).as_bytes());
    }

    fn add_value(&mut self, value: &Bound<'_>) {
        match value.contents() {
            Some(bytes) => self.add(bytes),
            None => self.add(format!("{:?}", value.bits()).as_bytes()),
        }
    }

    fn digest(&self) -> String {
        digest(Elem::U8, &self.0).hash
    }
}
