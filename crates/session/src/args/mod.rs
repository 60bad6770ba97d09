//! Kernel arguments as the command line writes them.
//!
//! | text | argument |
//! |---|---|
//! | `@file` | a buffer: raw little-endian bytes, or the data of a `.npy` |
//! | `@file:out` | the same, written back after the run, whole or not at all. A file that does not exist yet is initialised to zeros, if the parameter's shape is known |
//! | `zeros:BYTES`, `zeros:f32[64x64]` | a buffer of zeros |
//! | `full:f32[64x64]=1.5`, `full:f32[64x64],value=1.5` | a buffer of one value |
//! | `iota:i32[64]` | a buffer of 0, 1, 2, … |
//! | `rand:f32[64x64],seed=3,lo=-1,hi=1` | pseudo-random numbers, uniform in `lo` ≤ x < `hi`: by default floats from -1 to 1, integers from -8 to 8, unsigned ones from 0 to 8. Without `seed`, the seed is that of the launch plus the argument's position, counted from 0 |
//! | `3:i32`, `1.5:f32`, `true` | a scalar |
//! | `x=…` | the same for the parameter of that name |
//!
//! Values that the type cannot represent are refused, including the last one of `iota` and the bounds of `rand`; floats
//! are rounded. The type given in an argument must be the parameter's. If the parameter's size is known, the argument
//! must have that size; if its shape is known, a `.npy` must have that shape. A bare pointer takes any whole number of
//! elements, in any shape.
//!
//! The generator is SplitMix64, started from the seed. Each element uses one output: `lo + (hi - lo) × k / 2^53` with
//! `k` its upper 53 bits, computed in `f64`; floats are rounded to `f32` and then to their type, integers are rounded
//! down.

mod error;
mod fill;
mod npy;
pub mod number;
mod spec;
mod value;

use std::path::PathBuf;

use slipring_program::{Param, ParamKind};
use slipring_tile::Elem;

use crate::fits::kind_name;
use crate::tensor::{Bound, Tensor};

pub use error::ArgError;
pub use fill::float_bits;
pub use npy::Npy;
pub(crate) use spec::file_of;
pub use spec::{Defaults, arg_type, named, read_arg};
pub use value::{OutFile, Within};

/// The kernel's signature on one line.
pub fn signature(name: &str, params: &[Param]) -> String {
    let list: Vec<String> =
        params.iter().filter(|p| p.is_passed()).map(|p| format!("%{}: {}", p.name, kind_name(&p.kind))).collect();
    format!("{name}({})", list.join(", "))
}

/// Arguments in the order of the parameters: named ones go to that parameter, the others fill the first remaining
/// parameters; parameters without an argument get what the kernel declares, if any argument is named.
///
/// # Errors
/// A name that is not a parameter, or is given twice, and a parameter without an argument.
pub fn in_order(
    texts: &[String],
    params: &[Param],
    declared: &dyn Fn(&Param) -> Option<String>,
) -> Result<Vec<String>, ArgError> {
    if texts.iter().all(|text| named(text).0.is_none()) {
        return Ok(texts.to_vec());
    }
    let params: Vec<&Param> = params.iter().filter(|param| param.is_passed()).collect();
    let mut list: Vec<Option<String>> = vec![None; params.len()];
    for text in texts {
        let (Some(name), text) = named(text) else { continue };
        let Some(at) = params.iter().position(|param| param.name == name) else {
            let known: Vec<_> = params.iter().map(|param| format!("`{}`", param.name)).collect();
            return Err(ArgError::Name(format!("the kernel has no parameter `{name}`; it has {}", known.join(", "))));
        };
        if list[at].replace(text.to_string()).is_some() {
            return Err(ArgError::Name(format!("two arguments for `{name}`")));
        }
    }
    for text in texts.iter().filter(|text| named(text).0.is_none()) {
        match list.iter_mut().find(|slot| slot.is_none()) {
            Some(slot) => *slot = Some(text.clone()),
            None => return Err(ArgError::Name(format!("`{text}` is one argument too many"))),
        }
    }
    let complete = list.into_iter().zip(&params).map(|(text, param)| {
        let missing = || ArgError::Name(format!("no argument for `{0}`: give it `--arg {0}=…`", param.name));
        text.or_else(|| declared(param)).ok_or_else(missing)
    });
    complete.collect()
}

/// Reads one argument for each parameter that is passed and checks that it fits. `shapes` are those of the parameters,
/// in elements, where they are known; it may be shorter.
///
/// # Errors
/// The first argument that does not fit, or the wrong number of them.
pub fn bind(
    texts: &[String],
    params: &[Param],
    shapes: &[Option<Vec<u64>>],
    defaults: &Defaults,
) -> Result<Vec<Tensor<'static>>, ArgError> {
    let texts = in_order(texts, params, &|_| None)?;
    let expected = params.iter().filter(|p| p.is_passed()).count();
    if texts.len() != expected {
        return Err(ArgError::Count { expected, given: texts.len() });
    }
    // Checked before the first of them is allocated.
    let sizes = texts.iter().enumerate().map(|(at, text)| spec::size(text, defaults, params, shapes, at));
    let bytes = sizes.fold(0, u64::saturating_add);
    if bytes > defaults.memory {
        return Err(ArgError::Memory { bytes, limit: defaults.memory });
    }
    let mut args = Vec::new();
    for (at, (text, param)) in texts.iter().zip(params).enumerate() {
        let seed = defaults.seed.wrapping_add(at as u64);
        let shape = shapes.get(at).and_then(Option::as_deref);
        let arg = match (&param.kind, shape) {
            (ParamKind::Buffer { elem, .. }, Some(shape)) if spec::is_new_file(text, defaults) => {
                spec::new_file(text, *elem, shape, defaults)?
            }
            _ => read_arg(text, &Defaults { seed, ..defaults.clone() })?,
        };
        if let Some(reason) = arg.mismatch(&param.kind, shape) {
            return Err(ArgError::Type { index: at + 1, text: text.clone(), name: param.name.clone(), reason });
        }
        let same = |other: &Tensor<'_>| match (other.out(), arg.out()) {
            (Some(a), Some(b)) => crate::files::same(&a.path, &b.path),
            _ => false,
        };
        if let Some(first) = args.iter().position(same) {
            let reason = format!("argument {} is written to the same file", first + 1);
            return Err(ArgError::Type { index: at + 1, text: text.clone(), name: param.name.clone(), reason });
        }
        args.push(arg);
    }
    share(&mut args);
    Ok(args)
}

/// As [`bind`], in the form that runs take.
///
/// # Errors
/// Those of [`bind`].
pub fn bound(texts: &[String], params: &[Param], defaults: &Defaults) -> Result<Vec<Bound<'static>>, ArgError> {
    let args = bind(texts, params, &[], defaults)?;
    args.into_iter().zip(params).enumerate().map(|(at, (arg, param))| arg.bind(at, param, None)).collect()
}

/// A file that is written back is a single memory, however often it is passed: reads see what the kernel has written.
fn share(args: &mut [Tensor<'_>]) {
    let outs: Vec<PathBuf> = args.iter().filter_map(|arg| Some(arg.out()?.path.clone())).collect();
    for (memory, out) in outs.iter().enumerate() {
        let of = |arg: &&mut Tensor<'_>| arg.file().is_some_and(|file| crate::files::same(file, out));
        let mut shared: Vec<&mut Tensor<'_>> = args.iter_mut().filter(of).collect();
        if shared.len() > 1 {
            shared.iter_mut().for_each(|arg| arg.lie_within(memory as u32, 0));
        }
    }
}

/// One element as text.
pub fn show(elem: Elem, bytes: &[u8]) -> String {
    if bytes.len() < elem.bytes() {
        return "?".into();
    }
    if elem.is_float() {
        let mut values = [0f32; 2];
        let values = &mut values[..elem.values()];
        slipring_tile::load_f32(elem, &bytes[..elem.bytes()], values);
        return values.iter().map(f32::to_string).collect::<Vec<_>>().join("|");
    }
    let mut wide = [0u8; 8];
    wide[..elem.bytes()].copy_from_slice(&bytes[..elem.bytes()]);
    let unused = 64 - 8 * elem.bytes() as u32;
    let value = u64::from_le_bytes(wide);
    if elem.is_signed_int() { (((value << unused) as i64) >> unused).to_string() } else { value.to_string() }
}
