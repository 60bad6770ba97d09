//! A value that a caller passes to a kernel, with its type and shape.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use slipring_program::{Param, ParamKind};
use slipring_tile::Elem;

use crate::args::number::{Number, range_text};
use crate::args::{ArgError, OutFile, Within, float_bits};
use crate::fits::{Known, mismatch, same_bits};

/// A host type for tensor elements.
///
/// # Safety
/// The type has no padding, every bit pattern is a valid value, and it has the size and the representation of its
/// `ELEM`.
pub unsafe trait Element: Copy + Default + 'static {
    /// The element type.
    const ELEM: Elem;
}

macro_rules! elements {
    ($($host:ty => $elem:ident),+ $(,)?) => {
        $(
            // SAFETY: a plain number of the size of its element type.
            unsafe impl Element for $host {
                const ELEM: Elem = Elem::$elem;
            }
        )+
    };
}

elements! {
    f32 => F32, i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    half::f16 => F16, half::bf16 => BF16,
}

/// An argument passed to a kernel by any caller: a tensor, whose bytes are borrowed where possible, or a scalar.
///
/// A tensor without type and shape takes those of the parameter. Those it has must be the parameter's, where known.
#[derive(Clone, Debug)]
pub struct Tensor<'a> {
    data: Data<'a>,
    elem: Option<Elem>,
    shape: Option<Vec<usize>>,
    /// The shape must be the parameter's, not only its size.
    exact: bool,
    /// Its location in a memory shared with others, if so.
    within: Option<Within>,
    /// The file it was read from, and the one it is written to after the run.
    file: Option<PathBuf>,
    out: Option<OutFile>,
}

#[derive(Clone, Debug)]
enum Data<'a> {
    Bytes(Cow<'a, [u8]>),
    Zeros,
    Scalar(u64),
    /// A number that takes the parameter's type.
    Number(Number),
}

impl<'a> Tensor<'a> {
    /// A view of numbers in row-major order; nothing is copied.
    pub fn view<T: Element>(numbers: &'a [T], shape: impl Into<Vec<usize>>) -> Tensor<'a> {
        Tensor::of_bytes(T::ELEM, shape, bytes_of(numbers))
    }

    /// A tensor of any element type, from its bytes as stored on the device: little-endian, row-major.
    pub fn of_bytes(elem: Elem, shape: impl Into<Vec<usize>>, bytes: impl Into<Cow<'a, [u8]>>) -> Tensor<'a> {
        let (data, shape) = (Data::Bytes(bytes.into()), Some(shape.into()));
        Tensor { elem: Some(elem), shape, exact: true, ..Tensor::of(data) }
    }

    /// Bytes that take the parameter's type and shape.
    pub fn raw(bytes: impl Into<Cow<'a, [u8]>>) -> Tensor<'a> {
        Tensor::of(Data::Bytes(bytes.into()))
    }

    /// Only its contents are known.
    fn of(data: Data<'a>) -> Tensor<'a> {
        Tensor { data, elem: None, shape: None, exact: false, within: None, file: None, out: None }
    }

    /// Declares it as part of a memory shared with other arguments, as with views of one array: what the kernel writes
    /// through one of them it reads through the other. `memory` is an id chosen by the caller, `offset` the first byte.
    /// Bytes shared by several arguments have the contents given by the last of them.
    pub fn within(mut self, memory: u32, offset: usize) -> Tensor<'a> {
        self.lie_within(memory, offset);
        self
    }

    pub(crate) fn lie_within(&mut self, memory: u32, offset: usize) {
        self.within = Some(Within { memory, offset });
    }

    /// With a type and shape from a text: the parameter need only have the same number of bytes.
    pub(crate) fn saying(self, elem: Option<Elem>, shape: Option<Vec<usize>>) -> Tensor<'a> {
        Tensor { elem, shape, ..self }
    }

    /// With its source file and its destination.
    pub(crate) fn of_file(self, file: Option<PathBuf>, out: Option<OutFile>) -> Tensor<'a> {
        Tensor { file, out, ..self }
    }

    /// A scalar of a type, as stored in registers.
    pub(crate) fn register(elem: Elem, bits: u64) -> Tensor<'static> {
        Tensor { elem: Some(elem), ..Tensor::of(Data::Scalar(bits)) }
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    pub(crate) fn out(&self) -> Option<&OutFile> {
        self.out.as_ref()
    }

    /// Takes the file it is written to after the run, if any; a second call returns `None`.
    #[doc(hidden)]
    pub fn take_out(&mut self) -> Option<OutFile> {
        self.out.take()
    }

    /// Element or scalar type, if it has one.
    #[doc(hidden)]
    pub fn elem(&self) -> Option<Elem> {
        self.elem
    }

    /// Its extents, if it has them.
    #[doc(hidden)]
    pub fn shape(&self) -> Option<&[usize]> {
        self.shape.as_deref()
    }

    /// Its bytes; `None` for a scalar, and for zeros, whose size comes from the parameter.
    #[doc(hidden)]
    pub fn contents(&self) -> Option<&[u8]> {
        match &self.data {
            Data::Bytes(bytes) => Some(bytes),
            Data::Zeros | Data::Scalar(_) | Data::Number(_) => None,
        }
    }

    /// Its bytes without a copy, if it owns them.
    #[doc(hidden)]
    pub fn into_contents(self) -> Option<Vec<u8>> {
        match self.data {
            Data::Bytes(bytes) => Some(bytes.into_owned()),
            Data::Zeros | Data::Scalar(_) | Data::Number(_) => None,
        }
    }

    /// The bits of a scalar whose type is known.
    #[doc(hidden)]
    pub fn bits(&self) -> Option<u64> {
        match self.data {
            Data::Scalar(bits) => Some(bits),
            Data::Bytes(_) | Data::Zeros | Data::Number(_) => None,
        }
    }

    /// Why it does not fit a parameter unchanged, if so.
    pub(crate) fn mismatch(&self, kind: &ParamKind, shape: Option<&[u64]>) -> Option<String> {
        let (bytes, what) = (self.contents().map(<[u8]>::len), "the file holds");
        mismatch(&Known { bytes, elem: self.elem, shape: self.shape(), exact: self.exact, what }, kind, shape)
    }

    /// Zeros of the parameter's type.
    pub fn zeros(shape: impl Into<Vec<usize>>) -> Tensor<'static> {
        Tensor { shape: Some(shape.into()), exact: true, ..Tensor::of(Data::Zeros) }
    }

    /// A scalar of this type.
    pub fn scalar<T: Element>(number: T) -> Tensor<'static> {
        let mut wide = [0; 8];
        let bytes = bytes_of(std::slice::from_ref(&number)).into_owned();
        wide[..bytes.len()].copy_from_slice(&bytes);
        let (bits, unused) = (u64::from_le_bytes(wide), 64 - 8 * bytes.len() as u32);
        let bits = if T::ELEM.is_signed_int() { ((bits << unused) as i64 >> unused) as u64 } else { bits };
        Tensor { elem: Some(T::ELEM), ..Tensor::of(Data::Scalar(bits)) }
    }

    /// A boolean.
    pub fn boolean(value: bool) -> Tensor<'static> {
        Tensor::of(Data::Scalar(u64::from(value)))
    }

    /// A whole number, as a scalar of the parameter's type.
    pub fn whole(number: i128) -> Tensor<'static> {
        Tensor::of(Data::Number(Number::Integer(number)))
    }

    /// A number, as a scalar of the parameter's type, which must be a float.
    pub fn number(number: f64) -> Tensor<'static> {
        Tensor::of(Data::Number(Number::Float(number)))
    }

    /// The same without borrowed data.
    pub fn into_owned(self) -> Tensor<'static> {
        let data = match self.data {
            Data::Bytes(bytes) => Data::Bytes(Cow::Owned(bytes.into_owned())),
            Data::Zeros => Data::Zeros,
            Data::Scalar(bits) => Data::Scalar(bits),
            Data::Number(number) => Data::Number(number),
        };
        let Tensor { elem, shape, exact, within, file, out, .. } = self;
        Tensor { data, elem, shape, exact, within, file, out }
    }

    /// Its description for messages: `f32[64x64]`, `a scalar`.
    pub fn describe(&self) -> String {
        let elem = self.elem.map_or("", Elem::name);
        match (&self.shape, &self.data) {
            (Some(shape), _) => format!("{elem}[{}]", shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")),
            (None, Data::Bytes(bytes)) => format!("{} bytes", bytes.len()),
            (None, Data::Scalar(_)) if self.elem.is_some() => format!("a scalar of {elem}"),
            (None, Data::Number(Number::Integer(n))) => n.to_string(),
            (None, Data::Number(Number::Float(n))) => n.to_string(),
            (None, _) => "a scalar".into(),
        }
    }

    /// Completes it with everything that the parameter determines. `index` counts from 0; `shape` is the parameter's in
    /// elements, where it is known.
    ///
    /// # Errors
    /// If it does not fit the parameter: the message names both.
    #[doc(hidden)]
    pub fn bind(self, index: usize, param: &Param, shape: Option<&[u64]>) -> Result<Bound<'a>, ArgError> {
        let error = |text: String, reason| ArgError::Type { index: index + 1, text, name: param.name.clone(), reason };
        let count = |shape: &[usize]| shape.iter().try_fold(1usize, |n, dim| n.checked_mul(*dim));
        let elem = self.elem.or(match param.kind {
            ParamKind::Buffer { elem, .. } | ParamKind::Scalar(elem) if !matches!(self.data, Data::Scalar(_)) => {
                Some(elem)
            }
            _ => None,
        });
        let described = self.describe();
        let mut elem = elem;
        let data = match self.data {
            Data::Number(number) => match (&param.kind, number) {
                (ParamKind::Scalar(elem), number) => match bits(*elem, number) {
                    Some(bits) => Contents::Scalar(bits),
                    None => {
                        let reason = format!("not a number of {elem}, which has {}", range_text(*elem));
                        return Err(error(described, reason));
                    }
                },
                (ParamKind::Bool, Number::Integer(boolean @ (0 | 1))) => {
                    elem = None;
                    Contents::Scalar(boolean as u64)
                }
                (ParamKind::Bool, _) => return Err(error(described, "where i1 is expected".into())),
                // It does not fit, which is reported below.
                _ => Contents::Scalar(0),
            },
            Data::Scalar(bits) => Contents::Scalar(match param.kind {
                ParamKind::Scalar(own) if elem.is_some_and(|given| same_bits(given, own)) => {
                    bits & (u64::MAX >> (64 - 8 * own.bytes() as u32))
                }
                _ => bits,
            }),
            Data::Bytes(bytes) => Contents::Bytes(bytes),
            Data::Zeros => {
                let elements = count(self.shape.as_deref().unwrap_or_default());
                let bytes = elements.zip(elem).and_then(|(n, elem)| n.checked_mul(elem.bytes()));
                let zeros = bytes.and_then(|bytes| slipring_program::zeroed(bytes).ok());
                let zeros = zeros.ok_or_else(|| error(described.clone(), "out of memory".into()))?;
                Contents::Bytes(Cow::Owned(zeros))
            }
        };
        let bytes = match &data {
            Contents::Bytes(bytes) => Some(bytes.len()),
            Contents::Scalar(_) => None,
        };
        if let (Some(own), Some(elem), Some(bytes)) = (&self.shape, elem, bytes)
            && count(own).and_then(|n| n.checked_mul(elem.bytes())) != Some(bytes)
            && self.exact
        {
            return Err(error(described, format!("there are {bytes} bytes of it")));
        }
        let given = Known { bytes, elem, shape: self.shape.as_deref(), exact: self.exact, what: "the tensor is" };
        if let Some(reason) = mismatch(&given, &param.kind, shape) {
            return Err(error(described, reason));
        }
        Ok(Bound { data, shape: self.shape, within: self.within, held: Arc::default() })
    }
}

/// A number as stored in registers, if the type can represent it.
fn bits(elem: Elem, number: Number) -> Option<u64> {
    let bits = || if elem.is_float() { float_bits(elem, number.float()) } else { number.integer() as u64 };
    number.fits(elem).then(bits)
}

/// The bytes of numbers, as stored on the device.
fn bytes_of<T: Element>(numbers: &[T]) -> Cow<'_, [u8]> {
    // SAFETY: `Element` guarantees numbers without padding; any number of their bytes may be read.
    let bytes = unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast::<u8>(), std::mem::size_of_val(numbers)) };
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(bytes);
    }
    let mut turned = bytes.to_vec();
    turned.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    Cow::Owned(turned)
}

/// Numbers from their bytes; an incomplete last one is omitted.
pub fn numbers<T: Element>(bytes: &[u8]) -> Vec<T> {
    let mut list = vec![T::default(); bytes.len() / size_of::<T>()];
    let size = std::mem::size_of_val(&list[..]);
    // SAFETY: `Element` guarantees that every bit pattern is a valid value; the bytes are those of the list.
    let raw = unsafe { std::slice::from_raw_parts_mut(list.as_mut_ptr().cast::<u8>(), size) };
    raw.copy_from_slice(&bytes[..size]);
    if cfg!(target_endian = "big") {
        raw.chunks_exact_mut(size_of::<T>()).for_each(<[u8]>::reverse);
    }
    list
}

impl<'a, T: Element> From<&'a [T]> for Tensor<'a> {
    /// Numbers in the parameter's shape.
    fn from(numbers: &'a [T]) -> Tensor<'a> {
        Tensor { elem: Some(T::ELEM), ..Tensor::of(Data::Bytes(bytes_of(numbers))) }
    }
}

impl<'a, T: Element> From<&'a Vec<T>> for Tensor<'a> {
    /// Numbers in the parameter's shape.
    fn from(numbers: &'a Vec<T>) -> Tensor<'a> {
        numbers.as_slice().into()
    }
}

impl<'a, T: Element, const N: usize> From<&'a [T; N]> for Tensor<'a> {
    /// Numbers in the parameter's shape.
    fn from(numbers: &'a [T; N]) -> Tensor<'a> {
        numbers.as_slice().into()
    }
}

/// The value passed for a parameter: a [`Tensor`] once its parameter is known. It is fully determined: bytes that runs
/// copy into the device's memory, or a scalar as stored in registers.
#[derive(Clone, Debug)]
pub struct Bound<'a> {
    data: Contents<'a>,
    /// The extents that were passed, outermost first, if any.
    pub shape: Option<Vec<usize>>,
    within: Option<Within>,
    /// The parts that contain nonzero bytes, once computed.
    held: Arc<OnceLock<Vec<Range<usize>>>>,
}

/// Granularity in bytes of the search for nonzero parts: some pages of the host's memory.
const PART: usize = 1 << 14;
static ZEROS: [u8; PART] = [0; PART];

/// The parts of a byte sequence that contain nonzero bytes.
fn held(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut held: Vec<Range<usize>> = Vec::new();
    for (at, part) in bytes.chunks(PART).enumerate() {
        if *part == ZEROS[..part.len()] {
            continue;
        }
        let (from, to) = (at * PART, at * PART + part.len());
        match held.last_mut() {
            Some(last) if last.end == from => last.end = to,
            _ => held.push(from..to),
        }
    }
    held
}

#[derive(Clone, Debug)]
enum Contents<'a> {
    Bytes(Cow<'a, [u8]>),
    Scalar(u64),
}

impl<'a> Bound<'a> {
    /// A buffer with these contents.
    pub fn buffer(bytes: impl Into<Cow<'a, [u8]>>) -> Bound<'a> {
        let bytes = bytes.into();
        // Its zero parts are not known: all of it is copied.
        let held = Arc::new(OnceLock::from(std::iter::once(0..bytes.len()).collect::<Vec<_>>()));
        Bound { data: Contents::Bytes(bytes), shape: None, within: None, held }
    }

    /// A scalar with these bits.
    pub fn scalar(bits: u64) -> Bound<'a> {
        Bound { data: Contents::Scalar(bits), shape: None, within: None, held: Arc::default() }
    }

    /// A borrowed copy, possibly with other bits.
    pub fn borrowed(&self, bits: Option<u64>) -> Bound<'_> {
        let data = match (&self.data, bits) {
            (_, Some(bits)) => Contents::Scalar(bits),
            (Contents::Bytes(bytes), None) => Contents::Bytes(Cow::Borrowed(bytes)),
            (Contents::Scalar(bits), None) => Contents::Scalar(*bits),
        };
        Bound { data, shape: self.shape.clone(), within: self.within, held: self.held.clone() }
    }

    /// The contents of a buffer; `None` for a scalar.
    pub fn contents(&self) -> Option<&[u8]> {
        match &self.data {
            Contents::Bytes(bytes) => Some(bytes),
            Contents::Scalar(_) => None,
        }
    }

    /// The bits of a scalar; `None` for a buffer.
    pub fn bits(&self) -> Option<u64> {
        match self.data {
            Contents::Bytes(_) => None,
            Contents::Scalar(bits) => Some(bits),
        }
    }

    /// The parts of the contents that may contain nonzero bytes.
    pub fn held(&self) -> &[Range<usize>] {
        self.held.get_or_init(|| held(self.contents().unwrap_or_default()))
    }

    /// The location of a buffer that shares its memory with others of the launch; `None` for one with a memory of its
    /// own.
    pub fn within(&self) -> Option<Within> {
        self.within
    }

    /// Appends zeros to a buffer's contents, so that it has this multiple of their length.
    pub fn grow(&mut self, times: usize) {
        if let Contents::Bytes(bytes) = &mut self.data {
            let length = bytes.len().saturating_mul(times);
            bytes.to_mut().resize(length, 0);
            self.held = Arc::default();
        }
    }

    /// The same without borrowed data.
    pub fn into_owned(self) -> Bound<'static> {
        let data = match self.data {
            Contents::Bytes(bytes) => Contents::Bytes(Cow::Owned(bytes.into_owned())),
            Contents::Scalar(bits) => Contents::Scalar(bits),
        };
        Bound { data, shape: self.shape, within: self.within, held: self.held }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(elem: Elem) -> Param {
        Param { name: "x".into(), kind: ParamKind::Buffer { elem, bytes: None } }
    }

    fn scalar(elem: Elem) -> Param {
        Param { name: "n".into(), kind: ParamKind::Scalar(elem) }
    }

    /// The bytes that a tensor passes, and its shape.
    fn passed(tensor: Tensor<'_>, param: &Param, shape: &[u64]) -> (Vec<u8>, Option<Vec<usize>>) {
        let bound = tensor.bind(0, param, Some(shape)).unwrap();
        match bound.data {
            Contents::Bytes(bytes) => (bytes.into_owned(), bound.shape),
            Contents::Scalar(bits) => panic!("a scalar: {bits}"),
        }
    }

    fn register(tensor: Tensor<'_>, param: &Param) -> u64 {
        match tensor.bind(0, param, None).unwrap().data {
            Contents::Scalar(bits) => bits,
            Contents::Bytes(bytes) => panic!("{} bytes", bytes.len()),
        }
    }

    fn refused(tensor: Tensor<'_>, param: &Param, shape: Option<&[u64]>) -> String {
        tensor.bind(1, param, shape).unwrap_err().to_string()
    }

    #[test]
    fn tensors_pass_their_bytes_as_the_device_has_them() {
        let numbers = [1i16, -2];
        let want = (vec![1, 0, 0xfe, 0xff], Some(vec![1, 2]));
        assert_eq!(passed(Tensor::view(&numbers, [1, 2]), &buffer(Elem::I16), &[1, 2]), want);
        assert_eq!(passed(Tensor::view(&numbers, [1, 2]).into_owned(), &buffer(Elem::I16), &[1, 2]), want);
        assert_eq!(passed(Tensor::raw(vec![1, 2, 3, 4]), &buffer(Elem::F32), &[1]), (vec![1, 2, 3, 4], None));
        assert_eq!(passed(Tensor::zeros([2, 3]), &buffer(Elem::F16), &[2, 3]), (vec![0; 12], Some(vec![2, 3])));
        let half = [half::f16::ONE];
        assert_eq!(passed(Tensor::from(&half[..]), &buffer(Elem::F16), &[1]), (vec![0x00, 0x3c], None));
        assert_eq!(super::numbers::<i16>(&[1, 0, 0xfe, 0xff, 9]), [1, -2], "an odd end is left out");
    }

    #[test]
    fn scalars_stand_in_registers_as_their_type_says() {
        assert_eq!(register(Tensor::scalar(-1i8), &scalar(Elem::I8)), u64::MAX);
        assert_eq!(register(Tensor::scalar(255u8), &scalar(Elem::U8)), 255);
        assert_eq!(register(Tensor::scalar(1.5f32), &scalar(Elem::F32)), 0x3fc0_0000);
        assert_eq!(register(Tensor::whole(-1), &scalar(Elem::I64)), u64::MAX);
        assert_eq!(register(Tensor::whole(1), &scalar(Elem::F32)), 0x3f80_0000);
        assert_eq!(register(Tensor::number(0.5), &scalar(Elem::F16)), 0x3800);
        let boolean = Param { name: "b".into(), kind: ParamKind::Bool };
        assert_eq!([Tensor::boolean(true), Tensor::whole(0)].map(|tensor| register(tensor, &boolean)), [1, 0]);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_both_sides() {
        let (f32s, numbers) = (buffer(Elem::F32), [0f32; 6]);
        let said = |text: &str, parts: &[&str]| parts.iter().for_each(|part| assert!(text.contains(part), "{text}"));
        let turned = Tensor::view(&numbers, [3, 2]);
        said(&refused(turned, &f32s, Some(&[2, 3])), &["f32[3x2]", "f32[2x3]"]);
        said(&refused(Tensor::view(&numbers, [2, 3]), &buffer(Elem::I32), None), &["f32[2x3]", "i32"]);
        said(&refused(Tensor::view(&numbers, [2, 2]), &f32s, None), &["f32[2x2]", "24 bytes"]);
        said(&refused(Tensor::raw(vec![0; 7]), &f32s, None), &["7 bytes", "f32"]);
        said(&refused(Tensor::scalar(1f32), &f32s, None), &["a scalar", "f32"]);
        said(&refused(Tensor::view(&numbers, [6]), &scalar(Elem::I32), None), &["a buffer", "i32"]);
        said(&refused(Tensor::whole(300), &scalar(Elem::I8), None), &["300", "i8"]);
        said(&refused(Tensor::number(0.5), &scalar(Elem::I32), None), &["0.5", "i32"]);
        said(&refused(Tensor::zeros([usize::MAX, 2]), &f32s, None), &["memory"]);
    }

    /// What is left out of a copy is zero, and what is zero throughout a part is left out.
    #[test]
    fn parts_that_hold_something_are_found() {
        let mut bytes = vec![0; 5 * PART + 7];
        assert!(held(&bytes).is_empty());
        for at in [PART, 2 * PART - 1, 2 * PART, 5 * PART + 6] {
            bytes[at] = 1;
        }
        assert_eq!(held(&bytes), [PART..3 * PART, 5 * PART..5 * PART + 7]);
        let mut copy = vec![0; bytes.len()];
        held(&bytes).into_iter().for_each(|part| copy[part.clone()].copy_from_slice(&bytes[part]));
        assert_eq!(copy, bytes);
    }
}
