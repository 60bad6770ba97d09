//! Edits that fix errors visible on some path of the text alone. They are tried by checking the text again, not by
//! runs.

use slipring_ir::{Diags, Module, Source};
use slipring_machine::Platform;
use slipring_passes::lint::is_finding;

use super::draft::Draft;
use super::propose::Scene;
use super::{EDITS, TRIALS};
use slipring_session::Error;

/// Edits of a text, and what `check` then finds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathFix {
    /// The edits, one per item: line numbers are those of the original text.
    pub edits: Vec<String>,
    /// Remaining findings.
    pub left: usize,
    /// The edited text.
    pub text: String,
}

/// The result of checking a text.
pub trait OfText {
    /// The functions of the text.
    fn module(&self) -> &Module;

    /// All diagnostics.
    fn diags(&self) -> &Diags;

    /// Number of errors: with any, the text is not well formed.
    fn errors(&self) -> usize;

    /// Number of findings: errors on some path.
    fn findings(&self) -> usize;
}

/// Searches for edits of an error-free text that reduce the findings, ideally to none; `again` checks a text in the
/// same way. `None` if no edit was found.
///
/// # Errors
/// Those of `again`.
pub fn mend_paths<T: OfText>(
    checked: &T,
    platform: &Platform,
    again: impl Fn(Source) -> Result<T, Error>,
) -> Result<Option<PathFix>, Error> {
    let source = &checked.module().source;
    let first = Draft::new(&source.text);
    let (mut best, mut at): (Option<T>, Draft) = (None, first.clone());
    let (mut edits, mut trials) = (0, 0);
    while edits < EDITS {
        let now = best.as_ref().unwrap_or(checked);
        let scene = Scene { module: now.module(), platform };
        let proposals = now.diags().list.iter().filter(|said| is_finding(said)).flat_map(|said| scene.proposals(said));
        let mut better = None;
        for proposal in proposals {
            trials += 1;
            if trials > TRIALS {
                break;
            }
            let draft = at.with(&proposal);
            let trial = again(Source::new(source.name.clone(), draft.text()))?;
            if trial.errors() == 0 && trial.findings() < now.findings() {
                better = Some((trial, draft));
                break;
            }
        }
        let Some((trial, draft)) = better else { break };
        (best, at) = (Some(trial), draft);
        edits += 1;
    }
    let fix = |best: T| PathFix { edits: at.changes(&first), left: best.findings(), text: at.text() };
    Ok(best.map(fix))
}
