//! Calls by full name: functions of Python, `math`, `functools`, `dataclasses`, `argparse`, torch and the language.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::Operator;
use slipring_ir::Span;

use super::iter::values_iter;
use super::tensors;
use super::value::{Given, HostValue, Object, Wrapped};
use crate::host::limits::MOST_VALUES;
use crate::host::names::{is_known, keeps_nothing};
use crate::host::state::Host;
use crate::host::value::{Frame, Kind, Source, because, unknown};
use crate::numbers::of_numbers;
use crate::value::{Const, Unknown};

/// The description of an `argparse.ArgumentParser`.
pub(super) const PARSER: &str = "a parser of arguments";

/// Modules whose functions neither keep nor change lists, dicts and instances in their arguments.
const CHANGE_NOTHING: &[&str] = &[
    "pl",
    "pld",
    "slipring",
    "pypto",
    "torch",
    "torch_npu",
    "numpy",
    "np",
    "math",
    "time",
    "os",
    "sys",
    "json",
    "logging",
    "typing",
    "re",
    "pathlib",
    "argparse",
    "pytest",
    "warnings",
    "statistics",
    "struct",
    "textwrap",
    "string",
    "datetime",
    "platform",
    "itertools",
    "hashlib",
];

/// True for a function that neither keeps nor changes its arguments.
fn changes_nothing(path: &str) -> bool {
    let root = path.split('.').next().unwrap_or(path);
    let in_place = ["shuffle", "setattr", "update", "register", "run"];
    if keeps_nothing(path) {
        return true;
    }
    CHANGE_NOTHING.contains(&root) && path.contains('.') && !in_place.iter().any(|word| path.ends_with(word))
}

impl<'a> Host<'a> {
    /// Calls something by its full name.
    pub(super) fn call_path(&mut self, path: &str, given: Given<'a>, span: Span) -> HostValue<'a> {
        if let Some((_, why)) = self.changed.iter().find(|(changed, _)| changed == path) {
            return HostValue::Unknown(why.clone());
        }
        if let Some(value) = self.known_path(path, &given, span) {
            return value;
        }
        if self.raised.is_some() {
            return unknown(span, "what is raised");
        }
        let first = given.iter().find_map(|(_, value)| match value {
            HostValue::Unknown(_) => Some(value.clone()),
            _ => None,
        });
        let result = Unknown::call(span, path);
        self.risks += 1;
        if !changes_nothing(path) {
            let values: Vec<_> = given.iter().map(|(_, value)| value.clone()).collect();
            self.let_go(&values, span, &result.why);
        }
        match first {
            Some(value) if is_known(path) => because(value, span, path),
            _ => HostValue::Unknown(Rc::new(result)),
        }
    }

    fn known_path(&mut self, path: &str, given: &Given<'a>, span: Span) -> Option<HostValue<'a>> {
        let args: Vec<HostValue<'a>> = given.iter().filter(|(n, _)| n.is_none()).map(|(_, v)| v.clone()).collect();
        let keyword = |wanted: &str| given.iter().find(|(n, _)| n.as_deref() == Some(wanted)).map(|(_, v)| v.clone());
        if let Some(kind) = super::exceptions::exception(path) {
            let all = given.iter().all(|(name, _)| name.is_none());
            return all.then(|| HostValue::Exception(Rc::new((kind.into(), args))));
        }
        // Tensors are made from the values of iterators.
        if path.contains('.')
            && !path.starts_with("math.")
            && let Some(value) = tensors::make(path, &args, &keyword, span)
        {
            return Some(value);
        }
        if is_known(path) {
            return self.call_builtin(path, given, span);
        }
        if let Some((kind, method)) = path.split_once('.')
            && matches!(kind, "list" | "dict" | "set" | "str")
            && let Some((base, rest)) = args.split_first()
            && self.type_name(base) == kind
        {
            // `list.append(a, 1)`
            let mut all: Given<'a> = rest.iter().map(|value| (None, value.clone())).collect();
            all.extend(given.iter().filter(|(name, _)| name.is_some()).cloned());
            let method = HostValue::Method(Rc::new((base.clone(), method.into())));
            return Some(self.call_value(method, all, span, &String::new));
        }
        let constants: Option<Vec<Const>> =
            args.iter().map(|arg| if let HostValue::Const(c) = arg { Some(c.clone()) } else { None }).collect();
        if let Some(result) =
            constants.as_deref().filter(|_| args.len() == given.len()).and_then(|c| of_numbers(path, c))
        {
            return Some(match result {
                Ok(value) => HostValue::Const(value),
                Err(why) => unknown(span, why),
            });
        }
        Some(match (path, args.as_slice()) {
            ("pl.dynamic", [HostValue::Const(Const::Str(name)), ..]) => HostValue::Dynamic(name.clone()),
            // What a type names besides shape and elements (`crates/lang/src/lower/further.rs`).
            ("pl.MemRef", _) => HostValue::Path(path.into()),
            ("pl.TensorView" | "pl.TileView", []) => {
                // Nothing changes it, so that types that name it stay known.
                let mut said = vec![HostValue::Path(path.into())];
                for (name, value) in given.iter().filter_map(|(name, value)| Some((name.clone()?, value))) {
                    let value = match value {
                        HostValue::List(items) => HostValue::tuple(items.borrow().clone()),
                        other => other.clone(),
                    };
                    said.push(HostValue::tuple(vec![HostValue::Const(Const::Str(name)), value]));
                }
                HostValue::tuple(said)
            }
            ("object.__init__", _) => HostValue::none(),
            ("super.__init__", [object, rest @ ..]) => {
                if let HostValue::Object(own) = object
                    && own.class.as_ref().is_some_and(|class| class.exception.is_some())
                {
                    self.bind_in(&own.fields.clone(), "args", HostValue::tuple(rest.to_vec()));
                    return Some(HostValue::none());
                }
                let rest = rest.to_vec();
                self.let_go(&rest, span, "a class outside of the file");
                HostValue::none()
            }
            ("object.__setattr__", [HostValue::Object(object), HostValue::Const(Const::Str(name)), value]) => {
                self.bind_in(&object.fields.clone(), name, value.clone());
                HostValue::none()
            }
            ("sys.exit" | "exit" | "quit" | "os._exit", _) => {
                let value = HostValue::Exception(Rc::new(("SystemExit".into(), args.clone())));
                self.raise(value, span)
            }
            ("math.prod", [list]) if given.len() == 1 => {
                let items = self.all_of(list, span)?;
                items
                    .into_iter()
                    .fold(HostValue::int(1), |product, item| self.binary(Operator::Mult, product, item, span))
            }
            ("argparse.ArgumentParser", _) => HostValue::Object(Rc::new(Object {
                class: Some(Host::plain_class("ArgumentParser")),
                what: PARSER.into(),
                fields: Frame::new(Kind::Function, IndexMap::new()),
            })),
            ("dataclasses.replace", [HostValue::Object(object)]) => {
                let class = object.class.clone().filter(|class| class.made.get().dataclass)?;
                let mut all: Given<'a> = Vec::new();
                let names: Vec<Rc<str>> = class.fields.borrow().iter().map(|field| field.name.clone()).collect();
                for name in names {
                    if keyword(&name).is_none() {
                        all.push((Some(name.clone()), object.fields.get(&name)?));
                    }
                }
                all.extend(given.iter().filter(|(name, _)| name.is_some()).cloned());
                self.instance(&class, all, span)
            }
            // A driver returns its argument.
            ("pypto.ir.compile" | "ir.compile", [program, ..]) => program.clone(),
            ("types.SimpleNamespace", []) => {
                let named = given.iter().filter_map(|(name, value)| Some((name.clone()?, value.clone())));
                HostValue::Object(Rc::new(Object {
                    class: Some(Host::plain_class("namespace$")),
                    what: "a namespace".into(),
                    fields: Frame::new(Kind::Function, named.collect()),
                }))
            }
            ("functools.lru_cache" | "functools.cache", [function])
                if given.len() == 1 && !matches!(function, HostValue::Const(_)) =>
            {
                self.cached(function.clone())
            }
            ("functools.lru_cache", _) => match (args.first().cloned().or_else(|| keyword("maxsize")), given.len()) {
                (None | Some(HostValue::Const(Const::None)), _) => HostValue::Path("functools.cache".into()),
                _ => return None,
            },
            ("functools.partial", [function, rest @ ..]) => {
                self.costs();
                let mut all: Given<'a> = rest.iter().map(|value| (None, value.clone())).collect();
                all.extend(given.iter().filter(|(name, _)| name.is_some()).cloned());
                HostValue::Wrapped(Rc::new(Wrapped::Partial(function.clone(), all)))
            }
            ("functools.wraps", [_]) => HostValue::Path("functools.wraps()".into()),
            ("functools.wraps()", [function]) => renamed(function.clone()),
            ("functools.reduce", [function, list, rest @ ..]) if rest.len() < 2 && given.len() == args.len() => {
                let mut items = self.all_of(list, span)?.into_iter();
                let Some(mut value) = rest.first().cloned().or_else(|| items.next()) else {
                    return Some(self.fail("TypeError", "reduce() of empty iterable with no initial value", span));
                };
                for item in items {
                    value =
                        self.call_value(function.clone(), vec![(None, value), (None, item)], span, &|| "reduce".into());
                }
                value
            }
            ("itertools.chain", lists) if given.len() == args.len() => {
                let all: Vec<_> = lists.iter().map(|list| self.iter_of(list, span)).collect();
                self.made_iter(all, |all| Source::Chain(all, 0))
            }
            ("itertools.product", lists) if given.len() == args.len() && !lists.is_empty() => {
                let mut rows: Vec<Vec<HostValue<'a>>> = vec![Vec::new()];
                for list in lists {
                    let items = self.all_of(list, span)?;
                    if rows.len().saturating_mul(items.len()) > MOST_VALUES {
                        return None;
                    }
                    rows = rows
                        .iter()
                        .flat_map(|row| {
                            items.iter().map(move |item| row.iter().cloned().chain([item.clone()]).collect())
                        })
                        .collect();
                }
                values_iter(rows.into_iter().map(HostValue::tuple).collect())
            }
            ("copy.copy", [list @ HostValue::List(_)]) => HostValue::list(list.items()?),
            ("copy.copy", [HostValue::Dict(dict)]) => HostValue::dict(dict.borrow().clone()),
            ("operator.add", [a, b]) => self.binary(Operator::Add, a.clone(), b.clone(), span),
            ("operator.mul", [a, b]) => self.binary(Operator::Mult, a.clone(), b.clone(), span),
            ("time.time" | "time.perf_counter" | "time.monotonic", _) => return None,
            ("typing.cast", [_, value]) => value.clone(),
            ("staticmethod" | "classmethod" | "property", [function]) => {
                self.decorated(path, function.clone(), span)?
            }
            (_, [value @ HostValue::Unknown(_)]) if path.starts_with("math.") => because(value.clone(), span, ""),
            _ => return None,
        })
    }

    fn cached(&mut self, function: HostValue<'a>) -> HostValue<'a> {
        HostValue::Wrapped(Rc::new(Wrapped::Cached(function, RefCell::default())))
    }

    /// The result of a decorator with a full name; `None` if it is not known.
    pub(super) fn decorated(&mut self, path: &str, function: HostValue<'a>, span: Span) -> Option<HostValue<'a>> {
        let _ = span;
        Some(match path {
            "staticmethod" => HostValue::Wrapped(Rc::new(Wrapped::Static(function))),
            "classmethod" => HostValue::Wrapped(Rc::new(Wrapped::OfClass(function))),
            "property" => HostValue::Wrapped(Rc::new(Wrapped::Property(function, None))),
            "functools.lru_cache" | "functools.cache" => self.cached(function),
            "functools.wraps()" => renamed(function),
            "abc.abstractmethod" => {
                if let HostValue::Function(own) = &function {
                    own.is_abstract.set(true);
                }
                function
            }
            "typing.override" | "typing.final" | "typing.no_type_check" | "typing.overload" | "atexit.register" => {
                function
            }
            // Marks for a test runner, and decorators of tools that only measure.
            path if path.starts_with("pytest.") || path.starts_with("torch.") || path.starts_with("unittest.") => {
                function
            }
            path if path.starts_with("pl.") || path.starts_with("pld.") => function,
            _ => return None,
        })
    }

    /// `argparse`: every argument has its default, as there is no command line.
    pub(super) fn parser_method(
        &mut self,
        base: &HostValue<'a>,
        name: &str,
        args: &[HostValue<'a>],
        keyword: &dyn Fn(&str) -> Option<HostValue<'a>>,
        span: Span,
    ) -> HostValue<'a> {
        let HostValue::Object(object) = base else { return unknown(span, "a parser") };
        match name {
            "add_argument" => {
                let named: Vec<String> = args.iter().filter_map(HostValue::text).collect();
                let dest = keyword("dest").and_then(|dest| dest.text());
                let long = named.iter().find(|name| name.starts_with("--")).or_else(|| named.first());
                let field = dest.or_else(|| long.map(|name| name.trim_start_matches('-').replace('-', "_")));
                let is = |word: &str, want: &str| keyword(word).and_then(|v| v.text()).as_deref() == Some(want);
                let required = keyword("required").is_some() || long.is_some_and(|name| !name.starts_with('-'));
                let default = keyword("default");
                let value = match default {
                    // A string default is parsed like an argument.
                    Some(HostValue::Const(Const::Str(_))) if keyword("type").is_some() => {
                        unknown(span, "an argument of the command line")
                    }
                    Some(value) => value,
                    None if required => unknown(span, "an argument of the command line"),
                    None if is("action", "store_true") => HostValue::bool(false),
                    None if is("action", "store_false") => HostValue::bool(true),
                    None => HostValue::none(),
                };
                if let Some(field) = field {
                    self.bind_in(&object.fields.clone(), &field, value);
                }
                HostValue::none()
            }
            "parse_args" | "parse_known_args" => {
                self.risks += 1;
                if name == "parse_args" { base.clone() } else { unknown(span, "arguments of the command line") }
            }
            "add_argument_group" | "add_mutually_exclusive_group" => base.clone(),
            _ => self.lost_in(std::slice::from_ref(base), span, &format!("`{name}` of {PARSER}")),
        }
    }
}

/// A function that was given the name of another one.
fn renamed(function: HostValue<'_>) -> HostValue<'_> {
    if let HostValue::Function(own) = &function {
        own.renamed.set(true);
    }
    function
}
