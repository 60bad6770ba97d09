//! Typed elements in little-endian bytes.

use crate::Elem;

/// A native element type, read from and written to little-endian bytes.
///
/// Tiles and global memory are plain bytes without alignment; loops over [`Native::split`] compile to
/// whole-vector loads and stores.
pub trait Native: Copy + Default + PartialEq + PartialOrd + Send + Sync + 'static {
    /// The element type these values have in memory.
    const ELEM: Elem;
    /// The bytes of one element.
    type Bytes: Copy + Default + Send + Sync;
    /// Reads one element.
    fn get(bytes: Self::Bytes) -> Self;
    /// Writes one element.
    fn put(self) -> Self::Bytes;
    /// The elements of `bytes`; a last incomplete one is left out.
    fn split(bytes: &[u8]) -> &[Self::Bytes];
    /// The elements of `bytes`; a last incomplete one is left out.
    fn split_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
}

macro_rules! lane {
    ($($ty:ident $elem:ident),*) => {$(
        impl Native for $ty {
            const ELEM: Elem = Elem::$elem;
            type Bytes = [u8; size_of::<$ty>()];
            #[inline(always)]
            fn get(bytes: Self::Bytes) -> Self {
                $ty::from_le_bytes(bytes)
            }
            #[inline(always)]
            fn put(self) -> Self::Bytes {
                self.to_le_bytes()
            }
            #[inline(always)]
            fn split(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks().0
            }
            #[inline(always)]
            fn split_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] {
                bytes.as_chunks_mut().0
            }
        }
    )*};
}
lane!(f32 F32, i8 I8, i16 I16, i32 I32, i64 I64, u8 U8, u16 U16, u32 U32, u64 U64);

/// Evaluates `$body` with the type alias `$lane` set to the native type of the integer element `$elem`,
/// or `$other` for the floats.
macro_rules! with_int {
    (@arms $elem:expr, $lane:ident, $body:expr, $other:expr, $($ty:ident $name:ident),*) => {
        match $elem {
            $($crate::Elem::$name => {
                type $lane = $ty;
                $body
            })*
            _ => $other,
        }
    };
    ($elem:expr, $lane:ident => $body:expr, else $other:expr) => {
        $crate::lane::with_int!(@arms $elem, $lane, $body, $other,
            i8 I8, i16 I16, i32 I32, i64 I64, u8 U8, u16 U16, u32 U32, u64 U64)
    };
}
pub(crate) use with_int;
