//! Static checks of the text of a file, which holds kernels or a whole program.

use std::sync::Arc;

use slipring_ir::{Diagnostic, Diags, Kind, Module, Severity, Source};
use slipring_machine::Platform;
use slipring_op::rules::counted;
use slipring_passes::lint::is_finding;
use slipring_programs::{DEVICES, Program, ProgramOptions};
use slipring_prove::{OfText, PathFix, mend_paths, mend_words};
use slipring_session::executed::Together;
use slipring_session::{
    Error, Input, Judged, Loaded, RunOption, Way, judge, judge_all_if_none_applies, merged, message_facts,
    waits_for_arguments, written_platform,
};

use crate::facts::{CheckedFacts, PlatformFacts};

/// A text that was checked on the platforms for which it may be written.
#[derive(Debug)]
pub struct Checked {
    module: Module,
    diags: Diags,
    judged: Vec<Judged>,
    /// The first of the platforms.
    platform: Option<Platform>,
    /// Number of functions.
    functions: usize,
}

impl Checked {
    /// Checks a text on the platforms that `platforms` returns for its module, such as [`platforms_of`].
    ///
    /// # Errors
    ///
    /// If there is no such platform. Errors of the text are part of the result.
    #[doc(hidden)]
    pub fn of(input: &Input, platforms: impl Fn(&Module) -> Result<Vec<Platform>, Error>) -> Result<Checked, Error> {
        let mut all = match input.executed_all() {
            Ok(all) => all,
            Err(Error::Text(report)) => {
                let diags = Diags { list: report.messages().to_vec() };
                let module = Module::new(report.source_shared());
                return Ok(Checked { module, diags, judged: Vec::new(), platform: None, functions: 0 });
            }
            Err(other) => return Err(other),
        };
        match all.len() {
            0 => input.executed().and_then(|input| Checked::of_one(&input, platforms)),
            1 => Checked::of_one(&all.remove(0), platforms),
            _ => Checked::of_all(input.source(), &all, platforms),
        }
    }

    /// Checks every kernel and program of an executed file, and merges the results.
    fn of_all(
        file: &Source,
        all: &[Input],
        platforms: impl Fn(&Module) -> Result<Vec<Platform>, Error>,
    ) -> Result<Checked, Error> {
        let (mut together, mut whole) = (Together::new(file), None::<Checked>);
        for input in all {
            let mut one = Checked::of_one(input, &platforms)?;
            one.moved_to(&mut together, input.source());
            let Some(whole) = &mut whole else {
                whole = Some(one);
                continue;
            };
            whole.functions += one.functions;
            whole.diags.list.extend(unsaid(&whole.diags, one.diags.list));
            add_judged(&mut whole.judged, one.judged);
        }
        let mut whole = whole.expect("there are several");
        // Each function may be written for another platform than the next: then the file as a whole is for none.
        judge_all_if_none_applies(&mut whole.judged);
        whole.diags.list.extend(unsaid(&whole.diags, merged(&whole.judged).list));
        whole.module = Module::new(Arc::new(together.into_source()));
        Ok(whole)
    }

    /// Moves the diagnostics from a function's own text to their locations in the file.
    fn moved_to(&mut self, together: &mut Together, own: &Source) {
        let of_platforms = self.judged.iter_mut().map(|judged| &mut judged.diags.list);
        let lists: Vec<&mut Vec<Diagnostic>> = std::iter::once(&mut self.diags.list).chain(of_platforms).collect();
        let lengths: Vec<usize> = lists.iter().map(|list| list.len()).collect();
        // All at once: what is not in the file is appended to it in every call.
        let all = lists.iter().flat_map(|list| list.iter().cloned()).collect();
        let mut moved = together.moved(own, all).into_iter();
        for (list, length) in lists.into_iter().zip(lengths) {
            *list = moved.by_ref().take(length).collect();
        }
    }

    fn of_one(input: &Input, platforms: impl Fn(&Module) -> Result<Vec<Platform>, Error>) -> Result<Checked, Error> {
        let extents = if input.asked().is_open() { input.device_extents() } else { Vec::new() };
        if extents.is_empty() {
            return Checked::read(input, platforms);
        }
        // As many devices as a run has by default.
        let again = input.asking(&input.asked().set_all(&extents, &DEVICES.to_string()));
        let mut judged = Checked::read(&again, &platforms)?;
        if judged.diags.list.iter().any(|said| said.severity == Severity::Error && said.kind.waits_for_arguments()) {
            return Checked::read(input, platforms);
        }
        let names: Vec<String> = extents.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("checked for {DEVICES} devices: {} is {DEVICES}", names.join(", "));
        let note = Diagnostic::nowhere("devices", Severity::Note, message);
        judged.diags.list.push(note.help(format!("use `--set {}=N` for other numbers", extents[0])));
        Ok(judged)
    }

    fn read(input: &Input, platforms: impl Fn(&Module) -> Result<Vec<Platform>, Error>) -> Result<Checked, Error> {
        let nothing = || Module::new(input.source().clone());
        let (module, mut diags, judged, platforms) = match Program::read(input) {
            // The scopes of a whole program are separate kernels; the program's function is not a kernel.
            Ok(Some(_)) if !input.asked().assumed().is_empty() => {
                let refused = RunOption::named("assume").map(|option| option.refused(Way::Program));
                return Err(Error::Arguments(refused.unwrap_or_default()));
            }
            Ok(Some(program)) => {
                let platforms = platforms(&nothing())?;
                let (diags, judged) = of_program(program, &platforms);
                (nothing(), diags, judged, platforms)
            }
            Err(Error::Text(report)) if !waits_for_arguments(&report) || input.has_no_kernels() => {
                let platforms = platforms(&nothing())?;
                (nothing(), Diags { list: report.messages().to_vec() }, Vec::new(), platforms)
            }
            _ => {
                let Loaded { module, mut diags, .. } = input.loaded().clone();
                let platforms = platforms(&module)?;
                let mut judged = Vec::new();
                if let [Diagnostic { kind: Kind::SeveralPrograms, .. }] = diags.list[..] {
                    let (diags, judged) = of_programs(input, &platforms)?;
                    let functions = module.functions().count();
                    return Ok(Checked { module, diags, judged, platform: platforms.into_iter().next(), functions });
                }
                if !diags.has_errors() {
                    // Several programs with kernels: every program is followed.
                    let several = input.asked().names_no_function() && input.programs().len() > 1;
                    if several {
                        diags.list.extend(of_programs(input, &platforms)?.0.list);
                    }
                    judged = judge(&module, &platforms, input.asked().assumed());
                }
                (module, diags, judged, platforms)
            }
        };
        diags.list.extend(merged(&judged).list);
        let functions = module.functions().count();
        Ok(Checked { module, diags, judged, platform: platforms.into_iter().next(), functions })
    }

    /// Searches for edits that leave fewer findings, ideally none; `again` checks a text in the same way as this one.
    /// `None` where there are no findings, no edit was found, or a text of tile ops has errors. A kernel of the
    /// language is fixed where an error states exactly what to write.
    ///
    /// # Errors
    /// Those of `again`.
    pub fn mend(&self, again: impl Fn(Source) -> Result<Checked, Error>) -> Result<Option<PathFix>, Error> {
        let source = self.source();
        if source.language && self.errors() > 0 {
            return mend_words(self, again);
        }
        match &self.platform {
            Some(platform) if !source.language && !source.cpp && self.errors() == 0 => {
                mend_paths(self, platform, again)
            }
            _ => Ok(None),
        }
    }

    /// The text.
    pub fn source(&self) -> &Source {
        &self.module.source
    }

    /// All diagnostics.
    pub fn diags(&self) -> &Diags {
        &self.diags
    }

    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.diags.list.iter().filter(|said| is_error(said)).count()
    }

    /// Number of findings: faults on some path of a well-formed text.
    pub fn findings(&self) -> usize {
        self.diags.list.iter().filter(|said| is_finding(said)).count()
    }

    /// The results as data.
    pub fn facts(&self) -> CheckedFacts {
        let of = |judged: &Judged| PlatformFacts {
            name: judged.platform.clone(),
            applies: judged.applies,
            errors: judged.errors(),
            findings: judged.findings(),
            kernels: judged.kernels,
        };
        CheckedFacts {
            file: self.source().name.clone(),
            error: None,
            errors: self.errors(),
            findings: self.findings(),
            warnings: self.diags.list.iter().filter(|said| said.severity == Severity::Warning).count(),
            assumes: self.assumed(),
            platforms: self.judged.iter().map(of).collect(),
            not_checked: self.not_checked().into(),
            diagnostics: self.diags.list.iter().map(|said| message_facts(said, self.source())).collect(),
            fix: None,
            mended: None,
        }
    }

    /// The verdict as text, and what it does not cover.
    pub fn text(&self) -> String {
        let verdict = match (self.errors(), self.findings()) {
            (0, 0) => "ok".to_string(),
            (0, found) => counted(found, "finding"),
            (errors, 0) => counted(errors, "error"),
            (errors, found) => format!("{} and {}", counted(errors, "error"), counted(found, "finding")),
        };
        // For a file with several programs, count the kernels that they start.
        let own = self.functions;
        let started = self.judged.iter().map(|judged| judged.kernels).max().unwrap_or(0);
        let functions = counted(if own == 0 { started } else { own }, "function");
        format!(
            "{}: {verdict}, {functions}{}\n{}  not checked: {}\n",
            self.source().shown_name(),
            self.on(),
            self.given(),
            self.not_checked()
        )
    }

    /// The assumptions about the launches of its kernels, each condition once.
    fn assumed(&self) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for one in self.judged.iter().flat_map(|judged| &judged.assumed) {
            if !all.contains(one) {
                all.push(one.clone());
            }
        }
        all
    }

    /// The assumptions as a line of text.
    fn given(&self) -> String {
        let all: Vec<String> = self.assumed().iter().map(|one| format!("`{one}`")).collect();
        if all.is_empty() { String::new() } else { format!("  given that the arguments satisfy {}\n", all.join(", ")) }
    }

    /// `, on a5 and a2a3`; or the platforms for which the text is not written, and why.
    fn on(&self) -> String {
        let judged = &self.judged;
        let names = |applies: bool| judged.iter().filter(move |j| j.applies == applies).map(|j| j.platform.as_str());
        let with = |list: Vec<&str>, word: &str| {
            if list.is_empty() { String::new() } else { format!(", {word} {}", list.join(" and ")) }
        };
        let mut refused = judged.iter().filter(|judged| !judged.applies).flat_map(|judged| &judged.diags.list);
        let first = refused.find(|said| said.severity == Severity::Error);
        let why = first.map_or(String::new(), |said| format!(" ({})", said.message));
        with(names(true).collect(), "on") + &with(names(false).collect(), "not for") + &why
    }

    /// What the check does not cover.
    fn not_checked(&self) -> &'static str {
        if self.judged.iter().any(|judged| judged.called > 0) && self.errors() == 0 {
            return "rings, memory and synchronisation of functions that take tiles or views, which depend on the caller; races, deadlocks, bounds and values: use `slipring run`";
        }
        if self.judged.iter().all(|judged| judged.kernels == 0) && self.errors() == 0 {
            return "code that depends on the contents of tensors, with its rings, memory and synchronisation; races, deadlocks, bounds and values: use `slipring run`";
        }
        if self.judged.iter().all(|judged| judged.kernels == 0) {
            return "rings, memory and synchronisation, since the text has errors; races, deadlocks, bounds and values: use `slipring run`";
        }
        "races, deadlocks, bounds and values: use `slipring run`"
    }
}

impl OfText for Checked {
    fn module(&self) -> &Module {
        &self.module
    }

    fn diags(&self) -> &Diags {
        &self.diags
    }

    fn errors(&self) -> usize {
        self.errors()
    }

    fn findings(&self) -> usize {
        self.findings()
    }
}

/// The platforms for which a module may be written: the one that it names, or all built-in ones.
///
/// # Errors
/// If there is no such platform.
pub fn platforms_of(module: &Module) -> Result<Vec<Platform>, Error> {
    let built_in = |name: &str| slipring_machine::built_in(name).map_err(|error| Error::Platform(error.to_string()));
    match written_platform(module) {
        Some(written) => Ok(vec![built_in(written)?]),
        None => slipring_machine::BUILT_IN.iter().map(|name| built_in(name)).collect(),
    }
}

/// Errors of all programs of a text with several, and of their kernels on each platform.
fn of_programs(input: &Input, platforms: &[Platform]) -> Result<(Diags, Vec<Judged>), Error> {
    let mut all = Diags::default();
    let mut judged: Vec<Judged> = Vec::new();
    for name in input.programs() {
        let own = input.asked().function(&name);
        let (said, each) = match Program::read(&input.asking(&own)) {
            Ok(Some(program)) => of_program(program, platforms),
            Ok(None) => continue,
            Err(Error::Text(report)) => (Diags { list: report.messages().to_vec() }, Vec::new()),
            Err(other) => return Err(other),
        };
        all.list.extend(unsaid(&all, said.list));
        add_judged(&mut judged, each);
    }
    all.list.extend(merged(&judged).list);
    Ok((all, judged))
}

/// True for an error of the text itself, not of some path through it.
fn is_error(said: &Diagnostic) -> bool {
    said.severity == Severity::Error && !is_finding(said)
}

/// The diagnostics in `list` that are not among the known ones.
fn unsaid(known: &Diags, list: Vec<Diagnostic>) -> Vec<Diagnostic> {
    list.into_iter().filter(|message| !known.list.contains(message)).collect()
}

/// Merges the results of further kernels, by platform.
fn add_judged(judged: &mut Vec<Judged>, more: Vec<Judged>) {
    for one in more {
        match judged.iter_mut().find(|known| known.platform == one.platform) {
            Some(known) => {
                known.kernels += one.kernels;
                known.applies &= one.applies;
                known.assumed.extend(one.assumed);
                known.diags.list.extend(unsaid(&known.diags, one.diags.list));
            }
            None => judged.push(one),
        }
    }
}

/// Errors of the tasks of a whole program, and of its kernels on each platform.
fn of_program(program: Program, platforms: &[Platform]) -> (Diags, Vec<Judged>) {
    let said = Diags { list: program.report().messages().to_vec() };
    let mut judged = Vec::new();
    let mut program = program;
    for platform in platforms {
        program = program.on(platform.clone());
        let (list, kernels) = kernels_of(&program);
        let diags = Diags { list: unsaid(&said, list) };
        judged.push(Judged {
            platform: platform.name.clone(),
            applies: !diags.list.iter().any(is_error),
            kernels,
            called: 0,
            assumed: Vec::new(),
            diags,
        });
    }
    judge_all_if_none_applies(&mut judged);
    (said, judged)
}

/// The diagnostics of a program's kernels, and the number of kernels without errors.
fn kernels_of(program: &Program) -> (Vec<Diagnostic>, usize) {
    let compiled = |program: &Program| program.compile().map(|report| (report.messages().to_vec(), program.kernels()));
    let done = if program.is_open() {
        // With the arguments of a run that is given none.
        let args = program.arguments(&[], 0);
        let followed = args.and_then(|args| program.follow_for(&args, &ProgramOptions::default(), true));
        match followed {
            Ok(followed) => compiled(followed.as_ref().unwrap_or(program)),
            Err(Error::Text(report)) => Err(Error::Text(report)),
            Err(other) => return (vec![program.not_followed(&other.to_string())], 0),
        }
    } else {
        compiled(program)
    };
    match done {
        Ok(done) => done,
        Err(Error::Text(report)) => (report.messages().to_vec(), 0),
        Err(_) => (Vec::new(), 0),
    }
}
