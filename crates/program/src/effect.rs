//! What work does to memory.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use slipring_machine::Question;

use crate::access::{Access, Env, Reorder};
use crate::{Cancel, Causes, Choice, Decision, Kind, Label, Memory, SiteRef};

/// What the engine leaves in bytes that are uninitialised: easily seen in a dump, large as a float of any width, the same in
/// every run.
pub const UNDEFINED: u8 = 0x7b;

/// An effect that cannot be carried out: a finding without its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What it is about.
    pub kind: Kind,
    /// What happened, with numbers.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Where, if more is known than the place of the work.
    pub site: Option<SiteRef>,
    /// Other places that explain it.
    pub also: Vec<Label>,
}

impl Fault {
    /// A fault at the place of the work, without a hint.
    pub fn new(kind: impl Into<Kind>, message: impl Into<String>) -> Fault {
        Fault { kind: kind.into(), message: message.into(), hint: None, site: None, also: Vec::new() }
    }

    /// The same with another place that explains it.
    pub fn also(mut self, site: SiteRef, text: impl Into<String>) -> Fault {
        self.also.push(Label { site, text: text.into() });
        self
    }

    /// The same with what to do about it.
    pub fn help(self, hint: impl Into<String>) -> Fault {
        Fault { hint: Some(hint.into()), ..self }
    }
}

/// Buffers that effects reuse, so that nothing is allocated per operation.
#[derive(Debug)]
pub struct Scratch {
    /// Steps that effects may still take. Those that execute instructions count them here; whoever runs them sets it.
    pub steps: u64,
    /// Whether the run shall end: those that execute instructions ask now and then.
    pub cancel: Cancel,
    /// Byte rows.
    pub bytes: [Vec<u8>; 4],
    /// `f32` rows or panels.
    pub floats: [Vec<f32>; 4],
    /// `i32` panels.
    pub ints: [Vec<i32>; 2],
    /// What it is done for is only to see what depends on bytes that are uninitialised: comparisons, whose results few values change, then
    /// give what changes with any.
    pub tries: bool,
    /// Matrix products.
    pub matmul: slipring_tile::matmul::Scratch,
    /// What vector functions keep from one execution to the next.
    pub vector: Option<Box<dyn Any + Send>>,
    /// The order of the next execution's instructions, if it is not the usual one: whoever runs effects sets it, and takes it back.
    pub reorder: Option<Reorder>,
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch {
            steps: u64::MAX,
            cancel: Cancel::default(),
            bytes: Default::default(),
            floats: Default::default(),
            ints: Default::default(),
            tries: false,
            matmul: Default::default(),
            vector: None,
            reorder: None,
        }
    }
}

/// What programs print, in order.
#[derive(Clone, Debug)]
pub struct Output {
    /// Lines of `print` and `tprint`, each without its line end.
    pub lines: Vec<String>,
    /// Questions on which sources disagree and on whose answer what the present work does depends.
    pub questions: Vec<&'static Question>,
    /// Bytes in all that may be printed, and that still may.
    limit: u64,
    left: u64,
}

impl Default for Output {
    fn default() -> Output {
        Output::of_limit(u64::MAX)
    }
}

impl Output {
    /// Nothing yet, and at most so many bytes, line ends included.
    pub fn of_limit(bytes: u64) -> Output {
        Output { lines: Vec::new(), questions: Vec::new(), limit: bytes, left: bytes }
    }

    /// Notes that what the present work does depends on a question on which sources disagree.
    pub fn depends_on(&mut self, question: &'static Question) {
        if !self.questions.contains(&question) {
            self.questions.push(question);
        }
    }

    /// Prints a line.
    ///
    /// # Errors
    /// `output-limit` where no room is left; what was printed before stays.
    pub fn print(&mut self, line: String) -> Result<(), Fault> {
        let Some(left) = self.left.checked_sub(line.len() as u64 + 1) else {
            let fault = Fault::new(
                "output-limit",
                format!("the program was stopped: it prints more than {} bytes", self.limit),
            );
            return Err(
                fault.help("if a loop does not terminate here, correct its bounds; otherwise raise `--max-output`")
            );
        };
        self.left = left;
        self.lines.push(line);
        Ok(())
    }
}

/// The machine while an effect is carried out.
#[derive(Debug)]
pub struct Run<'a> {
    /// Where it runs.
    pub env: Env,
    /// All memories.
    pub memory: &'a mut Memory,
    /// Buffers to work in.
    pub scratch: &'a mut Scratch,
    /// What is printed.
    pub output: &'a mut Output,
}

/// What work does: a function on byte ranges that it knows beforehand. [`Effect::plan`] is asked when the work starts,
/// [`Effect::run`] carries it out when it completes.
///
/// `args` are the work's operands, evaluated when the scalar unit issued it. An effect must be
/// deterministic and must touch exactly what [`Effect::plan`] names.
pub trait Effect: Send + Sync + Debug {
    /// Names the bytes that `run` will touch and the size for the cost. `access` comes cleared. The answer must
    /// depend on `args` and `env.core` only: it is asked for once where all operands are constants.
    ///
    /// # Errors
    /// A fault for operands that make no sense, such as a valid shape larger than the tile.
    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault>;

    /// Carries it out. Called once per execution, after `plan` succeeded and its ranges were found to
    /// lie inside their memories. The value goes to the work's result register, if it has one.
    ///
    /// # Errors
    /// A fault for data that the operation does not accept.
    fn run(&self, args: &[u64], run: Run<'_>) -> Result<u64, Fault>;

    /// True if argument `index` has a say in which bytes are touched, or in whether the operands make sense; false for a
    /// number that is only stored or computed with.
    fn decides(&self, index: usize) -> bool {
        let _ = index;
        true
    }

    /// True if argument `index`, which does not decide which bytes are touched, may be a number that [`Effect::plan`] reports a
    /// fault for.
    fn doubts(&self, index: usize) -> bool {
        let _ = index;
        false
    }

    /// True if it changes or looks at a signal ([`SignalUse`](crate::SignalUse)).
    fn is_signal(&self) -> bool {
        false
    }

    /// What bytes that it reads decide: which of the bytes that it names it touches ([`Choice::Access`]), or whether it reports a
    /// fault ([`Choice::Fault`]). One that says
    /// nothing here works with all bytes: [`Effect::run`] reports no fault then.
    fn judges(&self) -> Option<Choice> {
        None
    }

    /// True if it reports a fault where the first half of the ranges that it reads holds something else than the second one.
    fn compares(&self) -> bool {
        false
    }

    /// True if it moves the elements of a tile and does nothing else: one that is moved on is still the same tile.
    fn moves(&self) -> bool {
        false
    }

    /// True if more comes of it than the bytes that it writes: it prints, or finds fault with what it reads. Then it is carried out
    /// when it completes; others may be carried out later, before their bytes are needed.
    fn answers(&self) -> bool {
        self.judges().is_some()
    }
}

/// What work does that knows what it touches only once it has run: vector functions for one, whose addresses and number of
/// iterations they compute themselves. It runs when the work starts.
pub trait Discover: Send + Sync + Debug {
    /// Carries it out, and names the bytes that it touched and its size for the cost. `access` comes cleared. The effect
    /// itself checks that the bytes exist.
    ///
    /// # Errors
    /// A fault for an access outside a memory, or data that the operation does not accept.
    fn discover(&self, args: &[u64], run: Run<'_>, access: &mut Access) -> Result<u64, Fault>;

    /// Names what loaded data or scalar arguments decide in it. `args` are what its arguments depend on; `site` is its
    /// place. Unless it says more, what it reads decides what it touches.
    fn decisions(&self, args: &[Causes], site: SiteRef, found: &mut Vec<Decision>) {
        let causes = args.iter().fold(Causes::DATA, |all, causes| all.join(*causes));
        decide(causes, Choice::Access, site, found);
    }

    /// True if it touches no global memory.
    fn local(&self) -> bool {
        false
    }

    /// True if it keeps the marks of [`Memory::shadow`] itself.
    fn marks(&self) -> bool {
        false
    }
}

/// What work does, of either kind.
#[derive(Clone, Debug)]
pub enum Action {
    /// It knows beforehand what it touches.
    Planned(Arc<dyn Effect>),
    /// It knows once it has run.
    Discovering(Arc<dyn Discover>),
}

impl Action {
    /// One that knows beforehand what it touches.
    pub fn planned(effect: impl Effect + 'static) -> Action {
        Action::Planned(Arc::new(effect))
    }

    /// One that knows once it has run.
    pub fn discovering(effect: impl Discover + 'static) -> Action {
        Action::Discovering(Arc::new(effect))
    }

    /// True if it knows what it touches only once it has run.
    pub const fn discovers(&self) -> bool {
        matches!(self, Action::Discovering(_))
    }

    /// True if it compares tiles for slipring, as [`Effect::compares`] says.
    pub fn compares(&self) -> bool {
        matches!(self, Action::Planned(effect) if effect.compares())
    }

    /// True if it changes or looks at a signal.
    pub fn is_signal(&self) -> bool {
        matches!(self, Action::Planned(effect) if effect.is_signal())
    }

    /// Names what loaded data or scalar arguments decide in it. `args` are what its arguments depend on; `site` is its
    /// place.
    pub fn decisions(&self, args: &[Causes], site: SiteRef, found: &mut Vec<Decision>) {
        match self {
            Action::Planned(effect) => {
                let judged = effect.judges();
                let of = |choice: Choice, wanted: &dyn Fn(usize) -> bool| {
                    let data = if judged == Some(choice) { Causes::DATA } else { Causes::default() };
                    let args = args.iter().enumerate().filter(|(index, _)| wanted(*index));
                    args.fold(data, |all, (_, causes)| all.join(*causes))
                };
                let access = of(Choice::Access, &|index| effect.decides(index));
                let fault = of(Choice::Fault, &|index| !effect.decides(index) && effect.doubts(index));
                decide(access, Choice::Access, site, found);
                decide(fault, Choice::Fault, site, found);
            }
            Action::Discovering(effect) => effect.decisions(args, site, found),
        }
    }
}

fn decide(causes: Causes, choice: Choice, site: SiteRef, found: &mut Vec<Decision>) {
    if !causes.is_empty() {
        found.push(Decision { site, choice, causes });
    }
}
