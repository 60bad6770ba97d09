//! Numbers and conditions in words: what two places of a program have the same words for is the same.

use slipring_program::{CoreProgram, Inst, Law, Operand, Order, Relation, Special};

/// How a relation begins in words that is the negation of another one.
pub(super) const NOT: &str = "not ";

/// A relation in words: one of fewer, or its negation, with the operands in an order of their own where they may change places.
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

/// A number in words that two cores have the same for if it is the same. `None` where several instructions make it.
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
