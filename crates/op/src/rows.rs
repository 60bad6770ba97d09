//! Families of ops as tables: one row for each op, and the usual syntax of their text.

/// Declares the ops of a family, one in each row, and the list of them.
///
/// A row is the op's reference text, its name here and in texts, its line for lists, the declaration it is based on,
/// and the fields in which it differs from that; after `=>` come the differences in text form, operands, results and
/// attributes:
///
/// ```ignore
/// ops! {
///     OPS, number_doc;
///     /// `dst = src0 + src1`, element by element.
///     pub TADD "pto.tadd" "Add two tiles": TILES, kernel: Two(&ADD), class: "add", commutes: true;
///     /// `dst = ~src`, bit by bit.
///     pub TNOT "pto.tnot" "Bitwise not": TILES, kernel: One(&NOT) => { operands: &[SRC, DST] };
/// }
/// ```
///
/// The first line names the list and, where the family has one, the macro that adds what all of its texts say; a row may name
/// another one in brackets, after its line for lists. Declarations that stand alone follow the name of the list: `OPS [&TDIVS];`. A row
/// without a text has that of its base, or a field `doc`.
#[macro_export]
macro_rules! ops {
    ($list:ident $([$($alone:expr),* $(,)?])? $(, $wrap:ident)?; $($rows:tt)*) => {
        $crate::ops! { @rows $list [$($($alone,)*)?] [$($wrap)?] $($rows)* }
    };
    (
        @rows $list:ident [$($alone:expr,)*] $wrap:tt
        $(
            $(#[doc = $doc:literal])*
            $vis:vis $id:ident $name:literal $summary:literal $([$own:ident])?: $base:expr
            $(, $field:ident: $value:expr)*
            $(=> { $($part:ident: $what:expr),* $(,)? })?;
        )*
    ) => {
        /// The ops of this family.
        pub(crate) const $list: &[&$crate::OpDef] = &[$(&$id,)* $($alone,)*];
        $(
            #[doc = $summary]
            $vis static $id: $crate::OpDef = {
                const OP_BASE: $crate::OpDef = $base;
                const OP_WITH_TEXT: $crate::OpDef =
                    $crate::OpDef { doc: $crate::ops! { @text $([$own])? $wrap OP_BASE $($doc)* }, ..OP_BASE };
                $crate::OpDef {
                    schema: slipring_ir::OpSchema { name: $name, $($($part: $what,)*)? ..OP_BASE.schema },
                    summary: $summary,
                    $($field: $value,)*
                    ..OP_WITH_TEXT
                }
            };
        )*
    };
    (@text $wrap:tt $base:ident) => { $base.doc };
    (@text [$own:ident] $wrap:tt $base:ident $($doc:literal)+) => { $crate::rules::text($own!($($doc),+)) };
    (@text [] $base:ident $($doc:literal)+) => { $crate::rules::text(concat!($($doc),+)) };
    (@text [$wrap:ident] $base:ident $($doc:literal)+) => { $crate::rules::text($wrap!($($doc),+)) };
}

/// The text form of operands followed by results, each with its type: `positional!("lhs" "rhs" => "out")` is `$lhs,
/// $rhs attr-dict : type($lhs), type($rhs) -> type($out)`.
#[macro_export]
macro_rules! positional {
    ($first:literal $($next:literal)* $(=> $out:literal $($outs:literal)*)?) => {
        slipring_ir::Syntax::Format(concat!(
            "$", $first, $(" `,` $", $next,)* " attr-dict `:` type($", $first, ")", $(" `,` type($", $next, ")",)*
            $(" `->` type($", $out, ")", $(" `,` type($", $outs, ")",)*)?
        ))
    };
}
