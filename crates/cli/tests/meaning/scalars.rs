//! Numbers: Python's integers and floats. Floats that are only known at run time are `f32`.

use ruff_python_ast::{CmpOp, Operator, UnaryOp};

use crate::meaning::value::{Eval, Value};

pub fn unary(op: UnaryOp, value: &Value) -> Eval {
    Ok(match (op, value) {
        (UnaryOp::Not, value) => Value::Bool(!value.as_bool()?),
        (UnaryOp::USub, Value::Float(x)) => Value::Float(-x),
        (UnaryOp::USub, Value::Single(x)) => Value::Single(0.0 - x),
        (UnaryOp::USub, value) => Value::Int(-value.int()?),
        (UnaryOp::UAdd, value) => value.clone(),
        (UnaryOp::Invert, value) => Value::Int(!value.int()?),
    })
}

pub fn absolute(value: &Value) -> Eval {
    Ok(match value {
        Value::Float(x) => Value::Float(x.abs()),
        Value::Single(x) => Value::Single(x.abs()),
        value => Value::Int(value.int()?.abs()),
    })
}

pub fn binary(op: Operator, a: &Value, b: &Value) -> Eval {
    let floor = |a: i128, b: i128| a.div_euclid(b) - i128::from(b < 0 && a.rem_euclid(b) != 0);
    let overflow = || "a number of more than 127 bits".to_string();
    let single = matches!(a, Value::Single(_)) || matches!(b, Value::Single(_));
    let float = single || matches!(a, Value::Float(_)) || matches!(b, Value::Float(_)) || op == Operator::Div;
    if let (Value::Single(base), Operator::Pow, Value::Int(times @ 1..)) = (a, op, b) {
        return Ok(Value::Single((1..*times).fold(*base, |power, _| power * base)));
    }
    if single {
        let (a, b) = (a.float()? as f32, b.float()? as f32);
        return Ok(Value::Single(match op {
            Operator::Add => a + b,
            Operator::Sub => a - b,
            Operator::Mult => a * b,
            Operator::Div => a / b,
            _ => return Err(format!("not evaluated: {op:?} of floats")),
        }));
    }
    if float {
        let (a, b) = (a.float()?, b.float()?);
        if b == 0.0 && matches!(op, Operator::Div | Operator::FloorDiv | Operator::Mod) {
            return Err("division by zero".into());
        }
        return Ok(Value::Float(match op {
            Operator::Add => a + b,
            Operator::Sub => a - b,
            Operator::Mult => a * b,
            Operator::Div => a / b,
            // Using the exact remainder, which has the sign of the divisor.
            Operator::FloorDiv => ((a - remainder(a, b)) / b).round(),
            Operator::Mod => remainder(a, b),
            Operator::Pow if b == 0.5 && a >= 0.0 => a.sqrt(),
            Operator::Pow if b == -0.5 && a > 0.0 => 1.0 / a.sqrt(),
            _ => return Err(format!("not evaluated: {op:?} of floats")),
        }));
    }
    let (a, b) = (a.int()?, b.int()?);
    let shift = || u32::try_from(b).map_err(|_| "a negative shift".to_string());
    Ok(Value::Int(match op {
        Operator::Add => a + b,
        Operator::Sub => a - b,
        Operator::Mult => a.checked_mul(b).ok_or_else(overflow)?,
        Operator::FloorDiv | Operator::Mod if b == 0 => return Err("division by zero".into()),
        Operator::FloorDiv => floor(a, b),
        Operator::Mod => a - floor(a, b) * b,
        Operator::BitAnd => a & b,
        Operator::BitOr => a | b,
        Operator::BitXor => a ^ b,
        Operator::LShift => a.checked_mul(1i128.checked_shl(shift()?).ok_or_else(overflow)?).ok_or_else(overflow)?,
        Operator::RShift => a >> b.clamp(0, 127),
        Operator::Pow if b < 0 => return Ok(Value::Float((a as f64).powi(b as i32))),
        Operator::Pow if a.abs() <= 1 => {
            if a == -1 && b % 2 == 0 || b == 0 {
                1
            } else {
                a
            }
        }
        Operator::Pow => a.checked_pow(shift()?).ok_or_else(overflow)?,
        _ => return Err(format!("not evaluated: {op:?} of integers")),
    }))
}

fn remainder(a: f64, b: f64) -> f64 {
    let rest = a % b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
}

/// The exact comparison of an integer and a float.
fn order(n: i128, x: f64) -> std::cmp::Ordering {
    n.cmp(&(x.floor() as i128)).then(if x.fract() == 0.0 {
        std::cmp::Ordering::Equal
    } else {
        std::cmp::Ordering::Less
    })
}

pub fn compare(op: CmpOp, a: &Value, b: &Value) -> Eval<bool> {
    if let (Value::Text(a), Value::Text(b)) | (Value::Word(a), Value::Word(b)) = (a, b) {
        return match op {
            CmpOp::Eq | CmpOp::Is => Ok(a == b),
            CmpOp::NotEq | CmpOp::IsNot => Ok(a != b),
            _ => Err("an order of words".into()),
        };
    }
    let order = match (a.int(), b.int()) {
        (Ok(a), Ok(b)) => Some(a.cmp(&b)),
        (Ok(n), Err(_)) => Some(order(n, b.float()?)),
        (Err(_), Ok(n)) => Some(order(n, a.float()?).reverse()),
        _ => a.float()?.partial_cmp(&b.float()?),
    };
    Ok(match op {
        CmpOp::Eq | CmpOp::Is => order.is_some_and(|o| o.is_eq()),
        CmpOp::NotEq | CmpOp::IsNot => order.is_none_or(|o| o.is_ne()),
        CmpOp::Lt => order.is_some_and(|o| o.is_lt()),
        CmpOp::LtE => order.is_some_and(|o| o.is_le()),
        CmpOp::Gt => order.is_some_and(|o| o.is_gt()),
        CmpOp::GtE => order.is_some_and(|o| o.is_ge()),
        _ => return Err(format!("not evaluated: {op:?}")),
    })
}
