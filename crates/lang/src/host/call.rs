//! Calls of the host: functions of Python, `math`, `torch`, the file, and its kernels.

use std::cell::RefCell;
use std::rc::Rc;

use indexmap::IndexMap;
use ruff_python_ast::{CmpOp, Expr, ExprCall, Operator};
use slipring_ir::Span;

use super::expr::{because, python_text};
use super::run::Host;
use super::value::{Class, HostValue, Object, shown};
use super::{HostCall, MOST_VALUES, Passed, tensors, unknown};
use crate::lower::constants;
use crate::value::Const;

/// Functions of Python that are known here.
pub(super) const BUILTINS: &[&str] = &[
    "abs",
    "all",
    "any",
    "bool",
    "dict",
    "enumerate",
    "float",
    "getattr",
    "hasattr",
    "int",
    "isinstance",
    "len",
    "list",
    "map",
    "max",
    "min",
    "object",
    "pow",
    "print",
    "range",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "zip",
];

/// Arguments of a call: a name where they have one.
type Given<'a> = Vec<(Option<Rc<str>>, HostValue<'a>)>;

impl<'a> Host<'a> {
    pub(super) fn call(&mut self, call: &'a ExprCall, span: Span) -> HostValue<'a> {
        let callee = self.expr(&call.func);
        if self.recorder.is_some()
            && let Some(value) = self.task_call(&callee, call, span)
        {
            return value;
        }
        if self.recorder.is_some() {
            return self.follow_call(&callee, call, span);
        }
        let mut given: Given<'a> = Vec::new();
        for arg in &call.arguments.args {
            let value = self.expr(arg);
            match value.items().filter(|_| arg.is_starred_expr()) {
                Some(items) => given.extend(items.into_iter().map(|item| (None, item))),
                None => given.push((None, value)),
            }
        }
        for keyword in &call.arguments.keywords {
            let value = self.expr(&keyword.value);
            match (&keyword.arg, value) {
                (Some(name), value) => given.push((Some(name.as_str().into()), value)),
                (None, HostValue::Dict(items)) => {
                    for (key, value) in items.borrow().iter() {
                        if let Const::Str(name) = key {
                            given.push((Some(name.clone()), value.clone()));
                        }
                    }
                }
                _ => {}
            }
        }
        if let Expr::Subscript(subscript) = &*call.func
            && let HostValue::Dict(items) = self.expr(&subscript.value)
        {
            // An option chooses one of several kernels: any of them may be called so.
            for (_, value) in items.borrow().iter() {
                if let HostValue::Kernel(kernel) = value {
                    self.kernel_call(*kernel, &given);
                }
            }
        }
        self.call_value(callee, given, span, &|| shown(&call.func))
    }

    pub(super) fn call_value(
        &mut self,
        callee: HostValue<'a>,
        given: Given<'a>,
        span: Span,
        shown: &dyn Fn() -> String,
    ) -> HostValue<'a> {
        match &callee {
            HostValue::Path(path) => {
                let path = path.clone();
                self.call_path(&path, &given, span)
            }
            HostValue::Function(function) => self.call_function(&function.clone(), given, false),
            HostValue::Lambda(lambda) => {
                let (lambda, scopes) = (lambda.0, lambda.1.clone());
                let mut names = IndexMap::new();
                let mut values = given.into_iter().map(|(_, value)| value);
                for parameter in lambda.parameters.iter().flat_map(|p| p.iter_non_variadic_params()) {
                    let value = values.next().unwrap_or_else(|| unknown(span, "an argument"));
                    names.insert(parameter.parameter.name.as_str().into(), value);
                }
                let outer = std::mem::replace(&mut self.scopes, scopes);
                self.scopes.push(Rc::new(RefCell::new(names)));
                let value = self.expr(&lambda.body);
                self.scopes = outer;
                value
            }
            HostValue::Class(class) => self.instance(class, given, span),
            HostValue::Kernel(kernel) => {
                self.kernel_call(*kernel, &given);
                unknown(span, format!("what `{}` gives when it runs", shown()))
            }
            HostValue::Method(method) => {
                let (base, name) = &**method;
                self.method(base, name, given, span)
            }
            HostValue::Unknown(why) => HostValue::Unknown(why.clone()),
            _ => unknown(span, format!("a call of `{}`", shown())),
        }
    }

    /// Notes what is passed to a kernel.
    fn kernel_call(&mut self, kernel: usize, given: &[(Option<Rc<str>>, HostValue<'a>)]) {
        let passed = |value: &HostValue<'a>| match value {
            HostValue::Tensor(tensor) => Passed::Tensor(tensor.0.clone(), tensor.1),
            HostValue::Const(c @ (Const::Int(_) | Const::Float(_) | Const::Bool(_))) => Passed::Number(c.clone()),
            _ => Passed::Unknown,
        };
        let args = given.iter().map(|(name, value)| (name.clone(), passed(value))).collect();
        self.calls.push(HostCall { kernel, args });
    }

    fn instance(&mut self, class: &Rc<Class<'a>>, given: Given<'a>, span: Span) -> HostValue<'a> {
        if class.foreign && class.fields.is_empty() && !class.names.borrow().contains_key("__init__") {
            let fields = Rc::new(RefCell::new(IndexMap::new()));
            let what = format!("an instance of `{}`", class.name).into();
            return HostValue::Object(Rc::new(Object { class: Some(class.clone()), what, fields }));
        }
        let mut fields = IndexMap::new();
        let mut positional = given.iter().filter(|(name, _)| name.is_none()).map(|(_, value)| value.clone());
        for (field, default) in &class.fields {
            let named = || given.iter().find(|(name, _)| name.as_ref() == Some(field)).map(|(_, value)| value.clone());
            let value = positional.next().or_else(named).or_else(|| default.clone());
            let missing = || unknown(span, format!("`{field}`, which `{}` is not given", class.name));
            fields.insert(field.clone(), value.unwrap_or_else(missing));
        }
        let object = HostValue::Object(Rc::new(Object {
            class: Some(class.clone()),
            what: format!("an instance of `{}`", class.name).into(),
            fields: Rc::new(RefCell::new(fields)),
        }));
        let init = class.names.borrow().get("__init__").cloned();
        if let Some(HostValue::Function(init)) = init {
            let mut all = vec![(None, object.clone())];
            all.extend(given);
            self.call_function(&init, all, false);
        }
        object
    }

    fn method(&mut self, base: &HostValue<'a>, name: &Rc<str>, given: Given<'a>, span: Span) -> HostValue<'a> {
        let args: Vec<HostValue<'a>> = given.iter().filter(|(n, _)| n.is_none()).map(|(_, v)| v.clone()).collect();
        let keyword = |wanted: &str| given.iter().find(|(n, _)| n.as_deref() == Some(wanted)).map(|(_, v)| v.clone());
        match (base, &**name) {
            (HostValue::Kernel(kernel), "lower" | "compile" | "compile_for_test" | "warmup" | "run" | "__call__") => {
                self.kernel_call(*kernel, &given);
                base.clone()
            }
            (HostValue::Const(Const::DType(ty)), "get_byte") => HostValue::int(ty.bytes()),
            (HostValue::Tensor(own), name) => tensors::method(own, name, &args, &keyword, span),
            (HostValue::List(items), "append") if items.borrow().len() < MOST_VALUES => {
                items.borrow_mut().extend(args);
                HostValue::Const(Const::None)
            }
            (HostValue::List(items), "extend") => {
                let more = args.first().and_then(HostValue::items).unwrap_or_default();
                if items.borrow().len() + more.len() <= MOST_VALUES {
                    items.borrow_mut().extend(more);
                }
                HostValue::Const(Const::None)
            }
            (HostValue::Dict(items), "get") => {
                let found = match args.first() {
                    Some(HostValue::Const(key)) => {
                        items.borrow().iter().find(|(known, _)| known == key).map(|(_, value)| value.clone())
                    }
                    Some(other) => return because(other.clone(), span, "an entry of a dict"),
                    None => None,
                };
                found.or_else(|| args.get(1).cloned()).unwrap_or(HostValue::Const(Const::None))
            }
            (HostValue::Dict(items), "items") => {
                let pair = |(key, value): &(Const, HostValue<'a>)| {
                    HostValue::Tuple(Rc::new(vec![HostValue::Const(key.clone()), value.clone()]))
                };
                HostValue::list(items.borrow().iter().map(pair).collect())
            }
            (HostValue::Dict(items), "values") => {
                HostValue::list(items.borrow().iter().map(|(_, value)| value.clone()).collect())
            }
            (HostValue::Dict(_), "keys") => HostValue::list(base.items().unwrap_or_default()),
            (HostValue::Const(Const::Str(text)), "upper") => HostValue::str(text.to_uppercase()),
            (HostValue::Const(Const::Str(text)), "lower") => HostValue::str(text.to_lowercase()),
            (HostValue::Object(object), name) => {
                let class = object.class.as_ref().and_then(|class| class.names.borrow().get(name).cloned());
                match class {
                    Some(HostValue::Function(function)) => {
                        let bare = function.def.decorator_list.iter().any(|d| shown(&d.expression) == "staticmethod");
                        let mut all = if bare { Vec::new() } else { vec![(None, base.clone())] };
                        all.extend(given);
                        self.call_function(&function, all, false)
                    }
                    // `argparse`: what is not given on a command line has its default.
                    _ if &*object.what == PARSER && name == "add_argument" => {
                        let named = args.iter().filter_map(|arg| match arg {
                            HostValue::Const(Const::Str(text)) => Some(text.trim_start_matches('-').replace('-', "_")),
                            _ => None,
                        });
                        let field = named.max_by_key(String::len).unwrap_or_default();
                        let flag =
                            matches!(keyword("action"), Some(HostValue::Const(Const::Str(a))) if &*a == "store_true");
                        let usual = if flag { Const::Bool(false) } else { Const::None };
                        let value = keyword("default").unwrap_or(HostValue::Const(usual));
                        object.fields.borrow_mut().insert(field.into(), value);
                        HostValue::Const(Const::None)
                    }
                    _ if &*object.what == PARSER && name == "parse_args" => base.clone(),
                    _ => unknown(span, format!("`{name}` of {}", object.what)),
                }
            }
            (HostValue::Unknown(why), _) => HostValue::Unknown(why.clone()),
            _ => unknown(span, format!("a call of `{name}`")),
        }
    }

    fn call_path(&mut self, path: &str, given: &[(Option<Rc<str>>, HostValue<'a>)], span: Span) -> HostValue<'a> {
        let args: Vec<HostValue<'a>> = given.iter().filter(|(n, _)| n.is_none()).map(|(_, v)| v.clone()).collect();
        let keyword = |wanted: &str| given.iter().find(|(n, _)| n.as_deref() == Some(wanted)).map(|(_, v)| v.clone());
        if let Some(value) = tensors::make(path, &args, &keyword, span) {
            return value;
        }
        let constants: Option<Vec<Const>> =
            args.iter().map(|arg| if let HostValue::Const(c) = arg { Some(c.clone()) } else { None }).collect();
        if let Some(result) = constants.as_deref().and_then(|args| of_numbers(path, args)) {
            return match result {
                Ok(value) => HostValue::Const(value),
                Err(why) => unknown(span, why),
            };
        }
        let list = args.first().and_then(HostValue::items);
        let from_list = match (path, list) {
            ("tuple", None) if args.is_empty() => Some(HostValue::Tuple(Rc::new(Vec::new()))),
            ("list" | "set", None) if args.is_empty() => Some(HostValue::list(Vec::new())),
            ("dict", None) if args.is_empty() => {
                let named = given.iter().filter_map(|(name, value)| Some((Const::Str(name.clone()?), value.clone())));
                Some(HostValue::Dict(Rc::new(RefCell::new(named.collect()))))
            }
            ("len", Some(items)) => Some(HostValue::int(items.len() as i64)),
            ("tuple", Some(items)) => Some(HostValue::Tuple(Rc::new(items))),
            ("list", Some(items)) => Some(HostValue::list(items)),
            ("reversed", Some(items)) => Some(HostValue::list(items.into_iter().rev().collect())),
            ("enumerate", Some(items)) => {
                let pair = |(at, item)| HostValue::Tuple(Rc::new(vec![HostValue::int(at as i64), item]));
                Some(HostValue::list(items.into_iter().enumerate().map(pair).collect()))
            }
            ("zip", Some(_)) => {
                let lists: Option<Vec<_>> = args.iter().map(HostValue::items).collect();
                lists.map(|lists| {
                    let count = lists.iter().map(Vec::len).min().unwrap_or(0);
                    let row =
                        |at: usize| HostValue::Tuple(Rc::new(lists.iter().map(|list| list[at].clone()).collect()));
                    HostValue::list((0..count).map(row).collect())
                })
            }
            ("sum" | "math.prod", Some(items)) => {
                let (op, start) = if path == "sum" { (Operator::Add, 0) } else { (Operator::Mult, 1) };
                let start = args.get(1).cloned().unwrap_or_else(|| HostValue::int(start));
                Some(items.into_iter().fold(start, |sum, item| self.binary(op, sum, item, span)))
            }
            ("max" | "min", Some(items)) => {
                let numbers: Option<Vec<Const>> =
                    items.iter().map(|v| if let HostValue::Const(c) = v { Some(c.clone()) } else { None }).collect();
                match numbers.as_deref().and_then(|numbers| of_numbers(path, numbers)) {
                    Some(Ok(value)) => Some(HostValue::Const(value)),
                    _ => None,
                }
            }
            ("all" | "any", Some(items)) => {
                let truths: Option<Vec<bool>> = items.iter().map(HostValue::truth).collect();
                truths.map(|truths| {
                    let all = path == "all";
                    HostValue::Const(Const::Bool(if all { truths.iter().all(|t| *t) } else { truths.contains(&true) }))
                })
            }
            ("sorted", Some(mut items)) if given.len() == 1 => {
                let known = items.iter().all(|item| matches!(item, HostValue::Const(_)));
                known.then(|| {
                    items.sort_by(|a, b| match (a, b) {
                        (HostValue::Const(Const::Str(a)), HostValue::Const(Const::Str(b))) => a.cmp(b),
                        (HostValue::Const(a), HostValue::Const(b)) => {
                            constants::order(a, b).unwrap_or(std::cmp::Ordering::Equal)
                        }
                        _ => std::cmp::Ordering::Equal,
                    });
                    HostValue::list(items)
                })
            }
            _ => None,
        };
        if let Some(value) = from_list {
            return value;
        }
        match (path, args.as_slice()) {
            ("pl.dynamic", [HostValue::Const(Const::Str(name)), ..]) => HostValue::Dynamic(name.clone()),
            ("map", [function, list]) => match list.items() {
                Some(items) => {
                    let each = |item| self.call_value(function.clone(), vec![(None, item)], span, &String::new);
                    HostValue::list(items.into_iter().map(each).collect())
                }
                None => because(list.clone(), span, "a call of `map`"),
            },
            ("argparse.ArgumentParser", _) => HostValue::Object(Rc::new(Object {
                class: None,
                what: PARSER.into(),
                fields: Rc::new(RefCell::new(IndexMap::new())),
            })),
            ("dataclasses.field", _) => match (keyword("default"), keyword("default_factory")) {
                (Some(value), _) => value,
                (None, Some(make)) => self.call_value(make, Vec::new(), span, &String::new),
                _ => unknown(span, "a field without a default"),
            },
            ("dataclasses.replace", [HostValue::Object(object), ..]) => {
                let mut fields = object.fields.borrow().clone();
                let named = given.iter().filter_map(|(name, value)| Some((name.clone()?, value.clone())));
                fields.extend(named);
                HostValue::Object(Rc::new(Object {
                    class: object.class.clone(),
                    what: object.what.clone(),
                    fields: Rc::new(RefCell::new(fields)),
                }))
            }
            // What a decorator or a driver gives back is what it got.
            ("pypto.ir.compile" | "ir.compile", [program, ..]) => program.clone(),
            ("types.SimpleNamespace", _) => {
                let named = given.iter().filter_map(|(name, value)| Some((name.clone()?, value.clone())));
                let fields = Rc::new(RefCell::new(named.collect()));
                HostValue::Object(Rc::new(Object { class: None, what: "a namespace".into(), fields }))
            }
            ("getattr", [base, HostValue::Const(Const::Str(name)), ..]) => self.attribute(base.clone(), name, span),
            ("range", _) => match constants.as_deref() {
                Some([Const::Int(end)]) => HostValue::Range(0, *end, 1),
                Some([Const::Int(first), Const::Int(end)]) => HostValue::Range(*first, *end, 1),
                Some([Const::Int(first), Const::Int(end), Const::Int(step)]) if *step != 0 => {
                    HostValue::Range(*first, *end, *step)
                }
                _ => args
                    .iter()
                    .find(|arg| matches!(arg, HostValue::Unknown(_)))
                    .map_or_else(|| unknown(span, "a range"), Clone::clone),
            },
            _ => match args.iter().find(|arg| matches!(arg, HostValue::Unknown(_))) {
                Some(why) if BUILTINS.contains(&path) => why.clone(),
                _ => unknown(span, format!("a call of `{path}`")),
            },
        }
    }
}

/// What an `argparse.ArgumentParser` is called.
const PARSER: &str = "a parser of arguments";

/// A function of constants; `None` for what is no such function, or takes other arguments.
pub(crate) fn of_numbers(path: &str, args: &[Const]) -> Option<Result<Const, String>> {
    let float = |c: &Const| match c {
        Const::Int(n) => Some(*n as f64),
        Const::Float(x) => Some(*x),
        Const::Bool(b) => Some(f64::from(u8::from(*b))),
        _ => None,
    };
    let int = |n: Option<i64>| n.map(Const::Int).ok_or_else(|| constants::TOO_LARGE.to_string());
    Some(match (path, args) {
        ("abs", [Const::Int(n)]) => int(n.checked_abs()),
        ("abs" | "math.fabs", [x]) => Ok(Const::Float(float(x)?.abs())),
        ("min" | "max" | "pl.min" | "pl.max", [first, rest @ ..]) if !rest.is_empty() || float(first).is_some() => {
            let op = if path.ends_with("max") { CmpOp::Gt } else { CmpOp::Lt };
            let mut best = first;
            for other in rest {
                if constants::compare(op, other, best)? {
                    best = other;
                }
            }
            Ok(best.clone())
        }
        ("sum", numbers) if numbers.iter().all(|c| float(c).is_some()) => {
            let add = |sum: Result<Const, String>, c: &Const| constants::binary(Operator::Add, &sum?, c);
            numbers.iter().fold(Ok(Const::Int(0)), add)
        }
        ("int", [Const::Float(x)]) | ("math.trunc", [Const::Float(x)]) => constants::int_of(*x),
        ("int" | "math.trunc" | "math.floor" | "math.ceil" | "round", [Const::Int(n)]) => Ok(Const::Int(*n)),
        ("int", [Const::Bool(b)]) => Ok(Const::Int(i64::from(*b))),
        ("int", [Const::Str(text)]) => {
            text.trim().parse().map(Const::Int).map_err(|_| format!("`{text}` is no integer"))
        }
        ("float", [Const::Str(text)]) => {
            let text = text.trim().to_lowercase();
            text.parse().map(Const::Float).map_err(|_| format!("`{text}` is no number"))
        }
        ("float", [x]) => Ok(Const::Float(float(x)?)),
        ("bool", [c]) => Ok(Const::Bool(constants::truth(c))),
        ("str", [c]) => Ok(Const::Str(python_text(c).into())),
        ("len", [Const::Str(text)]) => Ok(Const::Int(text.chars().count() as i64)),
        ("round", [Const::Float(x)]) => constants::int_of(x.round_ties_even()),
        ("math.floor", [Const::Float(x)]) => constants::int_of(x.floor()),
        ("math.ceil", [Const::Float(x)]) => constants::int_of(x.ceil()),
        ("pow", [a, b]) => constants::binary(Operator::Pow, a, b),
        ("math.sqrt", [x]) => match float(x)? {
            x if x < 0.0 => Err("the square root of a negative number".into()),
            x => Ok(Const::Float(x.sqrt())),
        },
        ("math.log2", [Const::Int(n)]) if *n > 0 && n.count_ones() == 1 => {
            Ok(Const::Float(f64::from(n.trailing_zeros())))
        }
        ("math.isqrt", [Const::Int(n)]) if *n >= 0 => Ok(Const::Int(n.isqrt())),
        ("math.gcd", [Const::Int(a), Const::Int(b)]) => {
            let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
            while b != 0 {
                (a, b) = (b, a % b);
            }
            int(i64::try_from(a).ok())
        }
        (
            "math.exp" | "math.log" | "math.log2" | "math.log10" | "math.sin" | "math.cos" | "math.tanh" | "math.pow",
            _,
        ) => Err(format!("`{path}`: its last bit is not the same everywhere; write the number")),
        ("pl.cdiv" | "cdiv" | "pypto.language.cdiv", [Const::Int(a), Const::Int(b)]) => {
            if *b == 0 {
                Err("division by zero".into())
            } else {
                ceil_div(*a, *b).map(Const::Int)
            }
        }
        _ => return None,
    })
}

/// The quotient of two integers, rounded up.
fn ceil_div(a: i64, b: i64) -> Result<i64, String> {
    let (a, b) = (i128::from(a), i128::from(b));
    let up = a % b != 0 && (a < 0) == (b < 0);
    i64::try_from(a / b + i128::from(up)).map_err(|_| constants::TOO_LARGE.to_string())
}
