//! Evaluates a kernel's text: Python semantics for names, numbers and control flow, arrays for tiles and tensors. It
//! only uses the parsed text, and shares nothing with the compiler.
//!
//! A tile is an array; a part of a tile or tensor is a view of it; an expression creates a new array. The body of a
//! `split_aiv` region runs for the first Vector core and then for the second, each with its own tiles; `aiv_shard`
//! copies half of an array, and `aic_gather` writes one half of an array that both fill.

mod functions;
mod loops;

use std::collections::{BTreeMap, VecDeque};

use ruff_python_ast::{CmpOp, Expr, ExprCall, Number, Stmt, StmtFor, StmtFunctionDef};
use slipring_ir::{Diags, Source};
use slipring_tile::Elem;

use crate::meaning::array::Array;
use crate::meaning::number;
use crate::meaning::scalars;
use crate::meaning::value::{Eval, Names, Value};

/// A file's functions and constants.
pub struct File {
    body: Vec<Stmt>,
}

/// The argument of a parameter: the bytes of a tensor, or a number.
#[derive(Clone, Debug)]
pub enum Argument {
    Tensor(Vec<u8>),
    Bits(u64),
}

/// How a body ended.
enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

/// The evaluation of a kernel's text.
pub struct Run<'a> {
    functions: BTreeMap<String, &'a StmtFunctionDef>,
    globals: Names,
    pub names: Names,
    /// This block, and how many there are.
    pub block: i128,
    pub blocks: i128,
    /// Whether the vector unit works on registers (A5): its library reduces rows in another order.
    pub registers: bool,
    /// The Vector core for which the body of a region is evaluated, and the region's mode.
    pub lane: Option<usize>,
    pub mode: Option<String>,
    /// The results of the region's gathers, and the number that this lane has reached.
    pub gathers: Vec<Array>,
    pub gathered: usize,
    /// Tiles that have been pushed and not popped, by the name of the pop and the pipe.
    pub pipes: BTreeMap<(&'static str, i128), VecDeque<Array>>,
    /// The values of the last `pl.yield_`.
    yielded: Vec<Value>,
    /// Tensors created by the kernel: the location in the text, the block, and the last one.
    created: Vec<(u32, i128, Array)>,
    calls: usize,
    /// The core of the function, if several functions are connected by pipes.
    pub core: Option<crate::meaning::meet::Core>,
    /// Iterations of loops so far.
    iterations: u32,
}

impl File {
    pub fn parse(text: &str) -> Eval<File> {
        let source = Source::new("kernel.py", text);
        let mut diags = Diags::default();
        let body = slipring_lang::syntax::parse(&source, &mut diags);
        body.map(|body| File { body }).ok_or_else(|| diags.render(&source, false))
    }

    /// The bytes of each tensor after the kernel, with returned tensors after the parameters.
    pub fn run(&self, kernel: &str, arguments: &[Argument], blocks: u32, registers: bool) -> Eval<Vec<Vec<u8>>> {
        let mut run = self.begun(0, blocks, registers)?;
        let function = *run.functions.get(kernel).ok_or_else(|| format!("no function `{kernel}`"))?;
        let mut tensors = Vec::new();
        let mut parameters = Names::new();
        let mut arguments = arguments.iter();
        for parameter in function.parameters.iter_non_variadic_params() {
            let name = parameter.parameter.name.as_str().to_string();
            if name == "self" {
                continue;
            }
            let annotation = parameter.parameter.annotation.as_deref().ok_or("a parameter without a type")?;
            let (shape, elem) = run.declared(annotation)?;
            let value = match (arguments.next().ok_or("too few arguments")?, shape) {
                (Argument::Tensor(bytes), Some(shape)) => {
                    let array = Array::parameter(&shape, elem.ok_or("a tensor of no type")?, bytes);
                    tensors.push(array.clone());
                    Value::Array(array)
                }
                (Argument::Bits(bits), None) => match elem {
                    None => Value::Bool(*bits != 0),
                    Some(Elem::F32) => Value::Single(f32::from_bits(*bits as u32)),
                    Some(elem) => Value::Int(number::load(elem, &bits.to_le_bytes()[..elem.bytes()]) as i128),
                },
                _ => return Err(format!("the argument for `{name}` is of another kind")),
            };
            parameters.insert(name, value);
        }
        let mut returned = Vec::new();
        for block in 0..blocks {
            run.block = i128::from(block);
            run.names = parameters.clone();
            if let Flow::Return(value) = run.body(&function.body)? {
                let tiles = value.items().into_iter().filter_map(|value| value.array().ok());
                returned = tiles.filter(|array| !array.tensor).collect();
            }
        }
        let created = run.created.iter().map(|(.., array)| array);
        Ok(tensors.iter().chain(created).chain(&returned).map(Array::bytes).collect())
    }
}

impl File {
    /// An evaluation that knows the functions and constants of the file.
    pub fn begun(&self, block: u32, blocks: u32, registers: bool) -> Eval<Run<'_>> {
        let mut run = Run {
            functions: BTreeMap::new(),
            globals: Names::new(),
            names: Names::new(),
            block: i128::from(block),
            blocks: i128::from(blocks),
            registers,
            lane: None,
            mode: None,
            gathers: Vec::new(),
            gathered: 0,
            pipes: BTreeMap::new(),
            yielded: Vec::new(),
            created: Vec::new(),
            calls: 0,
            core: None,
            iterations: 0,
        };
        run.define(&self.body)?;
        Ok(run)
    }
}

impl<'a> Run<'a> {
    /// Reads the statements of a file or class.
    fn define(&mut self, body: &'a [Stmt]) -> Eval<()> {
        for stmt in body {
            match stmt {
                Stmt::FunctionDef(function) => {
                    self.functions.insert(function.name.as_str().into(), function);
                }
                Stmt::ClassDef(class) => self.define(&class.body)?,
                Stmt::Import(import) => {
                    for alias in &import.names {
                        let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                        if alias.name.as_str().ends_with(".language") {
                            self.globals.insert(name.into(), Value::Word("pl".into()));
                        }
                    }
                }
                Stmt::ImportFrom(import) => {
                    for alias in &import.names {
                        let name = alias.asname.as_ref().unwrap_or(&alias.name).as_str();
                        self.globals.insert(name.into(), Value::Word(format!("pl.{}", alias.name.as_str())));
                    }
                }
                Stmt::Assign(_) => {
                    self.stmt(stmt)?;
                    self.globals.extend(std::mem::take(&mut self.names));
                }
                // Host code.
                _ => {}
            }
        }
        Ok(())
    }

    /// The declared type of a parameter: a shape, if it is a tensor, and a type; `None` for booleans.
    fn declared(&mut self, annotation: &'a Expr) -> Eval<(Option<Vec<usize>>, Option<Elem>)> {
        let Expr::Subscript(subscript) = annotation else { return Err("a parameter's type is not known".into()) };
        let of = self.expr(&subscript.value)?;
        match of.member()? {
            "Out" | "InOut" => self.declared(&subscript.slice),
            "Tensor" => {
                let items = self.expr(&subscript.slice)?.items();
                Ok((Some(items[0].shape()?), Some(elem(&items[1])?)))
            }
            "Scalar" => match self.expr(&subscript.slice)?.member()? {
                "BOOL" => Ok((None, None)),
                "INDEX" => Ok((None, Some(Elem::I64))),
                name => Ok((None, Some(elem(&Value::Word(name.into()))?))),
            },
            other => Err(format!("no parameter is a {other}")),
        }
    }

    // ---- statements ----

    fn body(&mut self, body: &'a [Stmt]) -> Eval<Flow> {
        for stmt in body {
            match self.stmt(stmt)? {
                Flow::Next => {}
                left => return Ok(left),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, stmt: &'a Stmt) -> Eval<Flow> {
        match stmt {
            Stmt::Assign(assign) => {
                let value = self.expr(&assign.value)?;
                for target in &assign.targets {
                    self.assign(target, value.clone())?;
                }
            }
            Stmt::AnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    let value = self.expr(value)?;
                    self.assign(&assign.target, value)?;
                }
            }
            Stmt::AugAssign(assign) => {
                // Tiles are rebound, not changed: they have no in-place operators.
                let (a, b) = (self.expr(&assign.target)?, self.expr(&assign.value)?);
                let value = self.operator(assign.op, &a, &b)?;
                self.assign(&assign.target, value)?;
            }
            Stmt::Expr(stmt) => drop(self.expr(&stmt.value)?),
            Stmt::For(stmt) => return self.for_loop(stmt),
            Stmt::While(stmt) => {
                while self.expr(&stmt.test)?.as_bool()? {
                    match self.iteration(&stmt.body)? {
                        Flow::Next | Flow::Continue => {}
                        Flow::Break => return Ok(Flow::Next),
                        returned @ Flow::Return(_) => return Ok(returned),
                    }
                }
                return self.body(&stmt.orelse);
            }
            Stmt::Break(_) => return Ok(Flow::Break),
            Stmt::Continue(_) => return Ok(Flow::Continue),
            Stmt::If(stmt) => {
                if self.expr(&stmt.test)?.as_bool()? {
                    return self.body(&stmt.body);
                }
                for clause in &stmt.elif_else_clauses {
                    let taken = match &clause.test {
                        Some(test) => self.expr(test)?.as_bool()?,
                        None => true,
                    };
                    if taken {
                        return self.body(&clause.body);
                    }
                }
            }
            Stmt::With(stmt) => {
                for name in stmt.items.iter().filter_map(|item| item.optional_vars.as_deref()) {
                    self.assign(name, Value::None)?;
                }
                return self.body(&stmt.body);
            }
            Stmt::Return(stmt) => {
                let value = stmt.value.as_deref().map_or(Ok(Value::None), |value| self.expr(value))?;
                return Ok(Flow::Return(value));
            }
            Stmt::Pass(_) => {}
            other => return Err(format!("not evaluated: {other:?}")),
        }
        Ok(Flow::Next)
    }

    fn assign(&mut self, target: &'a Expr, value: Value) -> Eval<()> {
        match target {
            Expr::Name(name) => {
                self.names.insert(name.id.as_str().into(), value);
            }
            Expr::Tuple(tuple) => self.assign_each(&tuple.elts, value)?,
            Expr::List(list) => self.assign_each(&list.elts, value)?,
            Expr::Subscript(subscript) => {
                let base = self.expr(&subscript.value)?;
                if let Value::Tuple(_) = &base {
                    let index = self.expr(&subscript.slice)?;
                    return self.assign(&subscript.value, crate::meaning::ops::changed(&base, &index, value)?);
                }
                let part = self.subscript(&base, &subscript.slice)?.array()?;
                match value {
                    Value::Array(array) => crate::meaning::ops::put(&array, &part)?,
                    number => part.write(&[crate::meaning::ops::scalar(&number, part.elem)?]),
                }
            }
            other => return Err(format!("not evaluated: assignment to {other:?}")),
        }
        Ok(())
    }

    fn assign_each(&mut self, targets: &'a [Expr], value: Value) -> Eval<()> {
        let items = value.items();
        if items.len() != targets.len() {
            return Err(format!("{} names for {} values", targets.len(), items.len()));
        }
        targets.iter().zip(items).try_for_each(|(target, item)| self.assign(target, item))
    }

    pub fn expr(&mut self, expr: &'a Expr) -> Eval {
        Ok(match expr {
            Expr::Name(name) => return self.name(name.id.as_str()),
            Expr::NumberLiteral(literal) => match &literal.value {
                Number::Int(n) => Value::Int(n.as_u64().map(i128::from).ok_or("a number of more than 64 bits")?),
                Number::Float(x) => Value::Float(*x),
                Number::Complex { .. } => return Err("a complex number".into()),
            },
            Expr::StringLiteral(literal) => Value::Text(literal.value.to_str().into()),
            Expr::BooleanLiteral(literal) => Value::Bool(literal.value),
            Expr::NoneLiteral(_) => Value::None,
            Expr::Tuple(tuple) => Value::Tuple(tuple.elts.iter().map(|e| self.expr(e)).collect::<Eval<_>>()?),
            Expr::List(list) => Value::Tuple(list.elts.iter().map(|e| self.expr(e)).collect::<Eval<_>>()?),
            Expr::Attribute(attribute) => match (self.expr(&attribute.value)?, attribute.attr.as_str()) {
                (Value::Word(word), name) if self.of_a_pipe(&word, name).is_some() => {
                    return self.of_a_pipe(&word, name).unwrap_or_else(|| Err("no pipe".into()));
                }
                (Value::Word(word), name) => Value::Word(format!("{word}.{name}")),
                (Value::Array(array), "shape") => {
                    Value::Tuple(array.shape.iter().map(|n| Value::Int(*n as i128)).collect())
                }
                (other, name) => return Err(format!("`{name}` of {other:?}")),
            },
            Expr::UnaryOp(unary) => {
                let value = self.expr(&unary.operand)?;
                match value {
                    Value::Array(_) => {
                        let name = if unary.op == ruff_python_ast::UnaryOp::USub { "neg" } else { "not_" };
                        return crate::meaning::ops::named(name, &[value]);
                    }
                    number => return scalars::unary(unary.op, &number),
                }
            }
            Expr::BinOp(binary) => {
                let (a, b) = (self.expr(&binary.left)?, self.expr(&binary.right)?);
                return self.operator(binary.op, &a, &b);
            }
            Expr::BoolOp(operation) => {
                let mut value = Value::None;
                for expr in &operation.values {
                    value = self.expr(expr)?;
                    if value.as_bool()? == (operation.op == ruff_python_ast::BoolOp::Or) {
                        break;
                    }
                }
                value
            }
            Expr::Compare(compare) => {
                let mut left = self.expr(&compare.left)?;
                for (op, right) in compare.ops.iter().zip(&compare.comparators) {
                    let right = self.expr(right)?;
                    if let (Value::Array(_), _) | (_, Value::Array(_)) = (&left, &right) {
                        if compare.ops.len() != 1 {
                            return Err("a chain of comparisons of tiles".into());
                        }
                        return self.compared(*op, left, right);
                    }
                    if !scalars::compare(*op, &left, &right)? {
                        return Ok(Value::Bool(false));
                    }
                    left = right;
                }
                Value::Bool(true)
            }
            Expr::If(choice) => {
                let test = self.expr(&choice.test)?;
                if let Value::Array(mask) = test {
                    let (a, b) = (self.expr(&choice.body)?, self.expr(&choice.orelse)?);
                    return crate::meaning::ops::chosen(&mask, &a, &b);
                }
                let taken = test.as_bool()?;
                return self.expr(if taken { &choice.body } else { &choice.orelse });
            }
            Expr::Subscript(subscript) => {
                // The type of a parameter nested in another type.
                let base = self.expr(&subscript.value)?;
                return self.subscript(&base, &subscript.slice);
            }
            Expr::Call(call) => return self.call(call),
            other => return Err(format!("not evaluated: {other:?}")),
        })
    }

    fn name(&mut self, name: &str) -> Eval {
        if let Some(value) = self.names.get(name).or_else(|| self.globals.get(name)) {
            return Ok(value.clone());
        }
        if self.functions.contains_key(name) {
            return Ok(Value::Word(format!("@{name}")));
        }
        Ok(Value::Word(name.into()))
    }

    fn operator(&mut self, op: ruff_python_ast::Operator, a: &Value, b: &Value) -> Eval {
        use ruff_python_ast::Operator;
        if !matches!(a, Value::Array(_)) && !matches!(b, Value::Array(_)) {
            return scalars::binary(op, a, b);
        }
        let name = match op {
            Operator::Add => "add",
            Operator::Sub => "sub",
            Operator::Mult => "mul",
            Operator::Div => "div",
            Operator::MatMult => "matmul",
            Operator::BitAnd => "and_",
            Operator::BitOr => "or_",
            Operator::BitXor => "xor",
            Operator::Mod => "rem",
            Operator::LShift => "shl",
            Operator::RShift => "shr",
            Operator::Pow => return crate::meaning::composed::power(a, b),
            Operator::FloorDiv => return Err("no quotients of tiles that are rounded".into()),
        };
        crate::meaning::ops::named(name, &[a.clone(), b.clone()])
    }

    fn subscript(&mut self, base: &Value, slice: &'a Expr) -> Eval {
        let array = match base {
            Value::Array(array) => array,
            Value::Tuple(items) => {
                return crate::meaning::ops::element(items, &self.expr(slice)?);
            }
            other => return Err(format!("a part of {other:?}")),
        };
        let items: Vec<&Expr> = match slice {
            Expr::Tuple(tuple) => tuple.elts.iter().filter(|item| !item.is_none_literal_expr()).collect(),
            other => vec![other],
        };
        let rank = array.shape.len();
        let written = items.iter().filter(|e| !e.is_ellipsis_literal_expr()).count();
        let mut parts: Vec<(i128, Option<usize>)> = Vec::new();
        for item in items {
            let extent = |parts: &Vec<_>| array.shape.get(parts.len()).copied().ok_or("too many subscripts");
            match item {
                Expr::EllipsisLiteral(_) => {
                    for _ in written..rank {
                        parts.push((0, Some(extent(&parts)?)));
                    }
                }
                Expr::Slice(slice) => {
                    let bound = |run: &mut Self, bound: &'a Option<Box<Expr>>, open: i128| match bound {
                        Some(expr) => run.expr(expr)?.int(),
                        None => Ok(open),
                    };
                    let first = bound(self, &slice.lower, 0)?;
                    let end = bound(self, &slice.upper, extent(&parts)? as i128)?;
                    // As in numpy, slices are clipped to the dimension.
                    let end = if array.tensor { end.min(extent(&parts)? as i128) } else { end };
                    parts.push((first, Some(usize::try_from(end - first).map_err(|_| "an empty slice")?)));
                }
                // Tiles keep all their dimensions.
                index => parts.push((self.expr(index)?.int()?, (!array.tensor).then_some(1))),
            }
        }
        for extent in &array.shape[parts.len()..] {
            parts.push((0, Some(*extent)));
        }
        let part = array.part(&parts)?;
        let Expr::Tuple(tuple) = slice else { return Ok(Value::Array(part)) };
        if !tuple.elts.iter().any(Expr::is_none_literal_expr) {
            return Ok(Value::Array(part));
        }
        // A dimension of one element for each `None`; the others are slices.
        let mut left = part.shape.iter();
        let shape: Vec<usize> = tuple
            .elts
            .iter()
            .map(|item| if item.is_none_literal_expr() { 1 } else { *left.next().unwrap_or(&1) })
            .collect();
        part.reshaped(&shape).map(Value::Array)
    }

    /// A comparison of tiles, as ones and zeros.
    fn compared(&mut self, op: CmpOp, a: Value, b: Value) -> Eval {
        let (how, turned) = match op {
            CmpOp::Eq => (0, 0),
            CmpOp::NotEq => (1, 1),
            CmpOp::Lt => (2, 4),
            CmpOp::LtE => (3, 5),
            CmpOp::Gt => (4, 2),
            CmpOp::GtE => (5, 3),
            other => return Err(format!("not evaluated: {other:?} of tiles")),
        };
        match a {
            Value::Array(_) => crate::meaning::ops::named("cmp", &[a, b, Value::Int(how)]),
            number => crate::meaning::ops::named("cmp", &[b, number, Value::Int(turned)]),
        }
    }

    fn call(&mut self, call: &'a ExprCall) -> Eval {
        let Value::Word(word) = self.expr(&call.func)? else { return Err("a call of something else".into()) };
        let positional: Vec<Value> = call.arguments.args.iter().map(|arg| self.expr(arg)).collect::<Eval<_>>()?;
        let mut keywords = Vec::new();
        for keyword in &call.arguments.keywords {
            let name = keyword.arg.as_ref().ok_or("`**` in a call")?;
            keywords.push((name.as_str().to_string(), self.expr(&keyword.value)?));
        }
        if let Some(name) = word.strip_prefix('@') {
            return self.call_function(name, positional, keywords);
        }
        let name = word.strip_prefix("pl.").unwrap_or(&word);
        let name = name.strip_prefix("tile.").or(name.strip_prefix("tensor.")).unwrap_or(name);
        if name == "create_tensor" {
            let dtype = keywords.iter().find(|(name, _)| name == "dtype").map(|(_, value)| value);
            let elem = elem(positional.get(1).or(dtype).ok_or("a tensor of no type")?)?;
            let made = Array { tensor: true, ..Array::full(&positional[0].shape()?, elem, 0.0) };
            // Each iteration of a loop creates a new one; blocks share theirs.
            let place = slipring_lang::syntax::at(call).start;
            match self.created.iter_mut().find(|(known, ..)| *known == place) {
                Some((_, block, before)) if *block != self.block => return Ok(Value::Array(before.clone())),
                Some((.., before)) => *before = made.clone(),
                None => self.created.push((place, self.block, made.clone())),
            }
            return Ok(Value::Array(made));
        }
        if name == "yield_" {
            self.yielded.clone_from(&positional);
            return Ok(match positional.len() {
                1 => positional[0].clone(),
                _ => Value::Tuple(positional),
            });
        }
        crate::meaning::ops::call(self, name, positional, keywords)
    }

    fn call_function(&mut self, name: &str, positional: Vec<Value>, mut keywords: Vec<(String, Value)>) -> Eval {
        let function = *self.functions.get(name).ok_or("no such function")?;
        let mut positional = positional.into_iter();
        let mut own = Names::new();
        for parameter in function.parameters.iter_non_variadic_params() {
            let name = parameter.parameter.name.as_str();
            let named = keywords.iter().position(|(keyword, _)| keyword == name);
            let value = match (positional.next(), named, &parameter.default) {
                (Some(value), ..) => value,
                (None, Some(at), _) => keywords.remove(at).1,
                (None, None, Some(default)) => self.expr(default)?,
                _ => return Err(format!("`{name}` is not given")),
            };
            own.insert(name.into(), value);
        }
        self.calls += 1;
        if self.calls > 100 {
            return Err("recursion".into());
        }
        let outer = std::mem::replace(&mut self.names, own);
        let flow = self.body(&function.body);
        self.names = outer;
        self.calls -= 1;
        Ok(match flow? {
            Flow::Return(value) => value,
            _ => Value::None,
        })
    }
}

/// An element type by its name in the language.
pub fn elem(value: &Value) -> Eval<Elem> {
    Ok(match value.member()? {
        "FP32" => Elem::F32,
        "FP16" => Elem::F16,
        "BF16" | "BFLOAT16" => Elem::BF16,
        "INT8" => Elem::I8,
        "INT16" => Elem::I16,
        "INT32" => Elem::I32,
        "UINT8" | "BOOL" => Elem::U8,
        "UINT16" => Elem::U16,
        "UINT32" => Elem::U32,
        "FP8E4M3FN" => Elem::F8E4M3,
        "FP8E5M2" => Elem::F8E5M2,
        "FP8E8M0" => Elem::F8E8M0,
        other => return Err(format!("elements of type {other} are not evaluated")),
    })
}
