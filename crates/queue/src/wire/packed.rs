//! Structures at fixed offsets, declared once: fields, reading, writing and listing come from one declaration.

use super::WireError;

/// A field of a structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name in this crate.
    pub name: &'static str,
    /// Its first byte, from the start of the structure.
    pub offset: usize,
    /// How many bytes it takes.
    pub bytes: usize,
}

/// The declaration of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CommandInfo {
    /// Its first byte.
    pub id: u8,
    /// Its name in the firmware.
    pub name: &'static str,
    /// Bytes of its header.
    pub header_bytes: usize,
    /// The header's fields.
    pub fields: &'static [Field],
    /// Whether the kernel of the fixed configuration has a case for it.
    pub has_case: bool,
}

/// A structure in memory without implicit padding, little-endian.
pub trait Packed: Sized {
    /// Bytes that it takes, reserved ones included.
    const SIZE: usize;
    /// Its fields, in the order of their offsets.
    const FIELDS: &'static [Field];

    /// Reads it from the start of some bytes. Reserved bytes are ignored, as on the device.
    ///
    /// # Errors
    /// [`WireError::Truncated`] if there are fewer than [`SIZE`](Packed::SIZE) bytes.
    fn read(bytes: &[u8]) -> Result<Self, WireError>;

    /// Writes its fields over the first [`SIZE`](Packed::SIZE) bytes of `out`; reserved bytes are unchanged.
    ///
    /// # Panics
    /// If `out` is shorter than that.
    fn write(&self, out: &mut [u8]);

    /// Appends it, reserved bytes zero.
    fn append(&self, out: &mut Vec<u8>) {
        let at = out.len();
        out.resize(at + Self::SIZE, 0);
        self.write(&mut out[at..]);
    }

    /// The values of [`FIELDS`](Packed::FIELDS), in their order.
    fn values(&self) -> Vec<u64>;
}

/// The first nonzero byte of a structure that no field covers. `id_bytes` at its start count as covered.
pub(super) fn reserved_in_use(bytes: &[u8], size: usize, id_bytes: usize, fields: &[Field]) -> Option<usize> {
    let covered = |at: usize| at < id_bytes || fields.iter().any(|f| (f.offset..f.offset + f.bytes).contains(&at));
    bytes.iter().take(size).enumerate().find(|(at, byte)| **byte != 0 && !covered(*at)).map(|(at, _)| at)
}

/// Declares structures: `Name SIZE { field: type @ offset, … }`.
macro_rules! packed {
    ($($(#[$doc:meta])* $name:ident $size:literal { $($(#[$field_doc:meta])* $field:ident: $ty:ident @ $at:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $ty,)*
        }

        impl $crate::wire::Packed for $name {
            const SIZE: usize = $size;
            const FIELDS: &'static [$crate::wire::Field] = &[
                $($crate::wire::Field { name: stringify!($field), offset: $at, bytes: size_of::<$ty>() },)*
            ];

            fn read(bytes: &[u8]) -> Result<Self, $crate::wire::WireError> {
                let _bytes: &[u8; $size] = bytes.first_chunk().ok_or($crate::wire::WireError::Truncated {
                    offset: 0,
                    what: stringify!($name),
                    needs: $size,
                    has: bytes.len() as u64,
                })?;
                Ok($name {$(
                    $field: {
                        let mut raw = [0; size_of::<$ty>()];
                        raw.copy_from_slice(&_bytes[$at..$at + size_of::<$ty>()]);
                        $ty::from_le_bytes(raw)
                    },
                )*})
            }

            fn write(&self, _out: &mut [u8]) {
                $(_out[$at..$at + size_of::<$ty>()].copy_from_slice(&self.$field.to_le_bytes());)*
            }

            fn values(&self) -> Vec<u64> {
                vec![$(u64::from(self.$field)),*]
            }
        }
    )*};
}

/// Declares the commands of one actor: `id NAME Variant(Structure) has_a_case`.
///
/// `runs` means that the kernel of the fixed configuration has a case for the command; for `undefined` ones it jumps to
/// an address that holds no code.
macro_rules! commands {
    ($(#[$doc:meta])* $enum:ident, $reader:literal: $($(#[$cmd_doc:meta])* $id:literal $name:ident $variant:ident($body:ident) $case:ident,)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum $enum {
            $($(#[$cmd_doc])* $variant($body),)*
        }

        impl $enum {
            /// All commands, by their ids.
            pub const TABLE: &'static [$crate::wire::CommandInfo] = &[
                $($crate::wire::CommandInfo {
                    id: $id,
                    name: stringify!($name),
                    header_bytes: <$body as $crate::wire::Packed>::SIZE,
                    fields: <$body as $crate::wire::Packed>::FIELDS,
                    has_case: $crate::wire::packed::has_case!($case),
                },)*
            ];

            /// Reads a command's header.
            ///
            /// # Errors
            /// [`WireError::Truncated`](crate::wire::WireError::Truncated) or
            /// [`WireError::IllegalId`](crate::wire::WireError::IllegalId).
            #[inline]
            pub fn decode(bytes: &[u8]) -> Result<$enum, $crate::wire::WireError> {
                let id = *bytes.first().ok_or($crate::wire::WireError::Truncated {
                    offset: 0,
                    what: concat!("a ", $reader, " command"),
                    needs: 16,
                    has: 0,
                })?;
                match id {
                    $($id => <$body as $crate::wire::Packed>::read(bytes).map($enum::$variant),)*
                    _ => Err($crate::wire::WireError::IllegalId { offset: 0, reader: $reader, id }),
                }
            }

            /// Appends the header, reserved bytes zero.
            pub fn encode(&self, out: &mut Vec<u8>) {
                let at = out.len();
                match self {
                    $($enum::$variant(body) => $crate::wire::Packed::append(body, out),)*
                }
                out[at] = self.id();
            }

            /// The command's id, its first byte.
            pub const fn id(&self) -> u8 {
                match self {
                    $($enum::$variant(_) => $id,)*
                }
            }

            /// The command's name in the firmware.
            pub const fn name(&self) -> &'static str {
                match self {
                    $($enum::$variant(_) => stringify!($name),)*
                }
            }

            /// Bytes of the header.
            pub const fn header_bytes(&self) -> usize {
                match self {
                    $($enum::$variant(_) => <$body as $crate::wire::Packed>::SIZE,)*
                }
            }

            /// Whether the kernel of the fixed configuration has a case for it.
            pub const fn has_case(&self) -> bool {
                match self {
                    $($enum::$variant(_) => $crate::wire::packed::has_case!($case),)*
                }
            }

            /// The fields with their values, in the order of their offsets.
            pub fn fields(&self) -> Vec<($crate::wire::Field, u64)> {
                match self {
                    $($enum::$variant(body) => {
                        let fields = <$body as $crate::wire::Packed>::FIELDS.iter().copied();
                        fields.zip($crate::wire::Packed::values(body)).collect()
                    })*
                }
            }

            /// The first nonzero byte of the header that belongs to no field.
            ///
            /// The device ignores it. In a driver's stream it hints at a misplaced field.
            pub fn reserved_in_use(&self, bytes: &[u8]) -> Option<usize> {
                match self {
                    $($enum::$variant(_) => $crate::wire::packed::reserved_in_use(
                        bytes,
                        <$body as $crate::wire::Packed>::SIZE,
                        1,
                        <$body as $crate::wire::Packed>::FIELDS,
                    ),)*
                }
            }
        }
    };
}

macro_rules! has_case {
    (runs) => {
        true
    };
    (undefined) => {
        false
    };
}

pub(super) use {commands, has_case, packed};
