//! Effects of work on memory.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use slipring_machine::Question;

use crate::access::{Access, Env, Reorder};
use crate::{Cancel, Causes, Choice, Decision, Kind, Label, Memory, SiteRef};

/// The filler for uninitialised bytes: easily seen in a dump, large as a float of any width, the same in every run.
pub const UNDEFINED: u8 = 0x7b;

/// Why an effect cannot be executed: a finding without its location.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Its kind.
    pub kind: Kind,
    /// What happened, with numbers.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// Its location, if more is known than that of the work.
    pub site: Option<SiteRef>,
    /// Other locations that explain it.
    pub also: Vec<Label>,
}

impl Fault {
    /// A fault at the location of the work, without a hint.
    pub fn new(kind: impl Into<Kind>, message: impl Into<String>) -> Fault {
        Fault { kind: kind.into(), message: message.into(), hint: None, site: None, also: Vec::new() }
    }

    /// Adds another location that explains it.
    pub fn also(mut self, site: SiteRef, text: impl Into<String>) -> Fault {
        self.also.push(Label { site, text: text.into() });
        self
    }

    /// Adds a hint.
    pub fn help(self, hint: impl Into<String>) -> Fault {
        Fault { hint: Some(hint.into()), ..self }
    }
}

/// Buffers that effects reuse, so that nothing is allocated per operation.
#[derive(Debug)]
pub struct Scratch {
    /// Steps that effects may still take. Effects that execute instructions count them here; their caller sets it.
    pub steps: u64,
    /// The cancellation token: effects that execute instructions check it regularly.
    pub cancel: Cancel,
    /// Byte rows.
    pub bytes: [Vec<u8>; 4],
    /// `f32` rows or panels.
    pub floats: [Vec<f32>; 4],
    /// `i32` panels.
    pub ints: [Vec<i32>; 2],
    /// Only the dependence on uninitialised bytes is of interest: comparisons, whose results few values change, then
    /// return something that changes with any.
    pub tries: bool,
    /// Matrix products.
    pub matmul: slipring_tile::matmul::Scratch,
    /// State that vector functions keep between executions.
    pub vector: Option<Box<dyn Any + Send>>,
    /// The order of the next execution's instructions, if it differs from the usual one: set and taken back by the
    /// caller of effects.
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

/// A question on which sources disagree and on which work depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Asked {
    /// The question.
    pub question: &'static Question,
    /// The instruction inside the work that depends on it, with its name, if the work has several.
    pub at: Option<(SiteRef, &'static str)>,
}

/// Output of a program, in order.
#[derive(Clone, Debug)]
pub struct Output {
    /// Lines of `print` and `tprint`, each without its line end.
    pub lines: Vec<String>,
    /// Questions on which sources disagree and on which the current work depends.
    pub questions: Vec<Asked>,
    /// The output limit in bytes, and the part that is left.
    limit: u64,
    left: u64,
}

impl Default for Output {
    fn default() -> Output {
        Output::of_limit(u64::MAX)
    }
}

impl Output {
    /// Empty, with this limit in bytes, line ends included.
    pub fn of_limit(bytes: u64) -> Output {
        Output { lines: Vec::new(), questions: Vec::new(), limit: bytes, left: bytes }
    }

    /// Records that the current work depends on a question on which sources disagree.
    pub fn depends_on(&mut self, question: &'static Question) {
        self.ask(Asked { question, at: None });
    }

    /// Records that an instruction of the current work depends on a question on which sources disagree.
    pub fn ask(&mut self, asked: Asked) {
        if !self.questions.contains(&asked) {
            self.questions.push(asked);
        }
    }

    /// Prints a line.
    ///
    /// # Errors
    /// `output-limit` if the limit is exceeded; earlier output is kept.
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

/// The machine during the execution of an effect.
#[derive(Debug)]
pub struct Run<'a> {
    /// The environment.
    pub env: Env,
    /// All memories.
    pub memory: &'a mut Memory,
    /// Working buffers.
    pub scratch: &'a mut Scratch,
    /// What is printed.
    pub output: &'a mut Output,
}

/// The effect of work: a function on byte ranges known in advance. [`Effect::plan`] is called when the work starts,
/// [`Effect::run`] executes it when it completes.
///
/// `args` are the work's operands, evaluated when the scalar unit issued it. An effect must be deterministic and must
/// touch exactly the bytes named by [`Effect::plan`].
pub trait Effect: Send + Sync + Debug {
    /// Names the bytes that `run` will touch and the size for the cost. `access` is initially empty. The result must
    /// depend only on `args` and `env.core`: it is computed once if all operands are constants.
    ///
    /// # Errors
    /// A fault for invalid operands, such as a valid shape larger than the tile.
    fn plan(&self, args: &[u64], env: Env, access: &mut Access) -> Result<(), Fault>;

    /// Executes the effect. It is called once per execution, after `plan` succeeded and its ranges were found to be
    /// inside their memories. The returned value goes to the work's result register, if it has one.
    ///
    /// # Errors
    /// A fault for data that the operation does not accept.
    fn run(&self, args: &[u64], run: Run<'_>) -> Result<u64, Fault>;

    /// True if argument `index` affects which bytes are touched, or whether the operands are valid; false for a value
    /// that is only stored or computed with.
    fn decides(&self, index: usize) -> bool {
        let _ = index;
        true
    }

    /// True if argument `index`, which does not affect which bytes are touched, may have a value for which
    /// [`Effect::plan`] reports a fault.
    fn doubts(&self, index: usize) -> bool {
        let _ = index;
        false
    }

    /// True if it changes or reads a signal ([`SignalUse`](crate::SignalUse)).
    fn is_signal(&self) -> bool {
        false
    }

    /// What the bytes that it reads decide: which of the named bytes it touches ([`Choice::Access`]), or whether it
    /// reports a fault ([`Choice::Fault`]). If `None`, it accepts all bytes: [`Effect::run`] then reports no fault.
    fn judges(&self) -> Option<Choice> {
        None
    }

    /// True if it reports a fault when the first half of the ranges that it reads differs from the second.
    fn compares(&self) -> bool {
        false
    }

    /// True if it only moves the elements of a tile: a tile that is moved on is still the same tile.
    fn moves(&self) -> bool {
        false
    }

    /// True if it has results besides the bytes that it writes: it prints, or checks what it reads. Such an effect is
    /// executed when it completes; others may be executed later, before their bytes are needed.
    fn answers(&self) -> bool {
        self.judges().is_some()
    }
}

/// An effect whose accesses are known only after it has run: for example vector functions, which compute their
/// addresses and number of iterations themselves. It runs when the work starts.
pub trait Discover: Send + Sync + Debug {
    /// Executes the effect, and names the bytes that it touched and its size for the cost. `access` is initially empty.
    /// The effect itself checks that the bytes exist.
    ///
    /// # Errors
    /// A fault for an access outside a memory, or data that the operation does not accept.
    fn discover(&self, args: &[u64], run: Run<'_>, access: &mut Access) -> Result<u64, Fault>;

    /// Names the decisions in it that depend on loaded data or scalar arguments. `args` are the dependences of its
    /// arguments; `site` is its location. By default, the data it reads decide what it touches.
    fn decisions(&self, args: &[Causes], site: SiteRef, found: &mut Vec<Decision>) {
        let causes = args.iter().fold(Causes::DATA, |all, causes| all.join(*causes));
        decide(causes, Choice::Access, site, found);
    }

    /// True if it touches no global memory.
    fn local(&self) -> bool {
        false
    }

    /// True if it maintains the marks of [`Memory::shadow`] itself.
    fn marks(&self) -> bool {
        false
    }
}

/// The provided methods of [`Effect`] for an effect that contains another one in this field, whose properties it has.
#[macro_export]
macro_rules! effect_of_field {
    ($field:ident) => {
        fn decides(&self, index: usize) -> bool {
            self.$field.decides(index)
        }

        fn doubts(&self, index: usize) -> bool {
            self.$field.doubts(index)
        }

        fn is_signal(&self) -> bool {
            self.$field.is_signal()
        }

        fn judges(&self) -> Option<$crate::Choice> {
            self.$field.judges()
        }

        fn compares(&self) -> bool {
            self.$field.compares()
        }

        fn moves(&self) -> bool {
            self.$field.moves()
        }

        fn answers(&self) -> bool {
            self.$field.answers()
        }
    };
}

/// The provided methods of [`Discover`], likewise.
#[macro_export]
macro_rules! discovery_of_field {
    ($field:ident) => {
        fn decisions(&self, args: &[$crate::Causes], site: $crate::SiteRef, found: &mut Vec<$crate::Decision>) {
            self.$field.decisions(args, site, found);
        }

        fn local(&self) -> bool {
            self.$field.local()
        }

        fn marks(&self) -> bool {
            self.$field.marks()
        }
    };
}

/// The effect of work, of either kind.
#[derive(Clone, Debug)]
pub enum Action {
    /// Its accesses are known in advance.
    Planned(Arc<dyn Effect>),
    /// Its accesses are known only after it has run.
    Discovering(Arc<dyn Discover>),
}

impl Action {
    /// An effect whose accesses are known in advance.
    pub fn planned(effect: impl Effect + 'static) -> Action {
        Action::Planned(Arc::new(effect))
    }

    /// An effect whose accesses are known only after it has run.
    pub fn discovering(effect: impl Discover + 'static) -> Action {
        Action::Discovering(Arc::new(effect))
    }

    /// True if its accesses are known only after it has run.
    pub const fn discovers(&self) -> bool {
        matches!(self, Action::Discovering(_))
    }

    /// True if it compares tiles for slipring, see [`Effect::compares`].
    pub fn compares(&self) -> bool {
        matches!(self, Action::Planned(effect) if effect.compares())
    }

    /// True if it changes or reads a signal.
    pub fn is_signal(&self) -> bool {
        matches!(self, Action::Planned(effect) if effect.is_signal())
    }

    /// Names the decisions in it that depend on loaded data or scalar arguments. `args` are the dependences of its
    /// arguments; `site` is its location.
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
