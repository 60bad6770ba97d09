//! What buffers should hold after a run.

use slipring::{Diagnostic, Error, Expected, Held, Parameter};
use slipring_report::CheckFacts;

/// What buffers should hold.
///
/// # Errors
/// If one cannot be read.
pub(super) fn expectations(texts: &[String]) -> Result<Vec<Expected>, Error> {
    texts.iter().map(|text| Expected::read(text)).collect()
}

/// The buffers among parameters, with what a run left in each position's.
pub(super) fn held<'a>(params: &'a [Parameter], left: impl Fn(usize) -> Option<&'a [u8]>) -> Vec<Held<'a>> {
    let buffers = params.iter().enumerate().filter(|(_, param)| param.is_buffer);
    buffers
        .filter_map(|(at, param)| {
            Some(Held { name: &param.name, elem: param.elem?, shape: param.shape.as_deref(), left: left(at) })
        })
        .collect()
}

/// Holds buffers against what they should hold: a row of the checks for each, and errors.
///
/// # Errors
/// If there is no such buffer.
pub(super) fn against(
    expected: &[Expected],
    buffers: &[Held<'_>],
    checks: &mut Vec<CheckFacts>,
) -> Result<Vec<Diagnostic>, Error> {
    let mut errors = Vec::new();
    for one in expected {
        let (row, error) = one.compare(&buffers[one.place(buffers)?]);
        checks.push(row);
        errors.extend(error);
    }
    Ok(errors)
}
