//! Loads a text as a kernel or as a whole program.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use slipring::{CompileRequest, Control, Error, Subject};
use slipring_lang::ArgType;

use crate::kernel::{Kernel, element, listening};
use crate::program::Program;
use crate::value;

/// A kernel or a whole program.
#[derive(IntoPyObject)]
pub enum Loaded {
    Kernel(Kernel),
    Program(Program),
}

/// The compilation target and its options.
#[derive(Clone, Default)]
struct Target {
    platform: Option<String>,
    interpretations: Vec<String>,
    slots: Option<u32>,
}

impl Target {
    fn kernel(self, mut kernel: slipring::Kernel) -> Result<Loaded, Error> {
        if let Some(platform) = self.platform {
            kernel = kernel.platform(&platform)?;
        }
        if let Some(slots) = self.slots {
            kernel = kernel.slots(slots)?;
        }
        let kernel = kernel.interpretations(self.interpretations)?;
        kernel.compile()?;
        Ok(Loaded::Kernel(Kernel::new(kernel)))
    }

    fn program(self, mut program: slipring::Program) -> Result<Loaded, Error> {
        if self.slots.is_some() {
            return Err(Error::Arguments("a whole program has no rings of its own: its kernels have".into()));
        }
        if let Some(platform) = self.platform {
            program = program.platform(&platform)?;
        }
        let program = program.interpretations(self.interpretations)?;
        program.compile()?;
        Ok(Loaded::Program(Program::new(program)))
    }
}

/// A tensor argument: parameter, shape, element type.
type Passed = (String, Vec<u64>, String);

/// Compiles functions. `names` holds the values of names around them, `function` is the entry function, `tensors` the
/// array arguments as (parameter, shape, element type), `numbers` the scalar arguments as text: the tasks of a whole
/// program depend on them. With `host`, the text must be a whole program. `slots` overrides the depth of a kernel's
/// rings.
#[pyfunction]
#[pyo3(signature = (filename, text, names, function, tensors, numbers, platform=None, interpretations=Vec::new(), host=false,
    slots=None))]
#[allow(clippy::too_many_arguments)]
pub fn compile(
    py: Python<'_>,
    filename: &str,
    text: &str,
    names: &Bound<'_, PyAny>,
    function: &str,
    tensors: Vec<Passed>,
    numbers: Vec<(String, String)>,
    platform: Option<&str>,
    interpretations: Vec<String>,
    host: bool,
    slots: Option<u32>,
) -> PyResult<Loaded> {
    let asked = CompileRequest::of_function(function, value::names(names)?, passed(tensors)?).numbers(&numbers);
    let target = Target { platform: platform.map(str::to_owned), interpretations, slots };
    let (filename, text) = (filename.to_owned(), text.to_owned());
    let work = move || {
        let subject = Subject::new(asked.source(filename, text), &asked);
        match subject.program()? {
            Some(program) => target.program(program).map(Some),
            None if host => Ok(None),
            None => target.kernel(subject.kernel()?).map(Some),
        }
    };
    listening(py, &Control::default(), None, work)?.ok_or_else(|| {
        let message =
            format!("`{function}` is host code and submits no task: slipring runs kernels and whole programs");
        PyTypeError::new_err(message)
    })
}

fn passed(tensors: Vec<Passed>) -> PyResult<Vec<ArgType>> {
    let each = tensors.into_iter().map(|(parameter, shape, elem)| {
        Ok(ArgType { name: Some(parameter), elem: Some(element(&elem)?), shape: Some(shape), number: None })
    });
    each.collect()
}

/// Compiles the contents of a file: the kernel language if its name ends in `.py`, else a text. `arguments` gives the
/// types, shapes and numbers of arguments in the syntax of the command line, `values` the constants as `name=value`,
/// `slots` the depth of a kernel's rings.
#[pyfunction]
#[pyo3(signature = (name, contents, arguments, values, function=None, platform=None, interpretations=Vec::new(), slots=None))]
#[allow(clippy::too_many_arguments)]
pub fn open(
    py: Python<'_>,
    name: &str,
    contents: Vec<u8>,
    arguments: Vec<String>,
    values: Vec<String>,
    function: Option<&str>,
    platform: Option<&str>,
    interpretations: Vec<String>,
    slots: Option<u32>,
) -> PyResult<Loaded> {
    let name = name.to_owned();
    let function = function.map(str::to_owned);
    let target = Target { platform: platform.map(str::to_owned), interpretations, slots };
    let work = move || {
        let subject = Subject::read(&name, contents, &CompileRequest::new(function.as_deref(), &arguments, &values)?)?
            .executed()?;
        match subject.program()? {
            Some(program) => target.program(program),
            None => target.kernel(subject.kernel()?),
        }
    };
    listening(py, &Control::default(), None, work)
}
