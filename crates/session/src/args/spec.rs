//! Parsing of one argument.

use std::io::Read;
use std::path::{Path, PathBuf};

use slipring_program::{Param, ParamKind};
use slipring_tile::Elem;

use super::fill::{Fill, fill, float_bits};
use super::number::{Number, has, range_text};
use super::{ArgError, Npy, OutFile};
use crate::files::{self, Refused};
use crate::tensor::Tensor;

/// Maximum size of a generated buffer.
const MOST_BYTES: usize = 1 << 34;

/// Parses an argument; files are read here.
///
/// # Errors
/// If it matches none of the forms, or its file cannot be read.
pub fn read_arg(text: &str, defaults: &Defaults) -> Result<Tensor<'static>, ArgError> {
    if let Some(file) = text.strip_prefix('@') {
        return read_file(file, defaults);
    }
    let bad = |reason: &str| ArgError::Form { text: text.to_string(), reason: reason.to_string() };
    if text == "true" || text == "false" {
        return Ok(Tensor::boolean(text == "true"));
    }
    let Some((head, tail)) = text.split_once(':') else {
        return Err(bad("expected `@file`, `zeros:…`, `full:…`, `iota:…`, `rand:…` or a scalar such as `3:i32`"));
    };
    if !matches!(head, "zeros" | "full" | "iota" | "rand") {
        return match read_scalar(head, tail) {
            Some(arg) => arg.map_err(|error| bad(&error)),
            None => {
                Err(bad("expected `zeros:…`, `full:…`, `iota:…`, `rand:…` or a scalar such as `3:i32` or `1.5:f32`"))
            }
        };
    }
    let mut parts = tail.split(',');
    let shape = parts.next().unwrap_or("");
    let (shape, mut value) = match shape.split_once('=') {
        Some((shape, value)) if head == "full" => (shape, Some(value)),
        _ => (shape, None),
    };
    let (elem, shape, count) = if let Ok(bytes) = shape.parse::<usize>() {
        if head != "zeros" {
            return Err(bad("only `zeros:` takes a number of bytes; say a type and a shape, such as `f32[64x64]`"));
        }
        (Elem::U8, None, bytes)
    } else {
        let (elem, shape) =
            read_shape(shape).ok_or_else(|| bad("expected a type and a shape, such as `f32[64x64]`"))?;
        let count = shape.iter().try_fold(1usize, |n, dim| n.checked_mul(*dim));
        (elem, Some(shape), count.ok_or_else(|| bad("the shape is too large"))?)
    };
    match count.checked_mul(elem.bytes()) {
        Some(bytes) if bytes <= MOST_BYTES => within(bytes as u64, defaults)?,
        _ => return Err(bad("the buffer is larger than 16 GiB")),
    }
    let outside = |number: String| bad(&format!("{number} is not a number of {elem}, which has {}", range_text(elem)));
    let (mut seed, mut lo, mut hi) = (defaults.seed, None, None);
    let mut keys = Vec::new();
    for part in parts {
        let (key, number) = part.split_once('=').ok_or_else(|| bad("options have the form `name=number`"))?;
        if keys.contains(&key) || (key == "value" && value.is_some()) {
            return Err(bad(&format!("`{key}` is given twice")));
        }
        keys.push(key);
        match (head, key) {
            ("rand", "seed") => seed = number.parse().map_err(|_| bad("`seed` is a whole number"))?,
            ("rand", "lo") => lo = Some(bound(number, elem, false).map_err(|e| bad(&format!("`lo`: {e}")))?),
            ("rand", "hi") => hi = Some(bound(number, elem, true).map_err(|e| bad(&format!("`hi`: {e}")))?),
            ("full", "value") => value = Some(number),
            _ => return Err(bad(&format!("`{head}` has no option `{key}`"))),
        }
    }
    let values = count * elem.values();
    let kind = match head {
        "iota" => match values.checked_sub(1) {
            Some(last) if !has(elem, last as i128) => return Err(outside(format!("the last number, {last},"))),
            _ => Fill::Iota,
        },
        "full" => {
            let value = value.ok_or_else(|| bad("say the value of every element, as in `full:f32[64x64]=1.5`"))?;
            Fill::Value(Number::read(value, elem).map_err(|e| bad(&e))?)
        }
        "rand" => {
            let (low, high) = match (elem.is_float(), elem.is_signed_int()) {
                (true, _) => (-1.0, 1.0),
                (false, true) => (-8.0, 8.0),
                (false, false) => (0.0, 8.0),
            };
            let (lo, hi) = (lo.unwrap_or(low), hi.unwrap_or(high));
            if lo > hi || (lo == hi && !elem.is_float()) {
                return Err(bad("`lo` is not below `hi`"));
            }
            Fill::Random { seed, lo, hi }
        }
        _ => Fill::Zeros,
    };
    let data = fill(kind, elem, count).map_err(|_| bad("out of memory"))?;
    Ok(Tensor::raw(data).saying(shape.is_some().then_some(elem), shape))
}

/// A bound of random numbers. The upper one may be one more than the largest value.
fn bound(text: &str, elem: Elem, upper: bool) -> Result<f64, String> {
    let one_less = text.parse::<i128>().ok().and_then(|n| n.checked_sub(1)).filter(|_| upper && !elem.is_float());
    match Number::read(text, elem) {
        Ok(number) if number.float().is_finite() => Ok(number.float()),
        Ok(_) => Err(format!("`{text}` is not a bound")),
        Err(_) if one_less.is_some_and(|n| has(elem, n)) => Ok(one_less.map_or(0.0, |n| n as f64 + 1.0)),
        Err(error) => Err(error),
    }
}

/// `f32[64x64]`.
fn read_shape(text: &str) -> Option<(Elem, Vec<usize>)> {
    let (elem, rest) = text.split_once('[')?;
    let dims = rest.strip_suffix(']')?;
    let dims = dims.split('x').map(|d| d.trim().parse().ok()).collect::<Option<Vec<usize>>>()?;
    Some((Elem::parse(elem)?, dims))
}

/// `3:i32`, `1.5:f32`, `4:index`. `None` if the type is not a scalar type.
fn read_scalar(number: &str, ty: &str) -> Option<Result<Tensor<'static>, String>> {
    let elem = if ty == "index" { Elem::I64 } else { Elem::parse(ty).filter(|e| e.values() == 1)? };
    let value = Number::read(number, elem).map(|number| {
        let bits = if elem.is_float() { float_bits(elem, number.float()) } else { number.integer() as u64 };
        Tensor::register(elem, bits)
    });
    Some(value)
}

/// An argument without its name prefix, and that name: `x=@x.npy`.
pub fn named(text: &str) -> (Option<&str>, &str) {
    let name = text.split_once('=').filter(|(name, _)| {
        name.chars().enumerate().all(|(at, c)| c == '_' || c.is_alphabetic() || (at > 0 && c.is_numeric()))
            && !name.is_empty()
    });
    name.map_or((None, text), |(name, rest)| (Some(name), rest))
}

/// Element type and shape that an argument itself gives, if any; for a `.npy`, those in its header. Nothing is filled
/// or checked here.
pub fn arg_type(text: &str, folder: &Path) -> (Option<Elem>, Option<Vec<u64>>) {
    let wide = |dims: Vec<usize>| dims.into_iter().map(|n| n as u64).collect();
    if let Some(file) = text.strip_prefix('@') {
        let path = folder.join(file.strip_suffix(":out").unwrap_or(file));
        // The contents of a pipe can be read only once.
        let file =
            std::fs::File::open(&path).ok().filter(|_| std::fs::metadata(&path).is_ok_and(|meta| meta.is_file()));
        let npy = file.and_then(|mut file| {
            let mut head = Vec::new();
            let size = file.metadata().ok()?.len();
            std::io::Read::take(&mut file, 1 << 16).read_to_end(&mut head).ok()?;
            Npy::head(&head, size).ok()
        });
        return npy.map_or((None, None), |npy| (Some(npy.elem), Some(wide(npy.shape))));
    }
    match text.split_once(':') {
        Some(("zeros" | "full" | "iota" | "rand", tail)) => {
            let first = tail.split([',', '=']).next().unwrap_or("");
            read_shape(first).map_or((None, None), |(elem, dims)| (Some(elem), Some(wide(dims))))
        }
        _ => (None, None),
    }
}

/// True for a file that is only written: it does not exist yet.
pub(super) fn is_new_file(text: &str, defaults: &Defaults) -> bool {
    let out = text.strip_prefix('@').and_then(|file| file.strip_suffix(":out"));
    out.is_some_and(|file| !defaults.own && std::fs::symlink_metadata(defaults.folder.join(file)).is_err())
}

/// The file that an argument names, and whether it is written back.
///
/// # Errors
/// If a line of the file itself names it and may not.
pub(crate) fn file_of(file: &str, defaults: &Defaults) -> Result<(PathBuf, bool), ArgError> {
    let (name, out) = match file.strip_suffix(":out") {
        Some(name) => (name, true),
        None => (file, false),
    };
    if !defaults.own {
        return Ok((defaults.folder.join(name), out));
    }
    let refused = |reason: &str| Err(ArgError::Own { text: format!("@{file}"), reason: reason.into() });
    if out {
        return refused("a file cannot request that files be written");
    }
    match files::below(&[&defaults.folder], Path::new(name)) {
        Ok(path) => Ok((path, false)),
        Err(Refused::Outside) => refused("a file can only name files below its own folder"),
        Err(Refused::NoFile) => refused("a file can only name regular files"),
        Err(Refused::Missing(error)) => {
            Err(ArgError::File { path: files::shown(&defaults.folder.join(name)), reason: error.to_string() })
        }
    }
}

/// # Errors
/// If a buffer of this size exceeds the limit for all buffers together.
fn within(bytes: u64, defaults: &Defaults) -> Result<(), ArgError> {
    match bytes > defaults.memory {
        true => Err(ArgError::Memory { bytes, limit: defaults.memory }),
        false => Ok(()),
    }
}

/// Size in bytes of the argument at a position, as far as it can be determined before it is created; 0 for scalars and
/// invalid arguments.
pub(super) fn size(text: &str, defaults: &Defaults, params: &[Param], shapes: &[Option<Vec<u64>>], at: usize) -> u64 {
    let count = |dims: &[u64]| dims.iter().fold(1u64, |n, dim| n.saturating_mul(*dim));
    // A size that exceeds the limit of any single argument is reported for that argument.
    let one = |bytes: u64| if bytes > MOST_BYTES as u64 { 0 } else { bytes };
    if is_new_file(text, defaults) {
        return match (params.get(at).map(|param| &param.kind), shapes.get(at).and_then(Option::as_deref)) {
            (Some(ParamKind::Buffer { elem, .. }), Some(shape)) => count(shape).saturating_mul(elem.bytes() as u64),
            _ => 0,
        };
    }
    if let Some(file) = text.strip_prefix('@') {
        let path = file_of(file, defaults).map(|(path, _)| path);
        return path.ok().and_then(|path| std::fs::metadata(path).ok()).map_or(0, |meta| meta.len());
    }
    match (arg_type(text, &defaults.folder), text.strip_prefix("zeros:").map(str::parse)) {
        (_, Some(Ok(bytes))) => one(bytes),
        ((Some(elem), Some(shape)), _) => one(count(&shape).saturating_mul(elem.bytes() as u64)),
        _ => 0,
    }
}

/// A buffer of zeros that is written to a new file: a `.npy` if its name says so.
pub(super) fn new_file(
    text: &str,
    elem: Elem,
    shape: &[u64],
    defaults: &Defaults,
) -> Result<Tensor<'static>, ArgError> {
    let bad = |reason: &str| ArgError::Form { text: text.to_string(), reason: reason.to_string() };
    let file = text.strip_prefix('@').and_then(|file| file.strip_suffix(":out")).unwrap_or(text);
    let path = defaults.folder.join(file);
    let dims: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
    let bytes = dims.iter().try_fold(elem.bytes(), |n, dim| n.checked_mul(*dim)).filter(|n| *n <= MOST_BYTES);
    let bytes = bytes.ok_or_else(|| bad("the buffer is larger than 16 GiB"))?;
    within(bytes as u64, defaults)?;
    let npy = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy"));
    let npy = match npy {
        true => {
            Some(Npy::new(elem, &dims).ok_or_else(|| bad("a `.npy` has no elements of this type: write raw bytes"))?)
        }
        false => None,
    };
    let data = fill(Fill::Zeros, elem, bytes / elem.bytes()).map_err(|_| bad("out of memory"))?;
    let out = Some(OutFile { path, npy });
    Ok(Tensor::raw(data).saying(Some(elem), Some(dims)).of_file(None, out))
}

fn read_file(file: &str, defaults: &Defaults) -> Result<Tensor<'static>, ArgError> {
    let (path, out) = file_of(file, defaults)?;
    let fail = |reason: String| ArgError::File { path: files::shown(&path), reason };
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npz")) {
        return Err(fail("an `.npz` holds several arrays; save the one to pass with `numpy.save` as a `.npy`".into()));
    }
    // The header of a `.npy` is not counted.
    let most = defaults.memory.saturating_add(1 << 16);
    let bytes = if out { files::read_own(&path, most) } else { files::read(&path, most) };
    let bytes = bytes.map_err(|error| fail(error.to_string()))?;
    // By its name or by its contents: no other format begins this way.
    let is_npy = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) || Npy::begins(&bytes);
    let npy = if is_npy { Some(Npy::read(&bytes).map_err(fail)?) } else { None };
    let (data, elem, shape) = match &npy {
        Some(npy) => {
            let mut data = bytes;
            data.drain(..npy.data_at);
            (data, Some(npy.elem), Some(npy.shape.clone()))
        }
        None => (bytes, None, None),
    };
    let tensor = match (elem, shape) {
        (Some(elem), Some(shape)) => Tensor::of_bytes(elem, shape, data),
        _ => Tensor::raw(data),
    };
    let out = out.then_some(OutFile { path: path.clone(), npy });
    Ok(tensor.of_file(Some(path), out))
}

/// Defaults for what arguments leave open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Defaults {
    /// Seed of the launch: a `rand` without one of its own takes this plus its position.
    pub seed: u64,
    /// Folder that file names are relative to; the working directory by default.
    pub folder: PathBuf,
    /// True for arguments named in the file itself: only regular files below the folder are read, and none is written.
    pub own: bool,
    /// Maximum size in bytes of all buffers together.
    pub memory: u64,
}

impl Default for Defaults {
    fn default() -> Defaults {
        Defaults { seed: 0, folder: PathBuf::new(), own: false, memory: slipring_sim::Limits::default().memory }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_arg(text: &str) -> Result<Tensor<'static>, ArgError> {
        super::read_arg(text, &Defaults::default())
    }

    #[test]
    fn scalars() {
        assert_eq!(read_arg("3:i32").unwrap().bits(), Some(3));
        assert_eq!(read_arg("-1:i8").unwrap().bits(), Some(u64::MAX));
        assert_eq!(read_arg("1.5:f32").unwrap().bits(), Some(0x3fc0_0000));
        assert_eq!(read_arg("true").unwrap().bits(), Some(1));
        for bad in ["300:i8", "x:i32", "3", "3:q7", "1.5:i32", "1e9:f16", "1e999:f32", "-1:ui8"] {
            assert!(read_arg(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn buffers() {
        let arg = read_arg("rand:f32[4x8],seed=7").unwrap();
        assert_eq!((arg.elem(), arg.shape()), (Some(Elem::F32), Some(&[4, 8][..])));
        assert_eq!(read_arg("zeros:12").unwrap().contents(), Some(&[0; 12][..]));
        assert_eq!(read_arg("zeros:12").unwrap().elem(), None);
        assert_eq!(read_arg("full:f16[2]=1.5").unwrap().contents(), Some(&[0, 0x3e, 0, 0x3e][..]));
        let contents = |text: &str| read_arg(text).unwrap().into_contents();
        assert_eq!(contents("full:f16[2],value=1.5"), contents("full:f16[2]=1.5"));
        for bad in ["full:f32[2],value=x", "full:f32[2]=x", "zeros:f32[2]=1", "rand:f32[2],lo=2,hi=1", "iota:f32[]"] {
            assert!(read_arg(bad).is_err(), "{bad}");
        }
        for (outside, range) in [
            ("full:i8[4]=300", "i8, which has whole numbers from -128 to 127"),
            ("full:i32[4]=1.7", "i32, which has whole numbers"),
            ("full:f16[4]=1e9", "f16, which has numbers from -6.5504e4 to 6.5504e4"),
            ("iota:i8[129]", "the last number, 128, is not a number of i8"),
            ("iota:f16[65506]", "the last number, 65505, is not a number of f16"),
            ("rand:i8[4],hi=129", "`hi`: `129` is not a number of i8"),
            ("rand:ui8[4],lo=-1", "`lo`: `-1` is not a number of ui8"),
            ("rand:i32[4],lo=0.5", "`lo`: `0.5` is not a number of i32"),
            ("rand:f16[4],hi=1e5", "`hi`: `1e5` is not a number of f16"),
            ("300:i8", "`300` is not a number of i8"),
        ] {
            let error = read_arg(outside).unwrap_err().to_string();
            assert!(error.contains(range), "{error}");
        }
        for good in
            ["iota:i8[128]", "rand:i8[4],hi=128", "rand:ui64[4],lo=0,hi=18446744073709551616", "full:f32[1]=inf"]
        {
            assert!(read_arg(good).is_ok(), "{good}");
        }
        for bad in
            ["rand:12", "rand:f32[4", "zeros:f32[4x4],seed=1", "full:f32[2]", "zeros:f32[99999999999x99999999999]"]
        {
            assert!(read_arg(bad).is_err(), "{bad}");
        }
    }

    /// A seed of its own wins over the launch's, and the launch's counts positions.
    #[test]
    fn seeds() {
        let random = |text: &str, seed| {
            super::read_arg(text, &Defaults { seed, ..Defaults::default() }).unwrap().into_contents()
        };
        assert_eq!(random("rand:i32[9],seed=7", 1), random("rand:i32[9]", 7));
        assert_ne!(random("rand:i32[9]", 7), random("rand:i32[9]", 8));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read_arg("@no/such/file:out").unwrap_err().to_string();
        assert!(error.contains("`no/such/file`"), "{error}");
    }
}
