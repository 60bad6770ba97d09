//! A compiled kernel, its parameters, and the arguments of a call.

use std::path::Path;
use std::sync::Arc;

use slipring_ir::text::nearest;
use slipring_ir::{Diagnostic, Diags, Module};
use slipring_lang::{Direction, KernelInfo};
use slipring_machine::Platform;
use slipring_op::ring::set_slots;
use slipring_passes::lint::is_finding;
use slipring_program::Param;
use slipring_tile::Elem;

use crate::files;
use crate::launch::shapes;
use crate::prepare::{needed_of, prepare_with, which_get_flags};
use crate::tensor::Bound;
use crate::{Error, Prepared, Tensor, check, needed};

/// A kernel that is ready to run.
#[derive(Debug)]
pub struct Compiled {
    /// Its source and its program.
    pub prepared: Arc<Prepared>,
    /// The platform that it was compiled for.
    pub platform: Platform,
    /// Properties of its parameters declared in the text.
    pub kernels: Vec<KernelInfo>,
    /// Warnings and notes.
    pub said: Vec<Diagnostic>,
    /// Errors that do not prevent a run: findings in the text that hold whatever a run does.
    pub found: Vec<Diagnostic>,
    /// Shapes of the parameters, where they are known.
    pub shapes: Vec<Option<Vec<u64>>>,
}

/// The choice of a text's kernel, and how it is compiled.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The chosen function, if the text has several kernels.
    pub function: Option<String>,
    /// Slots of each of its rings, overriding the text.
    pub slots: Option<u32>,
    /// Whether functions get flags although others of the text have manual ones.
    pub insert_sync: bool,
}

impl Compiled {
    /// Checks a kernel of a module that was read without errors, and compiles it. `said` contains the diagnostics from
    /// reading it.
    ///
    /// # Errors
    /// If the text is wrong.
    pub fn of(
        module: &Module,
        said: &[Diagnostic],
        kernels: &[KernelInfo],
        platform: Platform,
        choice: &Choice,
    ) -> Result<Compiled, Error> {
        let mut diags = Diags { list: said.to_vec() };
        let function = choice.function.as_deref();
        let source = module.source.clone();
        let mut module = module.clone();
        if let Some(slots) = choice.slots {
            set_slots(&mut module, slots, &platform);
        }
        check(needed(&module, function).as_ref().unwrap_or(&module), &platform, &mut diags);
        // Findings about the text do not prevent a run: the run reports them as its own.
        let (found, rest) = std::mem::take(&mut diags.list).into_iter().partition(is_finding);
        diags.list = rest;
        let prepared = if diags.has_errors() {
            None
        } else {
            prepare_with(module, function, &platform, choice.insert_sync, &mut diags)
        };
        let Some(prepared) = prepared else { return Err(Error::text(source, diags)) };
        let said = diags.list;
        let shapes = shapes(&prepared, kernels);
        let prepared = Arc::new(prepared);
        Ok(Compiled { prepared, platform, kernels: kernels.to_vec(), said, found, shapes })
    }

    /// The program as it was read and after each pass, with the names of the passes.
    pub fn passes(&self, insert_sync: bool) -> Vec<(String, String)> {
        let mut module = needed_of(&self.prepared.written, &self.prepared.kernel);
        let mut list = vec![("read".to_string(), slipring_ir::text::print(&module))];
        let after = |pass: &slipring_passes::Pass, module: &Module| {
            list.push((pass.name.to_string(), slipring_ir::text::print(module)));
        };
        let insert_sync = which_get_flags(&module, insert_sync);
        let context = slipring_passes::PassContext { platform: &self.platform, insert_sync };
        slipring_passes::run_passes(&mut module, &context, None, &mut Diags::default(), after);
        list
    }

    /// This kernel on a platform with the alternative interpretation of a question that does not affect compilation.
    pub fn with_reading(&self, question: &slipring_machine::Question) -> Compiled {
        Compiled {
            prepared: self.prepared.clone(),
            platform: self.platform.with_reading(question),
            kernels: self.kernels.clone(),
            said: self.said.clone(),
            found: self.found.clone(),
            shapes: self.shapes.clone(),
        }
    }
}

/// The contents of a source file.
///
/// # Errors
/// If it cannot be read, or is too large for a text.
pub fn read_source(path: &Path) -> Result<Vec<u8>, Error> {
    files::read(path, files::MOST_TEXT)
        .map_err(|error| Error::File(format!("cannot read `{}`: {error}", files::shown(path))))
}

/// Checks that all these interpretations exist, and returns them.
pub fn known_interpretations<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Result<Vec<String>, Error> {
    let known = |name: String| match slipring_machine::interpretations::question(&name) {
        Some(_) => Ok(name),
        None => {
            let all = slipring_machine::interpretations::names();
            Err(Error::Platform(format!("there is no interpretation `{name}`; the interpretations are {all}")))
        }
    };
    names.into_iter().map(|name| known(name.into())).collect()
}

/// A parameter of a kernel.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Type of its elements, or of the scalar; `None` for a boolean.
    pub elem: Option<Elem>,
    /// Extents in elements, outermost first, where they are known; also `None` for a scalar.
    pub shape: Option<Vec<u64>>,
    /// True for a buffer, false for a scalar.
    pub is_buffer: bool,
    /// Its direction, if the kernel declares it.
    pub direction: Option<Direction>,
    /// The layout of packed scales that it holds, if its bytes are not in row-major order: `MX_B_NN`.
    pub packed: Option<&'static str>,
}

/// Arguments of a kernel: one for each parameter in order, or by name.
#[derive(Debug)]
pub struct Args<'a>(Vec<(Option<String>, Tensor<'a>)>);

impl Parameter {
    /// Creates a parameter.
    #[doc(hidden)]
    pub fn new(
        name: &str,
        elem: Option<Elem>,
        shape: Option<Vec<u64>>,
        is_buffer: bool,
        direction: Option<Direction>,
    ) -> Parameter {
        Parameter { name: name.into(), elem, shape, is_buffer, direction, packed: None }
    }

    /// This parameter with a layout of packed scales, or without one.
    #[doc(hidden)]
    #[must_use]
    pub fn packed_as(self, packed: Option<&'static str>) -> Parameter {
        Parameter { packed, ..self }
    }
}

impl<'a> From<Vec<Tensor<'a>>> for Args<'a> {
    fn from(list: Vec<Tensor<'a>>) -> Args<'a> {
        Args(list.into_iter().map(|tensor| (None, tensor)).collect())
    }
}

impl<'a, const N: usize> From<[Tensor<'a>; N]> for Args<'a> {
    fn from(list: [Tensor<'a>; N]) -> Args<'a> {
        Vec::from(list).into()
    }
}

impl<'a> From<Vec<(String, Tensor<'a>)>> for Args<'a> {
    fn from(list: Vec<(String, Tensor<'a>)>) -> Args<'a> {
        Args(list.into_iter().map(|(name, tensor)| (Some(name), tensor)).collect())
    }
}

impl<'a, const N: usize> From<[(&str, Tensor<'a>); N]> for Args<'a> {
    fn from(list: [(&str, Tensor<'a>); N]) -> Args<'a> {
        Args(list.into_iter().map(|(name, tensor)| (Some(name.to_string()), tensor)).collect())
    }
}

/// Each argument at the position of its parameter; `shapes` are given where they are known. `wrong` makes an error of
/// an argument that does not fit.
pub fn bind_to<'a>(
    args: Args<'a>,
    params: &[&Param],
    shapes: &[Option<Vec<u64>>],
    wrong: &dyn Fn(crate::args::ArgError) -> Error,
) -> Result<Vec<Bound<'a>>, Error> {
    if args.0.len() != params.len() {
        return Err(wrong(crate::args::ArgError::Count { expected: params.len(), given: args.0.len() }));
    }
    let mut places: Vec<Option<Tensor<'a>>> = params.iter().map(|_| None).collect();
    for (at, (name, tensor)) in args.0.into_iter().enumerate() {
        let at = match &name {
            None => at,
            Some(name) => params.iter().position(|param| param.name == *name).ok_or_else(|| {
                let near = nearest(name, params.iter().map(|param| param.name.as_str()));
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                Error::Arguments(format!("there is no parameter `{name}`{hint}"))
            })?,
        };
        if places[at].replace(tensor).is_some() {
            return Err(Error::Arguments(format!("two arguments for `{}`", params[at].name)));
        }
    }
    let each = places.into_iter().flatten().zip(params.iter()).enumerate();
    each.map(|(at, (tensor, param))| tensor.bind(at, param, shapes.get(at).and_then(Option::as_deref)).map_err(wrong))
        .collect()
}
