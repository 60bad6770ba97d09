//! Edits that mend what the text alone shows to be wrong on some path. They are tried by checking the text again, not by runs.

use slipring_ir::{Diags, Module, Source};
use slipring_machine::Platform;
use slipring_passes::lint::is_finding;

use super::draft::Draft;
use super::propose::Scene;
use super::{EDITS, TRIALS};
use slipring_session::Error;

/// Edits of a text, and what `check` then says of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PathFix {
    /// What is changed, an item each: lines are those of the text as it was.
    pub edits: Vec<String>,
    /// Findings that are left.
    pub left: usize,
    /// The text with them.
    pub text: String,
}

/// What a check says of a text.
pub trait OfText {
    /// The functions of the text.
    fn module(&self) -> &Module;

    /// Everything that was said.
    fn diags(&self) -> &Diags;

    /// How many errors there are: with one the text is not well formed.
    fn errors(&self) -> usize;

    /// How many findings: what is wrong on some path.
    fn findings(&self) -> usize;
}

/// Looks for edits of a text without errors after which fewer findings are left, best none; `again` checks a text as this one was
/// checked. `None` where no edit was found.
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
