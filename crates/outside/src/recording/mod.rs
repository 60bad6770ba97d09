//! Records a launch of a C++ kernel: the kernel is compiled for this machine against headers that log its calls, and is
//! entered once for each core of each block. The result is straight-line C++ in the form of the assembler, with
//! locations in the author's files.

mod compile;
mod entry;
mod host;
mod recorder;
mod text;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use slipring_ir::{Diagnostic, Diags, Source, Span};
use slipring_machine::CoreKind;
use slipring_op::{OpRef, first_of_kind};
use slipring_session::args::{Defaults, named, read_arg};
use slipring_session::cpp::{element_name, launched, template};
use slipring_session::{Error, Report, load_file};
use slipring_tile::Elem;

use crate::recording::entry::Entry;
use crate::recording::recorder::{Part, Passed, Pipe, Recorder};
use crate::tools::{CallFolder, call, compiler};

pub use recorder::RecordingRequest;

/// The maximum size of a core's recording in bytes.
const LARGEST: usize = 64 << 20;

/// A recorded launch.
#[derive(Debug)]
pub struct Recording {
    /// C++ in the form of the assembler.
    pub text: String,
    /// The function that was launched.
    pub entry: String,
    /// The kinds of cores that do any work.
    pub cores: Vec<CoreKind>,
    /// What was omitted, and why.
    pub notes: Vec<String>,
}

impl RecordingRequest {
    /// Records the launch.
    ///
    /// # Errors
    ///
    /// If the file, its arguments or the compiler are invalid; also whatever a recording cannot hold, with its location
    /// in the author's file.
    pub fn record(&self) -> Result<Recording, Error> {
        let recorder = Recorder::new(self)?;
        let mut notes = Vec::new();
        // The activity of each kind of core, and the arguments that it writes.
        let mut entered = Vec::new();
        for kind in [CoreKind::Cube, CoreKind::Vector] {
            if self.core.is_none_or(|only| only == kind) {
                recorder.compile(kind)?;
                entered.push(recorder.launch(kind, 1, None)?);
            }
        }
        if let [(cube, _), (vector, _)] = entered.as_slice() {
            let keeps = recorder.which(cube, vector, &mut notes)?;
            entered.retain(|(part, _)| keeps.is_none_or(|kind| kind == part.kind));
        }
        entered.retain(|(part, _)| part.acts());
        let mixed = entered.len() == 2;
        let mut written = vec![false; recorder.passed.len()];
        for (part, own) in &mut entered {
            // In a kernel with a Cube part, both Vector cores of a cluster take part.
            if mixed && part.kind == CoreKind::Vector {
                (*part, *own) = recorder.launch(part.kind, 2, None)?;
            }
            written.iter_mut().zip(own).for_each(|(all, own)| *all |= *own);
        }
        // Record again with the written arguments hidden: their contents are only known at run time.
        let parts: Vec<Part> = entered
            .iter()
            .map(|(part, _)| recorder.launch(part.kind, part.lanes, Some(&written)).map(|(part, _)| part))
            .collect::<Result<_, _>>()?;
        if parts.is_empty() {
            let message = format!("the entry `{}` calls nothing on any core", recorder.entry.written());
            return Err(recorder.error("recording", (0, 0), message, "name another one with `--entry`"));
        }
        let text = recorder.text(&parts);
        Ok(Recording {
            text,
            entry: recorder.entry.written(),
            cores: parts.iter().map(|part| part.kind).collect(),
            notes,
        })
    }

    fn arguments(&self) -> Result<Vec<Passed>, Error> {
        let mut passed = Vec::new();
        for (at, text) in self.args.iter().enumerate() {
            let (name, own) = named(text);
            let defaults = Defaults { seed: self.seed.wrapping_add(at as u64), ..Defaults::default() };
            // A number has the type of its parameter, which only the compiler knows.
            let typed = match (own.parse::<i64>(), own.parse::<u64>(), own.parse::<f64>()) {
                (Ok(_), ..) => format!("{own}:{}", Elem::I64),
                (_, Ok(_), _) => format!("{own}:{}", Elem::U64),
                (_, _, Ok(_)) => format!("{own}:{}", Elem::F32),
                _ => own.to_string(),
            };
            let arg = read_arg(&typed, &defaults).map_err(|error| Error::Arguments(error.to_string()))?;
            if arg.contents().is_some()
                && (arg.elem().is_none() || arg.elem().is_some_and(|elem| element_name(elem).is_none()))
            {
                let message = format!("`{text}`: a recording needs the element type of a buffer, such as `f32[64x64]`");
                return Err(Error::Arguments(message));
            }
            let name = name.map_or_else(|| format!("arg{at}"), str::to_string);
            if passed.iter().any(|other: &Passed| other.name == name) {
                return Err(Error::Arguments(format!("two arguments are called `{name}`")));
            }
            passed.push(Passed { name, text: own.to_string(), arg });
        }
        Ok(passed)
    }
}

impl<'r> Recorder<'r> {
    fn new(asked: &'r RecordingRequest) -> Result<Recorder<'r>, Error> {
        let shown = asked.file.display().to_string();
        let bytes =
            std::fs::read(&asked.file).map_err(|error| Error::File(format!("cannot read `{shown}`: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|_| Error::File(format!("`{shown}` is not UTF-8 text")))?;
        let entries = launched(&text);
        let entry = match (&asked.entry, entries.as_slice()) {
            (Some(entry), _) => entry.clone(),
            (None, [only]) => only.clone(),
            (None, []) => {
                let message = format!("`{shown}` has no function that is launched: name one with `--entry`");
                return Err(Error::Arguments(message));
            }
            (None, several) => {
                let message =
                    format!("`{shown}` has several entries: choose one with `--entry`: {}", several.join(", "));
                return Err(Error::Arguments(message));
            }
        };
        let Some(entry) = Entry::read(&entry) else {
            return Err(Error::Arguments(format!("`{entry}` is not the name of a function")));
        };
        let Some(compiler) = compiler(asked.compiler.as_deref()) else {
            let message =
                "a recording needs a C++ compiler for this machine: install clang or gcc, or name one with `--cxx`";
            return Err(Error::Unsupported(message.into()));
        };
        let passed = asked.arguments()?;
        let folder = CallFolder::new(asked.keep.as_deref()).map_err(Error::File)?;
        let source = Arc::new(Source::new(shown, text));
        if let Some((place, parameters)) = template(&source.text, entry.name()).filter(|_| !entry.is_instance()) {
            let name = entry.name();
            let message = format!("the entry `{name}` is a template, and no arguments are given for `{parameters}`");
            let mut diags = Diags::default();
            let help = format!("name it with its arguments, `--entry '{name}<…>'`, as a host does");
            diags.push(Diagnostic::error("recording", place, message).help(help));
            return Err(Error::text(source, diags));
        }
        let recorder = Recorder { asked, source, entry, folder, compiler, passed };
        recorder.write_headers().map_err(Error::File)?;
        for (at, buffer) in recorder.passed.iter().enumerate() {
            if let Some(bytes) = buffer.arg.contents() {
                recorder.folder.write(&format!("buffer{at}"), bytes).map_err(Error::File)?;
            }
        }
        Ok(recorder)
    }

    /// A diagnostic for a line of one of the author's files.
    fn error(&self, code: &'static str, (line, column): (usize, usize), message: String, help: &str) -> Error {
        self.error_in(&self.source, code, (line, column), message, help)
    }

    fn error_in(
        &self,
        source: &Arc<Source>,
        code: &'static str,
        (line, column): (usize, usize),
        message: String,
        help: &str,
    ) -> Error {
        let span = source.text.split_inclusive('\n').nth(line.wrapping_sub(1)).map(|own| {
            let start = own.as_ptr() as usize - source.text.as_ptr() as usize;
            let blanks = own.len() - own.trim_start().len();
            let from = if column > blanks && column <= own.len() { column - 1 } else { blanks };
            Span::new((start + from) as u32, (start + own.trim_end().len().max(from)) as u32)
        });
        let diagnostic = match span {
            Some(span) => Diagnostic::error(code, span, message),
            None => Diagnostic::nowhere(code, slipring_ir::Severity::Error, message),
        };
        let diagnostic = if help.is_empty() { diagnostic } else { diagnostic.help(help) };
        let mut diags = Diags::default();
        diags.push(diagnostic);
        Error::text(source.clone(), diags)
    }

    /// The source of a file that a diagnostic names: the kernel's, or one of its headers.
    fn source_of(&self, file: &str) -> Option<Arc<Source>> {
        let path = Path::new(file);
        if path.canonicalize().ok()? == self.asked.file.canonicalize().ok()? {
            return Some(self.source.clone());
        }
        Some(Arc::new(Source::new(file, std::fs::read_to_string(path).ok()?)))
    }

    /// Enters the kernel on each core of a kind. Returns the activity of each core, and the arguments that are written.
    /// Arguments in `hidden` cannot be read.
    fn launch(&self, kind: CoreKind, lanes: u32, hidden: Option<&[bool]>) -> Result<(Part, Vec<bool>), Error> {
        let folder = self.folder.path();
        let buffers: Vec<usize> =
            (0..self.passed.len()).filter(|at| self.passed[*at].arg.contents().is_some()).collect();
        let digit = |at: &usize| if hidden.is_some_and(|hidden| hidden[*at]) { '1' } else { '0' };
        let mut words = vec![
            folder.display().to_string(),
            self.asked.limit.as_secs().max(1).to_string(),
            LARGEST.to_string(),
            self.asked.blocks.to_string(),
            lanes.to_string(),
            // At least one digit, so that the argument is not empty.
            buffers.iter().map(digit).chain(['0']).collect(),
        ];
        words.extend(self.passed.iter().enumerate().map(|(at, passed)| passed.word(at)));
        let cores = self.asked.blocks * lanes;
        // Each core has its own time limit, which it checks itself.
        let limit = self.asked.limit * cores.max(1) + Duration::from_secs(5);
        let program = folder.join(Recorder::binary(kind));
        let said = call(&program, &words, &self.folder, &[], limit).map_err(Error::Unsupported)?;
        if !said.well {
            return Err(Error::Unsupported(format!("the recording program ended: {}", said.reason())));
        }
        let read = |name: &str| {
            let bytes = self.folder.read(name).map_err(Error::File)?;
            String::from_utf8(bytes).map_err(|_| Error::File(format!("`{name}` of the recording is not text")))
        };
        let digits = read("written")?;
        let mut written = vec![false; self.passed.len()];
        for (at, digit) in buffers.iter().zip(digits.chars()) {
            written[*at] = digit == '1';
        }
        let (mut texts, mut pipes) = (Vec::new(), Vec::new());
        for core in 0..cores {
            let answer = read(&format!("core{core}"))?;
            let (head, body) = answer.split_once('\n').unwrap_or((&answer, ""));
            let (word, place) = head.split_once(' ').unwrap_or((head, ""));
            if word != "recorded" {
                return Err(self.refused(kind, (core / lanes, core % lanes), place, body.trim()));
            }
            let (declared, body) = body.split_once("\n\n").unwrap_or(("", body.trim_start()));
            for (n, line) in declared.lines().enumerate() {
                let own =
                    Pipe::read(line).ok_or_else(|| Error::File(format!("`core{core}` of the recording is cut")))?;
                own.join(&mut pipes, n, core / lanes)
                    .map_err(|why| self.refused(kind, (core / lanes, core % lanes), &own.place, &why))?;
            }
            texts.push(body.to_string());
        }
        Ok((Part { kind, lanes, cores: texts, pipes }, written))
    }

    /// The error for a core whose activity cannot be recorded: at its last call, or after it.
    fn refused(&self, kind: CoreKind, (block, lane): (u32, u32), place: &str, why: &str) -> Error {
        let core = match kind {
            CoreKind::Cube => "AIC".to_string(),
            CoreKind::Vector => format!("AIV{lane}"),
        };
        let message = format!("{core} of block {block} cannot be recorded: {why}");
        let help = "the location is that of the last library call before it; a recording holds library calls, and numbers that are known \
                    before the launch";
        let (file, line) = place.rsplit_once(':').unwrap_or((place, "0"));
        let line = line.parse().unwrap_or(0);
        match self.source_of(file) {
            Some(source) => self.error_in(&source, "recording", (line, 0), message, help),
            None => self.error("recording", (0, 0), message, help),
        }
    }

    /// The kind of core that an entry is for, if the entry does not state it: the one whose ops it uses. `None` if it
    /// uses ops of both kinds.
    fn which(&self, cube: &Part, vector: &Part, notes: &mut Vec<String>) -> Result<Option<CoreKind>, Error> {
        let (of_cube, of_vector) = (self.needs(cube)?, self.needs(vector)?);
        let entry = self.entry.written();
        let help = "guard them with `#if defined(__DAV_CUBE__)` and `__DAV_VEC__`, or choose with `--core`";
        let (kept, named) = match (of_cube, of_vector) {
            ([_, Some(a)], [Some(b), _]) => {
                let message = format!("`{entry}` calls `{a}` on the Cube core and `{b}` on the Vector cores");
                return Err(self.error("recording", (0, 0), message, help));
            }
            ([_, Some(op)], _) => (CoreKind::Vector, op),
            (_, [Some(op), _]) => (CoreKind::Cube, op),
            // Every core supports its calls: only the launch determines on which kind it runs.
            ([None, _], [_, None]) if cube.acts() && vector.acts() => {
                let message = format!("`{entry}` calls nothing that tells which kind of core it is for");
                return Err(self.error("recording", (0, 0), message, help));
            }
            _ => return Ok(None),
        };
        notes.push(format!("`{entry}` is a kernel of the {}: it calls `{named}` on every core", described(kept)));
        Ok(Some(kept))
    }

    /// The first op of a part that only the Cube core supports, and the first that only Vector cores support.
    fn needs(&self, part: &Part) -> Result<[Option<String>; 2], Error> {
        let name = format!("{} of {}", described(part.kind), self.source.name);
        let loaded = load_file(Source::new(name, self.function("part", part, None)).of(slipring_ir::Lang::Cpp));
        if loaded.diags.has_errors() {
            return Err(Error::Text(Report::new(loaded.module.source.clone(), loaded.diags.list)));
        }
        let module = &loaded.module;
        let first = |kind| module.functions().find_map(|function| first_of_kind(module, function, kind));
        let name = |op| OpRef::of(module, op).map(|op| op.def.schema.name.to_string());
        Ok([CoreKind::Cube, CoreKind::Vector].map(|kind| first(kind).and_then(name)))
    }

    fn buffers(&self) -> impl Iterator<Item = &Passed> {
        self.passed.iter().filter(|passed| passed.arg.contents().is_some())
    }
}

impl Passed {
    /// An argument in the syntax of the recording program.
    fn word(&self, at: usize) -> String {
        let elem = self.arg.elem();
        match self.arg.bits() {
            None => {
                let dims: String = self.arg.shape().into_iter().flatten().map(|n| format!(":{n}")).collect();
                let bytes = elem.map_or(1, Elem::bytes);
                format!("b:{}:buffer{at}:{}:{bytes}{dims}", self.name, elem.and_then(element_name).unwrap_or("int8_t"))
            }
            // The number as written: its type is that of the parameter.
            Some(bits) => {
                let written = self.text.split(':').next().unwrap_or("");
                match (written, written.parse::<i64>(), written.parse::<u64>()) {
                    ("true" | "false", ..) => format!("i:{bits}"),
                    (_, Ok(whole), _) => format!("i:{whole}"),
                    (_, _, Ok(whole)) => format!("u:{whole}"),
                    _ => format!("f:{written}"),
                }
            }
        }
    }
}

fn described(kind: CoreKind) -> &'static str {
    if kind == CoreKind::Cube { "Cube core" } else { "Vector cores" }
}
