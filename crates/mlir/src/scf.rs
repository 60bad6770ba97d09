//! The `scf` dialect: structured control flow, which the scalar unit runs.

use slipring_ir::Reported;
use slipring_ir::text::{BlockArg, CustomSyntax, OpParser, OpPrinter, Tok};
use slipring_ir::{
    Arity, Attr, AttrKind, Flow, Infer, Module, OpId, ResultSpec, Syntax, Touch, Type, TypeRule, ValueId,
};

use slipring_op::decode::{Decoder, control};
use slipring_op::def::{Counter, Lowered, OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::{ANY, BOOL, INTEGER, PLAIN, first_args, one_block, operand, required, variadic};

const INDEX: TypeRule = TypeRule { describe: "an index", accepts: |ty| *ty == Type::Index };

const BASE: OpDef = OpDef { source: "MLIR, scf dialect", ..PLAIN };

const RESULTS: ResultSpec = ResultSpec {
    name: "results",
    arity: Arity::Variadic,
    ty: ANY,
    infer: Infer::Written,
    doc: "the values at the end",
};

ops! {
    OPS;

    /// `scf.for %i = %a to %b step %c iter_args(%x = %init) -> (T) { … scf.yield %y : T }`. Signed comparison; no
    /// iteration if the first value is not below the end. Tiles and views may be carried too.
    pub FOR "scf.for" "A counted loop": BASE, counter: Some(Counter::Range(["lower", "upper", "step"])),
        lower: control::lower_for
        => {
            syntax: Syntax::Custom(&ForText),
            operands: &[
                operand("lower", INTEGER, Touch::Nothing, "first value of the counter"),
                operand("upper", INTEGER, Touch::Nothing, "the counter stays below it"),
                operand("step", INTEGER, Touch::Nothing, "added after each iteration; positive"),
                variadic("init", ANY, Touch::Nothing, "first values of what the loop carries"),
            ],
            results: &[RESULTS],
            regions: &["body"],
            flow: Flow::Repeat,
        };

    /// `scf.if %c -> (T) { … scf.yield %a : T } else { … scf.yield %b : T }`.
    pub IF "scf.if" "A branch": BASE, lower: control::lower_if
        => {
            syntax: Syntax::Format("$condition (`->` types($results))? $then (`else` $else)? attr-dict"),
            operands: &[operand("condition", BOOL, Touch::Nothing, "which branch")],
            results: &[RESULTS],
            regions: &["then", "else"],
            flow: Flow::OneOf,
        };

    /// `scf.execute_region -> T { … scf.yield %a : T }`: the ops of the region, and what they yield.
    pub EXECUTE_REGION "scf.execute_region" "Ops that run once": BASE, lower: control::lower_once
        => {
            syntax: Syntax::Format("(`->` types($results))? $body attr-dict"),
            results: &[RESULTS],
            regions: &["body"],
            flow: Flow::Once,
        };

    /// `scf.while (%x = %init) : (T) -> (U) { … scf.condition(%c) %u : U } do { ^bb0(%u: U): … scf.yield %y : T }`.
    pub WHILE "scf.while" "A loop with a condition": BASE, lower: control::lower_while
        => {
            syntax: Syntax::Custom(&WhileText),
            operands: &[variadic("init", ANY, Touch::Nothing, "first values of what the loop carries")],
            results: &[RESULTS],
            regions: &["before", "after"],
            flow: Flow::Repeat,
        };

    /// `scf.index_switch %n -> T case 2 { … scf.yield %a : T } default { … scf.yield %b : T }`: the region of the number,
    /// else the default. It becomes branches before anything else reads it.
    pub INDEX_SWITCH "scf.index_switch" "A choice by a number": BASE, lower: lower_switch
        => {
            syntax: Syntax::Custom(&IndexSwitchText),
            operands: &[operand("arg", INDEX, Touch::Nothing, "the number")],
            results: &[RESULTS],
            attrs: &[required(CASES, AttrKind::Any, "the number of each region after the default")],
            regions: &["default"],
            flow: Flow::OneOf,
        };

    pub CONDITION "scf.condition" "End of a loop's condition": BASE, doc: "", lower: control::lower_yield
        => {
            syntax: Syntax::Format("`(` $condition `)` attr-dict ($args `:` type($args))?"),
            operands: &[
                operand("condition", BOOL, Touch::Nothing, "whether the loop goes on"),
                variadic("args", ANY, Touch::Nothing, "what is passed on"),
            ],
            terminator: true,
        };

    pub YIELD "scf.yield" "End of a region of control flow": BASE, doc: "", lower: control::lower_yield
        => {
            syntax: Syntax::Format("attr-dict ($values `:` type($values))?"),
            operands: &[variadic("values", ANY, Touch::Nothing, "what the region passes on")],
            terminator: true,
        };
}

const CASES: &str = "cases";

fn lower_switch(_: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    Err(d.unsupported("a choice by a number here"))
}

/// The number of each region of an `scf.index_switch` after the first, which is the default. `None` if it does not fit
/// its declaration.
pub fn cases(module: &Module, op: OpId) -> Option<Vec<i64>> {
    let Some(Attr::DenseArray(_, cases)) = module.op(op).attrs.get(CASES) else { return None };
    let numbers = cases.iter().map(|case| i64::try_from(*case).ok()).collect::<Option<Vec<i64>>>()?;
    let fits = one_block_each(module, op) && module.op(op).regions.len() == 1 + numbers.len();
    (fits && module.op(op).operands.len() == 1).then_some(numbers)
}

fn one_block_each(module: &Module, op: OpId) -> bool {
    module.op(op).regions.iter().all(|region| module.region(*region).blocks.len() == 1)
}

/// `%i = %a to %b step %c iter_args(%x = %init) -> (T) : i32 { … }`.
struct ForText;

impl CustomSyntax for ForText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        let (counter, span) = p.value_name()?;
        p.expect(Tok::Equal, "`=`")?;
        let lower = p.operand()?;
        p.expect_text("to")?;
        let upper = p.operand()?;
        p.expect_text("step")?;
        let step = p.operand()?;
        let (mut carried, mut init) = (Vec::new(), Vec::new());
        if p.eat_text("iter_args") {
            carried_values(p, &mut carried, &mut init)?;
            p.expect(Tok::Arrow, "`->` and the types of the carried values")?;
            for ty in p.result_type_list()? {
                p.add_result(op, ty);
            }
        }
        let ty = if p.eat(Tok::Colon) { p.parse_type()? } else { Type::Index };
        p.set_operands(op, &[&[lower], &[upper], &[step], &init]);
        let mut args = vec![BlockArg { name: counter, ty, span }];
        for ((name, span), value) in carried.into_iter().zip(&init) {
            args.push(BlockArg { name, ty: p.module.ty(*value).clone(), span });
        }
        p.region(op, args)?;
        p.attr_dict(op)
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        let init = module.operands_named(op, "init");
        let args = first_args(module, op, 0);
        let carries = !init.is_empty() || module.op(op).results.is_empty();
        Some(
            carries
                && one_block(module, op)
                && args.is_some_and(|a| a.len() == 1 + init.len() && same_types(module, &a[1..], init)),
        )
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let module = p.module;
        let group = |name| module.operands_named(op, name);
        let args = module.body(op, 0).map_or(&[][..], |b| &module.block(b).args[..]);
        p.write(" ");
        p.values(&args[..args.len().min(1)]);
        p.write(" = ");
        p.values(group("lower"));
        p.write(" to ");
        p.values(group("upper"));
        p.write(" step ");
        p.values(group("step"));
        if !group("init").is_empty() {
            p.write(" iter_args(");
            print_carried(p, args.get(1..).unwrap_or(&[]), group("init"));
            p.write(") -> (");
            p.types_of(&module.op(op).results);
            p.write(")");
        }
        if let Some(ty) = args.first().map(|a| module.ty(*a)).filter(|ty| **ty != Type::Index) {
            p.write(" : ");
            p.ty(ty);
        }
        p.write(" ");
        p.region(op, 0, false);
        p.attr_dict(op, &[]);
    }
}

/// `(%x = %init, …)`.
fn carried_values<'a>(
    p: &mut OpParser<'a>,
    names: &mut Vec<(&'a str, slipring_ir::Span)>,
    init: &mut Vec<ValueId>,
) -> Result<(), Reported> {
    p.expect(Tok::LParen, "`(` and the carried values")?;
    p.list_until(Tok::RParen, "`)`", |p| {
        names.push(p.value_name()?);
        p.expect(Tok::Equal, "`=` and the first value")?;
        init.push(p.operand()?);
        Ok(())
    })
}

fn same_types(module: &Module, a: &[ValueId], b: &[ValueId]) -> bool {
    a.iter().map(|v| module.ty(*v)).eq(b.iter().map(|v| module.ty(*v)))
}

fn print_carried(p: &mut OpPrinter<'_>, args: &[ValueId], init: &[ValueId]) {
    for (at, (arg, value)) in args.iter().zip(init).enumerate() {
        p.write(if at > 0 { ", " } else { "" });
        p.value(*arg);
        p.write(" = ");
        p.value(*value);
    }
}

/// `(%x = %init) : (T) -> (U) { … } do { … }`.
struct WhileText;

impl CustomSyntax for WhileText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        let (mut carried, mut init) = (Vec::new(), Vec::new());
        if p.at("(") {
            carried_values(p, &mut carried, &mut init)?;
        }
        p.set_operands(op, &[&init]);
        p.expect(Tok::Colon, "`:` and the types")?;
        let ty = p.function_type()?;
        for result in ty.results {
            p.add_result(op, result);
        }
        let args = carried.into_iter().zip(&init);
        let args = args.map(|((name, span), value)| BlockArg { name, ty: p.module.ty(*value).clone(), span }).collect();
        p.region(op, args)?;
        p.expect_text("do")?;
        p.region(op, Vec::new())?;
        if p.eat_text("attributes") { p.attr_dict(op) } else { Ok(()) }
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        let init = &module.op(op).operands;
        Some(one_block(module, op) && first_args(module, op, 0).is_some_and(|args| same_types(module, args, init)))
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let module = p.module;
        let data = module.op(op);
        p.write(" ");
        if !data.operands.is_empty() {
            let args = module.body(op, 0).map_or(&[][..], |b| &module.block(b).args[..]);
            p.write("(");
            print_carried(p, args, &data.operands);
            p.write(") ");
        }
        p.write(": (");
        p.types_of(&data.operands);
        p.write(") -> ");
        p.result_types_of(&data.results);
        p.write(" ");
        p.region(op, 0, false);
        p.write(" do ");
        p.region(op, 1, true);
        p.attr_dict_after(" attributes ", op, &[]);
    }
}

/// `%n -> T case 2 { … } default { … }`.
struct IndexSwitchText;

impl CustomSyntax for IndexSwitchText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        let arg = p.operand()?;
        p.set_operands(op, &[&[arg]]);
        p.attr_dict(op)?;
        if p.eat(Tok::Arrow) {
            for ty in p.result_type_list()? {
                p.add_result(op, ty);
            }
        }
        let mut cases = Vec::new();
        while p.eat_text("case") {
            let at = p.span();
            let case = p.integer()?;
            if i64::try_from(case).is_err() {
                return Err(p.error("scalar-range", at, "a case is a number of 64 bits"));
            }
            cases.push(case);
            p.region(op, Vec::new())?;
        }
        p.expect_text("default")?;
        p.region(op, Vec::new())?;
        let data = p.module.op_mut(op);
        data.regions.rotate_right(1);
        data.attrs.set(CASES, Attr::DenseArray(Type::I64, cases));
        Ok(())
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        let plain = |at: usize| first_args(module, op, at).is_some_and(<[ValueId]>::is_empty);
        let i64s = matches!(module.op(op).attrs.get(CASES), Some(Attr::DenseArray(Type::I64, _)));
        Some(i64s && cases(module, op).is_some() && (0..module.op(op).regions.len()).all(plain))
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        let module = p.module;
        let data = module.op(op);
        p.write(" ");
        p.values(&data.operands);
        p.attr_dict(op, &[CASES]);
        if !data.results.is_empty() {
            p.write(" -> ");
            p.result_types_of(&data.results);
        }
        for (at, case) in cases(module, op).into_iter().flatten().enumerate() {
            p.newline();
            p.write(&format!("case {case} "));
            p.region(op, at + 1, false);
        }
        p.newline();
        p.write("default ");
        p.region(op, 0, false);
    }
}
