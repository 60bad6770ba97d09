//! The `cf` dialect: branches between the blocks of a region. They become structured before anything else reads them,
//! so they are never decoded.

use slipring_ir::Reported;
use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Tok};
use slipring_ir::{Attr, AttrKind, Module, OpId, Syntax, Touch, Type, ValueId};
use slipring_op::decode::Decoder;
use slipring_op::def::{Lowered, OpDef, OpRef};
use slipring_op::ops;
use slipring_op::rules::{ANY, BOOL, INTEGER, PLAIN, operand, required, variadic};

const BASE: OpDef = OpDef { source: "MLIR, cf dialect", lower: lower_branch, ..PLAIN };

ops! {
    OPS;

    /// `cf.br ^bb1(%a : T)`: the block runs next, with these values for its arguments.
    pub BR "cf.br" "Go to a block": BASE
        => {
            syntax: Syntax::Custom(&BranchText),
            operands: &[variadic("args", ANY, Touch::Nothing, "the arguments of the block")],
            terminator: true,
        };

    /// `cf.cond_br %c, ^bb1(%a : T), ^bb2`: the first block if the condition holds, else the second one.
    pub COND_BR "cf.cond_br" "Go to one of two blocks": BASE
        => {
            syntax: Syntax::Custom(&ConditionText),
            operands: &[
                operand("condition", BOOL, Touch::Nothing, "which block"),
                variadic("true_args", ANY, Touch::Nothing, "the arguments of the first block"),
                variadic("false_args", ANY, Touch::Nothing, "the arguments of the second block"),
            ],
            terminator: true,
        };

    /// `cf.switch %n : i32, [default: ^bb1, 4: ^bb2(%a : T)]`: the block of the first case that is the number, else the
    /// one called `default`.
    pub SWITCH "cf.switch" "Go to the block of a number": BASE
        => {
            syntax: Syntax::Custom(&SwitchText),
            operands: &[
                operand("flag", INTEGER, Touch::Nothing, "the number"),
                variadic("default_args", ANY, Touch::Nothing, "the arguments of the block for all other numbers"),
                variadic("case_args", ANY, Touch::Nothing, "the arguments of the other blocks, one after another"),
            ],
            attrs: &[
                required(CASES, AttrKind::Any, "the number of each case"),
                required(SIZES, AttrKind::Any, "how many arguments each case has"),
            ],
            terminator: true,
        };
}

const CASES: &str = "case_values";
const SIZES: &str = "case_operand_segments";

fn lower_branch(_: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    Err(d.unsupported("a branch between blocks here"))
}

/// A way out of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The block that runs next, by its position in the region.
    pub to: usize,
    /// The values of its arguments.
    pub args: Vec<ValueId>,
}

/// The ways out of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ways {
    /// Always this one.
    Always(Edge),
    /// The first one if the value is true, else the second one.
    Either(ValueId, [Edge; 2]),
    /// The first case that is the number, else the other one.
    Case(ValueId, Vec<(i128, Edge)>, Edge),
}

impl Ways {
    /// Each way.
    pub fn edges(&self) -> Vec<&Edge> {
        match self {
            Ways::Always(edge) => vec![edge],
            Ways::Either(_, edges) => edges.iter().collect(),
            Ways::Case(_, cases, otherwise) => cases.iter().map(|(_, edge)| edge).chain([otherwise]).collect(),
        }
    }
}

/// True for an op that branches between blocks.
pub fn branches(module: &Module, op: OpId) -> bool {
    OPS.iter().any(|def| module.op(op).is(&def.schema))
}

/// Where an op that branches leads. `None` if it does not fit its declaration.
pub fn ways(module: &Module, op: OpId) -> Option<Ways> {
    let data = module.op(op);
    let group = |name: &str| module.operands_named(op, name).to_vec();
    let edge = |at: usize, args: Vec<ValueId>| Some(Edge { to: *data.successors.get(at)? as usize, args });
    let count = |count: usize| (data.successors.len() == count).then_some(());
    if data.is(&BR.schema) {
        count(1)?;
        return Some(Ways::Always(edge(0, group("args"))?));
    }
    if data.is(&COND_BR.schema) {
        count(2)?;
        let [condition] = group("condition")[..] else { return None };
        return Some(Ways::Either(condition, [edge(0, group("true_args"))?, edge(1, group("false_args"))?]));
    }
    let [flag] = group("flag")[..] else { return None };
    let (cases, sizes) = (numbers(data.attrs.get(CASES)?)?, numbers(data.attrs.get(SIZES)?)?);
    count(1 + cases.len())?;
    let (mut rest, all) = (module.operands_named(op, "case_args"), sizes.len() == cases.len());
    let mut found = Vec::new();
    for (at, (case, size)) in cases.iter().zip(sizes).enumerate() {
        let (own, after) = rest.split_at_checked(usize::try_from(*size).ok()?)?;
        rest = after;
        found.push((*case, edge(at + 1, own.to_vec())?));
    }
    (all && rest.is_empty()).then_some(())?;
    Some(Ways::Case(flag, found, edge(0, group("default_args"))?))
}

fn numbers(attr: &Attr) -> Option<&[i128]> {
    match attr {
        Attr::DenseArray(_, numbers) => Some(numbers),
        _ => None,
    }
}

/// `^bb1(%a, %b : T, T)`: a successor and the values of its arguments.
fn target(p: &mut OpParser<'_>, op: OpId) -> Result<Vec<ValueId>, Reported> {
    p.successor(op)?;
    let mut args = Vec::new();
    if p.eat(Tok::LParen) && !p.eat(Tok::RParen) {
        p.list(|p| {
            args.push(p.operand()?);
            Ok(())
        })?;
        p.expect(Tok::Colon, "`:` and the types")?;
        let mut count = 0;
        let start = p.span();
        p.list_until(Tok::RParen, "`)`", |p| {
            match args.get(count) {
                Some(arg) => p.operand_type(*arg)?,
                None => drop(p.parse_type()?),
            }
            count += 1;
            Ok(())
        })?;
        if count != args.len() {
            let message = format!("{count} types for {} values", args.len());
            return Err(p.error("operand-count", p.span_from(start), message));
        }
    }
    Ok(args)
}

fn print_target(p: &mut OpPrinter<'_>, edge: &Edge) {
    p.block_name(u32::try_from(edge.to).unwrap_or(u32::MAX));
    if !edge.args.is_empty() {
        p.write("(");
        p.values(&edge.args);
        p.write(" : ");
        p.types_of(&edge.args);
        p.write(")");
    }
}

/// Whether the form captures an op that branches.
fn is_whole(module: &Module, op: OpId) -> Option<bool> {
    Some(module.op(op).regions.is_empty() && module.op(op).results.is_empty() && ways(module, op).is_some())
}

/// `^bb1(%a : T)`.
struct BranchText;

impl CustomSyntax for BranchText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        let args = target(p, op)?;
        p.set_operands(op, &[&args]);
        p.attr_dict(op)
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        is_whole(module, op)
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        if let Some(Ways::Always(edge)) = ways(p.module, op) {
            p.write(" ");
            print_target(p, &edge);
        }
        p.attr_dict(op, &[]);
    }
}

/// `%c, ^bb1(%a : T), ^bb2`.
struct ConditionText;

impl CustomSyntax for ConditionText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        let condition = p.operand()?;
        p.expect(Tok::Comma, "`,` and a block")?;
        let yes = target(p, op)?;
        p.expect(Tok::Comma, "`,` and the other block")?;
        let no = target(p, op)?;
        p.set_operands(op, &[&[condition], &yes, &no]);
        p.attr_dict(op)
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        is_whole(module, op)
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        if let Some(Ways::Either(condition, edges)) = ways(p.module, op) {
            p.write(" ");
            p.value(condition);
            for edge in &edges {
                p.write(", ");
                print_target(p, edge);
            }
        }
        p.attr_dict(op, &[]);
    }
}

/// `%n : i32, [default: ^bb1, 4: ^bb2(%a : T)]`.
struct SwitchText;

impl CustomSyntax for SwitchText {
    fn parse(&self, p: &mut OpParser<'_>, op: OpId) -> Result<(), Reported> {
        let flag = p.operand()?;
        p.expect(Tok::Colon, "`:` and the type of the number")?;
        p.operand_type(flag)?;
        p.expect(Tok::Comma, "`,` and the cases")?;
        p.expect(Tok::LBracket, "`[` and the cases")?;
        p.expect_text("default")?;
        p.expect(Tok::Colon, "`:` and a block")?;
        let otherwise = target(p, op)?;
        let (mut cases, mut sizes, mut args) = (Vec::new(), Vec::new(), Vec::new());
        while p.eat(Tok::Comma) {
            cases.push(p.integer()?);
            p.expect(Tok::Colon, "`:` and a block")?;
            let own = target(p, op)?;
            sizes.push(own.len() as i128);
            args.extend(own);
        }
        p.expect(Tok::RBracket, "`]`")?;
        p.set_operands(op, &[&[flag], &otherwise, &args]);
        let ty = p.module.ty(flag).clone();
        let attrs = &mut p.module.op_mut(op).attrs;
        attrs.set(CASES, Attr::DenseArray(ty, cases));
        attrs.set(SIZES, Attr::DenseArray(Type::I32, sizes));
        p.attr_dict(op)
    }

    fn says_all(&self, module: &Module, op: OpId) -> Option<bool> {
        let flag = module.operands_named(op, "flag").first().map(|flag| module.ty(*flag).clone());
        let typed = |name: &str, ty: Option<Type>| match module.op(op).attrs.get(name) {
            Some(Attr::DenseArray(own, _)) => Some(own) == ty.as_ref(),
            _ => false,
        };
        Some(is_whole(module, op)? && typed(CASES, flag) && typed(SIZES, Some(Type::I32)))
    }

    fn print(&self, p: &mut OpPrinter<'_>, op: OpId) {
        if let Some(Ways::Case(flag, cases, otherwise)) = ways(p.module, op) {
            p.write(" ");
            p.value(flag);
            p.write(" : ");
            p.types_of(&[flag]);
            p.write(", [default: ");
            print_target(p, &otherwise);
            for (case, edge) in &cases {
                p.write(&format!(", {case}: "));
                print_target(p, edge);
            }
            p.write("]");
        }
        p.attr_dict(op, &[CASES, SIZES]);
    }
}
