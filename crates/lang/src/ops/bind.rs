//! Arguments of a call, bound to the parameters of an op.

use slipring_op::OpDef;
use std::rc::Rc;

use slipring_ir::{Diagnostic, Span};
use slipring_tile::Elem;

use super::Entry;
use crate::dtype::DType;
use crate::lower::{Lower, Lowered, Reported, describe};
use crate::value::{Const, SPLIT_MODES, Split, Value};

/// Elements that a tile or a window may have.
const MOST_ELEMENTS: u64 = (1 << 31) - 1;

/// Arguments as they are written.
#[derive(Default)]
pub(crate) struct Given {
    pub positional: Vec<(Value, Span)>,
    pub keywords: Vec<(Rc<str>, Value, Span)>,
    /// The type of tile that an annotation says the call gives.
    pub expected: Option<(Vec<u64>, Elem)>,
}

/// A call with its arguments bound.
#[derive(Clone)]
pub(crate) struct Call {
    pub entry: &'static Entry,
    pub span: Span,
    args: Vec<(&'static str, Option<(Value, Span)>)>,
    /// The type of tile that an annotation says the call gives.
    pub expected: Option<(Vec<u64>, Elem)>,
}

/// A parameter of an op.
struct Param {
    name: &'static str,
    /// What it is called elsewhere: the public language calls one parameter differently for tiles and for tensors.
    others: Vec<&'static str>,
    required: bool,
    keyword_only: bool,
}

impl Param {
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.others.contains(&name)
    }
}

/// The parameters of one way to call an op.
fn params(way: &'static str) -> Vec<Param> {
    let mut keyword_only = false;
    let mut list = Vec::new();
    for part in way.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        if part == "*" {
            keyword_only = true;
            continue;
        }
        let names = part.trim_end_matches('=');
        let mut all = names.split('/');
        let name = all.next().unwrap_or(names);
        list.push(Param { name, others: all.collect(), required: names.len() == part.len(), keyword_only });
    }
    list
}

/// True if so many arguments in order, and arguments of these names, are right for a way to call an op.
fn fits(params: &[Param], in_order: usize, names: &[&str]) -> bool {
    let open: Vec<&Param> = params.iter().filter(|p| !p.keyword_only).collect();
    let by_order = open.iter().take(in_order);
    let by_name = |p: &Param| names.iter().any(|name| p.is_called(name));
    in_order <= open.len()
        && names.iter().all(|name| params.iter().any(|p| p.is_called(name)))
        && by_order.clone().all(|p| !by_name(p))
        && params.iter().all(|p| !p.required || by_name(p) || by_order.clone().any(|q| q.name == p.name))
}

/// Arguments by the names of their parameters.
pub(crate) type ByName<V> = Vec<(&'static str, Option<(V, Span)>)>;

/// Binds arguments to what a word of this name takes, in the first way to call it that they fit.
///
/// # Errors
/// Too many, unknown, given twice, missing.
pub(crate) fn by_name<V>(
    (spelled, takes): (&str, &'static str),
    positional: Vec<(V, Span)>,
    keywords: Vec<(Rc<str>, V, Span)>,
    span: Span,
) -> Result<ByName<V>, Box<Diagnostic>> {
    let wrong = |place: Span, message: String| Diagnostic::error("argument", place, message);
    let ways: Vec<Vec<Param>> = takes.split('|').map(params).collect();
    let names: Vec<&str> = keywords.iter().map(|(name, ..)| &**name).collect();
    let way = ways.iter().position(|way| fits(way, positional.len(), &names)).unwrap_or(0);
    let params = &ways[way];
    let mut args: ByName<V> = params.iter().map(|p| (p.name, None)).collect();
    let open = params.iter().filter(|p| !p.keyword_only).count();
    let count = positional.len();
    for (at, arg) in positional.into_iter().enumerate() {
        if at >= open {
            let message = format!("`{spelled}` takes {open} arguments in order, {count} are given");
            return Err(Box::new(wrong(arg.1, message).help(usage(spelled, takes))));
        }
        args[at].1 = Some(arg);
    }
    for (keyword, value, place) in keywords {
        let position = params.iter().position(|param| param.is_called(&keyword));
        let Some(slot) = position.and_then(|at| args.get_mut(at)) else {
            let error = wrong(place, format!("`{spelled}` has no argument `{keyword}`"));
            return Err(Box::new(match slipring_ir::text::nearest(&keyword, params.iter().map(|p| p.name)) {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help(usage(spelled, takes)),
            }));
        };
        if slot.1.is_some() {
            return Err(Box::new(wrong(place, format!("`{keyword}` is given twice"))));
        }
        slot.1 = Some((value, place));
    }
    let missing = params.iter().zip(&args).find(|(p, (_, arg))| p.required && arg.is_none());
    match missing {
        Some((param, _)) => {
            let message = format!("`{spelled}` needs `{}`", param.name);
            Err(Box::new(wrong(span, message).help(usage(spelled, takes))))
        }
        None => Ok(args),
    }
}

/// An op of two operands that is called with one: reductions have names of their own.
fn of_one_tile(entry: &Entry, error: Diagnostic) -> Diagnostic {
    let reduction = |name: &&&str| super::find(&format!("row_{name}")).is_some();
    match entry.names.iter().find(reduction) {
        Some(name) => error.help(format!(
            "the elements of one tile: `pl.row_{name}(x)` of each row, `pl.col_{name}(x)` of each column"
        )),
        None => error,
    }
}

impl Call {
    /// The same call with what is given for one parameter given for another one.
    pub fn moved(&self, from: &str, to: &str) -> Call {
        let mut call = self.clone();
        let value = call.args.iter_mut().find(|(name, _)| *name == from).and_then(|(_, value)| value.take());
        if let Some((_, slot)) = call.args.iter_mut().find(|(name, _)| *name == to) {
            *slot = value;
        }
        call
    }

    /// The op that the entry becomes.
    ///
    /// # Panics
    /// For an entry that names none: its lowering must not ask.
    pub fn op(&self) -> &'static OpDef {
        self.entry.op.expect("the entry names the op that it becomes")
    }

    /// Binds arguments, in the first way to call the op that they fit.
    ///
    /// # Errors
    /// Reported: too many, unknown, given twice, missing.
    pub fn bind(lower: &mut Lower<'_>, entry: &'static Entry, given: Given, span: Span) -> Lowered<Call> {
        if entry.params == super::ANYTHING {
            return Ok(Call { entry, span, args: Vec::new(), expected: None });
        }
        let Given { positional, keywords, expected } = given;
        let alone = positional.len() == 1 && keywords.is_empty();
        let mut args = by_name((&entry.spelled(), entry.params), positional, keywords, span)
            .map_err(|error| lower.report(if alone { of_one_tile(entry, *error) } else { *error }))?;
        // An explicit None is the same as nothing.
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

    /// True if the way in which the op is called has this parameter, and it is given.
    pub fn has(&self, name: &str) -> bool {
        self.args.iter().any(|(n, arg)| *n == name && arg.is_some())
    }

    /// An argument that must be given.
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

    /// A boolean; false where it is not given.
    pub fn flag(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<bool> {
        match self.get(name).cloned() {
            None => Ok(false),
            Some((Value::Const(Const::Bool(b)), _)) => Ok(b),
            Some((other, span)) => Err(self.wrong(lower, name, "True or False", &other, span)),
        }
    }

    /// A boolean that changes nothing here, which is said where it is true.
    pub fn idle_flag(&self, lower: &mut Lower<'_>, name: &str, why: &str) -> Lowered<()> {
        if self.has(name) && self.flag(lower, name)? {
            self.no_effect(lower, name, why);
        }
        Ok(())
    }

    /// Memory that is not needed here, which is said where it is given.
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

    /// Says that an argument has no effect.
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

    /// A word: a string or the name of a member.
    pub fn word(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Option<Rc<str>>> {
        match self.get(name).cloned() {
            None => Ok(None),
            Some((Value::Const(Const::Str(word) | Const::Member(_, word)), _)) => Ok(Some(word)),
            Some((other, span)) => Err(self.wrong(lower, name, "a string", &other, span)),
        }
    }

    /// A word of a list: its name, a member of that name, or its position in the list.
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
                let help = format!("it is one of {}, or its number from 0 on", words.join(", "));
                Err(lower.report(Diagnostic::error("argument", span, message).help(help)))
            }
        }
    }

    /// A value that fills what is not valid: `pl.PadValue.…`, or 0, `math.inf`, `-math.inf`.
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

    /// Constant extents that must be given.
    pub fn need_shape(&self, lower: &mut Lower<'_>, name: &str) -> Lowered<Vec<u64>> {
        self.need(lower, name)?;
        self.shape(lower, name).map(Option::unwrap_or_default)
    }

    /// An element type that must be given.
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

    /// Reports what is not an element type, with the one that was meant.
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

/// How a word is called that takes this.
fn usage(spelled: &str, takes: &str) -> String {
    let ways = takes.split('|').map(|way| {
        // The first of several names is enough.
        let parts = way.split(',').map(|part| match part.trim().split_once('/') {
            Some((name, rest)) => format!("{name}{}", if rest.ends_with('=') { "=" } else { "" }),
            None => part.trim().to_string(),
        });
        let way = parts.collect::<Vec<_>>().join(", ").replace("=,", "=…,");
        format!("`{spelled}({})`", way.trim_end_matches('='))
    });
    format!("it is called as {}", ways.collect::<Vec<_>>().join(" or "))
}
