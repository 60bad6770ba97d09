//! What is asked of a file of the kernel language besides its text: shapes of arguments, values for what builds its kernels.

use std::path::{Path, PathBuf};

use slipring_ir::Source;
use slipring_lang::{ArgType, Name, Request};

use crate::args::{arg_type, named};
use crate::launch::header;
use crate::{Error, Loaded, is_language, load_file_with};

/// What is asked of a file besides its text.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    function: Option<String>,
    args: Vec<String>,
    sets: Vec<(String, String)>,
    /// Numbers for parameters besides, by name.
    numbers: Vec<String>,
}

/// What the caller of functions of the kernel language knows and their text does not say.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// The kernel, or the function of a whole program.
    pub function: String,
    /// What names stand for around the functions.
    pub names: Vec<(String, Name)>,
    /// The arrays that are passed to it; for a whole program the numbers too, since its tasks follow from them.
    pub args: Vec<ArgType>,
}

impl Given {
    /// The same with numbers for parameters by name, as the command line writes them.
    pub(crate) fn numbers(&self, numbers: &[(String, String)]) -> Given {
        let arg = |(name, number): &(String, String)| ArgType {
            name: Some(name.clone()),
            number: number.split(':').next().map(str::to_string),
            ..ArgType::default()
        };
        let mut given = self.clone();
        given.args.extend(numbers.iter().map(arg));
        given
    }

    /// Reads the functions.
    pub(crate) fn load(&self, source: Source) -> Loaded {
        load_file_with(source.of_language(), &self.request())
    }

    /// What is asked of the text of the functions.
    pub(crate) fn request(&self) -> Request<'_> {
        Request { function: Some(&self.function), args: &self.args, names: &self.names, ..Request::default() }
    }
}

impl Asked {
    /// A kernel, where one is meant; arguments as the command line writes them, or only types and shapes: `x=f32[64x64]`;
    /// values such as `rows=16` for parameters of functions that build kernels, and for constants of the file.
    ///
    /// # Errors
    /// A value without a name.
    pub fn new(function: Option<&str>, args: &[String], sets: &[String]) -> Result<Asked, Error> {
        let pair = |text: &String| match text.split_once('=') {
            Some((name, value)) => Ok((name.trim().to_string(), value.trim().to_string())),
            None => Err(Error::Arguments(format!("`--set` takes `name=value`, not `{text}`"))),
        };
        let sets = sets.iter().map(pair).collect::<Result<_, _>>()?;
        Ok(Asked { function: function.map(str::to_string), args: args.to_vec(), sets, numbers: Vec::new() })
    }

    /// The same for another kernel or program of the file.
    pub(crate) fn function(&self, name: &str) -> Asked {
        Asked { function: Some(name.into()), ..self.clone() }
    }

    /// The same with a value for constants of the file.
    pub(crate) fn set_all(&self, names: &[String], value: &str) -> Asked {
        let mut asked = self.clone();
        asked.sets.extend(names.iter().map(|name| (name.clone(), value.to_string())));
        asked
    }

    /// True if no kernel or program is named.
    pub(crate) fn names_no_function(&self) -> bool {
        self.function.is_none()
    }

    /// True if nothing is asked of arguments and constants.
    pub(crate) fn is_open(&self) -> bool {
        self.args.is_empty() && self.sets.is_empty()
    }

    /// The same with numbers for parameters by name, as the command line writes them.
    pub(crate) fn numbers(&self, numbers: &[(String, String)]) -> Asked {
        let numbers = numbers.iter().map(|(name, number)| format!("{name}={number}"));
        Asked { numbers: numbers.collect(), ..self.clone() }
    }

    /// Reads a file. Helper modules are those that lie next to it.
    pub fn load(&self, source: Source) -> Loaded {
        self.with(&source.clone(), |request| load_file_with(source, request))
    }

    /// Does something with all that is asked of a file.
    pub(crate) fn with<T>(&self, source: &Source, work: impl FnOnce(&Request<'_>) -> T) -> T {
        let folder = Path::new(&source.name).parent().map_or_else(PathBuf::new, Path::to_path_buf);
        let own = self.args.is_empty() && is_language(source);
        let texts = if own { header(source, "args").unwrap_or_default() } else { self.args.clone() };
        let beside = if own { folder.clone() } else { PathBuf::new() };
        let args: Vec<ArgType> = texts.iter().chain(&self.numbers).map(|text| type_of(text, &beside)).collect();
        let this = Path::new(&source.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let module = |name: &str| {
            if this.as_deref() == Some(name) {
                return None;
            }
            let parts = name.split('.').fold(folder.clone(), |path, part| path.join(part));
            [parts.with_extension("py"), parts.join("__init__.py")].into_iter().find_map(|path| {
                let text = std::fs::read_to_string(&path).ok()?;
                Some(Source::new(path.display().to_string(), text))
            })
        };
        let request = Request {
            function: self.function.as_deref(),
            args: &args,
            sets: &self.sets,
            modules: Some(&module),
            names: &[],
        };
        work(&request)
    }
}

/// What an argument says of itself.
fn type_of(text: &str, folder: &Path) -> ArgType {
    let (name, text) = named(text);
    let (mut elem, mut shape) = arg_type(text, folder);
    if shape.is_none() {
        (elem, shape) = arg_type(&format!("zeros:{text}"), folder);
    }
    let number =
        if shape.is_none() { text.split_once(':').map_or(Some(text), |(number, _)| Some(number)) } else { None };
    let number = number.filter(|text| matches!(*text, "true" | "false") || text.parse::<f64>().is_ok());
    ArgType { name: name.map(str::to_string), elem, shape, number: number.map(str::to_string) }
}
