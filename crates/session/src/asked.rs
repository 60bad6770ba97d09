//! What is asked of a file of the kernel language besides its text: shapes of arguments, values for what builds its kernels.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use slipring_ir::{Diagnostic, Lang, Source, Span};
use slipring_lang::{ArgType, Name, Names, Parsed, Part, Request, unused_setting};

use crate::Error;
use crate::args::{Defaults, arg_type, file_of, named};
use crate::files::{self, Refused};
use crate::launch::{header, refused_words};

/// What is asked of a file besides its text.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CompileRequest {
    function: Option<String>,
    args: Vec<String>,
    sets: Vec<(String, String)>,
    /// Numbers for parameters besides, by name.
    numbers: Vec<(String, String)>,
    /// What a text is written in, where that is said.
    language: Option<Lang>,
    /// Whether Python may execute the file, where there is one.
    may_execute: bool,
    /// What the scalar arguments of launches are assumed to satisfy, for what the text alone decides.
    assume: Vec<String>,
    /// What names stand for around the functions of a text that is no file but theirs: nothing beside it is read.
    names: Option<Arc<Names>>,
    /// What the file's own code passes, where nothing else is.
    passed: Vec<ArgType>,
}

impl CompileRequest {
    /// A kernel, where one is meant; arguments as the command line writes them, or only types and shapes: `x=f32[64x64]`;
    /// values such as `rows=16` for parameters of functions that build kernels, and for constants of the file.
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

    /// A function of the kernel language whose caller knows what names stand for around it, and which arrays are passed to it. Nothing
    /// that lies beside the file is read.
    pub fn of_function(function: &str, names: Names, args: Vec<ArgType>) -> CompileRequest {
        CompileRequest {
            language: Some(Lang::Python),
            ..CompileRequest::default().with_names(function.to_string(), names).with_passed(args)
        }
    }

    /// The same for texts in this language, whatever their names are.
    pub fn language(self, language: Option<Lang>) -> CompileRequest {
        CompileRequest { language, ..self }
    }

    /// The same for launches whose scalar arguments satisfy these conditions: what a check of the text says then speaks of no others.
    #[must_use]
    pub fn assume(self, conditions: &[String]) -> CompileRequest {
        CompileRequest { assume: conditions.to_vec(), ..self }
    }

    /// What is assumed of launches.
    pub fn assumed(&self) -> &[String] {
        &self.assume
    }

    /// The same for a file that Python may execute, where there is one.
    #[must_use]
    pub fn executing(self) -> CompileRequest {
        CompileRequest { may_execute: true, ..self }
    }

    /// True if the file has to be executed first.
    pub(crate) fn may_execute(&self) -> bool {
        self.may_execute && self.names.is_none()
    }

    /// The kernel or program that is named.
    pub fn function_asked(&self) -> Option<&str> {
        self.function.as_deref()
    }

    /// Values for constants of the file and for what builds kernels.
    pub fn sets(&self) -> &[(String, String)] {
        &self.sets
    }

    /// The same for a function of a text that was executed: what is set has been.
    pub(crate) fn with_names(&self, function: String, names: Names) -> CompileRequest {
        CompileRequest { function: Some(function), names: Some(Arc::new(names)), sets: Vec::new(), ..self.clone() }
    }

    /// What the file's own code passes.
    pub fn passed(&self) -> &[ArgType] {
        &self.passed
    }

    /// The same with what the file's own code passes to the function: it counts where nothing else is passed.
    pub(crate) fn with_passed(self, passed: Vec<ArgType>) -> CompileRequest {
        CompileRequest { passed, ..self }
    }

    /// A text as it is read: what its name says, unless something else is asked for.
    pub fn source(&self, name: impl Into<String>, text: impl Into<String>) -> Source {
        let elsewhere = self.names.as_ref().map_or_else(Vec::new, |names| names.elsewhere.clone());
        let source = Source::new(name, text).with_parts_of_others(elsewhere);
        match self.language {
            None => source,
            Some(lang) => source.of(lang),
        }
    }

    /// What the lines of a text ask for and may not have, where they count, and values of constants that only the kernel language has.
    pub fn refused(&self, source: &Source) -> Vec<Diagnostic> {
        let lines = self.args.is_empty() && self.names.is_none();
        let mut refused = if lines { refused_words(source) } else { Vec::new() };
        let sets = self.sets.iter().filter(|_| !source.language);
        refused.extend(sets.map(|(name, _)| unused_setting(name).help("`--set` is for files of the kernel language")));
        refused
    }

    /// The same for another kernel or program of the file.
    pub fn function(&self, name: &str) -> CompileRequest {
        CompileRequest { function: Some(name.into()), ..self.clone() }
    }

    /// The same with a value for constants of the file.
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

    /// True if nothing is asked of arguments and constants.
    pub fn is_open(&self) -> bool {
        self.args.is_empty() && self.sets.is_empty()
    }

    /// The same with these numbers for parameters by name, besides those that it has, as the command line writes them.
    pub fn numbers(&self, numbers: &[(String, String)]) -> CompileRequest {
        CompileRequest { numbers: [&self.numbers, numbers].concat(), ..self.clone() }
    }

    /// What is said of an error in a text that was taken for something without being asked.
    pub fn guessed(&self, source: &Source) -> Option<&'static str> {
        let open = self.language.is_none() && !source.is_named();
        open.then_some(
            "the name ends in neither `.py` nor `.pto`, so the file was read as `.pto` text: `--lang py` reads it as the kernel language, \
             `--lang cpp` as C++",
        )
    }

    /// Parses a text of the kernel language. Helper modules are those that lie next to it; what is wrong with those that were not read
    /// comes with it.
    pub fn parse(&self, source: &Arc<Source>) -> (Parsed, Vec<Diagnostic>) {
        if self.names.is_some() {
            return (Parsed::new(source.clone(), None), Vec::new());
        }
        let path = Path::new(&source.name);
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        // Where a link leads to, the files beside what it leads to are meant too.
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

    /// Does something with all that is asked of a file.
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

    /// What the arguments of a file say of themselves: those that are given, else those of its line; and whether there are none.
    fn types(&self, source: &Source) -> (Vec<ArgType>, bool) {
        let own = self.args.is_empty() && source.language;
        let texts = if own { header(source, "args").unwrap_or_default() } else { self.args.clone() };
        let folder = Path::new(&source.name).parent().filter(|_| own).map_or_else(PathBuf::new, Path::to_path_buf);
        let defaults = Defaults { folder, own, ..Defaults::default() };
        (texts.iter().map(|text| type_of(text, &defaults)).collect(), texts.is_empty())
    }
}

/// What an argument says of itself.
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
