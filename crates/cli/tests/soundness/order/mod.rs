//! Order inside a pipe and inside a vector function: random programs whose races an oracle finds by recording every
//! access and every order between two accesses.
//!
//! The oracle has its own representation of the programs (`inner` for vector functions, `pipes` for a Vector core's
//! pipes and blocks), writes their text, and unrolls loops itself. It has no clocks, epochs or shadows: accesses are
//! events, a direct order of two of them is an edge, and [`Before`] is the transitive closure. For small programs, all
//! legal orders are executed as well, and the bytes that each load sees and the final memory show whether the races are
//! real.

mod inner;
mod pipes;
mod witness;

use std::collections::BTreeSet;

use slipring::args::{Defaults, bound};
use slipring::{ExecuteOptions, check, execute, is_finding, load, prepare};
use slipring_check::{Checker, Tools};
use slipring_ir::{Severity, Source};
use slipring_machine::built_in;
use slipring_program::Severity as Level;

/// For each event, the events that come before it in every legal order.
pub struct Before(Vec<u128>);

impl Before {
    /// The closure of direct edges, each from an earlier event to a later one.
    pub fn new(count: usize, direct: impl Fn(usize, usize) -> bool) -> Before {
        assert!(count <= 128, "{count} events");
        let mut before: Vec<u128> = Vec::new();
        for later in 0..count {
            let earlier = (0..later).filter(|earlier| direct(*earlier, later));
            before.push(earlier.fold(0, |all, earlier| all | 1 << earlier | before[earlier]));
        }
        Before(before)
    }

    pub fn orders(&self, earlier: usize, later: usize) -> bool {
        self.0[later] >> earlier & 1 != 0
    }

    /// Calls `f` with legal orders of the events, at most `most` of them; returns whether these were all.
    pub fn each_order(&self, most: usize, f: &mut impl FnMut(&[usize])) -> bool {
        let (mut order, mut left) = (Vec::new(), most);
        self.go_on(0, &mut order, &mut left, f)
    }

    fn go_on(&self, done: u128, order: &mut Vec<usize>, left: &mut usize, f: &mut impl FnMut(&[usize])) -> bool {
        if order.len() == self.0.len() {
            f(order);
            *left -= 1;
            return *left > 0;
        }
        for next in (0..self.0.len()).filter(|next| done >> next & 1 == 0 && self.0[*next] & !done == 0) {
            order.push(next);
            let all = self.go_on(done | 1 << next, order, left, f);
            order.pop();
            if !all {
                return false;
            }
        }
        true
    }
}

/// Two lines of a text, the smaller one first.
pub type Lines = (usize, usize);

pub fn lines(a: usize, b: usize) -> Lines {
    (a.min(b), a.max(b))
}

/// The tools' results for a text.
#[derive(Debug)]
pub struct Said {
    /// Races that are errors, and races that are warnings.
    pub errors: BTreeSet<Lines>,
    pub warnings: BTreeSet<Lines>,
    /// Codes of other errors.
    pub others: BTreeSet<&'static str>,
    /// The verdict assumes that pipes keep their operations in order.
    pub leans: bool,
}

/// Runs a text and collects its races. `None` if it cannot be run.
pub fn said(text: &str, arch: &str, blocks: u32, interpretations: &[&str]) -> Option<Said> {
    let mut platform = built_in(arch).unwrap();
    platform.interpretations.extend(interpretations.iter().map(|name| name.to_string()));
    let (module, mut diags) = load(Source::new("random.pto", text));
    if !diags.has_errors() {
        check(&module, &platform, &mut diags);
        // The programs include overlapping tiles.
        diags.list.retain(|said| !is_finding(said));
    }
    if diags.has_errors() {
        let first = diags.list.iter().find(|d| d.severity == Severity::Error).map(|d| d.message.clone());
        panic!("is not a program: {first:?}\n{text}");
    }
    let prepared = prepare(module, None, &platform, &mut diags)?;
    let program = &prepared.decoded.program;
    let words: Vec<String> = text.lines().next()?.strip_prefix("// args: ")?.split(' ').map(str::to_string).collect();
    let values = bound(&words, &program.params, &Defaults::default()).ok()?;
    let mut checker = Checker::new(Tools { init: false, ..Tools::default() });
    let options = ExecuteOptions { blocks, ..ExecuteOptions::default() };
    let run = execute(&prepared.decoded, &platform, &values, options, &mut checker);
    let report = checker.report(&run.result);
    let line = |site: u32| {
        let from = program.sites[site as usize].span.0 as usize;
        text[..from].matches('\n').count() + 1
    };
    let mut said = Said {
        errors: BTreeSet::new(),
        warnings: BTreeSet::new(),
        others: BTreeSet::new(),
        leans: !report.scope.assumes.is_empty(),
    };
    for finding in &report.findings {
        let error = finding.severity == Level::Error;
        if finding.code != "race" {
            if error {
                said.others.insert(finding.code);
            }
            continue;
        }
        let places: Vec<usize> =
            finding.primary.iter().chain(&finding.secondary).map(|label| line(label.site)).collect();
        let pair = lines(places[0], *places.get(1).unwrap_or(&places[0]));
        if error { &mut said.errors } else { &mut said.warnings }.insert(pair);
    }
    Some(said)
}

/// The results for random programs.
#[derive(Default, Debug)]
pub struct Count {
    pub programs: usize,
    pub refused: usize,
    pub racing: usize,
    pub right: usize,
    /// The number for which all legal orders were executed.
    pub explored: usize,
}

impl Count {
    /// Missed and unfounded reports fail the test: the last two columns are always 0.
    pub const HEAD: &str = "| programs of | tried | other findings | racing | right | all orders carried out | missed | right but reported |";

    pub fn row(&self, name: &str) -> String {
        let Count { programs, refused, racing, right, explored } = self;
        format!("{}\n| {name} | {programs} | {refused} | {racing} | {right} | {explored} | 0 | 0 |", Count::HEAD)
    }
}

/// The number of programs of each form: `SLIPRING_ORDERS`, or a slice.
fn count() -> u64 {
    std::env::var("SLIPRING_ORDERS").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

#[test]
fn vector_functions_in_every_order() {
    let mut all = Count::default();
    for seed in 0..count() {
        inner::judge(seed, &mut all);
    }
    println!("{}", all.row("vector functions"));
    assert!(all.racing * 5 > all.programs && all.right * 5 > all.programs, "{all:?}");
}

#[test]
fn pipes_in_every_order() {
    for arch in ["a2a3", "a5"] {
        let mut all = Count::default();
        for seed in 0..count() {
            pipes::judge(seed, arch, &mut all);
        }
        println!("{}", all.row(&format!("pipes of the {}", arch.to_uppercase())));
        assert!(all.racing * 5 > all.programs && all.right * 5 > all.programs, "{all:?}");
    }
}
