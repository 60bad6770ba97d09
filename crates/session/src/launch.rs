//! Default launch parameters of a kernel: from lines at the head of its file, otherwise from its declaration.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use slipring_ir::{Diagnostic, Diags, Kind, Module, Severity, Source, Span, Type};
use slipring_lang::{Direction, KernelInfo, ParamInfo};
use slipring_machine::Platform;
use slipring_op::{Kernel, select_kernel};
use slipring_program::{Param, ParamKind, Special};

use crate::args::{ArgError, Defaults, bind, file_of, in_order, named, signature};
use crate::{Error, Prepared, Tensor, consumer_buffers, is_language};

/// Maximum number of blocks of a launch.
pub const MOST_BLOCKS: u32 = 4096;

/// One argument for each parameter: `texts` if there are any, otherwise those of the file, relative to `folder`,
/// otherwise random inputs of the shapes that the kernel declares. `seed` is used for generated arguments without a
/// seed of their own.
///
/// # Errors
/// If they do not fit the kernel.
pub fn arguments(
    prepared: &Prepared,
    kernels: &[KernelInfo],
    texts: &[String],
    others: &[(String, String)],
    defaults: &Defaults,
) -> Result<Vec<Tensor<'static>>, Error> {
    let program = &prepared.decoded.program;
    let own = texts.is_empty();
    let declared = |param: &Param| declared(kernels, &program.name, param);
    let given = if own { header(&prepared.written.source, "args") } else { Some(texts.to_vec()) };
    let given = match (given, others) {
        (given, []) => given,
        (given, others) => Some(replaced(given.unwrap_or_default(), &program.params, others)),
    };
    // If all given arguments have names, the file supplies the rest, except for files, which it names relative to its
    // own folder.
    let line = header(&prepared.written.source, "args").unwrap_or_default();
    let line = in_order(&line, &program.params, &declared).unwrap_or_default();
    let rest = |param: &Param| {
        let at = program.params.iter().filter(|own| own.is_passed()).position(|own| own.name == param.name)?;
        let named = texts.iter().all(|text| named(text).0.is_some());
        line.get(at).filter(|text| named && !text.starts_with('@')).cloned().or_else(|| declared(param))
    };
    let texts = match given {
        Some(texts) => {
            let mut texts = in_order(&texts, &program.params, &rest)
                .map_err(|error| Error::Arguments(mismatch_text(prepared, &error)))?;
            // Tensors that the kernel creates itself come last and need not be passed.
            let rest: Vec<&Param> = program.params.iter().filter(|param| param.is_passed()).skip(texts.len()).collect();
            let made = |param: &&Param| info(kernels, &program.name, param).is_some_and(|info| info.given.is_some());
            if rest.iter().all(made) {
                texts.extend(rest.into_iter().filter_map(declared));
            }
            texts
        }
        None => program.params.iter().map_while(declared).collect(),
    };
    let folder = if own { defaults.folder.clone() } else { PathBuf::new() };
    let wrong = |error: ArgError| {
        if let ArgError::Memory { bytes, .. } = error {
            return too_large(prepared.written.source.clone(), bytes);
        }
        let mut message = mismatch_text(prepared, &error);
        if own {
            message += "\npass one `--arg` per parameter, or write an `// args: …` line into the file";
        }
        Error::Arguments(message)
    };
    bind(&texts, &program.params, &shapes(prepared, kernels), &Defaults { folder, own, ..defaults.clone() })
        .map_err(wrong)
}

/// The error for arguments that are too large for a run, with the same message as from a run.
pub fn too_large(source: Arc<Source>, bytes: u64) -> Error {
    let error = Diagnostic::nowhere(Kind::MemoryLimit, Severity::Error, too_large_text(bytes));
    Error::text(source, Diags { list: vec![error.help(TOO_LARGE_HELP)] })
}

/// The message for a run whose memories are too large.
pub(crate) fn too_large_text(bytes: u64) -> String {
    format!("the buffers and local memories of the run take {bytes} bytes, more than the limit")
}

/// The corresponding hint.
pub(crate) const TOO_LARGE_HELP: &str =
    "run fewer blocks or smaller buffers, or raise `--max-memory` where the host has more";

/// The arguments, with those for some parameters replaced.
fn replaced(mut texts: Vec<String>, params: &[Param], others: &[(String, String)]) -> Vec<String> {
    let named_ones = texts.iter().any(|text| named(text).0.is_some());
    let passed: Vec<&Param> = params.iter().filter(|param| param.is_passed()).collect();
    for (name, other) in others {
        let place = passed.iter().position(|param| param.name == *name);
        let own = texts.iter().position(|text| named(text).0 == Some(name));
        match (own, place) {
            (Some(at), _) => texts[at] = format!("{name}={other}"),
            (None, Some(at)) if !named_ones && texts.len() == passed.len() => texts[at].clone_from(other),
            _ => texts.push(format!("{name}={other}")),
        }
    }
    texts
}

/// The error in a kernel's arguments, and the arguments it takes.
pub fn mismatch_text(prepared: &Prepared, error: &crate::args::ArgError) -> String {
    let program = &prepared.decoded.program;
    format!("{error}\nthe kernel is {}", signature(&program.name, &program.params))
}

/// Blocks of a launch of a function, or of the entry, that does not specify them.
///
/// # Errors
/// If the file's line does not specify them either.
pub fn blocks(module: &Module, kernels: &[KernelInfo], function: Option<&str>) -> Result<u32, Error> {
    match header(&module.source, "blocks") {
        None => Ok(blocks_of(kernels, select_kernel(module, function, &mut Diags::default()).as_ref()).unwrap_or(1)),
        Some(words) => {
            let number = words.first().and_then(|w| w.parse().ok()).filter(|n| (1..=MOST_BLOCKS).contains(n));
            number.ok_or_else(|| Error::Arguments(format!("`// blocks:` takes a number from 1 to {MOST_BLOCKS}")))
        }
    }
}

/// The file's declarations for the functions that make up a kernel.
pub fn of_kernel<'a>(kernels: &'a [KernelInfo], kernel: &str) -> impl Iterator<Item = &'a KernelInfo> {
    kernels.iter().filter(move |k| k.name == kernel || kernel.split(" + ").any(|name| name == k.name))
}

/// The number of blocks that the functions of a kernel specify.
fn blocks_of(kernels: &[KernelInfo], kernel: Option<&Kernel>) -> Option<u32> {
    of_kernel(kernels, &kernel?.name).map(|own| own.blocks).max()
}

/// The file's declaration of a parameter, if any.
pub fn info<'a>(kernels: &'a [KernelInfo], kernel: &str, param: &Param) -> Option<&'a ParamInfo> {
    of_kernel(kernels, kernel).flat_map(|k| &k.params).find(|p| p.name == param.name)
}

/// The shapes of a kernel's buffers in elements, where the kernel declares them or the types of its parameters determine
/// them.
pub fn shapes(prepared: &Prepared, kernels: &[KernelInfo]) -> Vec<Option<Vec<u64>>> {
    let (program, module) = (&prepared.decoded.program, &prepared.written);
    // A parameter's type is that of the first argument that is bound to it.
    let mut typed = vec![None; program.params.len()];
    for (start, bound) in prepared.kernel.start.iter().zip(&prepared.kernel.args) {
        let Some(body) = start.and_then(|function| module.body(function, 0)) else { continue };
        for (value, special) in module.block(body).args.iter().zip(bound) {
            if let Special::Param(at) = special {
                typed[*at as usize].get_or_insert(module.ty(*value));
            }
        }
    }
    let of_type = |ty: &Type| match ty {
        Type::MemRef(memref) => memref.dims.iter().map(|dim| dim.known()).collect(),
        _ => None,
    };
    let declared = |param| info(kernels, &program.name, param).and_then(|info| info.shape.clone());
    program.params.iter().zip(typed).map(|(param, ty)| declared(param).or_else(|| of_type(ty?))).collect()
}

/// An argument of the shape that a kernel declares for a parameter: random numbers if it is read, zeros if it is only
/// written. `None` for scalars, which have no shape to fill.
fn declared(kernels: &[KernelInfo], kernel: &str, param: &Param) -> Option<String> {
    let info = info(kernels, kernel, param)?;
    if let Some(given) = &info.given {
        return Some(given.clone());
    }
    let extents: Vec<String> = info.shape.as_ref()?.iter().map(u64::to_string).collect();
    let what = if info.direction == Direction::Out { "zeros" } else { "rand" };
    Some(format!("{what}:{}[{}]", info.elem, extents.join("x")))
}

/// The lines at the head of a built program that specify its launch: those of the source, otherwise what its kernels
/// declare.
fn launch_lines(module: &Module, kernels: &[KernelInfo]) -> String {
    let source = &module.source;
    let kernel = select_kernel(module, None, &mut Diags::default());
    let declared = || {
        let kernel = kernel.as_ref()?;
        let params = kernel.params.iter().filter(|param| !matches!(param.kind, ParamKind::Scratch { .. }));
        params.map(|param| declared(kernels, &kernel.name, param)).collect::<Option<Vec<String>>>()
    };
    let args = header(source, "args").or_else(declared).filter(|words| !words.is_empty());
    let blocks = blocks_of(kernels, kernel.as_ref()).filter(|n| *n > 1).map(|n| vec![n.to_string()]);
    let blocks = header(source, "blocks").or(blocks);
    let line = |name: &str, words: Option<Vec<String>>| match words {
        Some(words) => format!("// {name}: {}\n", words.join(" ")),
        None => String::new(),
    };
    line("args", args) + &line("blocks", blocks)
}

/// The lines above the text of a built program: those of its launch, and the addresses of its ring buffers.
pub fn head_lines(module: &Module, kernels: &[KernelInfo], platform: &Platform) -> String {
    let buffers = consumer_buffers(module, platform);
    let symbols = buffers.iter().map(|buffer| format!("// {}\n", buffer.line()));
    launch_lines(module, kernels) + &symbols.collect::<String>()
}

/// Words of a `name: …` line in the comments at the head of the file.
pub fn header(source: &Source, name: &str) -> Option<Vec<String>> {
    Some(header_line(source, name)?.split_whitespace().map(str::to_string).collect())
}

fn header_line<'s>(source: &'s Source, name: &str) -> Option<&'s str> {
    let mark = if is_language(source) { "#" } else { "//" };
    // A byte order mark is no part of the first line.
    source
        .text
        .trim_start_matches('\u{feff}')
        .lines()
        .map(str::trim)
        .take_while(|l| l.is_empty() || l.starts_with(mark))
        .find_map(|line| line.strip_prefix(mark)?.trim().strip_prefix(name)?.strip_prefix(':'))
}

/// Requests in the `args` line of a file that only a command line may make: files that are written, or are in another
/// folder.
pub(crate) fn refused_words(source: &Source) -> Vec<Diagnostic> {
    let folder = Path::new(&source.name).parent().map_or_else(PathBuf::new, Path::to_path_buf);
    let defaults = Defaults { folder, own: true, ..Defaults::default() };
    let words = header_line(source, "args").into_iter().flat_map(str::split_whitespace);
    let refused = |word: &str| {
        let error = file_of(named(word).1.strip_prefix('@')?, &defaults).err()?;
        if !matches!(error, ArgError::Own { .. }) {
            return None;
        }
        let start = (word.as_ptr() as usize - source.text.as_ptr() as usize) as u32;
        let span = Span::new(start, start + word.len() as u32);
        let help = "pass the arguments on the command line, one `--arg` per parameter: this line is then ignored";
        Some(Diagnostic::error("args-line", span, error.to_string()).help(help))
    };
    words.filter_map(refused).collect()
}
