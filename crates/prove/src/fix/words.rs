//! Edits of language kernels: the fix that a compiler error states exactly, applied and tried.

use slipring_ir::{Diagnostic, Kind, Severity, Source};

use super::EDITS;
use super::paths::{OfText, PathFix};
use slipring_session::Error;

/// Searches for edits of a language kernel that reduce the errors, ideally to none; `again` checks a text in the same
/// way. `None` if no edit was found.
///
/// # Errors
/// Those of `again`.
pub fn mend_words<T: OfText>(
    checked: &T,
    again: impl Fn(Source) -> Result<T, Error>,
) -> Result<Option<PathFix>, Error> {
    let source = &checked.module().source;
    let name = source.name.clone();
    let (mut text, mut edits) = (source.text.to_string(), Vec::new());
    let mut best: Option<T> = None;
    while edits.len() < EDITS {
        let now = best.as_ref().unwrap_or(checked);
        let mut better = None;
        'found: for said in &now.diags().list {
            for trial_text in proposals(said, &text) {
                let trial = again(Source::new(name.clone(), trial_text.as_str()))?;
                if trial.errors() < now.errors() {
                    let at = said.primary.as_ref().map_or(0, |place| place.span.start as usize);
                    let line = text[..at].matches('\n').count();
                    let written = trial_text.lines().nth(line).unwrap_or_default().trim().to_string();
                    better = Some((trial, trial_text, format!("line {}: {written}", line + 1)));
                    break 'found;
                }
            }
        }
        let Some((trial, trial_text, edit)) = better else { break };
        (best, text) = (Some(trial), trial_text);
        edits.push(edit);
    }
    Ok(best.map(|best| PathFix { edits, left: best.findings(), text }))
}

/// Replacements for the text that an error is about, most likely first.
fn proposals(said: &Diagnostic, text: &str) -> Vec<String> {
    let (Kind::InnerExtents, Severity::Error, Some(place)) = (&said.kind, said.severity, &said.primary) else {
        return Vec::new();
    };
    let range = place.span.start as usize..place.span.end as usize;
    let Some(product) = text.get(range.clone()) else { return Vec::new() };
    let mut written = Vec::new();
    if product.contains("b_trans=True") {
        written.push(product.replacen("b_trans=True", "b_trans=False", 1));
    } else if let Some(open) = product.strip_suffix(')') {
        let comma = if open.trim_end().ends_with(',') { "" } else { "," };
        written.push(format!("{open}{comma} b_trans=True)"));
    }
    written.push(match product.strip_suffix(".T") {
        Some(plain) => plain.to_string(),
        None => format!("{product}.T"),
    });
    let whole = |product: String| format!("{}{product}{}", &text[..range.start], &text[range.end..]);
    written.into_iter().map(whole).collect()
}
