//! Preconditions: constraints on the scalar arguments of each launch, such as `n % 8 == 0, valid_row <= 32`.

mod decided;

use std::fmt;

use slipring_ir::{Attr, Diagnostic, Module, Severity};
use slipring_op::function::ASSUME;
use slipring_op::symbol_name;
use slipring_program::{Order, Param, ParamKind, Program, Relation};

use crate::Prepared;
use crate::tensor::Bound;

/// Conditions that a kernel's function states about its launches.
fn of_text(module: &Module, name: &str) -> Vec<String> {
    let own = module.functions().filter(|function| symbol_name(module, *function) == name);
    let texts = own.filter_map(|function| module.op(function).attrs.get(ASSUME).and_then(Attr::as_str));
    texts.map(str::to_string).collect()
}

/// The assumptions in a kernel's text.
///
/// # Errors
/// What is wrong with them.
pub(crate) fn written(module: &Module, program: &Program) -> Result<Assumed, Box<Diagnostic>> {
    Assumed::read(&of_text(module, &program.name), &program.params).map_err(|wrong| {
        let function = module.functions().find(|function| symbol_name(module, *function) == program.name);
        Box::new(match function {
            Some(function) => Diagnostic::error("assumption", module.op(function).span, wrong),
            None => Diagnostic::nowhere("assumption", Severity::Error, wrong),
        })
    })
}

/// The conditions of a text.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(',').flat_map(|part| part.split("&&")).flat_map(|part| part.split(" and "));
    parts.map(str::trim).filter(|part| !part.is_empty())
}

/// True for a text without any condition, which is an error of its author.
pub(crate) fn is_empty(text: &str) -> bool {
    parts(text).next().is_none()
}

/// Scalar arguments as numbers, by parameter that is passed.
pub fn as_numbers(bound: &[Bound<'_>], params: &[Param]) -> Vec<Option<i128>> {
    let number = |(bound, param): (&Bound<'_>, &Param)| {
        let bits = bound.bits()?;
        Some(match param.kind {
            ParamKind::Scalar(elem) if !elem.is_float() && !elem.is_signed_int() => {
                i128::from(bits & (u64::MAX >> (64 - 8 * elem.bytes())))
            }
            _ => i128::from(bits as i64),
        })
    };
    bound.iter().zip(params.iter().filter(|param| param.is_passed())).map(number).collect()
}

/// An arithmetic operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Number {
    Is(i128),
    Param(usize),
    Of(Op, Box<Number>, Box<Number>),
}

/// One comparison.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Condition {
    text: String,
    left: Number,
    order: Order,
    right: Number,
}

/// A conjunction of conditions.
#[derive(Clone, Default, Debug)]
pub struct Assumed(Vec<Condition>);

/// How the truth of a condition changes as one argument grows and the others stay fixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Shape {
    /// It is independent of the argument.
    Free,
    /// It repeats with this period.
    Periodic(u64),
    /// Once false, it stays false.
    Upper,
    /// Once true, it stays true.
    Lower,
    /// It holds for this value only, or for all but this one.
    Only(i128),
    But(i128),
    /// Unknown.
    Unknown,
}

/// Quotient and remainder as in the language: the quotient is rounded down, the remainder has the divisor's sign.
fn floored(a: i128, b: i128) -> Option<(i128, i128)> {
    let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
    Some(if rest != 0 && (rest < 0) != (b < 0) { (quotient - 1, rest + b) } else { (quotient, rest) })
}

impl Number {
    /// The value with these arguments; `None` if it is undefined or out of range.
    fn value(&self, args: &[Option<i128>]) -> Option<i128> {
        match self {
            Number::Is(value) => Some(*value),
            Number::Param(at) => *args.get(*at)?,
            Number::Of(op, a, b) => {
                let (a, b) = (a.value(args)?, b.value(args)?);
                match op {
                    Op::Add => a.checked_add(b),
                    Op::Sub => a.checked_sub(b),
                    Op::Mul => a.checked_mul(b),
                    Op::Div => floored(a, b).map(|(quotient, _)| quotient),
                    Op::Rem => floored(a, b).map(|(_, rest)| rest),
                }
            }
        }
    }

    fn has(&self, param: usize) -> bool {
        match self {
            Number::Is(_) => false,
            Number::Param(at) => *at == param,
            Number::Of(_, a, b) => a.has(param) || b.has(param),
        }
    }

    /// True if it depends on no other argument.
    fn is_only(&self, param: usize) -> bool {
        match self {
            Number::Is(_) => true,
            Number::Param(at) => *at == param,
            Number::Of(_, a, b) => a.is_only(param) && b.is_only(param),
        }
    }

    /// True if it is never negative and does not decrease as the argument grows from 0.
    fn grows(&self, param: usize, args: &[Option<i128>]) -> bool {
        match self {
            _ if !self.has(param) => self.value(args).is_some_and(|value| value >= 0),
            Number::Of(Op::Add | Op::Mul, a, b) => a.grows(param, args) && b.grows(param, args),
            Number::Of(Op::Div, a, b) => {
                a.grows(param, args) && !b.has(param) && b.value(args).is_some_and(|value| value > 0)
            }
            Number::Of(..) => false,
            Number::Is(_) | Number::Param(_) => true,
        }
    }

    /// The period of the value in an argument.
    fn period(&self, param: usize, args: &[Option<i128>]) -> Option<u64> {
        match self {
            _ if !self.has(param) => Some(1),
            Number::Of(Op::Rem, a, b) if !b.has(param) && a.is_sum(param, args) => {
                b.value(args).and_then(|by| u64::try_from(by).ok()).filter(|by| *by > 0)
            }
            Number::Of(Op::Div, ..) | Number::Is(_) | Number::Param(_) => None,
            Number::Of(_, a, b) => Some(lcm(a.period(param, args)?, b.period(param, args)?)?),
        }
    }

    /// True for sums and products, whose remainders follow from those of their parts.
    fn is_sum(&self, param: usize, args: &[Option<i128>]) -> bool {
        match self {
            _ if !self.has(param) => self.value(args).is_some_and(|value| value >= 0),
            Number::Of(Op::Add | Op::Mul, a, b) => a.is_sum(param, args) && b.is_sum(param, args),
            Number::Of(..) => false,
            Number::Is(_) | Number::Param(_) => true,
        }
    }
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x.max(1)).checked_mul(b).filter(|all| *all <= 1 << 16)
}

impl Condition {
    fn holds(&self, args: &[Option<i128>]) -> bool {
        let (Some(a), Some(b)) = (self.left.value(args), self.right.value(args)) else { return false };
        Relation { order: self.order, signed: true }.holds(a, b)
    }

    fn shape(&self, param: usize, args: &[Option<i128>]) -> Shape {
        let (left, right) = (&self.left, &self.right);
        if !left.has(param) && !right.has(param) {
            return Shape::Free;
        }
        if let (Some(a), Some(b)) = (left.period(param, args), right.period(param, args)) {
            return lcm(a, b).map_or(Shape::Unknown, Shape::Periodic);
        }
        // The side that grows, and whether it is the smaller one.
        let (side, other, turned) = match (left.has(param), right.has(param)) {
            (true, false) => (left, right, false),
            (false, true) => (right, left, true),
            _ => return Shape::Unknown,
        };
        let smaller = matches!(self.order, Order::Less | Order::LessOrEqual) != turned;
        match self.order {
            Order::Equal | Order::Different if *side == Number::Param(param) => match other.value(args) {
                Some(value) if self.order == Order::Equal => Shape::Only(value),
                Some(value) => Shape::But(value),
                None => Shape::Unknown,
            },
            Order::Equal | Order::Different => Shape::Unknown,
            _ if !side.grows(param, args) => Shape::Unknown,
            _ if smaller => Shape::Upper,
            _ => Shape::Lower,
        }
    }
}

impl Assumed {
    /// The requested assumptions and those in the kernel's text.
    ///
    /// # Errors
    /// A condition that cannot be parsed.
    pub fn of_kernel(prepared: &Prepared, asked: &[String]) -> Result<Assumed, String> {
        let program = &prepared.decoded.program;
        let texts = asked.iter().cloned().chain(of_text(&prepared.written, &program.name));
        Assumed::read(&texts.collect::<Vec<_>>(), &program.params)
    }

    /// Reads conditions, separated by commas, `and` or `&&`.
    ///
    /// # Errors
    /// A condition that cannot be parsed.
    pub fn read(texts: &[String], params: &[Param]) -> Result<Assumed, String> {
        let mut list = Vec::new();
        for text in texts {
            if is_empty(text) {
                return Err(format!("there is no condition in `{text}`"));
            }
            for part in parts(text) {
                list.push(Reader::new(part, params).condition()?);
            }
        }
        Ok(Assumed(list))
    }

    /// Each condition of these texts by itself, or why these parameters do not fit it.
    pub(crate) fn each(texts: &[String], params: &[Param]) -> Vec<Result<Assumed, String>> {
        let parts = texts.iter().flat_map(|text| parts(text).map(str::to_string).collect::<Vec<_>>());
        parts.map(|part| Assumed::read(&[part], params)).collect()
    }

    /// The conjunction of both.
    pub(crate) fn and(mut self, other: Assumed) -> Assumed {
        self.0.extend(other.0);
        self
    }

    /// The conditions as text.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|one| &*one.text)
    }

    /// True if nothing is assumed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The conditions that involve only this argument.
    pub fn alone(&self, param: usize) -> Assumed {
        let alone = |number: &Number| number.is_only(param);
        Assumed(self.0.iter().filter(|one| alone(&one.left) && alone(&one.right)).cloned().collect())
    }

    /// The first condition that these arguments violate.
    pub fn broken(&self, args: &[Option<i128>]) -> Option<&str> {
        self.0.iter().find(|condition| !condition.holds(args)).map(|condition| &*condition.text)
    }

    /// The conditions on one argument alone, as text.
    pub fn of(&self, param: usize) -> String {
        let own = self.0.iter().filter(|one| one.left.has(param) || one.right.has(param));
        own.map(|one| format!("`{}`", one.text)).collect::<Vec<_>>().join(" and ")
    }

    /// True if no larger value of an argument satisfies the conditions than this one, which itself need not satisfy
    /// them.
    pub fn ends(&self, param: usize, value: u64, args: &[Option<i128>]) -> bool {
        let args = with(args, param, value);
        self.0.iter().any(|one| match one.shape(param, &args) {
            Shape::Upper => !one.holds(&args),
            Shape::Only(only) => only <= i128::from(value),
            Shape::Free => !one.holds(&args),
            _ => false,
        })
    }

    /// True if each value above `last` of an argument that satisfies the conditions is `period` above one that does.
    pub fn goes_back(&self, param: usize, last: u64, period: u64, args: &[Option<i128>]) -> bool {
        let Some(first) = last.checked_sub(period).map(|first| first + 1) else { return self.is_empty() };
        let args = with(args, param, first);
        self.0.iter().all(|one| match one.shape(param, &args) {
            Shape::Free | Shape::Upper => true,
            Shape::Periodic(own) => period.is_multiple_of(own),
            Shape::Lower => one.holds(&args),
            Shape::Only(only) => only <= i128::from(last),
            Shape::But(but) => but < i128::from(first),
            Shape::Unknown => false,
        })
    }

    /// True if the conditions hold with this value of an argument and the others unchanged.
    pub fn allows(&self, param: usize, value: impl Into<i128>, args: &[Option<i128>]) -> bool {
        self.is_empty() || self.broken(&with(args, param, value)).is_none()
    }

    /// The negative values of an argument that the conditions allow, the smallest one first, if they limit them: none
    /// if they say nothing about negative numbers. `None` if there are more than `most`.
    pub fn negative(&self, param: usize, most: i64, args: &[Option<i128>]) -> Option<Vec<i64>> {
        let allowed = |value: i64| self.allows(param, value, args);
        if allowed(i64::MIN) || allowed(i32::MIN.into()) {
            return Some(Vec::new());
        }
        let further = (1..40).any(|shift| allowed(-most - (1 << shift)));
        let list: Vec<i64> = (-most - 1..0).filter(|value| allowed(*value)).collect();
        (!further && list.first() != Some(&(-most - 1))).then_some(list)
    }
}

fn with(args: &[Option<i128>], param: usize, value: impl Into<i128>) -> Vec<Option<i128>> {
    let mut args = args.to_vec();
    if let Some(own) = args.get_mut(param) {
        *own = Some(value.into());
    }
    args
}

impl fmt::Display for Assumed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(|one| format!("`{}`", one.text)).collect();
        f.write_str(&texts.join(", "))
    }
}

/// Parses one condition.
struct Reader<'a> {
    text: &'a str,
    left: &'a str,
    params: &'a [Param],
    /// Numbers so far, and open parentheses.
    numbers: usize,
    depth: usize,
}

/// Maximum number of operands in a condition, and of nested parentheses.
const NUMBERS: usize = 1000;
const DEPTH: usize = 64;

const ORDERS: [(&str, Order); 6] = [
    ("==", Order::Equal),
    ("!=", Order::Different),
    ("<=", Order::LessOrEqual),
    (">=", Order::GreaterOrEqual),
    ("<", Order::Less),
    (">", Order::Greater),
];

impl<'a> Reader<'a> {
    fn new(text: &'a str, params: &'a [Param]) -> Reader<'a> {
        Reader { text, left: text, params, numbers: 0, depth: 0 }
    }

    fn wrong(&self, what: &str) -> String {
        format!("`{}` is not an assumption (examples: `n % 8 == 0`, `valid_row <= 32`): {what}", self.text)
    }

    fn take(&mut self, token: &str) -> bool {
        self.left = self.left.trim_start();
        let taken = self.left.strip_prefix(token);
        self.left = taken.unwrap_or(self.left);
        taken.is_some()
    }

    fn condition(&mut self) -> Result<Condition, String> {
        let left = self.sum()?;
        let found = ORDERS.into_iter().find(|(token, _)| self.take(token));
        let Some((_, order)) = found else {
            return Err(self.wrong("`==`, `!=`, `<=`, `>=`, `<` or `>` is missing"));
        };
        let right = self.sum()?;
        match self.left.trim() {
            "" => Ok(Condition { text: self.text.into(), left, order, right }),
            rest => Err(self.wrong(&format!("`{rest}` is not understood"))),
        }
    }

    fn sum(&mut self) -> Result<Number, String> {
        let mut number = self.product()?;
        loop {
            let op = if self.take("+") {
                Op::Add
            } else if self.take("-") {
                Op::Sub
            } else {
                return Ok(number);
            };
            number = Number::Of(op, Box::new(number), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Number, String> {
        let mut number = self.one()?;
        loop {
            let op = match () {
                () if self.take("*") => Op::Mul,
                () if self.take("//") || self.take("/") => Op::Div,
                () if self.take("%") && !self.left.starts_with(|next: char| next.is_alphabetic()) => Op::Rem,
                () => return Ok(number),
            };
            number = Number::Of(op, Box::new(number), Box::new(self.one()?));
        }
    }

    fn one(&mut self) -> Result<Number, String> {
        self.numbers += 1;
        if self.numbers > NUMBERS {
            return Err(self.wrong(&format!("it has more than {NUMBERS} numbers")));
        }
        if self.take("(") {
            self.depth += 1;
            if self.depth > DEPTH {
                return Err(self.wrong(&format!("it has more than {DEPTH} parentheses inside each other")));
            }
            let number = self.sum()?;
            self.depth -= 1;
            return if self.take(")") { Ok(number) } else { Err(self.wrong("`)` is missing")) };
        }
        let negative = self.take("-");
        self.take("%");
        let end = self.left.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(self.left.len());
        let (word, rest) = self.left.split_at(end);
        self.left = rest;
        if word.is_empty() {
            let before = match rest.trim_start().chars().next() {
                Some(next) => format!("before `{next}`"),
                None => "at the end".into(),
            };
            return Err(self.wrong(&format!("a number or an argument is missing {before}")));
        }
        if let Ok(number) = word.parse::<i64>() {
            return Ok(Number::Is(if negative { -i128::from(number) } else { i128::from(number) }));
        }
        let at = self.params.iter().position(|param| param.name == word);
        let number = at.filter(|at| is_number(&self.params[*at]));
        match number {
            Some(at) if negative => Ok(Number::Of(Op::Sub, Box::new(Number::Is(0)), Box::new(Number::Param(at)))),
            Some(at) => Ok(Number::Param(at)),
            None => {
                let known: Vec<String> = self
                    .params
                    .iter()
                    .filter(|param| is_number(param))
                    .map(|param| format!("`{}`", param.name))
                    .collect();
                let known = match &known[..] {
                    [] => "the kernel has none".into(),
                    known => format!("the kernel has {}", known.join(", ")),
                };
                Err(self.wrong(&format!("`{word}` is neither a number nor a scalar argument ({known})")))
            }
        }
    }
}

fn is_number(param: &Param) -> bool {
    match param.kind {
        ParamKind::Bool => true,
        ParamKind::Scalar(elem) => !elem.is_float(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use slipring_tile::Elem;

    use super::*;

    fn params() -> Vec<Param> {
        ["n", "m"].map(|name| Param { name: name.into(), kind: ParamKind::Scalar(Elem::I64) }).to_vec()
    }

    fn read(text: &str) -> Result<Assumed, String> {
        Assumed::read(&[text.to_string()], &params())
    }

    const TEXTS: [&str; 16] = [
        "n <= 32",
        "n % 8 == 0",
        "n >= 3, n < 20",
        "n % 4 == m % 4",
        "n != 5",
        "n == 7",
        "n * 16 <= 200 && n > 0",
        "(n + m) % 6 != 1",
        "n * n < 300 and n % 2 == 0",
        "32 >= n",
        "n / 4 <= 5",
        "m < n",
        "n % 3 + n % 4 == 2",
        "n - 5 <= 7",
        "(n - 5) % 4 == 3",
        "n % (n + 1) == n",
    ];

    /// What is claimed of all larger numbers holds for each up to a few hundred.
    #[test]
    fn what_is_claimed_of_larger_numbers_holds() {
        let mut claims = [0; 2];
        for text in TEXTS {
            let assumed = read(text).unwrap();
            for m in [0, 1, 5] {
                let args = [Some(4), Some(m)];
                let allows: Vec<bool> = (0..600).map(|n| assumed.allows(0, n, &args)).collect();
                for last in 0..60u64 {
                    if assumed.ends(0, last, &args) {
                        claims[0] += 1;
                        assert!(!allows[last as usize + 1..].contains(&true), "{text} ends at {last}, m = {m}");
                    }
                    for period in 1..=last {
                        if assumed.goes_back(0, last, period, &args) {
                            claims[1] += 1;
                            let back = |n: u64| !allows[n as usize] || allows[(n - period) as usize];
                            assert!((last + 1..600).all(back), "{text} goes back by {period} from {last}, m = {m}");
                        }
                    }
                }
            }
        }
        assert!(claims[0] > 200 && claims[1] > 4000, "{claims:?}");
    }

    #[test]
    fn what_is_no_assumption_is_an_error() {
        for text in ["n", "n <", "k == 1", "n <= 3 4", "n == (1", "== 3", "n = 3", "1 < n < 3", "n %% 8 == 0"] {
            assert!(read(text).is_err(), "{text}");
        }
        for (text, why) in [
            (format!("{}n == 1", "(".repeat(65)), "more than 64 parentheses"),
            (format!("{}n == 1", "1 + ".repeat(1000)), "more than 1000 numbers"),
            ("n ==".into(), "a number or an argument is missing at the end"),
            ("n + == 3".into(), "a number or an argument is missing before `=`"),
            ("k == 1".into(), "`k` is neither a number nor a scalar argument (the kernel has `n`, `m`)"),
        ] {
            let told = read(&text).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
        assert!(read(&format!("{}n == 1", "(0 + 1) * ".repeat(100))).is_ok());
        assert_eq!(read("n % 8 == 0, %m >= -1").unwrap().to_string(), "`n % 8 == 0`, `%m >= -1`");
    }
}
