//! Every effect respects its declared footprint. If it runs again with all bytes inverted that it does not declare as
//! read, it writes the same, and bytes that it does not declare as written do not change. It also works with any other
//! bytes and numbers that it declares as not decisive. The programs are those of the examples and file tests.
//!
//! Each run tests a slice of the files, another one for each value of `SLIPRING_SLICE`; `SLIPRING_SLICE=all` tests all
//! of them. A vector function is one effect: its instructions are audited with it, and instructions that no file uses
//! have functions of their own (`programs.rs`, which also has operations on tiles). `NOT_SEEN` lists the ops with an
//! effect but without a program, and why.

mod attributes;
mod programs;
mod sizes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use slipring::args::{Defaults, bound};
use slipring::{Bound, ExecuteOptions, Prepared, check, choose_platform, execute, load, load_file, prepare};
use slipring_dialects::Dialects;
use slipring_ir::{Diags, Module, Source};
use slipring_lang::KernelInfo;
use slipring_machine::Platform;
use slipring_op::{OpDef, PipeRule};
use slipring_program::{
    Access, Action, Choice, Discover, Effect, Env, Extent, Fault, Memory, Output, Param, Run, Scratch, UNDEFINED,
};
use slipring_sim::Limits;

use crate::here::root;
use crate::matrix::{numbers, run};
use crate::micro::kit;
use crate::{directives, walk};

/// Number of executions of an op that are audited in each program.
const EACH: u32 = 2;
/// One in this many files is part of a slice.
const SLICES: usize = 8;

/// Ops with an effect that no program runs, and why; ops that cannot be run according to their page are not listed. The
/// list may only become shorter.
const NOT_SEEN: [(&str, &str); 2] = [
    ("no meaning is published, so it does not run", "pto.vselrv2"),
    ("it only signals", "pto.tfree_from_aic pto.tfree_from_aiv pto.tfree pto.wait_record"),
];

/// False for an op that is only parsed and verified, according to its page.
fn runs_at_all(def: &OpDef) -> bool {
    let words: Vec<&str> = def.doc.split_whitespace().collect();
    !words.join(" ").to_lowercase().contains("cannot be run yet")
}

#[derive(Default, Debug)]
struct Log {
    audited: BTreeMap<&'static str, u32>,
    wrong: BTreeSet<String>,
}

#[derive(Debug)]
struct Audit<E: ?Sized> {
    name: &'static str,
    inner: Arc<E>,
    log: Arc<Mutex<Log>>,
}

impl<E: ?Sized> Audit<E> {
    /// Whether the op still needs to be audited.
    fn due(&self) -> bool {
        let mut log = self.log.lock().unwrap();
        let count = log.audited.entry(self.name).or_default();
        *count += 1;
        *count <= EACH
    }

    fn wrong(&self, what: &str) {
        self.log.lock().unwrap().wrong.insert(format!("`{}` {what}", self.name));
    }

    /// Tries other bytes and numbers where the effect declares them as not decisive.
    fn decides_nothing_else(&self, effect: &dyn Effect, args: &[u64], env: Env, before: &Memory, access: &Access) {
        for kind in [0x00, 0xff, 0x3c, 0xc3, 0x80] {
            let (mut memory, mut lines, mut scratch) = (before.clone(), Output::default(), Scratch::default());
            for extent in &access.reads {
                for (from, to) in slipring_program::runs(extent, extent.start) {
                    memory.bytes_mut(env, extent.core, extent.space, from, (to - from) as usize).fill(kind);
                }
            }
            let run = Run { env, memory: &mut memory, scratch: &mut scratch, output: &mut lines };
            if effect.judges().is_none() && effect.run(args, run).is_err() {
                self.wrong("reports a fault for bytes that it reads, and does not say that they decide");
            }
        }
        let free = |at: &usize| !effect.decides(*at) && !effect.doubts(*at);
        for at in (0..args.len()).filter(free) {
            for number in [0, 1, 300, 1 << 40, u64::MAX, 1 << 63, 0x7f80_0000, 0x7fc0_0001, 0x3f80_0000] {
                let mut args = args.to_vec();
                args[at] = number;
                let mut other = Access::default();
                let planned = effect.plan(&args, env, &mut other);
                if planned.is_err() || (&other.reads, &other.writes) != (&access.reads, &access.writes) {
                    self.wrong(&format!("decides by its argument {at}, and says that it does not"));
                }
            }
        }
    }

    /// Runs it on a copy in which all bytes outside the ranges are inverted, and compares the result with `after`.
    fn compare(
        &self,
        env: Env,
        before: &Memory,
        after: &Memory,
        access: &Access,
        (output, value): (&Output, u64),
        again: impl FnOnce(Run<'_>) -> Result<u64, Fault>,
    ) {
        let mut untouched = after.clone();
        untouched.copy_ranges(before, &access.writes, env);
        if !untouched.same_bytes(before) {
            self.wrong("writes bytes that it does not name");
        }
        let mut turned = before.clone();
        turned.flip();
        turned.copy_ranges(before, &access.reads, env);
        let (start, mut lines) = (turned.clone(), Output::default());
        let mut scratch = Scratch::default();
        let run = Run { env, memory: &mut turned, scratch: &mut scratch, output: &mut lines };
        match again(run) {
            Ok(again) if again == value && lines.lines == output.lines => {}
            _ => self.wrong("computes something else where bytes differ that it does not name"),
        }
        let mut expected = start.clone();
        expected.copy_ranges(after, &access.writes, env);
        for memory in [&mut expected, &mut turned] {
            access.undefined.iter().for_each(|range: &Extent| memory.fill(range, env, UNDEFINED));
        }
        if !turned.same_bytes(&expected) {
            self.wrong("leaves other bytes where bytes differ that it does not name");
        }
    }
}

impl Effect for Audit<dyn Effect> {
    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault> {
        self.inner.plan(args, env, access)
    }

    fn decides(&self, index: usize) -> bool {
        self.inner.decides(index)
    }

    fn doubts(&self, index: usize) -> bool {
        self.inner.doubts(index)
    }

    fn judges(&self) -> Option<Choice> {
        self.inner.judges()
    }

    fn moves(&self) -> bool {
        self.inner.moves()
    }

    fn compares(&self) -> bool {
        self.inner.compares()
    }

    fn answers(&self) -> bool {
        true
    }

    fn run(&self, args: &[u64], Run { env, memory, scratch: s, output }: Run<'_>) -> Result<u64, Fault> {
        if !self.due() {
            return self.inner.run(args, Run { env, memory, scratch: s, output });
        }
        let (mut access, before, mut lines) = (Access::default(), memory.clone(), Output::default());
        self.inner.plan(args, env, &mut access)?;
        let value = self.inner.run(args, Run { env, memory, scratch: s, output: &mut lines })?;
        self.compare(env, &before, memory, &access, (&lines, value), |run| self.inner.run(args, run));
        self.decides_nothing_else(&*self.inner, args, env, &before, &access);
        output.lines.append(&mut lines.lines);
        Ok(value)
    }
}

impl Discover for Audit<dyn Discover> {
    fn discover(
        &self,
        args: &[u64],
        Run { env, memory, scratch, output }: Run<'_>,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        if !self.due() {
            return self.inner.discover(args, Run { env, memory, scratch, output }, access);
        }
        let (before, mut lines) = (memory.clone(), Output::default());
        let value = self.inner.discover(args, Run { env, memory, scratch, output: &mut lines }, access)?;
        let again = |run: Run<'_>| self.inner.discover(args, run, &mut Access::default());
        self.compare(env, &before, memory, access, (&lines, value), again);
        output.lines.append(&mut lines.lines);
        Ok(value)
    }
}

/// The values of an option on a command line, for each occurrence.
fn option(words: &[&str], name: &str) -> Vec<String> {
    let pairs = words.windows(2).filter(|pair| pair[0] == name);
    pairs.map(|pair| pair[1].to_string()).collect()
}

/// The values of a `name: …` line in the comments at the head of a file.
fn head(text: &str, name: &str) -> Option<Vec<String>> {
    let comments = text.lines().filter_map(|line| line.strip_prefix("//").or_else(|| line.strip_prefix('#')));
    let words = comments.map(str::trim).find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    Some(words.split_whitespace().map(str::to_string).collect())
}

/// Random buffers of the shapes that a kernel of the language declares.
fn declared(kernels: &[KernelInfo], params: &[Param]) -> Option<Vec<String>> {
    let passed = params.iter().filter(|param| param.is_passed());
    let infos = || kernels.iter().flat_map(|kernel| &kernel.params);
    passed
        .map(|param| {
            let info = infos().find(|info| info.name == param.name)?;
            let extents: Vec<String> = info.shape.as_ref()?.iter().map(u64::to_string).collect();
            Some(format!("rand:{}[{}]", info.elem, extents.join("x")))
        })
        .collect()
}

/// The arguments given by a command line or the head of the file.
fn said(text: &str, words: &[&str]) -> Vec<String> {
    let args = option(words, "--arg");
    if args.is_empty() { head(text, "args").unwrap_or_default() } else { args }
}

/// The contents of the parameters: those given, else random numbers.
fn arguments(said: &[String], kernels: &[KernelInfo], params: &[Param], folder: &Path) -> Option<Vec<Bound<'static>>> {
    let made = if said.is_empty() { declared(kernels, params)? } else { Vec::new() };
    let args = if said.is_empty() { &made } else { said };
    bound(args, params, &Defaults { seed: 1, folder: folder.to_path_buf(), ..Defaults::default() }).ok()
}

/// Runs the program of one command line with every effect audited; `None` if it does not run.
fn audit(file: &Path, text: &str, words: &[&str]) -> Option<Log> {
    let loaded = load_file(Source::new(file.display().to_string(), text.to_string()));
    let mut diags = loaded.diags;
    if diags.has_errors() {
        return None;
    }
    let platform = choose_platform(option(words, "--arch").first().map(String::as_str), &loaded.module).ok()?;
    check(&loaded.module, &platform, &mut diags);
    if diags.has_errors() {
        return None;
    }
    let function = option(words, "--func");
    let watched = Watched::new(loaded.module, function.first().map(String::as_str), &platform, &mut diags)?;
    let params = &watched.prepared.kernel.params;
    let values = arguments(&said(text, words), &loaded.kernels, params, file.parent()?)?;
    let blocks = option(words, "--blocks").first().and_then(|n| n.parse().ok()).unwrap_or(1).min(2);
    watched.run(&platform, &values, blocks)
}

/// A program whose effects are all audited.
struct Watched {
    prepared: Prepared,
    /// The ops that it contains.
    present: Vec<&'static str>,
    log: Arc<Mutex<Log>>,
}

impl Watched {
    fn new(module: Module, function: Option<&str>, platform: &Platform, diags: &mut Diags) -> Option<Watched> {
        let defs = Dialects::get().all().iter().map(|def| def.schema.name);
        let present = defs.filter(|name| module.ops_named(name).next().is_some()).collect();
        let mut prepared = prepare(module, function, platform, diags)?;
        let log = Arc::new(Mutex::new(Log::default()));
        for work in prepared.decoded.program.cores.iter_mut().flat_map(|core| &mut core.works) {
            let inner = work.effect.clone();
            let (name, log) = (work.name, log.clone());
            work.effect = match inner {
                Action::Planned(inner) => Action::Planned(Arc::new(Audit { name, inner, log })),
                Action::Discovering(inner) => Action::Discovering(Arc::new(Audit { name, inner, log })),
            };
        }
        Some(Watched { prepared, present, log })
    }

    /// Runs it; returns the audited ops, with instructions of vector functions listed under their functions.
    fn run(self, platform: &Platform, values: &[Bound<'static>], blocks: u32) -> Option<Log> {
        let limits = Limits { steps: 1 << 20, ..Limits::default() };
        let options = ExecuteOptions { blocks, limits, ..ExecuteOptions::default() };
        execute(&self.prepared.decoded, platform, values, options, &mut ());
        drop(self.prepared);
        let mut log = Arc::into_inner(self.log)?.into_inner().unwrap();
        if log.audited.contains_key("pto.vecscope") {
            self.present.into_iter().for_each(|name| *log.audited.entry(name).or_default() += 1);
        }
        Some(log)
    }
}

/// The result of auditing a program around one op; or the error that prevents it from running.
fn audit_program(program: &programs::Program) -> Result<Log, String> {
    let (module, mut diags) = load(Source::new(program.op, program.text.clone()));
    let platform = choose_platform(Some(program.arch), &module).map_err(|error| error.to_string())?;
    if !diags.has_errors() {
        check(&module, &platform, &mut diags);
    }
    let source = module.source.clone();
    let watched = (!diags.has_errors()).then(|| Watched::new(module, None, &platform, &mut diags)).flatten();
    let Some(watched) = watched else { return Err(diags.render(&source, false)) };
    let values: Vec<Bound<'static>> = program.inputs.iter().cloned().map(Bound::buffer).collect();
    let log = watched.run(&platform, &values, 1).ok_or("nothing was audited")?;
    if log.audited.contains_key(program.op) { Ok(log) } else { Err(format!("`{}` did not run", program.op)) }
}

/// The command lines of a file test or example, without `run`.
fn runs(file: &Path, text: &str) -> Vec<String> {
    let commands = directives::commands(file, text);
    let lines: Vec<String> = commands.iter().filter_map(|c| Some(c.strip_prefix("run ")?.to_string())).collect();
    if !lines.is_empty() {
        return lines;
    }
    ["a5", "a2a3"].map(|arch| format!("%s --arch {arch}")).to_vec()
}

#[test]
fn effects_keep_to_their_footprints() {
    let root = root();
    let mut files = walk::files(&root.join("tests/files"), &["pto", "py"]);
    files.extend(walk::files(&root.join("examples"), &["pto", "py"]));
    let number = crate::here::slice();
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for (_, file) in files.iter().enumerate().filter(|(at, _)| number.is_none_or(|n| at % SLICES == n % SLICES)) {
        let text = std::fs::read_to_string(file).unwrap();
        for line in runs(file, &text) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(log) = audit(file, &text, &words) else { continue };
            seen.extend(log.audited.into_keys());
            wrong.extend(log.wrong.into_iter().map(|what| format!("{}: {what}", file.display())));
        }
    }
    for program in programs::all() {
        match audit_program(&program) {
            Ok(log) => {
                seen.extend(log.audited.into_keys());
                wrong.extend(log.wrong.into_iter().map(|what| format!("the program of {}: {what}", program.op)));
            }
            Err(why) => wrong.push(format!("the program of {}: {why}\n{}", program.op, program.text)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let defs = Dialects::get().all().iter();
    let with_pipe =
        defs.filter(|def| !matches!(def.pipe, PipeRule::None) && runs_at_all(def)).map(|def| def.schema.name);
    let missing: Vec<&str> = with_pipe.filter(|name| !seen.contains(name)).collect();
    let (listed, seen_since): (Vec<&str>, Vec<&str>) =
        NOT_SEEN.iter().flat_map(|(_, ops)| ops.split_whitespace()).partition(|name| missing.contains(name));
    assert!(seen_since.is_empty(), "no longer to be listed: {seen_since:?}");
    let new: Vec<&&str> = missing.iter().filter(|name| !listed.contains(name)).collect();
    assert!(number.is_some() || new.is_empty(), "no file test runs these: {new:?}");
    assert!(!seen.is_empty());
}
