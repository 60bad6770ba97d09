//! Results that the text of a file alone determines, for each platform it may target.

use std::collections::{BTreeMap, BTreeSet};

use slipring_ir::{Diagnostic, Diags, Module, Severity};
use slipring_machine::Platform;
use slipring_op::{Decoding, Kernel, decode, kernels, not_launched, select_kernel};
use slipring_passes::lint::is_finding;
use slipring_passes::{Outcome, PassContext, run_passes};
use slipring_program::Program;

use crate::assume::{self, Assumed};
use crate::prepare::{check, check_rules, needed_of, which_get_flags};

/// The result for a file on one platform.
#[derive(Debug)]
pub struct Judged {
    /// The platform's name.
    pub platform: String,
    /// All diagnostics.
    pub diags: Diags,
    /// False if the declarations refuse the file on this platform and another platform accepts it: it is not meant for
    /// this one.
    pub applies: bool,
    /// Number of kernels whose rings, memory and synchronisation were analysed.
    pub kernels: usize,
    /// The assumptions about the launches of these kernels, each condition once.
    pub assumed: Vec<String>,
    /// Number of functions that no launch starts, since they take tiles or views: their ops were checked, but not what
    /// their callers determine.
    pub called: usize,
}

impl Judged {
    /// Number of errors.
    pub fn errors(&self) -> usize {
        self.diags.list.iter().filter(|d| d.severity == Severity::Error && !is_finding(d)).count()
    }

    /// Number of findings: errors on some path of a well-formed text.
    pub fn findings(&self) -> usize {
        self.diags.list.iter().filter(|d| is_finding(d)).count()
    }
}

/// Checks a module that was read without errors: the declarations' rules and, for each of its kernels, what the passes
/// and the decoder determine about rings, pairing on all paths, memory and flags. Anything that depends on a run
/// (races, waits, values) is not checked. Paths that no launch takes under the conditions of `assume`, and those of the
/// text, are ignored; a condition applies to each kernel that has all its arguments, and it is an error if there is
/// none.
pub fn judge(module: &Module, platforms: &[Platform], assume: &[String]) -> Vec<Judged> {
    let mut all: Vec<Judged> = platforms.iter().map(|platform| on(module, platform, assume)).collect();
    judge_all_if_none_applies(&mut all);
    all
}

/// For a text that is written for none of the platforms, the errors of all of them count.
pub fn judge_all_if_none_applies(all: &mut [Judged]) {
    if all.iter().all(|judged| !judged.applies) {
        all.iter_mut().for_each(|judged| judged.applies = true);
    }
}

/// Errors in a module that all passes have just produced without a message: its rules, and the decoder's diagnostics
/// for each of its kernels. The passes' own diagnostics have been reported already.
pub(crate) fn wrong_in_built(module: &Module, platform: &Platform) -> Vec<Diagnostic> {
    let mut diags = Diags::default();
    check_rules(module, platform, &mut diags);
    let decoded = |platform: &Platform, diags: &mut Diags| {
        for (_, kernel) in kernels(module) {
            if not_launched(module, &kernel).is_none() {
                let decoded = decode(module, &kernel, platform, Decoding::Device, diags);
                let assumed = decoded.map(|decoded| crate::assume::written(module, &decoded.program));
                diags.list.extend(assumed.ok().and_then(Result::err).map(|wrong| *wrong));
            }
        }
    };
    if !diags.has_errors() {
        decoded(platform, &mut diags);
    }
    if !diags.has_errors() && !cfg!(debug_assertions) {
        return of_library(platform, diags, decoded);
    }
    let said = merged(&judge(module, std::slice::from_ref(platform), &[])).list.into_iter();
    let said: Vec<_> = said.filter(|d| d.severity == Severity::Error && !is_finding(d)).collect();
    debug_assert!(diags.has_errors() || said.is_empty(), "the passes reject their own output: {said:?}");
    if diags.has_errors() { said } else { of_library(platform, diags, decoded) }
}

/// Warnings that concern only code built for the platform's library: those that decoding reports for it and not
/// otherwise.
fn of_library(platform: &Platform, diags: Diags, decoded: impl Fn(&Platform, &mut Diags)) -> Vec<Diagnostic> {
    if !platform.ring.by_library || diags.list.is_empty() {
        return Vec::new();
    }
    let mut own = platform.clone();
    own.ring.by_library = false;
    let mut otherwise = Diags::default();
    decoded(&own, &mut otherwise);
    let is_new = |warning: &Diagnostic| !otherwise.list.iter().any(|other| other.repeats(warning));
    diags.list.into_iter().filter(|said| said.severity == Severity::Warning).filter(is_new).collect()
}

fn on(module: &Module, platform: &Platform, assume: &[String]) -> Judged {
    let mut diags = Diags::default();
    check(module, platform, &mut diags);
    let applies = !diags.list.iter().any(|d| d.severity == Severity::Error && !is_finding(d));
    let (mut count, mut called) = (0, 0);
    let mut asked = Asked { texts: assume, known: Vec::new(), misread: Vec::new() };
    if applies {
        let context = PassContext { platform, insert_sync: which_get_flags(module, false) };
        for (name, kernel) in kernels(module) {
            if not_launched(module, &kernel).is_some() {
                called += 1;
                continue;
            }
            count += 1;
            work_out(module, name.as_deref(), &kernel, &context, &mut asked, &mut diags);
        }
        diags.list.extend(
            asked.misread.iter().flatten().map(|why| Diagnostic::nowhere("assumption", Severity::Error, why.as_str())),
        );
    }
    once(&mut diags);
    Judged { platform: platform.name.clone(), diags, applies, kernels: count, assumed: asked.known, called }
}

/// The requested assumptions about the kernels of a module, and their status.
struct Asked<'a> {
    texts: &'a [String],
    /// Assumptions that apply to some kernel.
    known: Vec<String>,
    /// For each condition, why no kernel so far has its arguments.
    misread: Vec<Option<String>>,
}

impl Asked<'_> {
    /// The assumptions about a kernel, from its text and from the request.
    ///
    /// # Errors
    /// What is wrong with its text.
    fn of(&mut self, module: &Module, program: &Program) -> Result<Assumed, Box<Diagnostic>> {
        let mut all = assume::written(module, program)?;
        for (at, one) in Assumed::each(self.texts, &program.params).into_iter().enumerate() {
            let first = self.misread.len() == at;
            match one {
                Ok(one) => {
                    all = all.and(one);
                    if first { self.misread.push(None) } else { self.misread[at] = None }
                }
                Err(why) if first => self.misread.push(Some(why)),
                Err(_) => {}
            }
        }
        for word in all.words().filter(|word| !word.is_empty()) {
            if !self.known.iter().any(|known| known == word) {
                self.known.push(word.into());
            }
        }
        Ok(all)
    }
}

/// Runs the passes on what a kernel needs and decodes it, for their diagnostics.
fn work_out(
    module: &Module,
    name: Option<&str>,
    kernel: &Kernel,
    context: &PassContext<'_>,
    asked: &mut Asked<'_>,
    diags: &mut Diags,
) {
    // Other kernels of the file are irrelevant, so their number costs nothing.
    let written = needed_of(module, kernel);
    let (mut said, mut given) = (Diags::default(), BTreeMap::new());
    let Some(kernel) = select_kernel(&written, name, &mut said) else { return diags.list.extend(said.list) };
    let mut own = written.clone();
    let by_hand = slipring_passes::analysis::facts::syncs(&own) > 0;
    let platform = context.platform;
    let [cube, vector, _] = kernel.start;
    if run_passes(&mut own, context, None, &mut said, |_, _| {}) == Outcome::Done
        && let Some(chosen) = select_kernel(&own, name, &mut said)
        && let Ok(decoded) = decode(&own, &chosen, platform, Decoding::Device, &mut said)
    {
        match asked.of(&written, &decoded.program) {
            Ok(assumed) => given = assumed.decided(&written, [cube, vector], &decoded.program.params),
            Err(wrong) => said.list.push(*wrong),
        }
    }
    if !said.has_errors() && !kernel.mixed {
        slipring_passes::lint::check(&written, [cube, vector], platform, &given, &mut said);
        if by_hand {
            slipring_passes::sync::scalar::check(&own, platform, &mut said);
        }
    }
    // Notes describe what was done, and nothing is done here.
    diags.list.extend(said.list.into_iter().filter(|d| d.severity >= Severity::Warning));
}

/// Removes messages that repeat another one at the same location.
fn once(diags: &mut Diags) {
    let mut seen = BTreeSet::new();
    diags.list.retain(|d| seen.insert(key(d)));
}

fn key(d: &Diagnostic) -> (&'static str, String, Option<(u32, u32)>) {
    (d.code, d.message.clone(), d.primary.as_ref().map(|p| (p.span.start, p.span.end)))
}

/// The messages of all platforms that the file is meant for, each once, in the order in which they are found; those
/// that only some platforms have name them.
pub fn merged(all: &[Judged]) -> Diags {
    let of: Vec<&Judged> = all.iter().filter(|judged| judged.applies).collect();
    let mut who: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (at, judged) in of.iter().enumerate() {
        judged.diags.list.iter().for_each(|said| who.entry(key(said)).or_default().push(at));
    }
    let mut diags = Diags::default();
    for (at, judged) in of.iter().enumerate() {
        for said in &judged.diags.list {
            let on = &who[&key(said)];
            if on[0] != at {
                continue;
            }
            let mut said = said.clone();
            if on.len() < of.len() {
                let names: Vec<&str> = on.iter().map(|at| of[*at].platform.as_str()).collect();
                said.notes.push(format!("on {}", names.join(" and ")));
            }
            diags.list.push(said);
        }
    }
    diags
}
