//! Edits that mend what the text alone shows to be wrong on some path. They are tried by checking the text again, not by runs.

use slipring_ir::Source;

use super::draft::Draft;
use super::propose::Scene;
use super::{EDITS, TRIALS};
use crate::{Checked, Error, is_finding};

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

impl Checked {
    /// Looks for edits after which fewer findings are left, best none; `again` checks a text as this one was checked. `None` where
    /// there is no finding, no edit was found, or the text has errors or is of the kernel language.
    ///
    /// # Errors
    /// Those of `again`.
    pub fn mend(&self, again: impl Fn(Source) -> Result<Checked, Error>) -> Result<Option<PathFix>, Error> {
        let source = self.source();
        let Some(platform) = self.platform().filter(|_| !source.language && !source.cpp && self.errors() == 0) else {
            return Ok(None);
        };
        let first = Draft::new(&source.text);
        let (mut best, mut at): (Option<Checked>, Draft) = (None, first.clone());
        let (mut edits, mut trials) = (0, 0);
        while edits < EDITS {
            let now = best.as_ref().unwrap_or(self);
            let scene = Scene { module: now.module(), platform };
            let proposals =
                now.diags().list.iter().filter(|said| is_finding(said)).flat_map(|said| scene.proposals(said));
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
        let fix = |best: Checked| PathFix { edits: at.changes(&first), left: best.findings(), text: at.text() };
        Ok(best.map(fix))
    }
}
