//! Compile request for a kernel-language file: shapes of arguments, values for the parameters that build its kernels.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use slipring_ir::{Diagnostic, Lang, Source, Span};
use slipring_lang::{ArgType, Name, Names, Parsed, Part, Request, unused_setting};

use crate::Error;
use crate::args::{Defaults, arg_type, file_of, named};
use crate::files::{self, Refused};
use crate::launch::{header, refused_words};

/// Compile request: what a caller asks of a file besides its text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CompileRequest {
    function: Option<String>,
    args: Vec<String>,
    sets: Vec<(String, String)>,
    /// Values of further parameters, by name.
    numbers: Vec<(String, String)>,
    /// The language of the text, if specified.
    language: Option<Lang>,
    /// Whether Python may execute the file, if there is an interpreter.
    may_execute: bool,
    /// Conditions that the scalar arguments of launches are assumed to satisfy, for checks of the text alone.
    assume: Vec<String>,
    /// The values of names around the functions of a text that is not a file of its own: no neighbouring file is read.
    names: Option<Arc<Names>>,
    /// Arguments passed by the file's own code, if no others are given.
    passed: Vec<ArgType>,
}

impl CompileRequest {
    /// A kernel, if one is chosen; arguments as on the command line, or only types and shapes: `x=f32[64x64]`; values
    /// such as `rows=16` for parameters of functions that build kernels, and for constants of the file.
    ///
    /// # Errors
    /// A value without a name.
    pub fn new(function: Option<&str>, args: &[String], sets: &[String]) -> Result<CompileRequest, Error> {
        let pair = |text: &String| match text.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_string(), value.trim().to_string())),
            None => Err(Error::Arguments(format!("`--set` takes `name=value`, not `{text}`"))),
        };
        let sets = sets.iter().map(pair).collect::<Result<_, _>>()?;
        let function = function.map(str::to_string);
        Ok(CompileRequest { function, args: args.to_vec(), sets, may_execute: true, ..CompileRequest::default() })
    }

    /// A function of the kernel language whose caller knows the values of the surrounding names and the arrays passed
    /// to it. No neighbouring file is read.
    pub fn of_function(function: &str, names: Names, args: Vec<ArgType>) -> CompileRequest {
        CompileRequest {
            language: Some(Lang::Python),
            ..CompileRequest::default().with_names(function.to_string(), names).with_passed(args)
        }
    }

    /// Sets the language of texts, whatever their names are.
    pub fn language(self, language: Option<Lang>) -> CompileRequest {
        CompileRequest { language, ..self }
    }

    /// Restricts launches to those whose scalar arguments satisfy these conditions: a check of the text then covers no
    /// others.
    #[must_use]
    pub fn assume(self, conditions: &[String]) -> CompileRequest {
        CompileRequest { assume: conditions.to_vec(), ..self }
    }

    /// The assumptions about launches.
    pub fn assumed(&self) -> &[String] {
        &self.assume
    }

    /// Allows Python to execute the file, if there is an interpreter.
    #[must_use]
    pub fn executing(self) -> CompileRequest {
        CompileRequest { may_execute: true, ..self }
    }

    /// True if the file must be executed first.
    pub(crate) fn may_execute(&self) -> bool {
        self.may_execute && self.names.is_none()
    }

    /// The named kernel or program.
    pub fn function_asked(&self) -> Option<&str> {
        self.function.as_deref()
    }

    /// Values for constants of the file and for the parameters that build kernels.
    pub fn sets(&self) -> &[(String, String)] {
        &self.sets
    }

    /// This request for a function of an executed text, in which constants have already been set.
    pub(crate) fn with_names(&self, function: String, names: Names) -> CompileRequest {
        CompileRequest { function: Some(function), names: Some(Arc::new(names)), sets: Vec::new(), ..self.clone() }
    }

    /// The arguments passed by the file's own code.
    pub fn passed(&self) -> &[ArgType] {
        &self.passed
    }

    /// Adds the arguments that the file's own code passes to the function; they apply if no others are given.
    pub(crate) fn with_passed(self, passed: Vec<ArgType>) -> CompileRequest {
        CompileRequest { passed, ..self }
    }

    /// A text in the language given by its name, unless the request specifies another.
    pub fn source(&self, name: impl Into<String>, text: impl Into<String>) -> Source {
        let elsewhere = self.names.as_ref().map_or_else(Vec::new, |names| names.elsewhere.clone());
        let source = Source::new(name, text).with_parts_of_others(elsewhere);
        match self.language {
            None => source,
            Some(lang) => source.of(lang),
        }
    }

    /// Requests in the lines of a text that are not allowed there, and values of constants that only the kernel
    /// language has.
    pub fn refused(&self, source: &Source) -> Vec<Diagnostic> {
        let lines = self.args.is_empty() && self.names.is_none();
        let mut refused = if lines { refused_words(source) } else { Vec::new() };
        let sets = self.sets.iter().filter(|_| !source.language);
        refused.extend(sets.map(|(name, _)| unused_setting(name).help("`--set` is for files of the kernel language")));
        refused
    }

    /// This request for another kernel or program of the file.
    pub fn function(&self, name: &str) -> CompileRequest {
        CompileRequest { function: Some(name.into()), ..self.clone() }
    }

    /// This request with a value for constants of the file.
    pub fn set_all(&self, names: &[String], value: &str) -> CompileRequest {
        let mut asked = self.clone();
        if let Some(known) = &self.names {
            let given = |(name, own): &(String, Name)| match value.parse() {
                Ok(number) if names.contains(name) => (name.clone(), Name::Int(number)),
                _ => (name.clone(), own.clone()),
            };
            let all = |own: &[(String, Name)]| own.iter().map(given).collect();
            asked.names = Some(Arc::new(Names {
                whole: all(&known.whole),
                elsewhere: known.elsewhere.clone(),
                parts: known.parts.iter().map(|part| Part { own: all(&part.own), ..part.clone() }).collect(),
            }));
            return asked;
        }
        asked.sets.extend(names.iter().map(|name| (name.clone(), value.to_string())));
        asked
    }

    /// True if no kernel or program is named.
    pub fn names_no_function(&self) -> bool {
        self.function.is_none()
    }

    /// True if nothing is specified for arguments and constants.
    pub fn is_open(&self) -> bool {
        self.args.is_empty() && self.sets.is_empty()
    }

    /// This request with additional values of parameters by name, as written on the command line.
    pub fn numbers(&self, numbers: &[(String, String)]) -> CompileRequest {
        CompileRequest { numbers: [&self.numbers, numbers].concat(), ..self.clone() }
    }

    /// The note for an error in a text whose language was guessed.
    pub fn guessed(&self, source: &Source) -> Option<&'static str> {
        let open = self.language.is_none() && !source.is_named();
        open.then_some(
            "the name ends in neither `.py` nor `.pto`, so the file was read as `.pto` text: `--lang py` reads it as the kernel language, \
             `--lang cpp` as C++",
        )
    }

    /// Parses a text of the kernel language. Helper modules are searched next to it; errors in those that could not be
    /// read are included.
    pub fn parse(&self, source: &Arc<Source>) -> (Parsed, Vec<Diagnostic>) {
        if self.names.is_some() {
            return (Parsed::new(source.clone(), None), Vec::new());
        }
        let path = Path::new(&source.name);
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        // For a symbolic link, files next to its target are searched too.
        let linked = path.canonicalize().ok().and_then(|real| real.parent().map(Path::to_path_buf));
        let folders: Vec<&Path> = [Some(folder.as_path()), linked.as_deref()].into_iter().flatten().collect();
        let this = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let said = RefCell::new(Vec::new());
        let module = |name: &str| {
            if this.as_deref() == Some(name) {
                return None;
            }
            let parts = name.split('.').fold(PathBuf::new(), |path, part| path.join(part));
            [parts.with_extension("py"), parts.join("__init__.py")].into_iter().find_map(|path| {
                let why = match files::below(&folders, &path) {
                    Err(Refused::Missing(_)) => return None,
                    Err(Refused::Outside) => "it is a link that leaves the folder of the importing file".into(),
                    Err(Refused::NoFile) => "it is not a regular file".into(),
                    Ok(real) => match files::read_text(&real) {
                        Ok(text) => return Some(Source::new(folder.join(&path).display().to_string(), text)),
                        Err(error) => error.to_string(),
                    },
                };
                let message = format!("the module `{name}` cannot be read from `{}`: {why}", files::shown(&path));
                said.borrow_mut()
                    .push(Diagnostic { primary: None, ..Diagnostic::error("import", Span::default(), message) });
                None
            })
        };
        let parsed = Parsed::new(source.clone(), Some(&module));
        (parsed, said.into_inner())
    }

    /// Calls `work` with the complete request for a file.
    pub fn with<T>(&self, source: &Source, work: impl FnOnce(&Request<'_>) -> T) -> T {
        let number = |(name, number): &(String, String)| ArgType {
            name: Some(name.clone()),
            number: number.split(':').next().map(str::to_string),
            ..ArgType::default()
        };
        let (mut args, own) = self.types(source);
        args.extend(self.numbers.iter().map(number));
        if own {
            let given = |own: &ArgType| args.iter().any(|arg| arg.name == own.name);
            let passed: Vec<_> = self.passed.iter().filter(|own| !given(own)).cloned().collect();
            args.extend(passed);
        }
        let names = self.names.as_deref();
        work(&Request { function: self.function.as_deref(), args: &args, sets: &self.sets, names })
    }

    /// Types and shapes of a file's arguments: those given, otherwise those of its line; and whether there are none.
    fn types(&self, source: &Source) -> (Vec<ArgType>, bool) {
        let own = self.args.is_empty() && source.language;
        let texts = if own { header(source, "args").unwrap_or_default() } else { self.args.clone() };
        let folder = Path::new(&source.name).parent().filter(|_| own).map_or_else(PathBuf::new, Path::to_path_buf);
        let defaults = Defaults { folder, own, ..Defaults::default() };
        (texts.iter().map(|text| type_of(text, &defaults)).collect(), texts.is_empty())
    }
}

/// The type and shape that an argument itself gives.
pub fn type_of(text: &str, defaults: &Defaults) -> ArgType {
    let (name, text) = named(text);
    let readable = text.strip_prefix('@').is_none_or(|file| file_of(file, defaults).is_ok());
    let (mut elem, mut shape) = if readable { arg_type(text, &defaults.folder) } else { (None, None) };
    if shape.is_none() {
        (elem, shape) = arg_type(&format!("zeros:{text}"), &defaults.folder);
    }
    let number =
        if shape.is_none() { text.split_once(':').map_or(Some(text), |(number, _)| Some(number)) } else { None };
    let number = number.filter(|text| matches!(*text, "true" | "false") || text.parse::<f64>().is_ok());
    ArgType { name: name.map(str::to_string), elem, shape, number: number.map(str::to_string) }
}
