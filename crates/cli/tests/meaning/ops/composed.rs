//! Builtins composed of several instructions.

use super::*;

/// Builtins composed of several instructions, each of which rounds.
pub(super) fn composed(name: &str, args: &Args) -> Eval {
    let x = args.need(0, "x")?;
    let step = |what: &str, a: &Value, b: f64| elementwise(what, a, &Value::Float(b));
    let sigmoid =
        |x: &Value| named("recip", &[step("add", &named("exp", &[named("neg", std::slice::from_ref(x))?])?, 1.0)?]);
    match name {
        "square" => elementwise("mul", &x, &x),
        "sigmoid" => sigmoid(&x),
        "silu" => elementwise("mul", &x, &sigmoid(&x)?),
        "tanh" => {
            let power = named("exp", &[step("mul", &x, 2.0)?])?;
            let part = named("recip", &[step("add", &power, 1.0)?])?;
            step("add", &step("mul", &part, -2.0)?, 1.0)
        }
        _ => elementwise("max", &elementwise("min", &x, &args.need(2, "most")?)?, &args.need(1, "least")?),
    }
}
