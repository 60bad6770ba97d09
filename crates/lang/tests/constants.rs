//! Arithmetic on constants is Python's, within 64 bits.

use proptest::prelude::*;
use ruff_python_ast::{CmpOp, Operator};
use slipring_lang::{Name, compared, folded, misfit};
use slipring_tile::Elem;

fn int(op: Operator, x: i64, y: i64) -> Option<i64> {
    match folded(op, &Name::Int(x), &Name::Int(y)) {
        Ok(Name::Int(n)) => Some(n),
        _ => None,
    }
}

fn float(op: Operator, x: Name, y: Name) -> Option<f64> {
    match folded(op, &x, &y) {
        Ok(Name::Float(x)) => Some(x),
        _ => None,
    }
}

proptest! {
    #[test]
    fn integers_are_exact_or_refused(x: i64, y: i64, shift in 0i64..200) {
        for (x, y) in [(x, y), (x >> 40, y >> 50), (x % 16, y % 16)] {
            let (a, b) = (i128::from(x), i128::from(y));
            let fits = |n: i128| i64::try_from(n).ok();
            let folded = |op| int(op, x, y);
            prop_assert_eq!(folded(Operator::Add), fits(a + b));
            prop_assert_eq!(folded(Operator::Sub), fits(a - b));
            prop_assert_eq!(folded(Operator::Mult), fits(a * b));
            if b != 0 {
                let (q, r) = (folded(Operator::FloorDiv), folded(Operator::Mod));
                let r = i128::from(r.unwrap_or(0));
                prop_assert!(r == 0 || (r < 0) == (b < 0));
                prop_assert!(r.abs() < b.abs());
                prop_assert_eq!(q, fits((a - r) / b));
                prop_assert_eq!((a - r) % b, 0);
            }
            let shifted = int(Operator::LShift, x, shift);
            match shifted {
                Some(n) => prop_assert!(x == 0 || shift < 64 && i128::from(n) >> shift == a && n != 0),
                None => prop_assert!(shift >= 64 || fits(a << shift).is_none()),
            }
            prop_assert_eq!(int(Operator::RShift, x, shift), fits(a >> shift.min(127)));
        }
    }

    #[test]
    fn comparisons_are_exact(n: i64, x: f64) {
        for x in [x, n as f64, n as f64 + 0.5, (n as f64).next_up()] {
            // Compares through the integers around the float.
            let (floor, ceil) = (x.floor() as i128, x.ceil() as i128);
            let less = i128::from(n) < ceil;
            let equal = floor == ceil && i128::from(n) == floor;
            prop_assert_eq!(compared(CmpOp::Lt, &Name::Int(n), &Name::Float(x)), Some(less));
            prop_assert_eq!(compared(CmpOp::Eq, &Name::Float(x), &Name::Int(n)), Some(equal));
            prop_assert_eq!(compared(CmpOp::Gt, &Name::Float(x), &Name::Int(n)), Some(less));
        }
    }

    #[test]
    fn quotients_are_rounded_once(x: i64, y: i64, cut in 21..40u32) {
        // A correctly rounded quotient times the divisor is nearer to the dividend than its neighbours are.
        let y = y >> cut;
        prop_assume!(y != 0);
        let q = float(Operator::Div, Name::Int(x), Name::Int(y)).expect("a quotient");
        let exact = |q: f64| {
            // |q * y - x| in units of 2^-44, of which such a quotient and its neighbours are multiples.
            let scaled = (q.abs() * 2f64.powi(44)) as i128;
            (scaled * i128::from(y).abs() - (i128::from(x).abs() << 44)).abs()
        };
        if q.abs() > 1e3 && q.abs() < 2f64.powi(40) {
            prop_assert!(exact(q) <= exact(q.abs().next_up()) && exact(q) <= exact(q.abs().next_down()));
        }
    }
}

#[test]
fn what_python_gives() {
    let of = |op, x, y| float(op, Name::Float(x), Name::Float(y));
    assert_eq!(of(Operator::FloorDiv, 1.0, 0.1), Some(9.0));
    assert_eq!(of(Operator::Mod, -1.0, 3.0), Some(2.0));
    assert_eq!(of(Operator::Mod, 5.5, -2.0), Some(-0.5));
    assert_eq!(of(Operator::Pow, -8.0, 0.5), None);
    assert_eq!(of(Operator::Mult, 1e308, 10.0), None);
    assert_eq!(int(Operator::Pow, -1, i64::MAX), Some(-1));
    assert_eq!(int(Operator::Pow, 9, 387_420_489), None);
    assert_eq!(int(Operator::LShift, 1, 63), None);
    assert_eq!(int(Operator::LShift, -1, 63), Some(i64::MIN));
    assert_eq!(float(Operator::Div, Name::Int(i64::MAX), Name::Int(3)), Some(3_074_457_345_618_258_602.0));
    assert_eq!(
        misfit(&Name::Int(128), Elem::I8).as_deref(),
        Some("128 does not fit into INT8, which holds -128 to 127")
    );
    let largest = misfit(&Name::Float(65520.0), Elem::F16).expect("it does not fit");
    assert!(largest.ends_with("whose numbers end at 65504.0"), "{largest}");
    assert_eq!(misfit(&Name::Float(65519.0), Elem::F16), None);
    assert!(misfit(&Name::Float(1e39), Elem::BF16).is_some());
}
