//! Signals between devices: integers in global memory that one device changes and another waits for (tile ISA, TNOTIFY,
//! TWAIT).

use slipring_effect::{Await, Notify, SignalArgs};
use slipring_ir::text::{CustomSyntax, OpParser, OpPrinter, Parsed, Tok};
use slipring_ir::{AttrKind, Diags, EnumSpec, Infer, OpId, OperandSpec, Syntax, Touch, Type, TypeRule};
use slipring_machine::{Cost, Pipe};
use slipring_op::decode::{Binding, Decoder, element_address};
use slipring_op::def::{Lowered, OpRef, PipeRule, Reported};
use slipring_op::ops;
use slipring_op::rules::{BOOL, INTEGER, PLAIN, defaulted, operand, optional, result};
use slipring_program::{Inst, Operand, UpdateKind};
use slipring_tile::{Elem, Space};

/// `#pto.notify_op<…>`.
const NOTIFY_OP: &EnumSpec = &EnumSpec { kind: "notify_op", numbered: false, members: &["atomic_add", "set"] };
/// `#pto.wait_cmp<…>`.
const WAIT_CMP: &EnumSpec = &EnumSpec { kind: "wait_cmp", numbered: false, members: &["ge", "eq"] };

const SIGNAL: TypeRule = TypeRule {
    describe: "a pointer to `i32` in global memory, or a view of one",
    accepts: |t| match t {
        Type::PartitionView(view) | Type::TensorView(view) => view.elem == Elem::I32,
        t => matches!(t, Type::Ptr(Elem::I32, None | Some(Space::Gm))),
    },
};

const OFFSET: OperandSpec = optional("offset", INTEGER, Touch::Nothing, "which of them; a view is of one");
const OWN: OperandSpec = operand("signal", SIGNAL, Touch::Read, "signals of this device");

ops! {
    OPS;

    /// Adds `value` to a signal in one indivisible step, or sets it. All work of this core that was issued before is
    /// done first, so that whoever sees the signal sees what was stored: the public compiler puts a fence and the
    /// invalidation of a cache there, and there are no caches here.
    pub TNOTIFY "pto.comm.tnotify" "Change a signal that a device waits for": PLAIN, source: "tile ISA, TNOTIFY",
        pipe: PipeRule::Fixed(Pipe::S), update: |op| (op.text("notifyOp") != Some("set")).then_some(UpdateKind::Add),
        verify: |op, _, diags| verify_signal(op, "value", diags), lower: lower_tnotify
        => {
            syntax: Syntax::Custom(&SignalText { number: "value" }),
            operands: &[
                operand("signal", SIGNAL, Touch::Write, "signals, perhaps another device's"),
                OFFSET,
                operand("value", INTEGER, Touch::Nothing, "the number"),
            ],
            attrs: &[
                defaulted("notifyOp", AttrKind::Enum(NOTIFY_OP), "`set`: the signal becomes the number; else it is added"),
            ],
        };

    /// Holds the core until a signal is at least `expected`, or equal to it. What is issued after it sees what was
    /// stored before the signal was changed.
    pub TWAIT "pto.comm.twait" "Wait for a signal of another device": PLAIN, source: "tile ISA, TWAIT",
        pipe: PipeRule::Fixed(Pipe::S), verify: |op, _, diags| verify_signal(op, "expected", diags), lower: lower_twait
        => {
            syntax: Syntax::Custom(&SignalText { number: "expected" }),
            operands: &[
                OWN,
                OFFSET,
                operand("expected", INTEGER, Touch::Nothing, "the number that it waits for"),
            ],
            attrs: &[
                defaulted("cmp", AttrKind::Enum(WAIT_CMP), "`eq`: it waits for just this number; else a larger one will do"),
            ],
        };

    /// True if `pto.comm.twait` would not wait. Holds nothing.
    pub TTEST "pto.comm.ttest" "Look whether a signal has come": PLAIN, source: "tile ISA, TTEST",
        pipe: PipeRule::Fixed(Pipe::S), verify: |op, _, diags| verify_signal(op, "expected", diags), lower: lower_ttest
        => {
            syntax: Syntax::Custom(&SignalText { number: "expected" }),
            operands: &[
                OWN,
                OFFSET,
                operand("expected", INTEGER, Touch::Nothing, "the number that it is compared with"),
            ],
            results: &[result("result", BOOL, Infer::Fixed(|| Type::I1), "true where a wait would be over")],
            attrs: &[defaulted(
                "cmp",
                AttrKind::Enum(WAIT_CMP),
                "`eq`: the signal is just this number; else a larger one will do",
            )],
        };
}

fn lower_tnotify(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (signal, value) = (signal(op, d)?, number(op, d, "value")?);
    d.emit(Inst::Barrier { pipe: None });
    let cost = Cost::fixed(d.platform.cost.scalar_memory);
    d.issue(
        Pipe::S,
        Notify { set: op.text("notifyOp") == Some("set") },
        SignalArgs { signal, number: value }.list(),
        cost,
    );
    Ok(())
}

fn lower_twait(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (signal, expected) = (signal(op, d)?, number(op, d, "expected")?);
    let again = d.label();
    d.place(again);
    let over = d
        .issue_scalar(Await { at_least: op.text("cmp") != Some("eq") }, SignalArgs { signal, number: expected }.list());
    d.poll(over, again);
    Ok(())
}

fn lower_ttest(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Lowered {
    let (signal, expected) = (signal(op, d)?, number(op, d, "expected")?);
    let look = Await { at_least: op.text("cmp") != Some("eq") };
    let over = d.issue_scalar(look, SignalArgs { signal, number: expected }.list());
    d.bind(op.result(0), Binding::Scalar(over));
    Ok(())
}

/// `%signals[%at], %number : T, i32` for signals at a pointer; `(%signal, %number : T, i32)` for a view.
struct SignalText {
    number: &'static str,
}

impl CustomSyntax for SignalText {
    fn parse(&self, parser: &mut OpParser<'_>, op: OpId) -> Parsed<()> {
        let in_parens = parser.eat(Tok::LParen);
        let signal = parser.operand()?;
        let mut offset = Vec::new();
        if !in_parens && parser.eat(Tok::LBracket) {
            offset.push(parser.operand()?);
            parser.expect(Tok::RBracket, "`]`")?;
        }
        parser.expect(Tok::Comma, "`,` and the number")?;
        let number = parser.operand()?;
        parser.set_operands(op, &[&[signal], &offset, &[number]]);
        if !in_parens {
            parser.attr_dict(op)?;
        }
        parser.expect(Tok::Colon, "`:` and the types")?;
        parser.operand_type(signal)?;
        parser.expect(Tok::Comma, "`,` and the type of the number")?;
        parser.operand_type(number)?;
        if in_parens {
            parser.expect(Tok::RParen, "`)`")?;
            parser.attr_dict(op)?;
        }
        if parser.named_results() > 0 && parser.eat(Tok::Arrow) {
            let ty = parser.parse_type()?;
            parser.add_result(op, ty);
            return Ok(());
        }
        parser.infer_results(op)
    }

    fn print(&self, printer: &mut OpPrinter<'_>, op: OpId) {
        let module = printer.module;
        let [signal, offset, number] = ["signal", "offset", self.number].map(|name| module.operands_named(op, name));
        let results = &module.op(op).results;
        let in_parens = offset.is_empty();
        printer.write(if in_parens { "(" } else { " " });
        printer.values(signal);
        if !in_parens {
            printer.write("[");
            printer.values(offset);
            printer.write("]");
        }
        printer.write(", ");
        printer.values(number);
        if !in_parens {
            printer.attr_dict(op, &[]);
        }
        printer.write(" : ");
        printer.types_of(signal);
        printer.write(", ");
        printer.types_of(number);
        if in_parens {
            printer.write(")");
            printer.attr_dict(op, &[]);
        }
        if !results.is_empty() {
            printer.write(" -> ");
            printer.result_types_of(results);
        }
    }
}

/// Reports a constant outside the range of signals, and accesses to several signals at once.
fn verify_signal(op: &OpRef<'_>, number: &str, diags: &mut Diags) {
    in_words(op, number, diags);
    match op.ty("signal") {
        Some(Type::PartitionView(view) | Type::TensorView(view)) => {
            if op.operand("offset").is_some() {
                diags.push(op.error("argument", "a view of a signal has no index after it"));
            }
            if view.dims.iter().any(|dim| dim.known().is_none()) {
                diags.push(
                    op.error("view-shape", "expects a signal whose extents are known").help("write 1 in its type"),
                );
            } else if view.dims.iter().any(|dim| dim.known().is_some_and(|n| n != 1)) {
                let error = op.error(
                    "unsupported",
                    format!("`{}` of several signals at once is not modelled", op.def.schema.name),
                );
                diags.push(error.help("wait for one after the other"));
            }
        }
        _ if op.operand("offset").is_none() => {
            diags.push(op.error("argument", "expects which of the signals is meant: `%signals[%at]`"));
        }
        _ => {}
    }
}

/// Reports a constant outside the range of signals.
fn in_words(op: &OpRef<'_>, name: &str, diags: &mut Diags) {
    let known = op.operand(name).and_then(|value| slipring_op::rules::constant(op.module, value));
    if let Some(n) = known.filter(|n| i32::try_from(*n).is_err()) {
        diags.push(op.error("argument", format!("a signal is a number of 32 bits, and {n} is none")));
    }
}

fn number(op: &OpRef<'_>, d: &mut Decoder<'_>, name: &str) -> Result<Operand, Reported> {
    d.scalar(op.operand(name).ok_or(Reported)?)
}

/// The byte address of the signal.
fn signal(op: &OpRef<'_>, d: &mut Decoder<'_>) -> Result<Operand, Reported> {
    let value = op.operand("signal").ok_or(Reported)?;
    if op.operand("offset").is_none() {
        let view = d.view(value)?;
        for dim in &view.dims {
            let one = d.label();
            let other = d.compute(|[n, ..]| Ok(u64::from(n != 1)), [*dim, Operand::Imm(0), Operand::Imm(0)]);
            d.jump_if_zero(other, one);
            d.emit(Inst::Trap { message: "a signal is one number, and the view has several or none".into() });
            d.place(one);
        }
        return Ok(view.base);
    }
    let (base, offset) = (d.scalar(value)?, number(op, d, "offset")?);
    Ok(element_address(d, base, offset, Elem::I32))
}
