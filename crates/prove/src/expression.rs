//! Integer expressions and conditions in canonical text: two occurrences with the same text have the same value.

use slipring_program::{CoreProgram, Inst, Law, Operand, Order, Relation, Special};

/// The prefix of a negated relation.
pub(super) const NOT: &str = "not ";

/// A relation in canonical form: one of a reduced set, or its negation, with the operands in a canonical order if they
/// commute.
fn compared(Relation { order, signed }: Relation, a: String, b: String) -> String {
    let sign = if signed { "" } else { "u" };
    let less = |a: &str, b: &str| format!("{sign}less({a}, {b})");
    let equal = || format!("equal({}, {})", (&a).min(&b), (&a).max(&b));
    match order {
        Order::Less => less(&a, &b),
        Order::Greater => less(&b, &a),
        Order::GreaterOrEqual => format!("{NOT}{}", less(&a, &b)),
        Order::LessOrEqual => format!("{NOT}{}", less(&b, &a)),
        Order::Equal => equal(),
        Order::Different => format!("{NOT}{}", equal()),
    }
}

/// An integer in canonical form: if two cores have the same text, it has the same value. `None` if several instructions
/// define it.
pub(super) fn expression(core: &CoreProgram, operand: Operand, depth: u32) -> Option<String> {
    let reg = match operand {
        Operand::Imm(value) => return Some(value.to_string()),
        Operand::Reg(reg) => reg,
    };
    if depth == 0 {
        return None;
    }
    let writes = |inst: &&Inst| match inst {
        Inst::Scalar { d, .. } | Inst::Move { d, .. } | Inst::Add { d, .. } | Inst::Special { d, .. } => *d == reg,
        Inst::Issue { work } => core.works[*work as usize].result == Some(reg),
        _ => false,
    };
    let mut made = core.insts.iter().filter(writes);
    let (Some(inst), None) = (made.next(), made.next()) else { return None };
    let of = |operand: Operand| expression(core, operand, depth - 1);
    match inst {
        Inst::Scalar { law: Law::Relation(relation), args: [a, b, _], .. } => {
            Some(compared(*relation, of(*a)?, of(*b)?))
        }
        Inst::Scalar { f, law, args: [a, b, c], .. } => {
            Some(format!("{:x} {law:?}({}, {}, {})", *f as usize, of(*a)?, of(*b)?, of(*c)?))
        }
        Inst::Move { a, .. } => of(*a),
        Inst::Add { a, b, .. } => Some(format!("sum({}, {})", of(*a)?, of(*b)?)),
        Inst::Special { which: Special::Param(at), .. } => Some(format!("p{at}")),
        Inst::Special { which: Special::BlockNum, .. } => Some("blocks".into()),
        _ => None,
    }
}
