//! Every effect keeps to its footprint: run again with every byte turned that it does not say it reads, it writes the same, and
//! bytes that it does not say it writes stay. Driven by the programs of the examples and file tests.
//!
//! A slice of the files each run, another for each value of `SLIPRING_SLICE`; `SLIPRING_SLICE=all` audits all of them and lists
//! the ops with an effect that no program has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use slipring::args::{Defaults, Value, bind};
use slipring::{ExecuteOptions, check, choose_platform, execute, load_file, prepare};
use slipring_dialects::{Dialects, PipeRule};
use slipring_ir::Source;
use slipring_program::{Access, Effect, Env, Extent, Fault, Memory, Output, Scratch, UNDEFINED};
use slipring_sim::Mode;

/// Executions of one op that are audited in a program.
const EACH: u32 = 2;
/// Files of a slice: one in so many.
const SLICES: usize = 8;

#[derive(Default, Debug)]
struct Log {
    audited: BTreeMap<&'static str, u32>,
    wrong: BTreeSet<String>,
}

#[derive(Debug)]
struct Audit {
    name: &'static str,
    inner: Arc<dyn Effect>,
    log: Arc<Mutex<Log>>,
}

impl Audit {
    /// True while the op has not been audited often enough.
    fn due(&self) -> bool {
        let mut log = self.log.lock().unwrap();
        let count = log.audited.entry(self.name).or_default();
        *count += 1;
        *count <= EACH
    }

    fn wrong(&self, what: &str) {
        self.log.lock().unwrap().wrong.insert(format!("`{}` {what}", self.name));
    }

    /// Runs it on a copy, all but the ranges turned; compares with what it left in `after`.
    fn compare(
        &self,
        args: &[u64],
        env: Env,
        before: &Memory,
        after: &Memory,
        access: &Access,
        (output, value): (&Output, u64),
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
        let again = match self.inner.discovers() {
            true => self.inner.discover(args, env, &mut turned, &mut scratch, &mut lines, &mut Access::default()),
            false => self.inner.run(args, env, &mut turned, &mut scratch, &mut lines),
        };
        match again {
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

impl Effect for Audit {
    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault> {
        self.inner.plan(args, env, access)
    }

    fn run(
        &self,
        args: &[u64],
        env: Env,
        memory: &mut Memory,
        s: &mut Scratch,
        output: &mut Output,
    ) -> Result<u64, Fault> {
        if !self.due() {
            return self.inner.run(args, env, memory, s, output);
        }
        let (mut access, before, mut lines) = (Access::default(), memory.clone(), Output::default());
        self.inner.plan(args, env, &mut access)?;
        let value = self.inner.run(args, env, memory, s, &mut lines)?;
        self.compare(args, env, &before, memory, &access, (&lines, value));
        output.lines.append(&mut lines.lines);
        Ok(value)
    }

    fn discovers(&self) -> bool {
        self.inner.discovers()
    }

    fn discover(
        &self,
        args: &[u64],
        env: Env,
        memory: &mut Memory,
        scratch: &mut Scratch,
        output: &mut Output,
        access: &mut Access,
    ) -> Result<u64, Fault> {
        if !self.due() {
            return self.inner.discover(args, env, memory, scratch, output, access);
        }
        let (before, mut lines) = (memory.clone(), Output::default());
        let value = self.inner.discover(args, env, memory, scratch, &mut lines, access)?;
        self.compare(args, env, &before, memory, access, (&lines, value));
        output.lines.append(&mut lines.lines);
        Ok(value)
    }
}

/// The words behind an option of a command line, each time that it is there.
fn option(words: &[&str], name: &str) -> Vec<String> {
    let pairs = words.windows(2).filter(|pair| pair[0] == name);
    pairs.map(|pair| pair[1].to_string()).collect()
}

/// Runs the program of one command line with every effect audited; `None` where it does not get so far.
fn audit(file: &Path, text: &str, words: &[&str]) -> Option<Log> {
    let loaded = load_file(Source::new(file.display().to_string(), text.to_string()));
    let mut diags = loaded.diags;
    if diags.has_errors() {
        return None;
    }
    let platform = choose_platform(option(words, "--arch").first().map(String::as_str), &loaded.module).ok()?;
    check(&loaded.module, &platform, &mut diags);
    let function = option(words, "--func");
    let mut prepared = prepare(loaded.module, function.first().map(String::as_str), &platform, &mut diags)?;
    let log = Arc::new(Mutex::new(Log::default()));
    for core in &mut prepared.decoded.program.cores {
        for work in &mut core.works {
            let inner = work.effect.clone();
            work.effect = Arc::new(Audit { name: work.name, inner, log: log.clone() });
        }
    }
    let folder = file.parent()?.to_path_buf();
    let bound = bind(&option(words, "--arg"), &prepared.kernel.params, &[], &Defaults { seed: 1, folder }).ok()?;
    let values: Vec<Value> = bound.into_iter().map(|arg| arg.value).collect();
    let blocks = option(words, "--blocks").first().and_then(|n| n.parse().ok()).unwrap_or(1).min(2);
    execute(
        &prepared.decoded,
        &platform,
        &values,
        ExecuteOptions { blocks, mode: Mode::Pipes, gm_slack: 0, ..ExecuteOptions::default() },
        &mut (),
    );
    drop(prepared);
    Some(Arc::into_inner(log)?.into_inner().unwrap())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "pto" || e == "py") {
            files.push(path);
        }
    }
}

#[test]
fn effects_keep_to_their_footprints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    collect(&root.join("tests/files"), &mut files);
    let slice = std::env::var("SLIPRING_SLICE").unwrap_or_else(|_| "0".into());
    let number: Option<usize> = slice.parse().ok();
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for (at, file) in files.iter().enumerate() {
        if number.is_some_and(|number| at % SLICES != number % SLICES) {
            continue;
        }
        let text = std::fs::read_to_string(file).unwrap();
        for line in text.lines().filter_map(|line| line.split_once("test: run ")) {
            let words: Vec<&str> = line.1.split_whitespace().collect();
            let Some(log) = audit(file, &text, &words) else { continue };
            seen.extend(log.audited.into_keys());
            wrong.extend(log.wrong.into_iter().map(|what| format!("{}: {what}", file.display())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(!seen.is_empty());
    if number.is_none() {
        let defs = Dialects::get().all().iter();
        let with_pipe = defs.filter(|def| !matches!(def.pipe, PipeRule::None)).map(|def| def.schema.name);
        let missing: Vec<&str> = with_pipe.filter(|name| !seen.contains(name)).collect();
        println!("not seen: {}", missing.join(" "));
    }
}
