//! Integers that a launch is given or that a text contains: which of them are equivalent to those that were run.

use slipring_check::Tools;
use slipring_program::{Choice, Decision, Inst, Operand, ParamKind};

use super::choices::{self, Choices};
use super::counts::{self, Counts};
use super::family::{Family, Number};
use super::launches::NOTHING_LEFT;
use super::{Judgement, Proof, endings};
use slipring_session::Error;
use slipring_session::places::Places;
use slipring_session::tensor::Bound;

use crate::judgement::ALL;
use crate::subject::Subject;

/// A loop in the text with more iterations than this is not run unchanged, if shorter ones show the same.
const LONG: i64 = 1024;
/// The statement that a value is the smallest with a finding.
fn smallest_text(subject: &Subject<'_>, name: &str, value: u64) -> String {
    if (value as i64) < 0 {
        return format!("{name} = {} fails", value as i64);
    }
    let clean = match value {
        0 => String::new(),
        _ if !subject.assumed.is_empty() => "; smaller ones that the assumptions allow are clean".into(),
        1 => "; 0 is clean".into(),
        value => format!("; 0 to {} are clean", value - 1),
    };
    format!("{name} = {value} is the smallest that fails{clean}")
}

/// Scalar parameters that decide something of the wanted kind.
fn params(subject: &Subject<'_>, wanted: impl Fn(&Choice) -> bool) -> Vec<u32> {
    let program = &subject.compiled.prepared.decoded.program;
    let decisions = program.decisions().into_iter().filter(|decision| wanted(&decision.choice));
    let bits = decisions.fold(0, |all, decision| all | decision.causes.params);
    (0..program.params.len() as u32).filter(|at| bits >> at.min(&63) & 1 != 0).collect()
}

/// Scalar parameters that decide the control flow of the kernel.
fn deciding(subject: &Subject<'_>) -> Vec<u32> {
    params(subject, |choice| *choice != Choice::Fault)
}

/// The scope's statement about scalar parameters that only have to be representable in a tile's element type.
fn limited(subject: &Subject<'_>) -> Option<String> {
    let deciding = deciding(subject);
    let own = &subject.compiled.prepared.decoded.program.params;
    let names: Vec<&str> = params(subject, |choice| *choice == Choice::Fault)
        .into_iter()
        .filter(|at| !deciding.contains(at))
        .map(|at| own[at as usize].name.as_str())
        .collect();
    (!names.is_empty()).then(|| format!("every {} that fits the elements of its tile", names.join(" and ")))
}
impl Proof {
    /// Proves a kernel with a long loop in its text by launches with shorter ones; false if that fails.
    pub(super) fn bounds(&mut self, subject: &Subject<'_>, tools: &Tools) -> Result<bool, Error> {
        let program = &subject.compiled.prepared.decoded.program;
        let bound = |inst: &Inst| match inst {
            Inst::JumpIfGe { b: Operand::Imm(bound), .. } if *bound as i64 >= LONG => Some(*bound),
            _ => None,
        };
        let Some(bound) = program.cores.iter().flat_map(|core| &core.insts).filter_map(bound).max() else {
            return Ok(false);
        };
        if !deciding(subject).is_empty() || self.blocks > subject.places() {
            return Ok(false);
        }
        let mut family = Family::new(subject, Number::Bound(bound));
        let Counts::All { tried, period, family } = counts::all(&mut family, tools)? else { return Ok(false) };
        let sizes: Vec<u64> = Places::new(subject.bound).sizes.iter().map(|bytes| *bytes as u64).collect();
        let Some(member) = family.of(bound, period) else { return Ok(false) };
        if !family.leaves_nothing() || !family.stays_inside(bound, period, &sizes) {
            return Ok(false);
        }
        self.found(subject, &member.judged);
        self.judge(subject, &member.judged);
        self.assume(family.given());
        self.explored.push(format!("{} shorter loops with all checks", tried + 1));
        self.scope.counts =
            format!("{bound} of the text: 0 to {tried} rounds were run, and each {period} more do what was seen");
        self.scope.launches = NOTHING_LEFT.into();
        Ok(true)
    }

    /// Searches for the smallest argument with a finding.
    pub(super) fn smallest(&mut self, subject: &Subject<'_>, tools: &Tools) -> Result<(), Error> {
        let [at] = deciding(subject)[..] else { return Ok(()) };
        let param = &subject.compiled.prepared.decoded.program.params[at as usize];
        let given = subject.bound.get(at as usize).and_then(Bound::bits).unwrap_or(0);
        if !matches!(param.kind, ParamKind::Scalar(elem) if !elem.is_float()) || given as i64 <= 0 {
            return Ok(());
        }
        let mut family = Family::new(subject, Number::Param(at));
        if let Counts::Fails(value, member) = counts::as_many_as_fit(&mut family, tools, given)? {
            self.scope.counts = smallest_text(subject, &param.name, value);
            self.fails.arguments = vec![(at, value)];
            self.found(subject, &member.judged);
        }
        Ok(())
    }

    /// Tries both values of a boolean: returns the scope's statement that they were tried, or the one that fails.
    fn both(&mut self, subject: &Subject<'_>, tools: &Tools, at: u32) -> Result<Option<String>, Error> {
        let name = &subject.compiled.prepared.decoded.program.params[at as usize].name;
        let mut family = Family::new(subject, Number::Param(at));
        let numbers = subject.numbers();
        let allowed: Vec<u64> = (0..=1).filter(|value| subject.assumed.allows(at as usize, *value, &numbers)).collect();
        for value in allowed.iter().copied() {
            match counts::one(&mut family, value, tools)? {
                Ok(given) => self.assume(given),
                Err(Counts::Fails(_, member)) => {
                    self.judgement = Judgement::Violated;
                    self.fails.arguments = vec![(at, value)];
                    self.found(subject, &member.judged);
                    return Ok(Some(format!("{name} = {} fails", value != 0)));
                }
                Err(_) => {
                    self.reason(format!("{name} may decide otherwise with another value"));
                    return Ok(None);
                }
            }
        }
        let what = if allowed.len() == 2 { format!("both values of {name}") } else { format!("{name} as assumed") };
        self.explored.push(what.clone());
        Ok(Some(what))
    }

    /// Proves a kernel with every loop and branch that an argument or loaded data decides going either way; false if
    /// that fails, with the reason.
    pub(super) fn chosen(&mut self, subject: &Subject<'_>, tools: &Tools) -> Result<bool, Error> {
        let waves = self.blocks > subject.places();
        if self.judgement != Judgement::NotProved || self.scope.schedules != ALL || waves {
            return Ok(false);
        }
        if let Some(why) = endings::not_shown(subject) {
            self.reason(why);
            return Ok(false);
        }
        let (runs, given) = match choices::all(subject, tools)? {
            Choices::Clean { runs, given } => (runs, given),
            Choices::Open(why) => {
                self.reason(why);
                return Ok(false);
            }
        };
        self.assume(given);
        self.explored.push(format!("{runs} paths through loops and branches"));
        let program = &subject.compiled.prepared.decoded.program;
        let decisions = program.decisions();
        let ways = |causes: fn(&slipring_program::Causes) -> bool| {
            let control = |decision: &Decision| decision.choice == Choice::Control && causes(&decision.causes);
            decisions.iter().any(control)
        };
        let names: Vec<&str> = deciding(subject).iter().map(|at| program.params[*at as usize].name.as_str()).collect();
        if !names.is_empty() {
            let how = match ways(|causes| causes.params != 0) {
                true => "any trip counts and branches",
                false => "they only decide what is accessed",
            };
            self.scope.counts = format!(
                "every {}, while numbers fit their types and buffers are large enough: {how}",
                names.join(" and ")
            );
        }
        if decisions.iter().any(|decision| decision.causes.data) {
            let how = match ways(|causes| causes.data) {
                true => "every branch on loaded data was taken both ways",
                false => "they only decide what is accessed",
            };
            self.scope.values =
                format!("any contents of the buffers that lead to no access past the end of one: {how}");
        }
        (self.judgement, self.reasons) = (Judgement::Proved, Vec::new());
        Ok(true)
    }

    /// Runs the negative values of an argument that the assumptions allow, if they limit them: the smallest one, or 0;
    /// else how it ended.
    fn negative(
        &mut self,
        subject: &Subject<'_>,
        tools: &Tools,
        family: &mut Family<'_>,
        at: u32,
    ) -> Result<Result<i64, Counts>, Error> {
        let param = &subject.compiled.prepared.decoded.program.params[at as usize];
        if matches!(param.kind, ParamKind::Scalar(elem) if !elem.is_signed_int()) {
            return Ok(Ok(0));
        }
        let Some(allowed) = subject.assumed.negative(at as usize, counts::MOST as i64, &subject.numbers()) else {
            return Ok(Err(Counts::Open("the assumptions allow too many negative numbers to run each".into())));
        };
        for value in &allowed {
            match counts::one(family, *value as u64, tools)? {
                Ok(given) => self.assume(given),
                Err(ended) => return Ok(Err(ended)),
            }
        }
        Ok(Ok(allowed.first().copied().unwrap_or(0)))
    }

    /// Other values of the arguments that decide something.
    pub(super) fn arguments(&mut self, subject: &Subject<'_>, tools: &Tools) -> Result<(), Error> {
        let program = &subject.compiled.prepared.decoded.program;
        let deciding = deciding(subject);
        let waves = self.blocks > subject.places();
        let mut lines = Vec::new();
        for at in &deciding {
            let param = &program.params[*at as usize];
            let name = &param.name;
            let other = format!("{name} may decide otherwise with another value");
            if self.judgement == Judgement::Violated {
                break;
            }
            if param.kind == ParamKind::Bool && !waves {
                lines.extend(self.both(subject, tools, *at)?);
                continue;
            }
            match param.kind {
                ParamKind::Scalar(elem) if !elem.is_float() && !waves => {}
                _ => {
                    self.reason(other);
                    continue;
                }
            }
            let assumed = match subject.assumed.of(*at as usize) {
                none if none.is_empty() => none,
                some => format!(" with {some}"),
            };
            let mut family = Family::new(subject, Number::Param(*at));
            let mut counts = counts::all(&mut family, tools)?;
            if let Counts::Open(_) = counts
                && let fit @ (Counts::UpTo(..) | Counts::Each(..) | Counts::Fails(..)) =
                    counts::as_many_as_fit(&mut family, tools, u64::MAX)?
            {
                counts = fit;
            }
            let (first, counts) = match counts {
                known @ (Counts::Fails(..) | Counts::Open(_)) => (0, known),
                known => self
                    .negative(subject, tools, &mut family, *at)?
                    .map_or_else(|other| (0, other), |first| (first, known)),
            };
            match counts {
                Counts::All { tried, period, family } => {
                    self.assume(family.given());
                    if !family.leaves_nothing() {
                        self.scope.launches = format!("{}; with this {name}", self.scope.launches);
                    }
                    self.explored.push(format!("{} values of {name}", tried + 1));
                    let those = if assumed.is_empty() { "" } else { "those of " };
                    lines.push(format!(
                        "every {name} from {first} on{assumed}, while numbers fit their types and buffers are large enough: \
                         {those}{first} to {tried} were run, and each {period} more do what was seen"
                    ));
                }
                Counts::Each(last, given) => {
                    self.assume(given);
                    self.explored.push(format!("the values of {name} up to {last}"));
                    lines.push(format!("every {name} from {first} on{assumed}: each of them was run, up to {last}"));
                }
                Counts::UpTo(last, given) => {
                    self.assume(given);
                    self.explored.push(format!("{} values of {name}", last + 1));
                    lines.push(format!(
                        "{name} from {first} to {last}{assumed}, each of which was run: more than the buffers hold"
                    ));
                }
                Counts::Fails(value, member) => {
                    self.judgement = Judgement::Violated;
                    self.fails.arguments = vec![(*at, value)];
                    lines = vec![smallest_text(subject, name, value)];
                    self.found(subject, &member.judged);
                }
                Counts::Open(why) => {
                    self.reason(format!("{other}: {why}"));
                }
            }
        }
        if self.judgement == Judgement::Violated {
            self.scope.counts = lines.pop().unwrap_or_default();
            return Ok(());
        }
        if deciding.len() > 1 {
            if let Some(line) = self.combinations(subject, tools, &deciding)? {
                (self.judgement, self.reasons) = (Judgement::Proved, Vec::new());
                self.scope.counts = line;
                return Ok(());
            }
            if self.judgement == Judgement::Violated {
                return Ok(());
            }
            self.reason(format!("{} arguments decide something, and each was varied alone", deciding.len()));
        }
        if self.judgement == Judgement::NotProved && self.chosen(subject, tools)? {
            return Ok(());
        }
        lines.extend(limited(subject));
        if !lines.is_empty() {
            self.scope.counts = lines.join("; ");
        }
        Ok(())
    }
}
