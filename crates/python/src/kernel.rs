//! Kernels.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyTuple};
use slipring::{Control, Elem, Error, Parameter, ProveOptions, Tensor, Way};
use slipring_debug::Session;
use slipring_lang::{Direction, Strided};

use crate::board::BoardRun;
use crate::debug::Stepper;
use crate::error::{facts, raise};
use crate::options::{board, request_on};
use crate::run::Run;
use crate::value::{to_python, to_python_words};
use crate::words::words;
use crate::worker::on_thread;

/// The interval at which a run checks for Ctrl-C.
const LOOK: Duration = Duration::from_millis(20);
/// The time after which a run reports its progress, and the interval of further reports.
const PATIENCE: Duration = Duration::from_secs(1);
const REFRESH: Duration = Duration::from_millis(200);

/// A compiled kernel.
#[pyclass(frozen, module = "slipring._slipring")]
pub struct Kernel {
    inner: Arc<slipring::Kernel>,
}

impl Kernel {
    /// Wraps a compiled kernel.
    pub fn new(inner: slipring::Kernel) -> Kernel {
        Kernel { inner: Arc::new(inner) }
    }

    /// The underlying kernel.
    pub fn shared(&self) -> &Arc<slipring::Kernel> {
        &self.inner
    }
}

/// Runs `work` on another thread without the GIL, while this thread handles signals. Once it has lasted a second, calls
/// `progress`, if given, with the cycle, the number of completed blocks, and the number of all blocks.
///
/// # Errors
///
/// The error of `work` as a Python exception, or whatever a signal handler or `progress` raises, after `control` has
/// been cancelled and the work has ended.
pub fn listening<T: Send + 'static>(
    py: Python<'_>,
    control: &Control,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let (done, outcome) = channel();
    let outcome = Mutex::new(outcome);
    let fresh = forked();
    let thread = on_thread(move || {
        let result = match fresh {
            // Threads do not survive a fork: products in the child run on threads of its own.
            true => match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
                Ok(pool) => pool.install(work),
                Err(_) => return,
            },
            false => work(),
        };
        let _ = done.send(result);
    });
    thread.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    let mut wait = Duration::from_micros(500);
    let mut shown = Instant::now() + PATIENCE - REFRESH;
    loop {
        let came = py.detach(|| {
            let outcome = outcome.lock().unwrap_or_else(PoisonError::into_inner);
            match outcome.recv_timeout(wait) {
                Ok(result) => Ok(Some(result)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(()),
            }
        });
        match came {
            Ok(Some(result)) => return result.map_err(|error| raise(py, &error)),
            Ok(None) => {}
            Err(()) => {
                return Err(PyRuntimeError::new_err(
                    "internal error: slipring itself failed; please report the kernel",
                ));
            }
        }
        wait = LOOK;
        if let Err(signal) = py.check_signals() {
            // A compilation cannot be cancelled: it continues in the background, and nobody waits for it.
            control.cancel();
            return Err(signal);
        }
        if let Some(progress) = progress
            && shown.elapsed() >= REFRESH
        {
            shown = Instant::now();
            let [over, blocks] = control.blocks();
            progress.call1((control.cycle(), over, blocks)).inspect_err(|_| control.cancel())?;
        }
    }
}

/// Whether this process was forked from one in which the package had been used.
fn forked() -> bool {
    use std::sync::OnceLock;
    static FIRST: OnceLock<u32> = OnceLock::new();
    *FIRST.get_or_init(std::process::id) != std::process::id()
}

/// The element type of this name.
pub fn element(name: &str) -> PyResult<Elem> {
    Elem::parse(name).ok_or_else(|| PyTypeError::new_err(format!("slipring has no element type `{name}`")))
}

/// An argument: `(bytes, element type, shape)` for an array, or `(…, memory, offset)` for an array that shares memory
/// with others; else a number.
fn tensor(value: &Bound<'_, PyAny>) -> PyResult<Tensor<'static>> {
    if let Ok(array) = value.cast::<PyTuple>() {
        let (bytes, elem, shape): (PyReadonlyArray1<'_, u8>, String, Vec<usize>) = array.get_slice(0, 3).extract()?;
        // Copied while the GIL is held: changes that others make to the array during the run do not affect the run.
        let tensor = Tensor::of_bytes(element(&elem)?, shape, bytes.as_slice()?.to_vec());
        return match array.len() {
            3 => Ok(tensor),
            _ => {
                let (memory, offset) = array.get_slice(3, array.len()).extract()?;
                Ok(tensor.within(memory, offset))
            }
        };
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Tensor::boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(Tensor::whole(value.extract()?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Tensor::number(value.extract()?));
    }
    Err(PyTypeError::new_err(format!("a kernel takes arrays and numbers, not {}", value.get_type().name()?)))
}

/// A parameter: name, element type or `None`, shape or `None`, whether it is a buffer, `in`, `out`, `inout` or `None`, and the layout of
/// packed scales or `None`.
pub type Described = (String, Option<&'static str>, Option<Vec<u64>>, bool, Option<&'static str>, Option<&'static str>);

/// Parameters as Python tuples.
pub fn described(list: Vec<Parameter>) -> Vec<Described> {
    let each = list.into_iter().map(|parameter| {
        let direction = parameter.direction.map(|direction| match direction {
            Direction::In => "in",
            Direction::Out => "out",
            Direction::InOut => "inout",
        });
        let elem = parameter.elem.map(Elem::name);
        (parameter.name, elem, parameter.shape, parameter.is_buffer, direction, parameter.packed)
    });
    each.collect()
}

/// A part of a tensor that is returned: first element, extents and strides in elements.
pub type PyPart = (u64, Vec<u64>, Vec<u64>);

/// A value that a kernel returns: the index of the parameter and the part of it; `None` for a value that is not a tensor.
type PyGiven = Option<(usize, Option<PyPart>)>;

/// Such a part as a Python tuple.
pub fn part_of(part: Strided) -> PyPart {
    (part.first, part.shape, part.strides)
}

/// An argument: element type or `None`, shape or `None`, whether it is a buffer, and its bytes; a scalar has 8 bytes.
pub type GivenArgument<'py> = (Option<&'static str>, Option<Vec<u64>>, bool, Bound<'py, PyBytes>);

/// Arguments as Python tuples.
pub fn given<'py>(py: Python<'py>, list: &[Tensor<'_>], parameters: &[Parameter]) -> Vec<GivenArgument<'py>> {
    let each = list.iter().zip(parameters).map(|(arg, parameter)| {
        let bits = arg.bits().map(u64::to_le_bytes);
        let bytes = bits.as_ref().map_or_else(|| arg.contents().unwrap_or_default(), |bits| &bits[..]);
        // Arguments of the command line take the parameter's shape, whatever their own shape.
        let own = || arg.shape().map(|own| own.iter().map(|extent| *extent as u64).collect());
        let elem = arg.elem().or(parameter.elem).map(Elem::name);
        (elem, parameter.shape.clone().or_else(own), bits.is_none(), PyBytes::new(py, bytes))
    });
    each.collect()
}

/// The arguments of a run: see [`tensor`] for their form.
///
/// # Errors
///
/// If one of them is neither an array nor a number.
pub fn tensors(args: &Bound<'_, PyList>) -> PyResult<Vec<Tensor<'static>>> {
    args.iter().map(|value| tensor(&value)).collect()
}

#[pymethods]
impl Kernel {
    /// Its name.
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        self.inner.name().map(str::to_owned).map_err(|error| raise(py, &error))
    }

    /// The platform for which it is compiled.
    #[getter]
    fn platform(&self, py: Python<'_>) -> PyResult<String> {
        self.inner.platform_name().map(str::to_owned).map_err(|error| raise(py, &error))
    }

    /// Its parameters: name, element type or `None`, shape or `None`, whether it is a buffer, `in`, `out`, `inout` or `None`,
    /// and the layout of packed scales or `None`.
    fn parameters(&self, py: Python<'_>) -> PyResult<Vec<Described>> {
        Ok(described(self.inner.parameters().map_err(|error| raise(py, &error))?))
    }

    /// The indices of the parameters that it makes itself, which a caller need not pass.
    fn made(&self, py: Python<'_>) -> PyResult<Vec<usize>> {
        self.inner.made().map_err(|error| raise(py, &error))
    }

    /// The values that it returns.
    fn gives(&self, py: Python<'_>) -> PyResult<Vec<PyGiven>> {
        let each = self.inner.returned().map_err(|error| raise(py, &error))?.into_iter();
        Ok(each.map(|given| given.map(|(at, part)| (at, part.map(part_of)))).collect())
    }

    /// The arguments given by texts in the syntax of the command line; without any, those of its file.
    fn arguments<'py>(&self, py: Python<'py>, texts: Vec<String>, seed: u64) -> PyResult<Vec<GivenArgument<'py>>> {
        let list = self.inner.arguments(&texts, seed).map_err(|error| raise(py, &error))?;
        Ok(given(py, &list, &self.inner.parameters().map_err(|error| raise(py, &error))?))
    }

    /// Compiler messages, which are not errors.
    fn said<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &facts(&self.inner.compile().map_err(|error| raise(py, &error))?))
    }

    /// The compiled program as `slipring build` writes it.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        self.inner.text().map_err(|error| raise(py, &error))
    }

    /// The program before the first pass and after each pass: the program's name, and the name of each pass with the
    /// text.
    #[allow(clippy::type_complexity)]
    fn passes(&self, py: Python<'_>) -> PyResult<Vec<(String, Vec<(String, String)>)>> {
        Ok(vec![(self.name(py)?, self.inner.passes().map_err(|error| raise(py, &error))?)])
    }

    /// The use of each local memory of a cluster.
    fn memory_uses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.inner.memory_uses().map_err(|error| raise(py, &error))?)
    }

    /// The layout of the local memories.
    fn memory_map<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.inner.memory_map().map_err(|error| raise(py, &error))?)
    }

    /// Runs it. See `tensor` for the form of arrays. Without arguments it takes those of its file, or random ones of
    /// the declared shapes, generated from `seed`.
    #[pyo3(signature = (args=None, given=None, progress=None, seed=0))]
    fn run(
        &self,
        py: Python<'_>,
        args: Option<&Bound<'_, PyList>>,
        given: Option<&Bound<'_, PyDict>>,
        progress: Option<&Bound<'_, PyAny>>,
        seed: u64,
    ) -> PyResult<Run> {
        let control = Control::default();
        let request = request_on(given, &control, Way::Kernel, py)?;
        let tensors = match args {
            Some(args) => tensors(args)?,
            None => self.inner.arguments(&[], seed).map_err(|error| raise(py, &error))?,
        };
        let kernel = Arc::clone(&self.inner);
        let work = move || {
            let run = kernel.run_with(tensors, &request.run)?;
            let comparison = request.verify.then(|| run.compare());
            Ok((run, comparison))
        };
        let (run, comparison) = listening(py, &control, progress, work)?;
        Run::new(run, comparison)
    }

    /// Runs it through the command queue of the board that the options name.
    #[pyo3(signature = (args, given, progress=None))]
    fn run_on_board(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyList>,
        given: &Bound<'_, PyDict>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<BoardRun> {
        let control = Control::default();
        let request = request_on(Some(given), &control, Way::Board, py)?;
        let Some(board) = board(&request)? else { return Err(PyTypeError::new_err("no `device` is named")) };
        let (tensors, kernel) = (tensors(args)?, Arc::clone(&self.inner));
        listening(py, &control, progress, move || {
            let run = kernel.run_on_board(tensors, board, &request.run)?;
            Ok(BoardRun::new(run, kernel.compile()?))
        })
    }

    /// Runs it and returns a session for stepping through the run.
    #[pyo3(signature = (args, given=None, progress=None))]
    fn debug(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyList>,
        given: Option<&Bound<'_, PyDict>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Stepper> {
        let control = Control::default();
        let asked = Session::options(request_on(given, &control, Way::Stepping, py)?.run);
        let tensors = tensors(args)?;
        let kernel = Arc::clone(&self.inner);
        let session = listening(py, &control, progress, move || {
            let run = kernel.run_with(tensors, &asked)?.into_owned();
            Ok(Session::start(run, asked))
        })?;
        Ok(Stepper::new(session))
    }

    /// Proves it for these arguments: facts, and the output of the command line.
    #[pyo3(signature = (args, timings=None, given=None, progress=None))]
    fn prove<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'_, PyList>,
        timings: Option<u32>,
        given: Option<&Bound<'_, PyDict>>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<(Bound<'py, PyAny>, String)> {
        let control = Control::default();
        let mut asked = ProveOptions::default();
        asked.run = request_on(given, &control, Way::Proof, py)?.run;
        asked.timings = timings.unwrap_or(asked.timings);
        let tensors = tensors(args)?;
        let kernel = Arc::clone(&self.inner);
        let proof = listening(py, &control, progress, move || kernel.prove(tensors, &asked))?;
        Ok((to_python_words(py, &proof)?, words(&proof.to_string())))
    }

    /// Runs it and reports on its rings, also with every depth from `first` to `last`.
    #[pyo3(signature = (args, sweep=None, given=None))]
    fn rings<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'_, PyList>,
        sweep: Option<(u32, u32)>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(Bound<'py, PyAny>, String)> {
        let control = Control::default();
        let options = request_on(given, &control, Way::Rings, py)?.run;
        let tensors = tensors(args)?;
        let kernel = Arc::clone(&self.inner);
        let work = move || kernel.rings(tensors, sweep.map(|(first, last)| first..=last), &options);
        let report = listening(py, &control, None, work)?;
        Ok((to_python(py, &report)?, report.text()))
    }
}
