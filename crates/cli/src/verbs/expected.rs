//! Expected contents of buffers after a run.

use slipring::{Diagnostic, Error, Expected, Held, Parameter};
use slipring_report::CheckFacts;

/// Parses the expected contents of buffers.
///
/// # Errors
///
/// If one cannot be read.
pub(super) fn expectations(texts: &[String]) -> Result<Vec<Expected>, Error> {
    texts.iter().map(|text| Expected::read(text)).collect()
}

/// The parameters that are buffers, each with its contents after a run.
pub(super) fn held<'a>(params: &'a [Parameter], left: impl Fn(usize) -> Option<&'a [u8]>) -> Vec<Held<'a>> {
    let buffers = params.iter().enumerate().filter(|(_, param)| param.is_buffer);
    buffers
        .filter_map(|(at, param)| {
            Some(Held { name: &param.name, elem: param.elem?, shape: param.shape.as_deref(), left: left(at) })
        })
        .collect()
}

/// Compares buffers with their expected contents: a row of the checks for each, and errors.
///
/// # Errors
///
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
