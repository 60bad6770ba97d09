//! Whole programs.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList};
use slipring::{Control, HostFunctions, ProgramFacts, ProgramOptions, Report};
use slipring_report::Trace;
use slipring_tasks::{HostArg, HostNumber, draw};

use crate::error::{checks, facts, raise};
use crate::kernel::{Described, GivenArgument, PyPart, described, given, listening, part_of, tensors};
use crate::options::{board, request};
use crate::run::{checked, verdict, written};
use crate::value::to_python;
use crate::words::words;

/// A whole program with its kernels compiled.
#[pyclass(frozen, module = "slipring._slipring")]
pub struct Program {
    inner: Arc<slipring::Program>,
}

impl Program {
    /// Wraps a whole program whose kernels have been compiled.
    pub fn new(inner: slipring::Program) -> Program {
        Program { inner: Arc::new(inner) }
    }
}

/// The exception that a host function raised.
type Raised = Arc<Mutex<Option<PyErr>>>;

/// Host functions by name, called as `function(args)`. Each of `args` is a number or `(elements, element type, shape)`;
/// the elements are a `bytearray`, which the function changes in place. An exception is kept, and ends the run.
fn host(functions: &Bound<'_, PyDict>, raised: &Raised) -> PyResult<HostFunctions> {
    let known: Vec<(String, Py<PyAny>)> =
        functions.iter().map(|(name, own)| Ok((name.extract()?, own.unbind()))).collect::<PyResult<_>>()?;
    let raised = raised.clone();
    Ok(HostFunctions::new(move |call, parts| {
        let done = Python::attach(|py| -> PyResult<()> {
            let Some((_, function)) = known.iter().find(|(name, _)| *name == call.name) else {
                return Err(PyTypeError::new_err(format!("nothing is given for the host function `{}`", call.name)));
            };
            let (args, mut arrays) = (PyList::empty(py), Vec::new());
            for arg in &call.args {
                match arg {
                    HostArg::Part(piece, _) => {
                        let bytes = PyByteArray::new(py, &parts[arrays.len()]);
                        args.append((&bytes, piece.elem.name(), &piece.shape))?;
                        arrays.push(bytes);
                    }
                    HostArg::Number(HostNumber::Boolean(boolean)) => args.append(boolean)?,
                    HostArg::Number(HostNumber::Whole(n)) => args.append(n)?,
                    HostArg::Number(HostNumber::Float(x)) => args.append(x)?,
                }
            }
            function.call1(py, (args,))?;
            for (part, array) in parts.iter_mut().zip(arrays) {
                *part = array.to_vec();
            }
            Ok(())
        });
        done.map_err(|error| {
            let said = format!("`{}` raised {error}", call.name);
            *raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            said
        })
    }))
}

#[pymethods]
impl Program {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The platform for which its kernels are compiled.
    #[getter]
    fn platform(&self) -> &str {
        self.inner.platform_name()
    }

    /// Its parameters.
    fn parameters(&self) -> Vec<Described> {
        described(self.inner.parameters())
    }

    /// The arguments given by texts in the syntax of the command line; without any, those of its file.
    fn arguments<'py>(&self, py: Python<'py>, texts: Vec<String>, seed: u64) -> PyResult<Vec<GivenArgument<'py>>> {
        let list = self.inner.arguments(&texts, seed).map_err(|error| raise(py, &error))?;
        Ok(given(py, &list, &self.inner.parameters()))
    }

    /// Compiler messages, which are not errors.
    fn said<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &facts(&self.inner.compile().map_err(|error| raise(py, &error))?))
    }

    /// Its tasks and their dependencies.
    fn text(&self) -> String {
        format!("{}: {}", self.inner.name(), draw::text(self.inner.graph(), &|task| self.inner.line(task)))
    }

    /// An SVG of the tasks; empty for a graph with a cycle.
    #[pyo3(signature = (critical=Vec::new()))]
    #[allow(clippy::needless_pass_by_value)]
    fn svg(&self, critical: Vec<usize>) -> String {
        draw::svg(self.inner.graph(), self.inner.name(), &|task| self.inner.line(task), &critical)
    }

    /// The programs of its kernels before the first pass and after each pass.
    #[allow(clippy::type_complexity)]
    fn passes(&self, py: Python<'_>) -> PyResult<Vec<(String, Vec<(String, String)>)>> {
        self.inner.passes().map_err(|error| raise(py, &error))
    }

    /// The use of each local memory of a cluster.
    fn memory_uses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.inner.memory_uses().map_err(|error| raise(py, &error))?)
    }

    /// Runs its tasks.
    #[pyo3(signature = (args, given=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyList>,
        given: Option<&Bound<'_, PyDict>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<ProgramRun> {
        let (control, raised) = (Control::default(), Raised::default());
        let request = request(given, &control)?;
        request.on(request.way(true)).map_err(|error| raise(py, &error))?;
        let (board, verify) = (board(&request)?, request.verify);
        let mut options = ProgramOptions::from(&request);
        let functions = given.map(|given| given.get_item("host")).transpose()?.flatten();
        if let Some(functions) = functions.filter(|functions| !functions.is_none()) {
            options.host = host(functions.cast()?, &raised)?;
        }
        let tensors = tensors(args)?;
        let program = Arc::clone(&self.inner);
        let work = move || {
            let followed = program.followed(&tensors, &options)?;
            let program = followed.as_ref().unwrap_or(&program);
            let run = program.run(tensors.clone(), &options)?;
            let sent = board.map(|board| program.run_on_board(tensors, &board, &options)).transpose()?;
            let mut facts = run.facts().clone();
            let found = match &sent {
                Some(sent) => sent.join(&run, &mut facts)?,
                None => run.findings().clone(),
            };
            let mut findings = program.compile()?.and(found.messages().to_vec());
            if verify {
                let (row, messages) = run.compare()?;
                facts.checks.push(row);
                findings = findings.and(messages);
            }
            facts.lines = run.lines().filter(|_| options.record);
            facts.checks = checks(facts.checks);
            facts.findings = crate::error::facts(&findings);
            // After a run on a board, take the contents that came back from it.
            let left = |at: usize| sent.as_ref().map_or_else(|| run.left(at), |sent| sent.left(at)).map(<[u8]>::to_vec);
            let left = (0..run.arguments()).map(left).collect();
            let windows = run.windows().map(<[u8]>::to_vec).collect();
            let back: Option<Vec<&[u8]>> = sent.as_ref().map(|sent| sent.returned(&run).collect());
            let returned = run.returned().enumerate().map(|(at, (passed, elem, shape, bytes, part))| {
                let bytes = back.as_ref().map_or(bytes, |back| back[at]);
                // Arguments are written back in place.
                let own = if passed.is_none() { bytes.to_vec() } else { Vec::new() };
                (passed, elem.name(), shape.to_vec(), own, part.map(part_of))
            });
            let complete = run.is_complete() && sent.as_ref().is_none_or(|sent| sent.complete);
            let trace = sent.as_ref().map_or_else(|| run.trace(), |sent| sent.trace.clone());
            Ok(ProgramRun { complete, left, windows, returned: returned.collect(), facts, findings, trace })
        };
        let run = listening(py, &control, progress, work);
        match raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
            Some(error) => Err(error),
            None => run,
        }
    }
}

/// A tensor that a program returns: the index of the parameter if it is one, element type, shape, bytes if it is
/// not a parameter, and the part of it that is returned.
type Returned = (Option<usize>, &'static str, Vec<u64>, Vec<u8>, Option<PyPart>);

/// The same for Python.
type PyReturned<'py> = (Option<usize>, &'static str, Vec<u64>, Bound<'py, PyBytes>, Option<PyPart>);

/// A run of a whole program, with its results.
#[pyclass(frozen, module = "slipring._slipring")]
pub struct ProgramRun {
    complete: bool,
    left: Vec<Option<Vec<u8>>>,
    windows: Vec<Vec<u8>>,
    returned: Vec<Returned>,
    facts: ProgramFacts,
    findings: Report,
    trace: Option<Trace>,
}

#[pymethods]
impl ProgramRun {
    /// `clean`, `findings`, or `partly` for a run that stopped.
    #[getter]
    fn verdict(&self) -> &'static str {
        verdict(&self.findings, self.complete)
    }

    /// Whether every task completed.
    #[getter]
    fn complete(&self) -> bool {
        self.complete
    }

    /// The cycle at which the last task ended.
    #[getter]
    fn cycles(&self) -> u64 {
        self.facts.cycles
    }

    /// The messages, one by one.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.facts.findings)
    }

    /// The messages as the command line writes them.
    #[getter]
    fn report(&self) -> String {
        words(&self.findings.to_string())
    }

    /// The verdict of each tool.
    #[getter]
    fn checks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.facts.checks)
    }

    /// All facts of the run.
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.facts)
    }

    /// The timeline in the trace format of this file name; raises if the run was not set to keep it.
    fn trace<'py>(&self, py: Python<'py>, file: &str) -> PyResult<Bound<'py, PyBytes>> {
        written(py, self.trace.as_ref(), file)
    }

    /// The printed output of the kernels.
    #[getter]
    fn printed(&self) -> Vec<String> {
        self.facts.printed.clone()
    }

    /// The summary as the command line prints it.
    #[pyo3(signature = (stats=false))]
    fn text(&self, stats: bool) -> String {
        // The summary already contains everything.
        let _ = stats;
        self.facts.text()
    }

    /// Raises if an error was found.
    fn check(&self, py: Python<'_>) -> PyResult<()> {
        checked(py, &self.findings, self.complete)
    }

    /// The contents of the tensor argument at this index.
    fn result<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyBytes>> {
        match self.left.get(index) {
            Some(Some(bytes)) => Ok(PyBytes::new(py, bytes)),
            _ => Err(PyTypeError::new_err(format!("argument {index} is not a tensor"))),
        }
    }

    /// The contents after the run of each window that devices share.
    fn windows<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        self.windows.iter().map(|bytes| PyBytes::new(py, bytes)).collect()
    }

    /// The returned tensors: the index of the argument or `None`, element type, shape, bytes, and the part of it or `None`.
    fn returned<'py>(&self, py: Python<'py>) -> Vec<PyReturned<'py>> {
        let each = self.returned.iter().map(|(passed, elem, shape, bytes, part)| {
            (*passed, *elem, shape.clone(), PyBytes::new(py, bytes), part.clone())
        });
        each.collect()
    }
}
