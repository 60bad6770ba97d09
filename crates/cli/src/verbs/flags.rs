//! Run options as flags: each verb has the flags of the ways in which it runs, as the options declare them.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Command, Error as ClapError, FromArgMatches};
use slipring::{Error, Given, OPTIONS, RunOption, RunRequest, Takes, Way, option_of_kernels};

use super::input::read_lines;

/// The options that a verb has as flags.
pub(super) trait Shown {
    /// The ways in which the verb runs.
    const WAYS: &'static [Way];
    /// Whether the flags are the options common to all verbs that run kernels, or the remaining ones.
    const COMMON: bool = false;
}

macro_rules! shown {
    ($($verb:ident: $($way:ident),+;)+) => {
        $(
            #[derive(Clone)]
            pub(super) struct $verb;

            impl Shown for $verb {
                const WAYS: &'static [Way] = &[$(Way::$way),+];
            }
        )+
    };
}

shown! {
    OfRun: Kernel, Program, Board, BoardProgram;
    OfProof: Proof;
    OfRings: Rings;
    OfDebugger: Stepping;
    OfTune: Tune;
    OfCheck: Check;
}

/// The options about a kernel and its launch that all such verbs share.
#[derive(Clone)]
pub(super) struct OfKernel;

impl Shown for OfKernel {
    const WAYS: &'static [Way] = &[Way::Kernel];
    const COMMON: bool = true;
}

/// The flags that were given to a verb, with their values as text.
#[derive(Clone)]
pub(super) struct Flags<V> {
    given: Vec<(&'static RunOption, Vec<String>)>,
    verb: PhantomData<V>,
}

impl<V> Default for Flags<V> {
    fn default() -> Flags<V> {
        Flags { given: Vec::new(), verb: PhantomData }
    }
}

/// The options that a verb has.
fn shown<V: Shown>() -> impl Iterator<Item = &'static RunOption> {
    let of = |option: &&RunOption| option.not_on_command_line.is_none() && option.is_common() == V::COMMON;
    OPTIONS.iter().filter(of).filter(|option| V::WAYS.iter().any(|way| option.of.contains(way)))
}

/// The error message for an invalid option value, in the form that `clap` expects.
fn judged(option: &'static RunOption) -> impl Fn(&str) -> Result<String, String> + Clone {
    move |text| option.judge(text).map(|()| text.to_string()).map_err(|error| format!("it {}", error.reason()))
}

/// Parses a number of blocks, for verbs with a flag of their own for it.
pub(super) fn blocks(text: &str) -> Result<u32, String> {
    RunOption::named("blocks")
        .map_or(Ok(text.to_string()), |option| judged(option)(text))?
        .parse()
        .map_err(|_| text.into())
}

fn flag<V: Shown>(option: &'static RunOption) -> Arg {
    let arg = Arg::new(option.name).long(option.dashed()).help(option.help);
    let others = option.unless.iter().filter(|other| shown::<V>().any(|shown| shown.name == **other));
    let arg = arg.conflicts_with_all(others.copied());
    match option.takes {
        Takes::Flag(_) => arg.action(ArgAction::SetTrue),
        Takes::Texts(..) => arg.value_name(option.value).action(ArgAction::Append).value_parser(judged(option)),
        _ => {
            let arg = arg.value_name(option.value).value_parser(judged(option));
            match option.default().filter(|text| !text.is_empty()) {
                Some(text) => arg.default_value(text),
                None => arg,
            }
        }
    }
}

impl<V: Shown> clap::Args for Flags<V> {
    fn augment_args(command: Command) -> Command {
        shown::<V>().fold(command, |command, option| command.arg(flag::<V>(option)))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<V: Shown> FromArgMatches for Flags<V> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, ClapError> {
        let mut flags = Flags::default();
        flags.update_from_arg_matches(matches)?;
        Ok(flags)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), ClapError> {
        let said = |name: &str| matches.value_source(name) == Some(clap::parser::ValueSource::CommandLine);
        for option in shown::<V>().filter(|option| said(option.name)) {
            let texts = match option.takes {
                Takes::Flag(_) => Vec::new(),
                _ => matches.get_many::<String>(option.name).into_iter().flatten().cloned().collect(),
            };
            self.given.push((option, texts));
        }
        Ok(())
    }
}

impl<V> Flags<V> {
    /// Adds an option that was given.
    pub fn with(mut self, name: &str, text: Option<String>) -> Flags<V> {
        self.given.extend(RunOption::named(name).zip(text.map(|text| vec![text])));
        self
    }

    /// The value that was given for an option, such as a file name.
    pub fn text(&self, name: &str) -> Option<&str> {
        let (_, texts) = self.given.iter().find(|(option, _)| option.name == name)?;
        texts.first().map(String::as_str)
    }

    /// Rejects options that have no effect on a way of running, before any file is read.
    ///
    /// # Errors
    ///
    /// The first option without effect.
    pub fn fit(&self, way: Way) -> Result<(), Error> {
        match self.given.iter().find(|(option, _)| !option.of.contains(&way)) {
            Some((option, _)) => Err(Error::Arguments(option.refused(way))),
            None => Ok(()),
        }
    }

    /// Applies the given options to a request.
    ///
    /// # Errors
    ///
    /// An invalid value, or an error in a file that it names.
    pub fn put(&self, request: &mut RunRequest) -> Result<(), Error> {
        // Options that name files come last, after those that need no file.
        let of_file = |given: &&(&RunOption, _)| matches!(given.0.takes, Takes::Lines(..));
        let given = self.given.iter().filter(|given| !of_file(given));
        for (option, texts) in given.chain(self.given.iter().filter(of_file)) {
            match (&option.takes, &texts[..]) {
                (Takes::Lines(..), [file]) => request
                    .set(option.name, Given::Texts(read_lines(file).map_err(Error::File)?))
                    .map_err(|error| Error::Arguments(format!("{file}: {}", error.reason())))?,
                (Takes::Texts(..), _) => request.set(option.name, Given::Texts(texts.clone()))?,
                _ => request.set(option.name, option.read(texts.first().map(String::as_str)))?,
            }
        }
        Ok(())
    }
}

/// Rejects options for kernels that were given for a whole program.
pub(super) fn kernels_only(given: &[(bool, &str, &str)]) -> Result<(), Error> {
    match given.iter().find(|(given, ..)| *given) {
        Some((_, option, instead)) => Err(Error::Arguments(option_of_kernels(option, instead))),
        None => Ok(()),
    }
}
