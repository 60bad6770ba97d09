//! An op of the language, and a call of it with its arguments bound to its parameters.

use std::rc::Rc;

use slipring_ir::{Diagnostic, Reported, Span};
use slipring_op::OpDef;
use slipring_op::def::RingPart;
use slipring_tile::Elem;

use crate::dtype::DType;
use crate::lower::{Lower, Lowered, describe};
use crate::params::{Given, by_name, usage};
use crate::value::{Const, SPLIT_MODES, Split, Value};
use crate::words::InProgram;

/// An op of the language.
pub struct Entry {
    /// Its names after `pl.`; the first is the usual one.
    pub names: &'static [&'static str],
    /// Its parameters: `lhs, rhs, out_dtype=, *, atomic=`. Those after `*` are keyword-only; those with `=` are
    /// optional. `|` separates alternative signatures, and `…` accepts anything.
    pub params: &'static str,
    /// The op that it becomes; `None` if that depends on its arguments.
    pub op: Option<&'static OpDef>,
    /// The op that it becomes if its second operand is a number; `None` if it must not be one.
    pub with_number: Option<&'static OpDef>,
    /// The op that it becomes if its second operand is a column with a value for each row; `None` if there is none.
    pub with_column: Option<&'static OpDef>,
    /// The op that it becomes if its second operand is a row with a value for each column.
    pub with_row: Option<&'static OpDef>,
    /// A description, for lists.
    pub doc: &'static str,
    /// True for an op that is known by name but not compiled.
    pub refused: bool,
    /// Its semantics in a followed program, outside its kernels; `None` if it only exists in kernels.
    pub(crate) followed: Option<InProgram>,
    pub(crate) lower: fn(&mut Lower<'_>, &Call) -> Lowered,
}

impl Entry {
    /// Its effect on a ring, if its op has one.
    pub fn ring(&self) -> Option<RingPart> {
        self.op.and_then(|op| op.ring)
    }

    /// True if it may stand in a whole program, outside its kernels.
    pub fn is_followed(&self) -> bool {
        self.followed.is_some()
    }

    /// True for a product whose left operand is a single row.
    pub(crate) fn is_of_a_row(&self) -> bool {
        self.op.and_then(|op| op.product).is_some_and(|product| product.vector)
    }

    /// Its usual name, as files write it.
    pub(crate) fn spelled(&self) -> String {
        let name = self.names[0];
        if name.starts_with("pld.") { name.to_string() } else { format!("pl.{name}") }
    }
}

/// The words of a family as a table, a row for each: its names, what it does, the entry that it is based on, and the
/// fields in which it differs from that.
///
/// ```ignore
/// entries! {
///     "maximum" | "max" => "Larger element": BINARY, op: Some(&pto::TMAX), with_number: Some(&pto::TMAXS);
/// }
/// ```
macro_rules! entries {
    ($($($name:literal)|+ $(=> $doc:literal)?: $base:expr $(, $field:ident: $value:expr)*;)*) => {
        /// The words of this family.
        pub(super) const OPS: &[$crate::ops::Entry] = &[
            $($crate::ops::Entry { names: &[$($name),+], $(doc: $doc,)? $($field: $value,)* ..$base }),*
        ];
    };
}
pub(super) use entries;

/// The default entry.
pub(super) const ENTRY: Entry = Entry {
    names: &[],
    params: "",
    op: None,
    with_number: None,
    with_column: None,
    with_row: None,
    doc: "",
    refused: false,
    followed: None,
    lower: |lower, call| Err(lower.unsupported(call.span, format!("`pl.{}`", call.entry.names[0]))),
};

/// The parameters of an op that accepts any arguments.
pub(crate) const ANYTHING: &str = "…";

/// An op of the public language that is known but not compiled, with any arguments.
pub(super) const REFUSED: Entry = Entry { params: ANYTHING, refused: true, ..ENTRY };

/// The maximum number of elements of a tile or a window.
const MOST_ELEMENTS: u64 = (1 << 31) - 1;

/// A call with bound arguments.
#[derive(Clone)]
pub(crate) struct Call {
    pub entry: &'static Entry,
    pub span: Span,
    args: Vec<(&'static str, Option<(Value, Span)>)>,
    /// The tile type from the annotation of the call's target.
    pub expected: Option<(Vec<u64>, Elem)>,
}

/// An op of two operands that is called with one: reductions have other names.
fn of_one_tile(lower: &Lower<'_>, entry: &Entry, error: Diagnostic) -> Diagnostic {
    let reduction = |name: &&&str| lower.words.knows(&format!("row_{name}"));
    match entry.names.iter().find(reduction) {
        Some(name) => error.help(format!(
            "the elements of one tile: `pl.row_{name}(x)` of each row, `pl.col_{name}(x)` of each column"
        )),
        None => error,
    }
}

impl Call {
    /// The same call with one parameter's argument moved to another parameter.
    pub fn moved(&self, from: &str, to: &str) -> Call {
        let mut call = self.clone();
        let value = call.args.iter_mut().find(|(name, _)| *name == from).and_then(|(_, value)| value.take());
        if let Some((_, slot)) = call.args.iter_mut().find(|(name, _)| *name == to) {
            *slot = value;
        }
        call
    }

    /// The same call with other arguments for some of its parameters.
    pub fn with<const N: usize>(&self, others: [(&str, (Value, Span)); N]) -> Call {
        let mut call = self.clone();
        for (wanted, value) in others {
            if let Some((_, slot)) = call.args.iter_mut().find(|(name, _)| *name == wanted) {
                *slot = Some(value);
            }
        }
        call
    }

    /// The op that the entry becomes.
    ///
    /// # Panics
    /// If the entry has none: its lowering must not call this.
    pub fn op(&self) -> &'static OpDef {
        self.entry.op.expect("the entry names the op that it becomes")
    }

    /// Binds arguments to the first signature of the op that they fit.
    ///
    /// # Errors
    /// Reported: too many, unknown, given twice, missing.
    pub fn bind(lower: &mut Lower<'_>, entry: &'static Entry, given: Given, span: Span) -> Lowered<Call> {
        if entry.params == ANYTHING {
            return Ok(Call { entry, span, args: Vec::new(), expected: None });
        }
        let Given { positional, keywords, expected } = given;
        let alone = positional.len() == 1 && keywords.is_empty();
        let mut args = by_name((&entry.spelled(), entry.params), positional, keywords, span)
            .map_err(|error| lower.report(if alone { of_one_tile(lower, entry, *error) } else { *error }))?;
        // An explicit `None` means that the argument is missing.
        for (_, arg) in &mut args {
            if matches!(arg, Some((Value::Const(Const::None), _))) {
                *arg = None;
            }
        }
        Ok(Call { entry, span, args, expected })
    }

    /// An argument, if it is given.
    pub fn get(&self, name: &str) -> Option<&(Value, Span)> {
        debug_assert!(self.entry.params.contains(name), "{} has no parameter {name}", self.entry.names[0]);
        self.args.iter().find(|(n, _)| *n == name).and_then(|(_, arg)| arg.as_ref())
    }

    /// True if the chosen signature has this parameter, and it is given.
    pub fn has(&self, name: &str) -> bool {
        self.args.iter().any(|(n, arg)| *n == name && arg.is_some())
    }

    /// A required argument.
    pub fn need(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<(Value, Span)> {
        match self.get(name) {
            Some(arg) => Ok(arg.clone()),
            None => {
                let message = format!("`{}` needs `{name}`", self.entry.spelled());
                Err(lower.report(
                    Diagnostic::error("argument", self.span, message)
                        .help(usage(&self.entry.spelled(), self.entry.params)),
                ))
            }
        }
    }

    /// A boolean; false by default.
    pub fn flag(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<bool> {
        match self.get(name).cloned() {
            None => Ok(false),
            Some((Value::Const(Const::Bool(b)), _)) => Ok(b),
            Some((other, span)) => Err(self.wrong(lower, name, "True or False", &other, span)),
        }
    }

    /// A boolean without effect here, which is reported if it is true.
    pub fn idle_flag(&self, lower: &mut Lower<'_>, name: &str, why: &str) -> Lowered<()> {
        if self.has(name) && self.flag(lower, name)? {
            self.no_effect(lower, name, why);
        }
        Ok(())
    }

    /// Memory that is not needed here, which is reported if it is given.
    pub fn idle_memory(&self, lower: &mut Lower<'_>, name: &str, why: &str) -> Lowered<()> {
        match self.args.iter().find(|(own, _)| *own == name).and_then(|(_, given)| given.clone()) {
            None => Ok(()),
            Some((Value::Tile(_) | Value::Tensor(_), _)) => {
                self.no_effect(lower, name, why);
                Ok(())
            }
            Some((other, span)) => Err(self.wrong(lower, name, "a tile or tensor", &other, span)),
        }
    }

    /// Reports that an argument has no effect.
    fn no_effect(&self, lower: &mut Lower<'_>, name: &str, why: &str) {
        let span = self.get(name).map_or(self.span, |(_, span)| *span);
        let message = format!("`{name}` of `{}` has no effect: {why}", self.entry.spelled());
        let note = Diagnostic::warning("no-effect", span, message);
        lower.report(Diagnostic { severity: slipring_ir::Severity::Note, ..note });
    }

    /// A constant integer.
    pub fn int(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Option<i64>> {
        match self.get(name).cloned() {
            None => Ok(None),
            Some((Value::Const(Const::Int(n)), _)) => Ok(Some(n)),
            Some((other, span)) => Err(self.wrong(lower, name, "a constant integer", &other, span)),
        }
    }

    /// An element type.
    pub fn elem(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Option<slipring_tile::Elem>> {
        match self.get(name).cloned() {
            None => Ok(None),
            Some((Value::Const(Const::DType(DType::Elem(elem))), _)) => Ok(Some(elem)),
            Some((other, span)) => Err(self.no_type(lower, name, &other, span)),
        }
    }

    /// A memory.
    pub fn space(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Option<slipring_tile::Space>> {
        match self.get(name).cloned() {
            None => Ok(None),
            Some((Value::Const(Const::Space(space)), _)) => Ok(Some(space)),
            Some((Value::Const(Const::Str(word)), span)) => {
                let what = format!("`{name}` of `{}` is a memory, not the string \"{word}\"", self.entry.spelled());
                let error = Diagnostic::error("argument", span, what);
                let memories = ["Vec", "Mat", "Left", "Right", "Acc", "Bias"];
                let memory = memories.iter().find(|own| own.eq_ignore_ascii_case(&word)).unwrap_or(&"Vec");
                Err(lower.report(error.help(format!("write `pl.Mem.{memory}`"))))
            }
            Some((other, span)) => Err(self.wrong(lower, name, "a memory such as `pl.Mem.Vec`", &other, span)),
        }
    }

    /// A mode of a split: `pl.SplitMode.…` or its number.
    pub fn split(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Option<Split>> {
        match self.get(name).cloned() {
            None => Ok(None),
            Some((Value::Const(Const::Split(mode)), _)) => Ok(Some(mode)),
            Some((Value::Const(Const::Int(n @ 0..=2)), _)) => Ok(Some(SPLIT_MODES[n as usize].1)),
            Some((other, span)) => Err(self.wrong(lower, name, "a mode such as `pl.SplitMode.UP_DOWN`", &other, span)),
        }
    }

    /// A keyword: a string or the name of a member.
    pub fn word(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Option<Rc<str>>> {
        match self.get(name).cloned() {
            None => Ok(None),
            Some((Value::Const(Const::Str(word) | Const::Member(_, word)), _)) => Ok(Some(word)),
            Some((other, span)) => Err(self.wrong(lower, name, "a string", &other, span)),
        }
    }

    /// A keyword from a list: its name, a member of that name, or its index in the list.
    pub fn word_of(&self, lower: &mut Lower<'_>, name: &str, words: &[&'static str]) -> Lowered<Option<&'static str>> {
        let (found, span) = match self.get(name).cloned() {
            Some((Value::Const(Const::Int(n)), span)) => {
                (usize::try_from(n).ok().and_then(|at| words.get(at)).copied().ok_or_else(|| n.to_string()), span)
            }
            Some((_, span)) => match self.word(lower, name)? {
                Some(word) => (words.iter().find(|known| ***known == *word).copied().ok_or(word.to_string()), span),
                None => return Ok(None),
            },
            None => return Ok(None),
        };
        match found {
            Ok(word) => Ok(Some(word)),
            Err(other) => {
                let message = format!("`{name}` of `{}` is not `{other}`", self.entry.spelled());
                let help = format!("it is one of {}, or its number, counted from 0", words.join(", "));
                Err(lower.report(Diagnostic::error("argument", span, message).help(help)))
            }
        }
    }

    /// A value for padding: `pl.PadValue.…`, or 0, `math.inf`, `-math.inf`.
    pub fn padding(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Option<&'static str>> {
        match self.get(name) {
            Some((Value::Const(Const::Int(0)), _)) => return Ok(Some("zero")),
            Some((Value::Const(Const::Float(x)), _)) if *x == 0.0 => return Ok(Some("zero")),
            Some((Value::Const(Const::Float(x)), _)) if x.is_infinite() => {
                return Ok(Some(if *x > 0.0 { "max" } else { "min" }));
            }
            _ => {}
        }
        if let Some((value @ Value::Const(Const::Int(_) | Const::Float(_)), span)) = self.get(name).cloned() {
            let what = describe(lower, &value);
            let message = format!("{what} fills no tile: the hardware has zero, and the smallest and largest value");
            let help = "write `pl.PadValue.zero`, `min` or `max`, or 0, `-math.inf`, `math.inf`";
            return Err(lower.report(Diagnostic::error("argument", span, message).help(help)));
        }
        if let Some((value @ Value::Const(Const::Str(_)), span)) = self.get(name).cloned() {
            return Err(self.wrong(
                lower,
                name,
                "a member of `pl.PadValue`, or 0, `-math.inf`, `math.inf`",
                &value,
                span,
            ));
        }
        self.word_of(lower, name, &["null", "zero", "max", "min"])
    }

    /// Constant extents.
    pub fn shape(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Option<Vec<u64>>> {
        let Some((value, span)) = self.get(name).cloned() else { return Ok(None) };
        let items = match value {
            Value::Tuple(items) => items.into(),
            single => vec![single],
        };
        let mut extents = Vec::new();
        for item in items {
            match item {
                Value::Const(Const::Int(n)) if n > 0 && n < 1 << 31 => extents.push(n as u64),
                other => return Err(self.wrong(lower, name, "a list of positive constant integers", &other, span)),
            }
        }
        let count = extents.iter().try_fold(1u64, |product, n| product.checked_mul(*n));
        if extents.is_empty() || extents.len() > 5 || count.is_none_or(|n| n > MOST_ELEMENTS) {
            let message =
                format!("`{name}` of `{}` has 1 to 5 extents and less than 2^31 elements", self.entry.spelled());
            return Err(lower.error("argument", span, message));
        }
        Ok(Some(extents))
    }

    /// Required constant extents.
    pub fn need_shape(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Vec<u64>> {
        self.need(lower, name)?;
        self.shape(lower, name).map(Option::unwrap_or_default)
    }

    /// A required element type.
    pub fn need_elem(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Elem> {
        match self.need(lower, name)? {
            (Value::Const(Const::DType(ty)), _) if ty.stored().is_some() => Ok(ty.stored().unwrap_or(Elem::U8)),
            (other, span) => Err(self.no_type(lower, name, &other, span)),
        }
    }

    /// Offsets, constant or not.
    pub fn offsets(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Vec<crate::value::Index>> {
        let (value, span) = self.need(lower, name)?;
        let items = match value {
            Value::Tuple(items) => items.into(),
            single => vec![single],
        };
        items.iter().map(|item| lower.index(item, span)).collect()
    }

    /// Reports a value that is not an element type, with a suggestion.
    fn no_type(&self, lower: &mut Lower<'_>, name: &str, value: &Value, span: Span) -> Reported {
        let word = match value {
            Value::Path(path) => path.rsplit('.').next().unwrap_or_default().to_lowercase(),
            Value::Const(Const::Str(word)) => word.to_lowercase(),
            _ => String::new(),
        };
        let meant = match &*word {
            "float32" | "float" | "f32" => "FP32",
            "float16" | "half" | "f16" => "FP16",
            "bfloat16" | "bf16" => "BF16",
            "int" => "INT32",
            other => crate::dtype::DTYPES
                .iter()
                .map(|(own, _)| *own)
                .find(|own| own.to_lowercase() == other)
                .unwrap_or_default(),
        };
        if meant.is_empty() {
            return self.wrong(lower, name, "a type such as `pl.FP32`", value, span);
        }
        let what = describe(lower, value);
        let message = format!("`{name}` of `{}` is a type such as `pl.FP32`, not {what}", self.entry.spelled());
        lower.report(Diagnostic::error("argument", span, message).help(format!("write `pl.{meant}`")))
    }

    /// Reports an argument of another kind.
    pub fn wrong(&self, lower: &mut Lower<'_>, name: &str, wanted: &str, value: &Value, span: Span) -> Reported {
        let what = describe(lower, value);
        let message = format!("`{name}` of `{}` is {wanted}, not {what}", self.entry.spelled());
        lower.report(Diagnostic::error("argument", span, message).help(usage(&self.entry.spelled(), self.entry.params)))
    }
}
