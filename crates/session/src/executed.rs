//! Kernel-language files whose module code Python executes: the interpreter supplies the functions and the values of
//! their globals.
//!
//! Only a Python process has an interpreter ([`set_interpreter`]): the command line alone never executes a file's code.

use std::sync::OnceLock;

use slipring_ir::{Diagnostic, Diags, Elsewhere, Source, Span};
use slipring_lang::{ArgType, Names};

use crate::{Error, Input};

/// A kernel or whole program of an executed file.
#[derive(Clone, Debug)]
pub struct Executed {
    /// The file that contains its text.
    pub name: String,
    /// The text of its functions, each on its own lines.
    pub text: String,
    /// The entry function.
    pub function: String,
    /// The values of the names around the functions.
    pub names: Names,
}

/// Why the execution of a file did not complete.
#[derive(Clone, Debug)]
pub struct Raised {
    /// The line of the file, from 1, if known.
    pub line: Option<usize>,
    /// The message of the exception.
    pub message: String,
}

/// An executor of files.
pub trait Interpreter: Send + Sync {
    /// The kernels and whole programs of a file: the named one, or all entry points.
    ///
    /// # Errors
    /// The exception raised by the file's own code.
    fn execute(
        &self,
        source: &Source,
        function: Option<&str>,
        sets: &[(String, String)],
    ) -> Result<Vec<Executed>, Raised>;
}

static INTERPRETER: OnceLock<Box<dyn Interpreter>> = OnceLock::new();

/// From now on files requested with [`CompileRequest::new`](crate::CompileRequest::new) are executed.
pub fn set_interpreter(interpreter: Box<dyn Interpreter>) {
    // A process has only one: a second is the same.
    let _ = INTERPRETER.set(interpreter);
}

/// Maximum number of kernel calls by the file's own code that are examined.
const MOST_CALLS: usize = 16;

/// A text to compile, and the arguments that the file's own code passes to it.
type ToCompile = (Input, Vec<Vec<ArgType>>);

impl Input {
    /// The text to compile for each kernel or whole program of a file, with all arguments that the file's own code
    /// passes to it; the file unchanged if nothing executes it.
    ///
    /// # Errors
    /// The exception raised by the file's own code.
    pub fn executed_all(&self) -> Result<Vec<Input>, Error> {
        let each = self.to_compile()?.into_iter().flat_map(|(input, calls)| {
            let calls = if calls.is_empty() { vec![Vec::new()] } else { calls };
            calls.into_iter().map(move |args| input.passing(args))
        });
        Ok(each.collect())
    }

    /// As [`Input::executed_all`], for the only kernel or program or the named one, with its first call.
    ///
    /// # Errors
    /// The exception raised by the file's own code, or that there are several.
    pub fn executed(&self) -> Result<Input, Error> {
        let name = self.source().shown_name().to_string();
        let mut all = self.to_compile()?;
        match all.len() {
            1 => {
                let (input, calls) = all.remove(0);
                Ok(calls.into_iter().next().map_or_else(|| input.clone(), |first| input.passing(first)))
            }
            0 => Err(Error::Arguments(format!(
                "`{name}` has no kernel: no function has a decorator of the kernel language"
            ))),
            _ => {
                let names: Vec<_> = all.iter().filter_map(|(own, _)| own.asked().function_asked()).collect();
                let names = names.join("`, `");
                Err(Error::Arguments(format!("`{name}` has several kernels: select one with `--func` (`{names}`)")))
            }
        }
    }

    /// The same text with the arguments passed by the file's own code.
    fn passing(&self, args: Vec<ArgType>) -> Input {
        if self.asked().passed() == args { self.clone() } else { self.asking(&self.asked().clone().with_passed(args)) }
    }

    fn to_compile(&self) -> Result<Vec<ToCompile>, Error> {
        let (source, asked) = (self.source(), self.asked());
        let Some(interpreter) = INTERPRETER.get().filter(|_| asked.may_execute() && source.language) else {
            return Ok(vec![(self.clone(), vec![asked.passed().to_vec()])]);
        };
        let found = interpreter.execute(source, asked.function_asked(), asked.sets()).map_err(|raised| {
            let span = raised.line.and_then(|line| line_span(&source.text, line));
            let message = format!("the file's own code stops here: {}", raised.message);
            let mut said = Diagnostic::error("raise", span.unwrap_or_default(), message);
            if span.is_none() {
                said.primary = None;
            }
            Error::text(source.clone(), Diags { list: vec![said] })
        })?;
        let calls = if found.is_empty() || !asked.is_open() { Vec::new() } else { self.passed_by_host() };
        let each = found.into_iter().map(|own| {
            let mut different: Vec<Vec<ArgType>> = Vec::new();
            for (_, args) in calls.iter().filter(|(name, _)| *name == own.function) {
                if !different.contains(args) && different.len() < MOST_CALLS {
                    different.push(args.clone());
                }
            }
            let asked = asked.with_names(own.function, own.names);
            (Input::new(asked.source(own.name, own.text).of_language(), &asked), different)
        });
        Ok(each.collect())
    }
}

/// The span of a line, without its indentation.
fn line_span(text: &str, line: usize) -> Option<Span> {
    let own = text.lines().nth(line.checked_sub(1)?)?;
    let start = own.as_ptr() as usize - text.as_ptr() as usize;
    let (first, last) = (own.len() - own.trim_start().len(), own.trim_end().len());
    Some(Span::new(u32::try_from(start + first).ok()?, u32::try_from(start + last).ok()?))
}

/// One text for all functions of a file: the file itself, followed by parts of other files.
pub struct Together {
    source: Source,
    /// The parts appended from other files.
    elsewhere: Vec<Elsewhere>,
    /// Start offsets of the file's lines.
    lines: Vec<usize>,
}

impl Together {
    /// Starts with a file.
    pub fn new(file: &Source) -> Together {
        let mut source = file.clone();
        if !source.text.ends_with('\n') {
            source.text.push('\n');
        }
        let ends = source.text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(ends).take_while(|start| *start < source.text.len()).collect();
        Together { source, elsewhere: Vec::new(), lines }
    }

    /// The messages about a text, moved to their locations in the file. Lines of the text that are not in the file are
    /// appended to it.
    pub fn moved(&mut self, own: &Source, mut list: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let mut starts = Vec::new();
        let mut at = 0;
        for (number, line) in own.text.split_inclusive('\n').enumerate() {
            let other = u32::try_from(at).ok().and_then(|at| Some((at, own.elsewhere(at)?)));
            let begin = self.lines.get(number).copied().filter(|_| other.is_none() && own.name == self.source.name);
            let begin = begin.unwrap_or_else(|| {
                let end = self.source.text.len();
                if let Some((at, part)) = other {
                    let span = Span::new(end as u32, (end + line.len()) as u32);
                    let line = own.place(at).1;
                    self.elsewhere.push(Elsewhere { span, name: part.name.clone(), line });
                }
                self.source.text.push_str(line.trim_end_matches('\n'));
                self.source.text.push('\n');
                end
            });
            starts.push((at, begin));
            at += line.len();
        }
        let place = |byte: u32| {
            let before = starts.partition_point(|(own, _)| *own <= byte as usize);
            let (own, here) = before.checked_sub(1).map_or((0, 0), |index| starts[index]);
            u32::try_from(here + byte as usize - own).unwrap_or(byte)
        };
        for said in &mut list {
            for label in said.primary.iter_mut().chain(&mut said.secondary).filter(|label| !label.span.is_empty()) {
                label.span = Span::new(place(label.span.start), place(label.span.end));
            }
        }
        list
    }

    /// The text with the appended parts.
    pub fn into_source(self) -> Source {
        Source::new(self.source.name, self.source.text).of_language().with_parts_of_others(self.elsewhere)
    }
}
