//! Whether the flags of a text, whichever compiler has written them, order everything that must be ordered, and none of
//! them is redundant.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use slipring_ir::{Diagnostic, Diags, Kind, Line, Module, OpId, Severity, Source, Span, Type};
use slipring_machine::{CoreKind, Pipe};
use slipring_op::rules::{constant, counted};
use slipring_op::symbol_name;
use slipring_passes::sync::audit::{Audit, NotLooked, audit};
use slipring_passes::sync::check::{Problem, SyncStep};
use slipring_passes::sync::tree::Flag;
use slipring_report::MessageFacts;
use slipring_session::{Opened, message_facts};

/// The results about the flags of a text.
#[derive(Debug)]
pub struct SyncChecked {
    source: Source,
    platform: String,
    kernels: Vec<KernelSync>,
    diags: Diags,
    against: Option<Against>,
}

/// The flags of a kernel on one kind of core.
#[derive(Clone, Serialize, Debug)]
#[non_exhaustive]
pub struct KernelSync {
    /// The function.
    pub function: String,
    /// `cube` or `vector`.
    pub core: &'static str,
    /// Number of pipe ops.
    pub works: usize,
    /// Number of ops that set a flag.
    pub sets: usize,
    /// Number of ops that wait for one.
    pub waits: usize,
    /// Number of barriers.
    pub barriers: usize,
    /// Unordered pairs of work items of which one writes what the other touches; one for each work item and pipe.
    pub unordered: usize,
    /// Unordered pairs that may touch the same bytes, depending on computed offsets.
    pub perhaps: usize,
    /// Flags that are never set, never waited for, set twice or left set on some path.
    pub wrong_flags: usize,
    /// Flags, pairs and barriers that order only hazards already ordered by the others.
    pub superfluous: usize,
    /// Why superfluous ops were not searched for, or not completely.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_looked: Option<String>,
}

/// The differences from an earlier text.
#[derive(Clone, Serialize, Debug, Default)]
#[non_exhaustive]
pub struct Against {
    /// Name of the earlier text.
    pub file: String,
    /// Orders that it had and this text lacks.
    pub lost: usize,
    /// Orders that this text has and it lacked.
    pub gained: Vec<String>,
    /// Kernels whose work differs, which are not compared.
    pub not_compared: Vec<String>,
}

/// The results as data.
#[derive(Serialize, Debug)]
#[non_exhaustive]
pub struct SyncFacts<'a> {
    /// Name of the text.
    pub file: &'a str,
    /// The platform.
    pub platform: &'a str,
    /// Errors: unordered hazards, and wrong flags.
    pub errors: usize,
    /// Warnings: superfluous synchronisation.
    pub warnings: usize,
    /// Kernel by kernel.
    pub kernels: &'a [KernelSync],
    /// The changes, if an earlier text was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<&'a Against>,
    /// What is not checked.
    pub not_checked: &'static str,
    /// All messages.
    pub diagnostics: Vec<MessageFacts>,
}

const NOT_CHECKED: &str = "order between cores and between blocks, deadlocks, values, and whether conditions exclude a path: \
                           `slipring prove` says more";

/// Two unordered work items, by their names in both texts.
type Hazard = (String, String);

impl SyncChecked {
    /// Checks a text that was read without errors, and compares it with an earlier one.
    pub fn of(text: &Opened, earlier: Option<&Opened>) -> SyncChecked {
        let audits = audit(&text.module, &text.platform);
        let mut said = Said { module: &text.module, diags: Diags::default() };
        let mut kernels = Vec::new();
        let before = earlier.map(|old| (old, audit(&old.module, &old.platform)));
        let mut against =
            before.as_ref().map(|(old, _)| Against { file: old.module.source.name.clone(), ..Against::default() });
        for one in &audits {
            let mut lost = BTreeSet::new();
            if let (Some(against), Some((old, old_audits))) = (&mut against, &before) {
                lost = compare(said.module, one, &old.module, old_audits, against);
            }
            kernels.push(said.kernel(one, &lost));
            if let Some(against) = &mut against {
                against.lost += lost.len();
            }
        }
        let mut diags = said.diags;
        // The same op may be in a function that several kernels call.
        let mut seen: Vec<Diagnostic> = Vec::new();
        diags.list.retain(|message| {
            let new = !seen.iter().any(|other| other.repeats(message));
            if new {
                seen.push(message.clone());
            }
            new
        });
        SyncChecked {
            source: text.module.source.as_ref().clone(),
            platform: text.platform.name.clone(),
            kernels,
            diags,
            against,
        }
    }

    /// All diagnostics.
    pub fn diags(&self) -> &Diags {
        &self.diags
    }

    /// The text.
    pub fn source(&self) -> &Source {
        &self.source
    }

    fn count(&self, severity: Severity) -> usize {
        self.diags.list.iter().filter(|message| message.severity == severity).count()
    }

    /// Unordered hazards, and wrong flags.
    pub fn errors(&self) -> usize {
        self.count(Severity::Error)
    }

    /// Superfluous synchronisation.
    pub fn warnings(&self) -> usize {
        self.count(Severity::Warning)
    }

    /// The results as data.
    pub fn facts(&self) -> SyncFacts<'_> {
        SyncFacts {
            file: &self.source.name,
            platform: &self.platform,
            errors: self.errors(),
            warnings: self.warnings(),
            kernels: &self.kernels,
            against: self.against.as_ref(),
            not_checked: NOT_CHECKED,
            diagnostics: self.diags.list.iter().map(|message| message_facts(message, &self.source)).collect(),
        }
    }

    /// The verdict as text.
    pub fn text(&self) -> String {
        let mut text = format!("{} on {}\n", self.source.name, self.platform);
        for one in &self.kernels {
            let KernelSync { function, core, works, sets, waits, barriers, .. } = one;
            text += &format!(
                "\n{function} ({core} core): {}, {}, {}, {}\n",
                counted(*works, "work"),
                counted(*sets, "set"),
                counted(*waits, "wait"),
                counted(*barriers, "barrier")
            );
            text += &match one.unordered {
                0 => "  orders       every hazard has an order\n".to_string(),
                n => format!("  orders       {} without an order\n", counted(n, "hazard")),
            };
            if one.perhaps > 0 {
                let hazards = one.perhaps;
                text += &format!("               {hazards} more if computed offsets meet\n");
            }
            text += &match one.wrong_flags {
                0 => "  flags        each is set once for each wait, and none is left set\n".to_string(),
                n => format!("  flags        {} wrong\n", counted(n, "flag")),
            };
            text += &match (&one.not_looked, one.superfluous) {
                (Some(why), 0) => format!("  superfluous  {why}\n"),
                (Some(why), n) => format!("  superfluous  {n} found; {why}\n"),
                (None, 0) => "  superfluous  none\n".to_string(),
                (None, n) => format!("  superfluous  {n}\n"),
            };
        }
        if !self.kernels.is_empty() && self.kernels.iter().all(|one| one.sets + one.waits + one.barriers == 0) {
            text += "\nthis text has no flags and no barriers: is it really the output of a compiler? `slipring build` adds them\n";
        }
        if self.kernels.is_empty() {
            text += "\nno function has work on a pipe\n";
        }
        if let Some(against) = &self.against {
            text += &format!("\nagainst {}\n  lost         {}\n", against.file, counted(against.lost, "order"));
            text += &format!("  gained       {}\n", counted(against.gained.len(), "order"));
            against.gained.iter().for_each(|order| text += &format!("    {order}\n"));
            against.not_compared.iter().for_each(|why| text += &format!("  not compared {why}\n"));
        }
        text += &format!("\nnot checked: {NOT_CHECKED}\n");
        text
    }
}

/// The orders that an earlier text had and this one lacks; those it gained are reported.
fn compare(module: &Module, one: &Audit, old: &Module, before: &[Audit], against: &mut Against) -> BTreeSet<Hazard> {
    let name = symbol_name(module, one.function).to_string();
    let same =
        before.iter().find(|o| symbol_name(old, o.function) == symbol_name(module, one.function) && o.kind == one.kind);
    let Some(was) = same else {
        against.not_compared.push(format!("`@{name}`: the earlier text has no such kernel"));
        return BTreeSet::new();
    };
    let (names, were) = (names(module, one), self::names(old, was));
    if names != were {
        against.not_compared.push(format!(
            "`@{name}`: its operations are not those of the earlier text ({} now, {} then)",
            names.len(),
            were.len()
        ));
        return BTreeSet::new();
    }
    let (now, then) = (hazards(one, &names), hazards(was, &were));
    for (first, second) in then.difference(&now) {
        against.gained.push(format!("`@{name}`: {first} before {second}"));
    }
    now.difference(&then).cloned().collect()
}

/// Names of a kernel's work items that are comparable between texts: the op, and its index among those of its kind.
fn names(module: &Module, one: &Audit) -> Vec<String> {
    let mut so_far: BTreeMap<String, usize> = BTreeMap::new();
    let name = |op: &OpId| {
        let name = module.op(*op).name.to_string();
        let count = so_far.entry(name.clone()).or_default();
        *count += 1;
        format!("`{name}` {count}")
    };
    one.steps.ops.iter().map(name).collect()
}

fn hazards(one: &Audit, names: &[String]) -> BTreeSet<Hazard> {
    let of = |problem: &Problem| match problem {
        Problem::Race(first, second) => Some((names[*first].clone(), names[*second].clone())),
        _ => None,
    };
    one.problems.iter().filter_map(of).collect()
}

/// Collects the findings.
struct Said<'a> {
    module: &'a Module,
    diags: Diags,
}

impl Said<'_> {
    fn kernel(&mut self, one: &Audit, lost: &BTreeSet<Hazard>) -> KernelSync {
        let names = names(self.module, one);
        let (mut unordered, mut perhaps, mut wrong_flags) = (0, 0, 0);
        for problem in &one.problems {
            match problem {
                Problem::Race(first, second) => {
                    let works = &one.steps.works;
                    let ops = &one.steps.ops;
                    let fixed = self.is_fixed(ops[*first]) && self.is_fixed(ops[*second]);
                    let surely = fixed || works[*first].conflicts_locally(&works[*second]);
                    *(if surely { &mut unordered } else { &mut perhaps }) += 1;
                    let is_lost = lost.contains(&(names[*first].clone(), names[*second].clone()));
                    self.race(one, *first, *second, [surely, is_lost]);
                }
                _ => {
                    wrong_flags += 1;
                    self.flag(one, problem);
                }
            }
        }
        one.superfluous.iter().for_each(|ops| self.superfluous(one, ops));
        let count = |of: &dyn Fn(&SyncStep) -> bool| one.steps.acts.iter().filter(|(_, step)| of(step)).count();
        KernelSync {
            function: symbol_name(self.module, one.function).to_string(),
            core: if one.kind == CoreKind::Cube { "cube" } else { "vector" },
            works: one.steps.works.len(),
            sets: count(&|step| matches!(step, SyncStep::Set(_))),
            waits: count(&|step| matches!(step, SyncStep::Wait(_) | SyncStep::Trust(..))),
            barriers: count(&|step| matches!(step, SyncStep::Barrier(_))),
            unordered,
            perhaps,
            wrong_flags,
            superfluous: one.superfluous.len(),
            not_looked: one.not_looked.map(|why| self.not_looked(why)),
        }
    }

    fn not_looked(&self, why: NotLooked) -> String {
        match why {
            NotLooked::BetweenCores(op) => format!(
                "not looked for: `{}` in line {} is for another core, which may rely on what is ordered before it",
                self.module.op(op).name,
                self.line(op)
            ),
            NotLooked::TooMany => "not all were tried: there are too many".into(),
        }
    }

    /// True if the windows that an op uses have no computed offset.
    fn is_fixed(&self, op: OpId) -> bool {
        let windows = self.module.op(op).operands.iter().filter_map(|value| self.module.defining_op(*value));
        let mut numbers = windows.flat_map(|window| &self.module.op(window).operands);
        numbers.all(|value| *self.module.ty(*value) != Type::Index || constant(self.module, *value).is_some())
    }

    fn span(&self, op: OpId) -> Span {
        self.module.op(op).span
    }

    fn line(&self, op: OpId) -> Line {
        self.module.source.line(self.span(op).start)
    }

    /// Two unordered work items.
    fn race(&mut self, one: &Audit, first: usize, second: usize, [surely, lost]: [bool; 2]) {
        let (old, new) = (one.steps.ops[first], one.steps.ops[second]);
        let (from, to) = (one.steps.works[first].pipe, one.steps.works[second].pipe);
        let (before, after) = (&self.module.op(old).name, &self.module.op(new).name);
        let (kind, then) = match (lost, surely) {
            (true, _) => ("order-lost", ", and in the earlier text it was ordered"),
            (_, true) => ("order-missing", ""),
            (_, false) => ("order-unknown", ": whether they access the same bytes depends on computed offsets"),
        };
        let round = if first >= second { " of an earlier round" } else { "" };
        let message = format!(
            "`{after}` on {to} may start before `{before}` on {from}{round} is complete{then}",
            to = pipe(to),
            from = pipe(from)
        );
        let help = if from == to {
            format!("pipe_barrier of {} between the two", pipe(from))
        } else {
            let pair = format!("[PIPE_{from}, PIPE_{to}, id]");
            format!("set_flag{pair} after `{before}` and wait_flag{pair} before `{after}`")
        };
        let label = if lost { "this order is lost" } else { "this starts too early" };
        let mut said = Diagnostic::error(kind, self.span(new), message).label(label);
        if !surely && !lost {
            said.severity = Severity::Warning;
        }
        self.diags.push(said.also(self.span(old), "one of the two writes what the other accesses").help(help));
    }

    /// The ops of a flag, with those that set it or those that wait for it first.
    fn ops_of(&self, one: &Audit, flag: Flag, sets_first: bool) -> Vec<OpId> {
        let is = |step: &SyncStep, sets: bool| match step {
            SyncStep::Set(own) => sets && *own == flag,
            SyncStep::Wait(own) => !sets && *own == flag,
            _ => false,
        };
        let of = |sets: bool| one.steps.acts.iter().filter(move |(_, step)| is(step, sets)).map(|(op, _)| *op);
        of(sets_first).chain(of(!sets_first)).collect()
    }

    /// A flag that is wrong on some path.
    fn flag(&mut self, one: &Audit, problem: &Problem) {
        let (flag, kind, what, sets_first, help) = match *problem {
            Problem::Race(..) => return,
            Problem::SetTwice(flag) => (
                flag,
                Kind::from("flag-set-twice"),
                "may be set while it is still set",
                true,
                "wait for it before it is set again, or order the set after the wait by a signal back",
            ),
            Problem::NeverSet(flag) => (
                flag,
                Kind::FlagNeverSet,
                "is waited for where nothing sets it: the wait never ends",
                false,
                "set it on every path that leads to the wait, once for each wait",
            ),
            Problem::Unbalanced(flag) => (
                flag,
                Kind::from("flag-unbalanced"),
                "is set on one of two paths that join",
                true,
                "set it, or wait for it, on both paths",
            ),
            Problem::LeftSet(flag) => (
                flag,
                Kind::FlagLeftSet,
                "is still set at the end",
                true,
                "wait for it once for each set: the next kernel starts with it set",
            ),
            Problem::Inside(flag, _) => (
                flag,
                Kind::from("library-flag"),
                "is set while the tile library uses it inside an operation",
                true,
                "use another id, or wait for it before the operation",
            ),
        };
        let ops = self.ops_of(one, flag, sets_first);
        let message = format!("flag {} from {} to {} {what}", flag.id, flag.from, flag.to);
        let Some(first) = ops.first().copied() else {
            self.diags.push(Diagnostic::nowhere(kind, Severity::Error, message).help(help));
            return;
        };
        let mut said = Diagnostic::error(kind, self.span(first), message).help(help);
        for op in ops.into_iter().skip(1).take(3) {
            said = said.also(self.span(op), "and here");
        }
        self.diags.push(said);
    }

    /// Ops without which the same order holds.
    fn superfluous(&mut self, one: &Audit, ops: &[OpId]) {
        let Some(first) = ops.first().copied() else { return };
        let step = one.steps.acts.iter().find(|(op, _)| *op == first).map(|(_, step)| step);
        let what = match step {
            Some(SyncStep::Barrier(Some(pipe))) => format!("this barrier of {pipe}"),
            Some(SyncStep::Barrier(None)) => "this barrier of all pipes".to_string(),
            Some(SyncStep::Set(flag) | SyncStep::Wait(flag)) => {
                format!("flag {} from {} to {}", flag.id, flag.from, flag.to)
            }
            _ => "this".to_string(),
        };
        let message = format!("{what} is superfluous: each hazard that it orders is ordered without it");
        let mut said = Diagnostic::warning("superfluous-sync", self.span(first), message);
        for op in ops.iter().skip(1).take(5) {
            said = said.also(self.span(*op), "this with it");
        }
        self.diags.push(said.help("it can be removed, together with all others reported as superfluous"));
    }
}

fn pipe(pipe: Pipe) -> String {
    if pipe == Pipe::S { "the scalar unit".into() } else { format!("pipe {}", pipe) }
}
