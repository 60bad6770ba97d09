//! The definition of an option, and its effect on a request.

use std::fmt;
use std::ops::RangeInclusive;

use Way::{Board, BoardProgram, Check, Kernel, Program, Proof, Rings, Stepping, Tune};

use crate::{Error, RunOptions};

/// The action, and its subject.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// A kernel is run.
    Kernel,
    /// A whole program is run.
    Program,
    /// A kernel is run through the command queue of a board.
    Board,
    /// A whole program is run through the command queue of a board.
    BoardProgram,
    /// A kernel is proved.
    Proof,
    /// A kernel is run for a report of its rings.
    Rings,
    /// A kernel is run, to step through its events.
    Stepping,
    /// A kernel or whole program is run at many points.
    Tune,
    /// A text is checked, and nothing is run.
    Check,
}

pub(super) const ALL: &[Way] = &[Kernel, Program, Board, BoardProgram, Proof, Rings, Stepping, Tune];
pub(super) const OF_KERNELS: &[Way] = &[Kernel, Board, Proof, Rings, Stepping, Tune];
pub(super) const OF_PROGRAMS: &[Way] = &[Program, BoardProgram];
pub(super) const ON_BOARDS: &[Way] = &[Board, BoardProgram];

/// An option of a run.
pub struct RunOption {
    /// Its name: `gm_slack`. On the command line it has dashes: `--gm-slack`.
    pub name: &'static str,
    /// The value it takes, and where that is stored.
    pub takes: Takes,
    /// The name of its value.
    pub value: &'static str,
    /// Its description.
    pub help: &'static str,
    /// The ways of running that accept it.
    pub of: &'static [Way],
    /// The alternative for other ways, or why they have none.
    pub instead: &'static [(Way, &'static str)],
    /// Options that make it pointless.
    pub unless: &'static [&'static str],
    /// Why it is not on the command line, if so.
    pub not_on_command_line: Option<&'static str>,
    /// Why it is not in Python, if so.
    pub not_in_python: Option<&'static str>,
    /// Whether it is an argument if the kernel has a parameter of that name.
    pub yields: bool,
    /// Tells whether a request's value of this option requires the launch to run in one piece; `None`: its blocks may
    /// be run in parts.
    pub whole: Option<fn(&RunRequest) -> bool>,
}

impl fmt::Debug for RunOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Setters for one text, and for several.
type Read = fn(&mut RunRequest, &str) -> Result<(), String>;
type ReadAll = fn(&mut RunRequest, Vec<String>) -> Result<(), String>;

/// The value of an option.
pub enum Takes {
    /// An integer within bounds.
    Number(RangeInclusive<u64>, fn(&mut RunRequest) -> &mut dyn Number),
    /// Yes or no.
    Flag(fn(&mut RunRequest) -> &mut bool),
    /// A text: its default, and its allowed forms.
    Text(Option<&'static str>, &'static str, Read),
    /// Several words, in one text or in a list: the default, and the allowed forms.
    Words(&'static str, &'static str, Read),
    /// Several texts; the form of one of them.
    Texts(&'static str, ReadAll),
    /// As `Texts`, read from a file on the command line, one per line.
    Lines(&'static str, ReadAll),
    /// Contents of memories.
    Contents(fn(&mut RunRequest, Vec<Vec<u8>>)),
    /// A value that only the interface itself can hold.
    Own,
}

/// An integer that an option sets.
pub trait Number {
    /// Its value.
    fn get(&self) -> Option<u64>;
    /// Sets it to a value within the bounds of its option.
    fn set(&mut self, number: u64);
}

macro_rules! numbers {
    ($($int:ty),+) => {
        $(
            impl Number for $int {
                fn get(&self) -> Option<u64> {
                    Some(*self as u64)
                }

                fn set(&mut self, number: u64) {
                    *self = number as $int;
                }
            }

            impl Number for Option<$int> {
                fn get(&self) -> Option<u64> {
                    self.map(|own| own as u64)
                }

                fn set(&mut self, number: u64) {
                    *self = Some(number as $int);
                }
            }
        )+
    };
}

numbers!(u32, u64, usize);

/// The value that an interface was given for an option.
#[derive(Clone, PartialEq, Debug)]
pub enum Given {
    /// Nothing: as if it had not been given, if nothing is the default.
    Nothing,
    /// Yes or no.
    Flag(bool),
    /// An integer.
    Whole(i128),
    /// A text.
    Text(String),
    /// Several texts.
    Texts(Vec<String>),
    /// Contents of memories.
    Contents(Vec<Vec<u8>>),
    /// Anything else, with its name for messages.
    Other(String),
}

impl fmt::Display for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Given::Nothing => f.write_str("nothing"),
            Given::Flag(flag) => write!(f, "{flag}"),
            Given::Whole(number) => write!(f, "{number}"),
            Given::Text(text) => write!(f, "`{text}`"),
            Given::Texts(_) => f.write_str("a list of texts"),
            Given::Contents(_) => f.write_str("a list of bytes"),
            Given::Other(what) => f.write_str(what),
        }
    }
}

/// Why an option was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OptionError {
    pub(super) name: String,
    pub(super) reason: String,
    /// True if the given value has the right type.
    pub is_of_type: bool,
}

impl OptionError {
    /// The error, without the option.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for OptionError {
    /// With the option as spelled on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`--{}` {}", dashed(&self.name), self.reason)
    }
}

impl From<OptionError> for Error {
    fn from(error: OptionError) -> Error {
        Error::Arguments(error.to_string())
    }
}

/// A name as spelled on the command line, without leading dashes.
pub(super) fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

/// Options of a run by name, whatever is run and in whichever way.
#[derive(Clone, Debug, Default)]
pub struct RunRequest {
    /// Options of a kernel's run, or of those of a whole program's tasks.
    pub run: RunOptions,
    /// Whether the sequential semantics are run, too.
    pub verify: bool,
    /// Clusters of a whole program.
    pub clusters: Option<u32>,
    /// Devices of a whole program.
    pub devices: Option<u32>,
    /// Selects which of several ready tasks starts.
    pub order: u64,
    /// The initial contents of the devices' windows.
    pub windows: Option<Vec<Vec<u8>>>,
    /// The board on which it is run.
    pub device: Option<String>,
    /// Seed of the board's delays.
    pub delays: Option<u64>,
    pub(super) asked: Vec<&'static RunOption>,
}

/// The message for an option of a single kernel's run that is given for a whole program; `instead` is the alternative.
#[must_use]
pub fn option_of_kernels(option: &str, instead: &str) -> String {
    format!("`{option}` is for a kernel, and this is a whole program: {instead}")
}

impl RunOption {
    /// Its name on the command line: `gm-slack`.
    pub fn dashed(&self) -> String {
        dashed(self.name)
    }

    /// True for one that every way of running a kernel takes.
    pub fn is_common(&self) -> bool {
        OF_KERNELS.iter().all(|way| self.of.contains(way))
    }

    /// Its default, as written on the command line; `None` if there is none.
    pub fn default(&self) -> Option<String> {
        match &self.takes {
            Takes::Number(_, slot) => slot(&mut RunRequest::default()).get().map(|number| number.to_string()),
            Takes::Text(default, ..) => default.map(str::to_string),
            Takes::Words(default, ..) => Some((*default).to_string()),
            Takes::Flag(_) => Some("false".into()),
            Takes::Texts(..) | Takes::Lines(..) => Some(String::new()),
            Takes::Contents(_) | Takes::Own => None,
        }
    }

    /// The value it takes, for messages.
    fn what(&self) -> String {
        match &self.takes {
            Takes::Number(bounds, _) if *bounds.end() == u64::MAX => "a non-negative integer".into(),
            Takes::Number(bounds, _) => format!("a number from {} to {}", bounds.start(), bounds.end()),
            Takes::Flag(_) => "true or false".into(),
            Takes::Text(_, what, _) | Takes::Words(_, what, _) => (*what).into(),
            Takes::Texts(what, _) => format!("texts such as `{what}`"),
            Takes::Lines(what, _) => format!("a list of texts such as `{what}`"),
            Takes::Contents(_) => "a list of bytes".into(),
            Takes::Own => self.value.into(),
        }
    }

    pub(super) fn wrong(&self, given: &Given, is_of_type: bool) -> OptionError {
        self.error(format!("takes {}, not {given}", self.what()), is_of_type)
    }

    fn error(&self, reason: String, is_of_type: bool) -> OptionError {
        OptionError { name: self.name.into(), reason, is_of_type }
    }

    /// The message of an interface that parses the value itself, for a value it does not accept.
    pub fn not_taken(&self, given: &Given) -> OptionError {
        self.wrong(given, false)
    }

    pub(super) fn put(&self, request: &mut RunRequest, given: Given) -> Result<(), OptionError> {
        let said = |done: Result<(), String>| done.map_err(|reason| self.error(reason, true));
        match (&self.takes, given) {
            (Takes::Number(bounds, slot), Given::Whole(number)) => {
                let fits = u64::try_from(number).ok().filter(|number| bounds.contains(number));
                slot(request).set(fits.ok_or_else(|| self.wrong(&Given::Whole(number), true))?);
                Ok(())
            }
            (Takes::Flag(slot), Given::Flag(flag)) => {
                *slot(request) = flag;
                Ok(())
            }
            (Takes::Text(_, _, read) | Takes::Words(_, _, read), Given::Text(text)) => said(read(request, &text)),
            (Takes::Words(_, _, read), Given::Texts(words)) => {
                said(read(request, &if words.is_empty() { "none".to_string() } else { words.join(",") }))
            }
            (Takes::Texts(_, read), Given::Text(text)) => said(read(request, vec![text])),
            (Takes::Texts(_, read) | Takes::Lines(_, read), Given::Texts(texts)) => said(read(request, texts)),
            (Takes::Contents(read), Given::Contents(contents)) => {
                read(request, contents);
                Ok(())
            }
            // An empty list has no element type.
            (Takes::Contents(read), Given::Texts(none)) if none.is_empty() => {
                read(request, Vec::new());
                Ok(())
            }
            (Takes::Own, _) => Ok(()),
            (_, given) => Err(self.wrong(&given, false)),
        }
    }

    /// The value given by a text of the command line; an option without a value is given nothing.
    pub fn read(&self, text: Option<&str>) -> Given {
        match (&self.takes, text) {
            (Takes::Number(..), Some(text)) => text.parse().map_or_else(|_| Given::Text(text.into()), Given::Whole),
            (Takes::Flag(_), None) => Given::Flag(true),
            (_, Some(text)) => Given::Text(text.into()),
            (_, None) => Given::Nothing,
        }
    }

    /// The message if it is given for a way of running that does not accept it.
    pub fn refused(&self, way: Way) -> String {
        let option = format!("--{}", self.dashed());
        let instead = |way: Way| self.instead.iter().find(|(own, _)| *own == way).map(|(_, text)| *text);
        let of = |way: Way| self.of.contains(&way);
        match way {
            // An option refused without a board is refused with one for the same reason.
            Board if !of(Kernel) && instead(Board).is_none() => self.refused(Kernel),
            BoardProgram if !of(Program) && instead(BoardProgram).is_none() => self.refused(Program),
            Board | BoardProgram => {
                let instead = instead(way).or(instead(Board)).unwrap_or("run it without `--device`");
                format!("`{option}` is not for a run on a board: {instead}")
            }
            Kernel | Program if self.of == ON_BOARDS => {
                format!("`{option}` is for runs on a board: it has no effect without `--device`")
            }
            Kernel => format!("`{option}` is for whole programs, and this is a kernel"),
            Program => option_of_kernels(&option, instead(Program).unwrap_or("run the kernel alone with `--func`")),
            Proof | Rings | Stepping | Tune | Check => {
                format!("`{option}` has no effect here: it is an option of `run`")
            }
        }
    }
}
